// Packets to nibbles and back: encoder and parser are inverses.
#include <gtest/gtest.h>

#include "support/stm_bench.h"
#include "support/stm_stream.h"
#include "waymark/stm/encoder.h"
#include "waymark/stm/fields.h"

namespace waymark::stm {
namespace {

using support::StmBench;

Packet of(std::string_view keyword) { return *packet_of_keyword(keyword); }

std::vector<std::uint8_t> encoded(std::initializer_list<Packet> packets,
                                  NibbleOrder order = NibbleOrder::kMostFirst) {
  std::vector<std::uint8_t> bytes;
  Encoder encoder(order);
  for (const Packet& packet : packets) EXPECT_TRUE(encoder.encode(packet, bytes));
  return bytes;
}

class StmRoundTrip : public testing::TestWithParam<NibbleOrder> {};

TEST_P(StmRoundTrip, every_packet_comes_back) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    support::Random random(seed);
    std::vector<Packet> sent = {of("async"), of("version")};
    sent.back().payload = random.between(2, 4);
    for (unsigned i = random.between(1, 60); i-- > 0;)
      sent.push_back(support::random_stm_packet(random));
    std::vector<std::uint8_t> bytes;
    Encoder encoder(GetParam());
    for (const Packet& packet : sent) ASSERT_TRUE(encoder.encode(packet, bytes));

    StmBench bench;
    bench.config.order = GetParam();
    std::size_t at = 0;
    bool extended = false;
    bench.parse(bytes, 7, [&](const Parser&, const Packet& packet) {
      if (at == sent.size()) {
        EXPECT_EQ(packet.type, PacketType::kNull);
        return;
      }
      const Packet& expected = sent[at++];
      ASSERT_EQ(packet_keyword(packet), packet_keyword(expected)) << "seed " << seed;
      EXPECT_EQ(packet.payload, expected.payload) << "seed " << seed;
      extended = extended || packet.payload_bits == 12;
      if (!expected.has_timestamp) return;
      if (expected.timestamp_bits == Encoder::kFewestBits || expected.timestamp_bits == 64) {
        EXPECT_EQ(packet.timestamp, expected.timestamp) << "seed " << seed;
      }
      if (expected.timestamp_bits != Encoder::kFewestBits) {
        EXPECT_EQ(packet.timestamp_bits, expected.timestamp_bits) << "seed " << seed;
      }
    });
    EXPECT_EQ(at, sent.size()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, StmRoundTrip,
                         testing::Values(NibbleOrder::kMostFirst, NibbleOrder::kLeastFirst));

TEST(StmEncoder, async_and_version) {
  Packet version = of("version");
  version.payload = 3;
  EXPECT_EQ(encoded({of("async"), version}), support::nibbles("FFFFFFFFFFFFFFFFFFFFF0 F003"));
}

// The bytes of mipi-syst.md 4: the simulator's order.
TEST(StmEncoder, least_significant_nibble_first) {
  Packet data = of("d32mts");
  data.payload = 0x12345671;
  data.timestamp = 0x2328;
  data.timestamp_bits = 64;
  EXPECT_EQ(encoded({data}, NibbleOrder::kLeastFirst),
            support::nibbles("A17654321E8232000000000000"));
  EXPECT_EQ(encoded({data}), support::nibbles("A12345671E0000000000002328"));
}

TEST(StmEncoder, as_few_timestamp_nibbles_as_hold_the_change) {
  Packet version = of("version");
  version.payload = 3;
  Packet flag = of("flag_ts");
  flag.timestamp_bits = Encoder::kFewestBits;
  flag.timestamp = 0x123;
  Packet same = flag;
  Packet later = flag;
  later.timestamp = 0x12F;
  Packet wide = flag;
  wide.timestamp = 0x1000000000000;  // 13 nibbles, which must be sent as 14.
  EXPECT_EQ(encoded({version, flag, same, later, wide}),
            support::nibbles("F003 E3123 E0 E1F ED01000000000000"));
}

TEST(StmEncoder, a_free_nibble_is_used_by_the_next_packet) {
  std::vector<std::uint8_t> bytes;
  Encoder encoder;
  ASSERT_TRUE(encoder.encode(of("null"), bytes));
  EXPECT_TRUE(encoder.half());
  ASSERT_TRUE(encoder.encode(of("flag"), bytes));
  EXPECT_EQ(bytes, support::nibbles("0FE"));
  encoder.align();
  ASSERT_TRUE(encoder.encode(of("flag"), bytes));
  EXPECT_EQ(bytes, support::nibbles("0FE0FE"));
}

TEST(StmEncoder, refuses_what_no_packet_holds) {
  std::vector<std::uint8_t> bytes = {0xAB};
  Encoder encoder;
  Packet packet = of("d8");
  packet.payload = 0x100;
  EXPECT_FALSE(encoder.encode(packet, bytes));
  packet = of("flag_ts");
  packet.timestamp_bits = 52;
  EXPECT_FALSE(encoder.encode(packet, bytes));
  packet.timestamp_bits = 6;
  EXPECT_FALSE(encoder.encode(packet, bytes));
  packet = of("user");
  EXPECT_FALSE(encoder.encode(packet, bytes));
  packet = of("m8");
  packet.marker = true;
  EXPECT_FALSE(encoder.encode(packet, bytes));
  packet = {};
  EXPECT_FALSE(encoder.encode(packet, bytes));
  EXPECT_EQ(bytes, std::vector<std::uint8_t>{0xAB});
  EXPECT_FALSE(encoder.half());
}

TEST(StmEncoder, refusal_leaves_a_free_nibble_free) {
  std::vector<std::uint8_t> bytes;
  Encoder encoder;
  ASSERT_TRUE(encoder.encode(of("null"), bytes));
  Packet packet = of("flag_ts");
  packet.timestamp_bits = 52;
  EXPECT_FALSE(encoder.encode(packet, bytes));
  ASSERT_TRUE(encoder.encode(of("flag"), bytes));
  EXPECT_EQ(bytes, support::nibbles("0FE"));
}

}  // namespace
}  // namespace waymark::stm
