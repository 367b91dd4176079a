#include "waymark/etmv4/fields.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace waymark::etmv4 {
namespace {

/// "name=value " of every field that the packet has.
std::string listed(const Packet& packet) {
  std::string text;
  for_each_field(packet, [&](const FieldValue& field) {
    TextBuffer out;
    write_field(out, field);
    text += std::string(field.name) + "=" + std::string(out.view()) + " ";
  });
  if (!text.empty()) text.pop_back();
  return text;
}

Packet make(std::string_view keyword,
            std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  Packet packet = packet_of_keyword(keyword).value();
  for (const auto& [name, text] : fields) {
    const auto result = set_field(packet, name, text);
    EXPECT_TRUE(result) << result.error().detail;
  }
  return packet;
}

TEST(Fields, setters_and_getters_are_inverse) {
  EXPECT_EQ(listed(make("trace_info", {{"info", "1"}, {"cc_threshold", "0x16"}})),
            "info=0x1 cc_threshold=0x16 initial=0");
  EXPECT_EQ(
      listed(make("trace_info", {{"p0_key", "5"}, {"spec_depth", "2"}, {"commit_window", "7"}})),
      "p0_key=0x5 spec_depth=2 commit_window=7 initial=0");
  EXPECT_EQ(listed(make("timestamp", {{"timestamp", "0x6fd7"}})), "timestamp=0x6fd7");
  EXPECT_EQ(listed(make("timestamp", {{"timestamp", "1"}, {"bits", "14"}, {"cycle_count", "3"}})),
            "timestamp=0x1 bits=14 cycle_count=3");
  EXPECT_EQ(listed(make("exception", {{"type", "0xe"}, {"e1e0", "2"}, {"fault_pending", "1"}})),
            "type=0xe e1e0=2 fault_pending=1");
  EXPECT_EQ(listed(make("address_short", {{"value", "0x2ebc"}, {"bits", "17"}})),
            "is=0 value=0x2ebc bits=17");
  EXPECT_EQ(listed(make("address_match", {{"index", "2"}})), "index=2 value=0x0");
  EXPECT_EQ(listed(make("q", {{"type", "0xa"}, {"value", "0x67ed0"}, {"count", "3"}})),
            "type=0xa value=0x67ed0 count=3");
  EXPECT_EQ(listed(make("q", {{"type", "15"}})), "type=0xf");
  EXPECT_EQ(listed(make("instrumentation", {{"el", "1"}, {"payload", "0xfffff"}})),
            "el=1 payload=0xfffff");
  EXPECT_EQ(listed(make("cycle_count_f1", {{"commit", "1"}})), "commit=1");
  EXPECT_EQ(listed(make("cycle_count_f3", {{"cycle_count", "3"}, {"commit", "1"}})),
            "cycle_count=3 commit=1");
  EXPECT_EQ(listed(make("cancel_f3", {{"atoms", "E"}, {"cancel", "5"}})), "atoms=E cancel=5");
  EXPECT_EQ(listed(make("atom_f3", {{"atoms", "ENE"}})), "atoms=ENE");
}

TEST(Fields, contexts_list_what_they_carry) {
  EXPECT_EQ(listed(make("context", {})), "");
  EXPECT_EQ(listed(make("context", {{"el", "1"}, {"ns", "1"}})), "el=1 sf=0 ns=1 nse=0");
  EXPECT_EQ(listed(make("address_context64",
                        {{"value", "0x80000"}, {"vmid", "0x10"}, {"context_id", "0x4300"}})),
            "is=0 value=0x80000 el=0 sf=0 ns=0 nse=0 vmid=0x10 context_id=0x4300");
}

TEST(Fields, is_chooses_between_the_types_of_one_keyword) {
  Packet packet = make("address32", {{"is", "1"}});
  EXPECT_EQ(packet.type, PacketType::kAddress32Is1);
  EXPECT_EQ(packet_keyword(packet.type), "address32");
  EXPECT_TRUE(set_field(packet, "is", "0"));
  EXPECT_EQ(packet.type, PacketType::kAddress32Is0);
  EXPECT_EQ(make("source_short", {{"is", "1"}}).type, PacketType::kSourceShortIs1);
}

TEST(Fields, error_packets_name_their_error_type) {
  Packet packet;
  packet.type = PacketType::kBadSequence;
  packet.error_type = PacketType::kAsync;
  EXPECT_EQ(listed(packet), "error_type=async");
}

TEST(Fields, wrong_names_and_values_are_refused) {
  Packet packet = packet_of_keyword("exception").value();
  EXPECT_EQ(set_field(packet, "nonsense", "1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(set_field(packet, "type", "0x400").error().detail,
            "0x400 does not fit the field type, which has 10 bits.");
  EXPECT_EQ(set_field(packet, "type", "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set_field(packet, "type", "-1").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set_field(packet, "type", "0x").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set_field(packet, "type", "12z").error().code, ErrorCode::kInvalidArgument);
  packet = packet_of_keyword("atom_f1").value();
  EXPECT_EQ(set_field(packet, "atoms", "EX").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set_field(packet, "atoms", "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set_field(packet, "atoms", std::string(33, 'E')).error().code,
            ErrorCode::kInvalidArgument);
  packet = packet_of_keyword("trace_info").value();
  EXPECT_EQ(set_field(packet, "initial", "1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(packet_of_keyword("not_sync").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(packet_of_keyword("").error().code, ErrorCode::kNotFound);
}

TEST(Fields, every_keyword_makes_a_packet_and_is_unique) {
  std::set<std::string_view> seen;
  for (const std::string_view keyword : packet_keywords()) {
    EXPECT_TRUE(seen.insert(keyword).second) << keyword;
    const auto packet = packet_of_keyword(keyword);
    ASSERT_TRUE(packet) << keyword;
    EXPECT_EQ(packet_keyword(packet->type), keyword);
    std::set<std::string_view> names;
    for (const Field& field : fields_of(packet->type))
      EXPECT_TRUE(names.insert(field.name).second) << keyword << ' ' << field.name;
  }
  EXPECT_EQ(seen.size(), 54U);
  EXPECT_EQ(packet_keyword(static_cast<PacketType>(0x99)), "unknown");
  EXPECT_TRUE(fields_of(static_cast<PacketType>(0x777)).empty());
}

}  // namespace
}  // namespace waymark::etmv4
