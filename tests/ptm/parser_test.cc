#include "waymark/ptm/parser.h"

#include <gtest/gtest.h>

#include "support/ptm_bench.h"

namespace waymark::ptm {
namespace {

class PtmParser : public testing::Test, protected support::PtmBench {};

// ---- The unsynchronised search; ptm.md 7 --------------------------------------------------------

TEST_F(PtmParser, five_zeros_and_0x80_synchronise) {
  EXPECT_EQ(search({0, 0, 0, 0, 0, 0x80}), "0 [00 00 00 00 00 80] ASYNC\n");
}

TEST_F(PtmParser, up_to_fifteen_zeros_belong_to_it) {
  std::vector<std::uint8_t> bytes(15, 0);
  bytes.push_back(0x80);
  EXPECT_EQ(search(bytes), "0 [00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80] ASYNC\n");
}

TEST_F(PtmParser, of_sixteen_zeros_the_last_five_stay_candidates) {
  std::vector<std::uint8_t> bytes(16, 0);
  bytes.push_back(0x80);
  EXPECT_EQ(search(bytes),
            "0 [00 00 00 00 00 00 00 00 00 00 00] NOTSYNC\n11 [00 00 00 00 00 80] ASYNC\n");
}

TEST_F(PtmParser, four_zeros_are_none) {
  EXPECT_EQ(search({0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0x80}),
            "0 [00 00 00 00 80] NOTSYNC\n5 [00 00 00 00 00 80] ASYNC\n");
}

TEST_F(PtmParser, unsynchronised_bytes_are_reported_in_sixteens_and_once_for_more_than_monitors) {
  std::vector<std::uint8_t> bytes(18, 0x11);
  bytes.insert(bytes.end(), {0, 0, 0, 0, 0, 0x80});
  EXPECT_EQ(search(bytes),
            "0 [11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11] NOTSYNC\n"
            "16* [11 11] NOTSYNC\n18 [00 00 00 00 00 80] ASYNC\n");
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U})
    EXPECT_EQ(search(bytes, chunk), search(bytes));
}

TEST_F(PtmParser, the_reference_reports_them_at_the_end_of_a_block_too) {
  quirks.chunks_end_with_blocks = true;
  EXPECT_EQ(search({1, 2, 3, 4, 0, 0, 0, 0, 0, 0x80}, 3),
            "0 [01 02 03] NOTSYNC\n3* [04] NOTSYNC\n4 [00 00 00 00 00 80] ASYNC\n");
}

TEST_F(PtmParser, what_is_left_at_the_end_is_incomplete) {
  EXPECT_EQ(search({1, 2, 0}), "0 [01 02 00] INCOMPLETE_EOT\n");
}

TEST_F(PtmParser, segments_of_frames_are_blocks_to_the_reference) {
  quirks.chunks_end_with_blocks = true;
  const std::vector<std::uint8_t> bytes(20, 0x11);
  const frames::Run runs[] = {{0, 100, false}, {2, 112, true}};
  Parser parser(config, quirks);
  parser.feed({bytes, runs});
  Packet packet;
  std::string text;
  while (parser.next(packet)) text += fmt::format("{}:{} ", packet.index, packet.length);
  EXPECT_EQ(text, "100:2 112:15 128:3 ");
}

// ---- Packets ------------------------------------------------------------------------------------

TEST_F(PtmParser, an_async_in_flow_needs_five_zeros) {
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(packets({0, 0, 0, 0, 0, 0, 0x80}), "ASYNC : Alignment Synchronisation Packet; \n");
  EXPECT_EQ(packets({0, 0, 0x84}), "BAD_SEQUENCE : Invalid sequence in packet; [ASYNC]; \n");
  EXPECT_EQ(packets({0, 0, 0, 0, 0x80, 0x66}),
            "BAD_SEQUENCE : Invalid sequence in packet; [ASYNC]; \nIGNORE : Ignore packet; \n");
}

TEST_F(PtmParser, sixteen_zeros_in_flow_are_bad_and_the_next_byte_is_a_header) {
  quirks.no_search_after_bad_packet = true;
  quirks.async_has_at_most_15_zeros = true;
  EXPECT_EQ(packets({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x66}),
            "BAD_SEQUENCE : Invalid sequence in packet; [ASYNC]; \nIGNORE : Ignore packet; \n");
}

TEST_F(PtmParser, a_reserved_header_is_one_byte) {
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(packets({0x10, 0x66}),
            "RESERVED : Reserved Packet Header; \nIGNORE : Ignore packet; \n");
}

TEST_F(PtmParser, bad_bytes_are_counted) {
  quirks.no_search_after_bad_packet = true;
  Parser parser(config, quirks);
  const std::vector<std::uint8_t> bytes = {7, 0, 0, 0, 0, 0, 0x80, 0x10, 0x10, 0, 1, 0x84};
  const frames::Run run{0, 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  while (parser.next(packet)) {
  }
  EXPECT_EQ(parser.statistics(), (ParserStatistics{12, 1, 2, 1}));
}

TEST_F(PtmParser, an_unfinished_packet_is_reported_at_the_end) {
  EXPECT_EQ(packets({0x84, 0x08, 1, 2}),
            "ATOM : Atom packet; E; \n"
            "INCOMPLETE_EOT : Incomplete packet flushed at end of trace; \n");
}

TEST_F(PtmParser, indexes_follow_the_runs_of_frames) {
  std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80};
  bytes.resize(40, 0x84);
  const frames::Run runs[] = {{0, 32, true}};
  Parser parser(config);
  parser.feed({bytes, runs});
  std::vector<Packet> packets(64);
  ASSERT_EQ(parser.next(std::span(packets)), 35U);
  EXPECT_EQ(packets[1].index, 38U);
  EXPECT_EQ(packets[9].index, 46U);
  EXPECT_EQ(packets[10].index, 48U);  // A frame's last byte is not in the stream.
  EXPECT_EQ(packets[34].index, 32 + 32 + 9U);
}

TEST_F(PtmParser, an_async_may_have_any_number_of_zeros) {
  std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x84};
  bytes.resize(bytes.size() + 30, 0);
  bytes.insert(bytes.end(), {0x80, 0x84});
  for (const std::size_t chunk : {1U, 3U, 16U, 100U}) {
    EXPECT_EQ(search(bytes, chunk),
              "0 [00 00 00 00 00 80] ASYNC\n"
              "6 [84] ATOM\n"
              "7* [00 00 00 00 00 00 00 00 00 00 00] NOTSYNC\n"
              "18* [00 00 00 00 00 00 00 00 00 00 00] NOTSYNC\n"
              "29 [00 00 00 00 00 00 00 00 80] ASYNC\n"
              "38 [84] ATOM\n")
        << chunk;
  }
  quirks.async_has_at_most_15_zeros = true;
  EXPECT_EQ(search({0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
            "0 [00 00 00 00 00 80] ASYNC\n"
            "6 [00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00] BAD_SEQUENCE\n");
}

TEST_F(PtmParser, an_async_is_found_where_a_cut_packet_took_its_zeros) {
  const std::vector<std::uint8_t> bytes = {0,    0, 0, 0, 0, 0x80,  // A branch whose rest is lost:
                                           0x81, 0, 0, 0, 0, 0,    0x80, 0x84};
  for (const std::size_t chunk : {1U, 2U, 3U, 4U, 5U, 100U}) {
    EXPECT_EQ(search(bytes, chunk),
              "0 [00 00 00 00 00 80] ASYNC\n"
              "6 [81 00] BRANCH_ADDRESS\n"
              "8 [00 00 00 00 80] ASYNC\n"
              "13 [84] ATOM\n")
        << chunk;
  }
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(search(bytes),
            "0 [00 00 00 00 00 80] ASYNC\n"
            "6 [81 00] BRANCH_ADDRESS\n"
            "8 [00 00 00 00 80] BAD_SEQUENCE\n"
            "13 [84] ATOM\n");
}

TEST_F(PtmParser, after_a_bad_packet_the_next_async_is_searched) {
  const std::vector<std::uint8_t> bytes = {0, 0,    0, 0, 0, 0x80, 0x10, 0x84, 0x08,
                                           1, 0x84, 0, 0, 0, 0,    0,    0x80, 0x84};
  for (const std::size_t chunk : {1U, 100U}) {
    EXPECT_EQ(search(bytes, chunk),
              "0 [00 00 00 00 00 80] ASYNC\n"
              "6 [10] RESERVED\n"
              "7* [84 08 01 84] NOTSYNC\n"
              "11 [00 00 00 00 00 80] ASYNC\n"
              "17 [84] ATOM\n")
        << chunk;
  }
}

TEST_F(PtmParser, a_reset_forgets_addresses_and_the_instruction_set) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x08, 1, 0, 0, 0x80, 0x61};
  const std::vector<std::uint8_t> more = {0, 0, 0, 0, 0, 0x80, 0x2F};
  const frames::Run run{0, 0};
  Parser parser(config);
  Packet packet;
  parser.feed({bytes, {&run, 1}});
  while (parser.next(packet)) {
  }
  parser.reset();
  EXPECT_FALSE(parser.synchronised());
  parser.feed({more, {&run, 1}});
  while (parser.next(packet)) {
  }
  EXPECT_EQ(packet.address, (Address{0x2E, 7, 7}));
  EXPECT_EQ(packet.isa, isa::Isa::kUnknown);
}

TEST_F(PtmParser, withdraw_takes_back_what_is_not_read) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x84, 0x84};
  const frames::Run run{0, 0};
  Parser parser(config);
  Packet packet;
  parser.feed({bytes, {&run, 1}});
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(parser.withdraw(), 7U);
  EXPECT_FALSE(parser.next(packet));
  EXPECT_EQ(parser.statistics().total_bytes, 7U);
}

// ---- Doubts about the registers -----------------------------------------------------------------

class PtmRegisterConflicts : public PtmParser {
 protected:
  [[nodiscard]] std::vector<RegisterConflict> conflicts(
      const std::vector<std::uint8_t>& bytes) const {
    std::vector<std::uint8_t> all = {0, 0, 0, 0, 0, 0x80};
    all.insert(all.end(), bytes.begin(), bytes.end());
    Parser parser(config);
    const frames::Run run{0, 0};
    parser.feed({all, {&run, 1}});
    Packet packet;
    std::vector<RegisterConflict> found;
    while (parser.next(packet))
      if (packet.conflict != RegisterConflict::kNone) found.push_back(packet.conflict);
    return found;
  }
  static std::vector<std::uint8_t> repeat(std::initializer_list<std::uint8_t> bytes, int times) {
    std::vector<std::uint8_t> all;
    for (int i = 0; i < times; ++i) all.insert(all.end(), bytes);
    return all;
  }
};

TEST_F(PtmRegisterConflicts, headers_like_cycle_counts_in_a_trace_without) {
  // Branches, each followed by a count of one.
  EXPECT_EQ(conflicts(repeat({0x2F, 0x04}, 20)), std::vector{RegisterConflict::kCycleCountsInFlow});
  EXPECT_TRUE(conflicts(repeat({0x2F, 0x04}, 3)).empty());
}

TEST_F(PtmRegisterConflicts, cycle_counts_that_are_none) {
  config.etmcr = kCycles;
  // Branches and atoms: the atom is at the place of the count.
  EXPECT_EQ(conflicts(repeat({0x2F, 0x84}, 20)), std::vector{RegisterConflict::kCycleCountForm});
  EXPECT_TRUE(conflicts(repeat({0x2F, 0x04}, 20)).empty());
}

TEST_F(PtmRegisterConflicts, context_ids_without_a_size) {
  EXPECT_EQ(conflicts(repeat({0x6E}, 9)), std::vector{RegisterConflict::kContextIdOff});
  config.etmcr = kContextId4;
  EXPECT_TRUE(conflicts(repeat({0x6E, 1, 2, 3, 4}, 9)).empty());
}

TEST_F(PtmRegisterConflicts, timestamps_longer_than_the_registers_allow) {
  config.etmccer &= ~kLongTimestamps;
  EXPECT_EQ(conflicts(repeat({0x42, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81}, 9)),
            std::vector{RegisterConflict::kTimestampTooLong});
  EXPECT_TRUE(conflicts(repeat({0x42, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x21}, 9)).empty());
}

}  // namespace
}  // namespace waymark::ptm
