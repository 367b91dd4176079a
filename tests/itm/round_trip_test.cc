// The parser reads what the encoder writes, and the fields that are read can be set.
#include <gtest/gtest.h>

#include "support/itm_bench.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/fields.h"

namespace waymark::itm {
namespace {

std::string fields_text(const Packet& packet) {
  TextBuffer out;
  out.put(packet_keyword(packet.type));
  for_each_field(packet, [&](const FieldValue& field) {
    out.put(' ');
    out.put(field.name);
    out.put('=');
    write_field(out, field);
  });
  return std::string(out.view());
}

TEST(ItmRoundTrip, of_random_packets) {
  support::Random random(1);
  for (unsigned i = 0; i < 20000; ++i) {
    const Packet made = support::random_itm_packet(random);
    std::vector<std::uint8_t> bytes = support::ItmBench::async();
    ASSERT_TRUE(encode(made, bytes)) << fields_text(made);
    Parser parser({});
    Packet read;
    const frames::Run run{};
    parser.feed({bytes, {&run, 1}});
    ASSERT_TRUE(parser.next(read));
    ASSERT_TRUE(parser.next(read)) << fields_text(made);
    EXPECT_EQ(read.length, bytes.size() - 6);
    EXPECT_EQ(fields_text(read), fields_text(made));
    EXPECT_EQ(read.source, made.source);
  }
}

TEST(ItmRoundTrip, of_fields) {
  support::Random random(2);
  for (unsigned i = 0; i < 5000; ++i) {
    const Packet made = support::random_itm_packet(random);
    auto copy = packet_of_keyword(packet_keyword(made.type));
    ASSERT_TRUE(copy);
    for_each_field(made, [&](const FieldValue& field) {
      TextBuffer text;
      write_field(text, field);
      EXPECT_TRUE(set_field(*copy, field.name, text.view())) << field.name;
    });
    EXPECT_EQ(fields_text(*copy), fields_text(made));
    std::vector<std::uint8_t> one;
    std::vector<std::uint8_t> other;
    ASSERT_TRUE(encode(made, one));
    ASSERT_TRUE(encode(*copy, other));
    EXPECT_EQ(one, other);
  }
}

TEST(ItmEncoder, uses_as_few_bytes_as_hold_the_value) {
  Packet packet;
  packet.type = PacketType::kLocalTimestamp;
  packet.value = 6;
  EXPECT_EQ(least_size(packet), 0);
  packet.value = 7;
  EXPECT_EQ(least_size(packet), 1);
  packet.value = 128;
  EXPECT_EQ(least_size(packet), 2);
  packet.type = PacketType::kSoftware;
  packet.value = 0x10000;
  EXPECT_EQ(least_size(packet), 4);
  packet.type = PacketType::kGlobalTimestamp1;
  packet.source = kClockWrap;
  EXPECT_EQ(least_size(packet), 4);
  packet.type = PacketType::kExtension;
  packet.value = 8;
  EXPECT_EQ(least_size(packet), 1);
}

TEST(ItmEncoder, refuses_what_a_field_cannot_hold) {
  const auto refused = [](PacketType type, std::uint64_t value, std::uint8_t source,
                          std::uint8_t size) {
    Packet packet;
    packet.type = type;
    packet.value = value;
    packet.source = source;
    packet.size = size;
    std::vector<std::uint8_t> out;
    const auto done = encode(packet, out);
    EXPECT_TRUE(out.empty());
    return !done && done.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(PacketType::kSoftware, 0x100, 0, 1));
  EXPECT_TRUE(refused(PacketType::kSoftware, 1, 32, 1));
  EXPECT_TRUE(refused(PacketType::kSoftware, 1, 0, 3));
  EXPECT_TRUE(refused(PacketType::kLocalTimestamp, 7, 0, 0));
  EXPECT_TRUE(refused(PacketType::kLocalTimestamp, 1, 1, 0));
  EXPECT_TRUE(refused(PacketType::kLocalTimestamp, 1, 1, 5));
  EXPECT_TRUE(refused(PacketType::kGlobalTimestamp1, 1, kClockWrap, 1));
  EXPECT_TRUE(refused(PacketType::kGlobalTimestamp1, 1U << 26, 0, 4));
  EXPECT_TRUE(refused(PacketType::kGlobalTimestamp2, 1, 0, 0));
  EXPECT_TRUE(refused(PacketType::kExtension, 8, 0, 0));
  EXPECT_TRUE(refused(PacketType::kReserved, 0, 0, 0));
  Packet async;
  async.type = PacketType::kAsync;
  async.length = 5;
  std::vector<std::uint8_t> out;
  EXPECT_FALSE(encode(async, out));
}

TEST(ItmFields, know_all_keywords) {
  EXPECT_EQ(packet_keywords().size(), 8U);
  for (const std::string_view keyword : packet_keywords()) {
    const auto packet = packet_of_keyword(keyword);
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet_keyword(packet->type), keyword);
  }
  EXPECT_FALSE(packet_of_keyword("not_sync"));
  EXPECT_FALSE(packet_of_keyword("atoms"));
}

}  // namespace
}  // namespace waymark::itm
