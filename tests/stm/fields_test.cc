#include "waymark/stm/fields.h"

#include <gtest/gtest.h>

#include <set>

#include "support/stm_bench.h"
#include "waymark/stm/encoder.h"

namespace waymark::stm {
namespace {

std::string fields_text(const Packet& packet) {
  TextBuffer text;
  for_each_field(packet, [&](const FieldValue& value) {
    if (!text.empty()) text.put(' ');
    text.put(value.name);
    text.put('=');
    write_field(text, value);
  });
  return std::string(text.view());
}

std::string fields_after(std::string_view stream) {
  std::string last;
  support::StmBench().parse(
      support::nibbles(std::string(support::kStmAsync) + "F003" + std::string(stream)), 4096,
      [&](const Parser&, const Packet& packet) {
        if (packet.type != PacketType::kNull || packet.has_timestamp) last = fields_text(packet);
      });
  return last;
}

TEST(StmFields, keywords_are_unique_and_lead_back) {
  std::set<std::string_view> seen;
  for (const std::string_view keyword : packet_keywords()) {
    EXPECT_TRUE(seen.insert(keyword).second) << keyword;
    const auto packet = packet_of_keyword(keyword);
    ASSERT_TRUE(packet.has_value()) << keyword;
    EXPECT_EQ(packet_keyword(*packet), keyword);
  }
  EXPECT_EQ(seen.size(), 44U);
  EXPECT_FALSE(packet_of_keyword("time").has_value());
  EXPECT_FALSE(packet_of_keyword("").has_value());
}

TEST(StmFields, of_parsed_packets) {
  EXPECT_EQ(fields_after("141 F30480 8AA212"),
            "value=0xaa timestamp=0x12 timestamp_nibbles=2 master=65 channel=1152");
  EXPECT_EQ(fields_after("F30480 322"), "channel=1058");
  EXPECT_EQ(fields_after("F080124F800"), "hz=19200000");
  EXPECT_EQ(fields_after("F0677"), "trigger=0x77 master=0 channel=0");
  EXPECT_EQ(fields_after("F0111"), "timestamp=0x1 timestamp_nibbles=1");
  EXPECT_EQ(fields_after("F00B82"), "version=11 minor=2 little_endian=1");
  EXPECT_EQ(fields_after("F022ABC"), "value=0xabc nibbles=3 master=0 channel=0");
  EXPECT_EQ(fields_after("F4AAF"), "");
}

TEST(StmFields, error_type_is_a_keyword) {
  Packet packet;
  packet.type = PacketType::kBadSequence;
  packet.error_type = PacketType::kD8;
  EXPECT_EQ(fields_text(packet), "error_type=d8");
}

TEST(StmFields, set_from_text) {
  Packet packet = *packet_of_keyword("d16ts");
  EXPECT_TRUE(set_field(packet, "value", "0x1234"));
  EXPECT_TRUE(set_field(packet, "timestamp", "99"));
  EXPECT_EQ(packet.timestamp_bits, Encoder::kFewestBits);
  EXPECT_TRUE(set_field(packet, "timestamp_nibbles", "4"));
  EXPECT_EQ(packet.timestamp_bits, 16);
  EXPECT_FALSE(set_field(packet, "value", "0x12345"));
  EXPECT_FALSE(set_field(packet, "master", "1"));
  Packet version = *packet_of_keyword("version");
  EXPECT_TRUE(set_field(version, "minor", "2"));
  EXPECT_TRUE(set_field(version, "version", "3"));
  EXPECT_TRUE(set_field(version, "little_endian", "1"));
  EXPECT_EQ(version.payload, 0xB82U);
  Packet user = *packet_of_keyword("user");
  EXPECT_TRUE(set_field(user, "value", "0x123"));
  EXPECT_EQ(user.payload_bits, 12);
}

}  // namespace
}  // namespace waymark::stm
