#include "waymark/itm/decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/itm_bench.h"

namespace waymark::itm {
namespace {

using support::ItmBench;

TEST(ItmDecoder, waits_for_a_synchronisation) {
  EXPECT_EQ(ItmBench{}.elements({0x55, 0, 0, 0, 0, 0, 0x80, 0x01, 0x41}),
            "0 NO_SYNC( [init-decoder])\n"
            "7 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )\n");
}

TEST(ItmDecoder, needs_none_where_the_stream_has_none) {
  ItmBench bench;
  bench.config.starts_in_sync = true;
  EXPECT_EQ(bench.elements({0x01, 0x41, 0x04, 0x01, 0x42}),
            "0 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )\n"
            "2 ! A packet header is reserved.\n"
            "3 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x42) )\n");
}

TEST(ItmDecoder, finds_a_synchronisation_that_lost_zeros_to_a_cut_packet) {
  EXPECT_EQ(ItmBench{}.elements_after_async({0x01, 0x41, 0x01, 0, 0, 0, 0, 0, 0x80, 0x01, 0x42}),
            "6 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )\n"
            "8 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x00) )\n"
            "10 ! The packet before this synchronisation is cut short. Its last bytes are "
            "zeros of the synchronisation, so its content is wrong.\n"
            "15 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x42) )\n");
}

TEST(ItmDecoder, adds_local_timestamps) {
  EXPECT_EQ(ItmBench{}.elements_after_async({0x20, 0xD0, 0x0D, 0xE0, 0x01, 0xF0, 0x02}),
            "6 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000002) )\n"
            "7 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x0000000d, { TS Delay}; TS cumulative: "
            "0x000000000000000f) )\n"
            "9 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000001, { Packet Delay}; TS cumulative: "
            "0x0000000000000010) )\n"
            "11 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS and Packet Delay}; TS "
            "cumulative: 0x0000000000000012) )\n");
}

TEST(ItmDecoder, prescales_them_in_asynchronous_mode_only) {
  ItmBench bench;
  bench.config.itm_tcr = 0x0000'0312;  // Prescale 64, SWOENA, TSENA.
  EXPECT_EQ(bench.elements_after_async({0x20, 0x30}),
            "6 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000080) )\n"
            "7 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000003, { TS Sync}; TS cumulative: "
            "0x0000000000000140) )\n");
  bench.config.itm_tcr = 0x0000'0302;
  EXPECT_EQ(bench.elements_after_async({0x20}),
            "6 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000002) )\n");
}

TEST(ItmDecoder, marks_the_element_after_an_overflow_and_counts_local_time_on) {
  EXPECT_EQ(ItmBench{}.elements_after_async({0x20, 0x70, 0x19, 0xBB, 0x20}),
            "6 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000002) )\n"
            "8 ITMTRACE(ITM_OVERFLOW; ITM_SWIT (ch: 0x3; Data: 0xbb) )\n"
            "10 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000004) )\n");
}

TEST(ItmDecoder, numbers_ports_by_page) {
  EXPECT_EQ(ItmBench{}.elements_after_async(
                {0x51, 0xAC, 0x78, 0xF9, 0x01, 0x2C, 0x88, 0x01, 0xF9, 0x02, 0x08, 0xF9, 0x03}),
            "6 ITMTRACE(ITM_SWIT (ch: 0xa; Data: 0xac) )\n"
            "9 ITMTRACE(ITM_SWIT (ch: 0xff; Data: 0x01) )\n"
            // A hardware extension and a long one are not pages.
            "14 ITMTRACE(ITM_SWIT (ch: 0xff; Data: 0x02) )\n"
            "17 ITMTRACE(ITM_SWIT (ch: 0x1f; Data: 0x03) )\n");
}

/// The global times after a synchronisation: partial ones in brackets.
std::string global_times(std::vector<std::uint8_t> bytes, const Quirks& quirks = {}) {
  constexpr std::uint8_t kAsync[] = {0, 0, 0, 0, 0, 0x80};
  bytes.insert(bytes.begin(), std::begin(kAsync), std::end(kAsync));
  ItmBench bench;
  bench.config.quirks = quirks;
  std::string text;
  for (const Element& element : bench.decode(bytes)) {
    if (element.kind != ElementKind::kItmTrace) continue;
    const bool partial = (element.flags & kElementTimeIsPartial) != 0;
    text += fmt::format(fmt::runtime(partial ? "[{:x}] " : "{:x} "), element.timestamp);
  }
  return text;
}

// See stm-itm.md 14.
TEST(ItmDecoder, puts_global_timestamps_together) {
  EXPECT_EQ(ItmBench{}.elements_after_async({0x94, 0xD6, 0xE8, 0xC8, 0x07, 0xB4, 0x93, 0x98, 0xA0,
                                             0xA0, 0x80, 0x00, 0x94, 0x7A}),
            "11 ITMTRACE(ITM_TS_GLOBAL ( TS: 0x001020304cf23456) )\n"
            "18 ITMTRACE(ITM_TS_GLOBAL ( TS: 0x001020304cf2347a) )\n");
}

TEST(ItmDecoder, waits_for_the_upper_half_after_a_wrap) {
  EXPECT_EQ(global_times({0x94, 0x81, 0x80, 0x80, 0x00, 0xB4, 0x01, 0x94, 0xBA, 0xA4, 0x8E, 0x5A,
                          0xB4, 0x02, 0x94, 0x5D}),
            "4000001 b43923a b43925d ");
  EXPECT_EQ(global_times({0x94, 0xBA, 0xA4, 0x8E, 0x5A, 0x94, 0x5D, 0xB4, 0x02}), "b43925d ")
      << "The upper half comes late.";
}

TEST(ItmDecoder, gives_no_time_before_the_first_upper_half) {
  EXPECT_EQ(global_times({0x94, 0x05, 0x94, 0x86, 0x80, 0x80, 0x00, 0xB4, 0x01}), "4000006 ");
  EXPECT_EQ(global_times({0x94, 0x05, 0xB4, 0x01, 0x94, 0x86, 0x80, 0x80, 0x00}),
            "[4000005] 4000006 ");
  EXPECT_EQ(global_times({0x94, 0x05, 0xB4, 0x01}, {.global_time_is_whole = true}), "[4000005] ");
}

TEST(ItmDecoder, gives_partial_global_times_after_an_overflow) {
  const std::vector<std::uint8_t> halves = {0x94, 0xFF, 0xFF, 0xFF, 0x1F, 0xB4, 0x01, 0x70};
  const auto after = [&](std::vector<std::uint8_t> bytes, Quirks quirks = {}) {
    bytes.insert(bytes.begin(), halves.begin(), halves.end());
    return global_times(bytes, quirks);
  };
  EXPECT_EQ(after({0x94, 0x05, 0x94, 0x95, 0x80, 0x80, 0x00}), "7ffffff [7ffff85] [4000015] ");
  EXPECT_EQ(after({0x94, 0x95, 0x80, 0x80, 0x00, 0xB4, 0x02, 0x94, 0x16}),
            "7ffffff [4000015] 8000015 8000016 ");
  EXPECT_EQ(after({0x94, 0x05, 0xB4, 0x02}), "7ffffff [7ffff85] [8000005] ")
      << "Old bits of the lower half do not belong to the new upper half.";
  EXPECT_EQ(after({0xB4, 0x02}), "7ffffff ") << "The lower half may have been lost.";
  EXPECT_EQ(after({0x94, 0x05}, {.global_time_is_whole = true}), "7ffffff 7ffff85 ");
}

TEST(ItmDecoder, gives_partial_global_times_after_a_loss_of_synchronisation) {
  const std::vector<std::uint8_t> bytes = {0x94, 0xFF, 0xFF, 0xFF, 0x1F, 0xB4, 0x01, 0x04,
                                           0,    0,    0,    0,    0,    0x80, 0x94, 0x05};
  EXPECT_EQ(global_times(bytes), "7ffffff [7ffff85] ");
  EXPECT_EQ(global_times(bytes, {.global_time_is_whole = true}), "7ffffff ");
}

TEST(ItmDecoder, gives_no_time_of_an_upper_half_alone) {
  ItmBench bench;
  EXPECT_EQ(bench.elements_after_async({0xB4, 0x01}), "");
  bench.config.quirks.upper_half_alone = true;
  EXPECT_EQ(bench.elements_after_async({0xB4, 0x01}),
            "6 ITMTRACE(ITM_TS_GLOBAL ( TS: 0x0000000004000000) )\n");
}

TEST(ItmDecoder, flags_times_and_changes_of_the_clock) {
  ItmBench bench;
  const std::vector<std::uint8_t> bytes = {0,    0,    0,    0,    0,    0x80, 0x20, 0x94,
                                           0x82, 0xCF, 0xFA, 0x37, 0xB4, 0x01, 0x94, 0x01};
  auto elements = bench.decode(bytes);
  ASSERT_EQ(elements.size(), 4U);
  EXPECT_EQ(elements[1].flags, kElementHasTimestamp);
  EXPECT_EQ(elements[2].flags, kElementHasTimestamp | kElementFrequencyChange);
  EXPECT_EQ(elements[3].flags, kElementHasTimestamp);
  bench.config.quirks.element_flags_lost = true;
  for (const Element& element : bench.decode(bytes)) EXPECT_EQ(element.flags, 0);
}

// Comparator 1: PC, address, value; then a value on its own.
TEST(ItmDecoder, pairs_a_data_value_with_its_pc_and_address) {
  const auto elements = ItmBench{}.decode({0, 0, 0, 0, 0, 0x80, 0x57, 0x34, 0x12, 0x00, 0x08, 0x5E,
                                           0x10, 0x20, 0x9D, 0x44, 0x9D, 0x45});
  ASSERT_EQ(elements.size(), 5U);
  EXPECT_EQ(elements[3].reason, itm_known_bytes(4, 2));
  EXPECT_EQ(elements[3].end, 0x2010'0800'1234U);
  EXPECT_EQ(elements[3].start, 0x44U);
  EXPECT_EQ(elements[4].reason, 0);
}

TEST(ItmDecoder, pairs_by_comparator) {
  // PC of comparator 0, PC of comparator 2, value of 2, value of 0.
  const auto elements = ItmBench{}.decode(
      {0, 0, 0, 0, 0, 0x80, 0x47, 1, 0, 0, 0, 0x67, 2, 0, 0, 0, 0xA5, 0x22, 0x85, 0x11});
  ASSERT_EQ(elements.size(), 5U);
  EXPECT_EQ(elements[3].end, 2U);
  EXPECT_EQ(elements[4].end, 1U);
}

TEST(ItmDecoder, pairs_nothing_across_times_overflows_and_later_accesses) {
  for (const std::vector<std::uint8_t>& between :
       {std::vector<std::uint8_t>{0x20}, {0x70}, {0x94, 0x01}}) {
    std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x4E, 0x10, 0x20};
    bytes.insert(bytes.end(), between.begin(), between.end());
    bytes.insert(bytes.end(), {0x85, 0x11});
    EXPECT_EQ(ItmBench{}.decode(bytes).back().reason, 0);
  }
  const auto elements =
      ItmBench{}.decode({0, 0, 0, 0, 0, 0x80, 0x4E, 0x10, 0x20, 0x4E, 0x14, 0x20, 0x85, 0x11});
  EXPECT_EQ(elements.back().end >> 32, 0x2014U);
}

// Armv8-M: live-sources.md 8.
TEST(ItmDecoder, completes_fragments_by_the_register_of_the_comparator) {
  ItmBench bench;
  const std::vector<std::uint8_t> bytes = {0,    0,    0,    0,    0,    0x80, 0x46, 0x34,
                                           0x12, 0x4D, 0x10, 0x8D, 0x44, 0x45, 0x01};
  auto elements = bench.decode(bytes);
  ASSERT_EQ(elements.size(), 5U);
  EXPECT_EQ(elements[1].reason, itm_known_bytes(2, 0));
  EXPECT_EQ(elements[3].reason, itm_known_bytes(2, 1));
  EXPECT_EQ(elements[3].end, 0x10'0000'1234U);
  EXPECT_EQ(elements[4].reason, 0);  // A match is not a PC.
  bench.config.comparators[0] = 0x2000'20F0;
  elements = bench.decode(bytes);
  EXPECT_EQ(elements[3].reason, itm_known_bytes(4, 4));
  EXPECT_EQ(elements[3].end >> 32, 0x2000'2010U);
}

TEST(ItmDecoder, goes_on_at_the_next_synchronisation_after_a_bad_packet) {
  EXPECT_EQ(ItmBench{}.elements_after_async({0x58, 0x20, 0xC0, 0x80, 0x80, 0x80, 0x80, 0x01, 0x41,
                                             0, 0, 0, 0, 0, 0x80, 0x01, 0x42}),
            "7 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000002) )\n"
            "8 ! A local timestamp is longer than any valid one.\n"
            "8 NO_SYNC( [bad-packet])\n"
            "21 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x42) )\n");
}

TEST(ItmDecoder, stops_at_a_bad_packet_as_the_reference_does) {
  ItmBench bench;
  bench.config.quirks = Quirks::reference();
  EXPECT_EQ(bench.elements_after_async({0x01, 0x41, 0x04, 0x01, 0x42}),
            "6 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )\n");
}

TEST(ItmDecoder, reports_once_that_the_register_contradicts_the_stream) {
  ItmBench bench;
  bench.config.itm_tcr = 0x0020'0009;  // On, with DWT; no timestamps.
  EXPECT_EQ(bench.elements_after_async({0x05, 0x01, 0x20, 0x20}),
            "6 ITMTRACE(ITM_DWT (desc: 0x0; Data: 0x01) )\n"
            "8 ! The trace has local timestamps, although ITM_TCR switches them off (TSENA). The "
            "register was read at another time, so its prescaler (TSPrescale) may be wrong too.\n"
            "8 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000002) )\n"
            "9 ITMTRACE(ITM_TS_LOCAL ( TS delta: 0x00000002, { TS Sync}; TS cumulative: "
            "0x0000000000000004) )\n");
}

// The end of stm-itm.md 14.
TEST(ItmDecoder, resets_late_in_the_reference) {
  for (const bool late : {true, false}) {
    Config config;
    config.quirks.late_reset = late;
    Decoder decoder(config);
    Element element;
    Packet packet;
    packet.type = PacketType::kAsync;
    decoder.accept(packet);
    ASSERT_EQ(decoder.drain({&element, 1}), 1U);
    decoder.reset();
    packet.begin(PacketType::kNotSync, 0);
    decoder.accept(packet);
    EXPECT_EQ(decoder.busy(), !late);
    if (!late) {
      ASSERT_EQ(decoder.drain({&element, 1}), 1U);
    }
    packet.begin(PacketType::kAsync, 6);
    decoder.accept(packet);
    EXPECT_EQ(decoder.busy(), late);
    if (late) {
      ASSERT_EQ(decoder.drain({&element, 1}), 1U);
    }
    EXPECT_EQ(element.kind, ElementKind::kNoSync);
    EXPECT_EQ(element.reason, static_cast<std::uint8_t>(UnsyncReason::kResetDecoder));
  }
}

TEST(ItmDecoder, ends_with_the_index_of_the_last_packet) {
  Decoder decoder(Config{});
  Packet packet;
  packet.index = 77;
  packet.type = PacketType::kAsync;
  decoder.accept(packet);
  Element elements[2];
  ASSERT_EQ(decoder.drain(elements), 1U);
  decoder.end_of_trace();
  ASSERT_EQ(decoder.drain(elements), 1U);
  EXPECT_EQ(elements[0].kind, ElementKind::kEndOfTrace);
  EXPECT_EQ(elements[0].index, 77U);
}

}  // namespace
}  // namespace waymark::itm
