#include "waymark/stm/nibble_order.h"

#include <gtest/gtest.h>

#include "support/random.h"
#include "support/stm_bench.h"
#include "waymark/stm/encoder.h"

namespace waymark::stm {
namespace {

using support::StmBench;

const std::string kStart = std::string(support::kStmAsync) + "F003";

std::optional<NibbleOrder> order_of(std::string_view stream) {
  return detect_nibble_order(support::nibbles(stream));
}

// See mipi-syst.md 4: the simulator's 60 MHz, and a CoreSight clock.
TEST(StmNibbleOrder, a_round_frequency_decides) {
  EXPECT_EQ(order_of(kStart + "F0800783930"), NibbleOrder::kLeastFirst);
  EXPECT_EQ(order_of(kStart + "F0803938700"), NibbleOrder::kMostFirst);
  EXPECT_EQ(order_of(kStart + "F080124F800"), NibbleOrder::kMostFirst);
}

TEST(StmNibbleOrder, data_alone_does_not_decide) {
  EXPECT_EQ(order_of(kStart + "141 412 51234 F0812345678"), std::nullopt);
}

TEST(StmNibbleOrder, timestamps_that_go_back_decide) {
  for (const NibbleOrder order : {NibbleOrder::kMostFirst, NibbleOrder::kLeastFirst}) {
    for (const std::uint64_t version : {3U, 4U}) {
      std::vector<std::uint8_t> bytes;
      Encoder encoder(order);
      Packet packet;
      packet.type = PacketType::kAsync;
      ASSERT_TRUE(encoder.encode(packet, bytes));
      packet.type = PacketType::kVersion;
      packet.payload = version;
      ASSERT_TRUE(encoder.encode(packet, bytes));
      packet.type = PacketType::kFlag;
      packet.payload = 0;
      packet.has_timestamp = true;
      packet.timestamp_bits = 64;
      for (int i = 0; i < 100; ++i) {
        packet.timestamp += 0x1357;
        ASSERT_TRUE(encoder.encode(packet, bytes));
      }
      EXPECT_EQ(detect_nibble_order(bytes), order) << version;
    }
  }
}

TEST(StmNibbleOrder, fields_from_the_least_significant_nibble_on) {
  StmBench bench;
  bench.config.order = NibbleOrder::kLeastFirst;
  // The example of mipi-syst.md 4, its timestamp 0x2328 in 16 nibbles.
  EXPECT_EQ(bench.after_version("F10800 A17654321 E8232000000000000 F31200"),
            "M16:Set current master; Master=0x0080\n"
            "D32MTS:32 bit data + marker + timestamp; Data=0x12345671; TS=0x0000000000002328 "
            "~[0x2328]\n"
            "C16:Set current channel; Chan=0x0021\n");
}

TEST(StmNibbleOrder, automatic_order_holds_from_the_frequency_on) {
  StmBench bench;
  bench.config.order = NibbleOrder::kAuto;
  EXPECT_EQ(bench.after_version("51234 F0800783930 51234"),
            "D16:16 bit data; Data=0x1234\n"
            "FREQ:Frequency packet; Freq=60000000Hz\n"
            "D16:16 bit data; Data=0x4321\n");
}

TEST(StmNibbleOrder, nothing_is_known_of_an_empty_stream) {
  EXPECT_EQ(detect_nibble_order({}), std::nullopt);
}

// M8 0x12, C8 0x34, D8, FREQ of 60 MHz, D8; then with C16 0x1234 and M16 0x56.
TEST(StmNibbleOrder, what_is_in_force_is_put_right_when_the_order_is_found) {
  StmBench bench;
  bench.config.order = NibbleOrder::kAuto;
  const std::string found =
      "! This packet shows the nibble order, which was unknown until now. Fields of earlier "
      "packets were read in the wrong order.\n";
  EXPECT_EQ(bench.elements(kStart + "121 343 45A F0800783930 45A"),
            "0 NO_SYNC( [init-decoder])\n"
            "16 SWTRACE( (Ma:0x21; Ch:0x43) 0x5a; )\n" +
                found +
                "17 SWTRACE( (Ma:0x12; Ch:0x34) 0x03938700; Freq)\n"
                "23 SWTRACE( (Ma:0x12; Ch:0x34) 0xa5; )\n"
                "24 EO_TRACE( [end-of-trace])\n");
  EXPECT_EQ(bench.elements(kStart + "F16500 F34321 365 F0800783930 45A0"),
            "0 NO_SYNC( [init-decoder])\n" + found +
                "20 SWTRACE( (Ma:0x56; Ch:0x1256) 0x03938700; Freq)\n"
                "26 SWTRACE( (Ma:0x56; Ch:0x1256) 0xa5; )\n"
                "27 EO_TRACE( [end-of-trace])\n");
  EXPECT_EQ(bench.elements(kStart + "F0800783930 121 45A0").find('!'), std::string::npos)
      << "nothing was misread";
}

}  // namespace
}  // namespace waymark::stm
