#include "waymark/etmv4/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/parser_bench.h"

namespace waymark::etmv4 {
namespace {

class Etmv4Parser : public testing::Test, protected support::ParserBench {
 protected:
  /// The type that a header byte has as the first byte of a packet after ASYNC.
  PacketType type_of(std::uint8_t header) const {
    std::vector<std::uint8_t> bytes = async();
    bytes.push_back(header);
    bytes.resize(bytes.size() + 32, 0x01);
    Parser parser(config);
    const frames::Run run{.position = 0, .index = 0};
    parser.feed({bytes, {&run, 1}});
    Packet packet;
    parser.next(packet);
    EXPECT_TRUE(parser.next(packet));
    return packet.type;
  }
};

// ---- The unsynchronised search; etmv4-ete.md 2.2 ----------------------------------------------

TEST_F(Etmv4Parser, eight_bytes_without_a_zero_are_a_chunk_at_the_next_byte) {
  EXPECT_EQ(search({1, 2, 3, 4, 5, 6, 7, 8, 9}),
            "0 [01 02 03 04 05 06 07 08] I_NOT_SYNC\n8 [09] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, eight_bytes_at_the_end_are_held_and_incomplete) {
  EXPECT_EQ(search({1, 2, 3, 4, 5, 6, 7, 8}),
            "0 [01 02 03 04 05 06 07 08] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, a_zero_flushes_what_was_before_it) {
  EXPECT_EQ(search({5, 6, 0, 0, 7}),
            "0 [05 06] I_NOT_SYNC\n2 [00 00 07] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, a_zero_that_ends_the_trace_stays_with_what_was_before_it) {
  EXPECT_EQ(search({5, 6, 0}), "0 [05 06 00] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, two_zeros_at_the_end_are_an_unfinished_async) {
  EXPECT_EQ(search({0, 0}), "0 [00 00] I_INCOMPLETE_EOT[I_ASYNC]\n");
}

TEST_F(Etmv4Parser, a_lone_zero_goes_back_to_the_plain_search) {
  EXPECT_EQ(search({0, 1, 2, 3, 4, 5, 6, 7, 8}),
            "0 [00 01 02 03 04 05 06 07] I_NOT_SYNC\n8 [08] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, zeros_cut_short_stay_in_the_buffer_until_the_next_zero) {
  EXPECT_EQ(search({0, 0, 0, 0, 9, 0, 1}),
            "0 [00 00 00 00 09] I_NOT_SYNC\n5 [00 01] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, only_the_first_chunk_is_for_more_than_monitors) {
  EXPECT_EQ(search({1, 0, 2, 0, 3}),
            "0 [01] I_NOT_SYNC\n1* [00 02] I_NOT_SYNC\n3 [00 03] "
            "I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, an_async_synchronises) {
  EXPECT_EQ(search(async()), "0 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n");
}

TEST_F(Etmv4Parser, surplus_zeros_do_not_belong_to_the_async) {
  std::vector<std::uint8_t> bytes(13, 0x00);
  bytes.push_back(0x80);
  EXPECT_EQ(search(bytes),
            "0 [00] I_NOT_SYNC\n1* [00] I_NOT_SYNC\n"
            "2 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n");
  std::vector<std::uint8_t> wrong(11, 0x00);
  wrong.insert(wrong.end(), {0x81, 0x05});
  EXPECT_EQ(search(wrong),
            "0 [00 00 00 00 00 00 00 00 00 00 00 81] I_NOT_SYNC\n"
            "12 [05] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, quirk_surplus_zeros_are_dropped_one_by_one_and_do_not_move_the_index) {
  quirks.surplus_zeros_are_asyncs = true;
  std::vector<std::uint8_t> bytes(14, 0x00);
  bytes.push_back(0x80);
  EXPECT_EQ(search(bytes),
            "0 [00] I_ASYNC\n0* [00] I_ASYNC\n0* [00] I_ASYNC\n"
            "0 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n");
}

TEST_F(Etmv4Parser, quirk_a_wrong_twelfth_byte_is_a_bad_sequence_and_the_search_goes_on) {
  quirks.surplus_zeros_are_asyncs = true;
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.insert(bytes.end(), {0x81, 0x05});
  EXPECT_EQ(search(bytes),
            "0 [00 00 00 00 00 00 00 00 00 00 00 81] I_BAD_SEQUENCE[I_ASYNC]\n"
            "12 [05] I_INCOMPLETE_EOT[I_NOT_SYNC]\n");
}

TEST_F(Etmv4Parser, a_chunk_has_the_index_of_its_first_byte_unless_the_quirk_is_on) {
  const std::vector<std::uint8_t> bytes = {1,  2,  3,  4,  5,  6,  7,  8, 9,
                                           10, 11, 12, 13, 14, 15, 16, 1};
  const frames::Run runs[] = {{.position = 0, .index = 86}, {.position = 8, .index = 96}};
  const auto second_index = [&] {
    Parser parser(config, quirks);
    parser.feed({bytes, runs});
    Packet packet;
    EXPECT_TRUE(parser.next(packet));
    EXPECT_EQ(packet.index, 86U);
    EXPECT_TRUE(parser.next(packet));
    return packet.index;
  };
  EXPECT_EQ(second_index(), 96U);
  quirks.surplus_zeros_are_asyncs = true;
  EXPECT_EQ(second_index(), 94U);
}

TEST_F(Etmv4Parser, a_zero_in_the_next_segment_takes_its_own_index) {
  Parser parser(config);
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 1};
  const frames::Run runs[] = {{.position = 0, .index = 86}, {.position = 8, .index = 96}};
  parser.feed({bytes, runs});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.index, 96U);
}

TEST_F(Etmv4Parser, the_search_does_not_depend_on_chunks) {
  std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 7, 0, 1};
  bytes.resize(bytes.size() + 13, 0x00);
  bytes.insert(bytes.end(), {0x80, 0xF7});
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 8U, 16U})
    EXPECT_EQ(search(bytes, chunk), search(bytes)) << chunk;
}

TEST_F(Etmv4Parser, unsynchronised_bytes_are_counted) {
  std::vector<std::uint8_t> bytes(13, 0x00);
  bytes.insert(bytes.begin(), {1, 2, 3});
  bytes.insert(bytes.end(), {0x80, 0x08});
  Parser parser(config);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  while (parser.next(packet)) {
  }
  EXPECT_EQ(parser.statistics(),
            (ParserStatistics{
                .total_bytes = 18, .unsynced_bytes = 5, .bad_headers = 1, .bad_sequences = 0}));
}

// ---- Extension and async in sync ----------------------------------------------------------------

TEST_F(Etmv4Parser, after_a_bad_packet_it_searches_for_an_async) {
  std::vector<std::uint8_t> bytes = async();
  bytes.insert(bytes.end(), {0x08, 0xF7, 0x04, 0x02, 0x05});
  bytes.resize(bytes.size() + 11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x04});
  const std::string text =
      "0 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n12 [08] I_RESERVED\n"
      "13* [f7 04 02 05] I_NOT_SYNC\n17 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n"
      "29 [04] I_TRACE_ON\n";
  for (const std::size_t chunk : {1U, 2U, 5U, 13U, 64U}) EXPECT_EQ(search(bytes, chunk), text);
  quirks.no_search_after_bad_packet = true;
  EXPECT_THAT(search(bytes), testing::HasSubstr("13 [f7] I_ATOM_F1\n14 [04] I_TRACE_ON\n"));
}

TEST_F(Etmv4Parser, a_cut_packet_does_not_hide_the_async_whose_zeros_it_takes) {
  std::vector<std::uint8_t> bytes = async();
  bytes.insert(bytes.end(), {0x9D, 0x01, 0x02});
  bytes.resize(bytes.size() + 11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x04});
  const std::string text =
      "0 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n"
      "12 [9d 01 02 00 00 00 00 00 00] I_ADDR_L_64IS0\n21 [00 00 00 00 00 80] I_ASYNC\n"
      "27 [04] I_TRACE_ON\n";
  for (const std::size_t chunk : {1U, 2U, 5U, 13U, 23U, 64U}) EXPECT_EQ(search(bytes, chunk), text);
  bytes.erase(bytes.begin() + 15);
  EXPECT_THAT(search(bytes), testing::HasSubstr("I_BAD_SEQUENCE[I_ASYNC]\n"));
}

TEST_F(Etmv4Parser, surplus_zeros_in_sync_do_not_hide_an_async) {
  std::vector<std::uint8_t> bytes = async();
  bytes.resize(bytes.size() + 13, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x04});
  EXPECT_EQ(search(bytes),
            "0 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n12 [00] I_BAD_SEQUENCE[I_ASYNC]\n"
            "13* [00] I_NOT_SYNC\n14 [00 00 00 00 00 00 00 00 00 00 00 80] I_ASYNC\n"
            "26 [04] I_TRACE_ON\n");
}

TEST_F(Etmv4Parser, quirk_a_wrong_extension_is_two_bytes_of_bad_sequence) {
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(after_async({0x00, 0x01, 0x04}),
            "I_BAD_SEQUENCE : Invalid Sequence in packet.[I_EXTENSION]\n"
            "I_TRACE_ON : Trace On.\n");
}

TEST_F(Etmv4Parser, quirk_a_broken_async_ends_with_the_byte_that_broke_it) {
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(after_async({0x00, 0x00, 0x00, 0x04, 0x04}),
            "I_BAD_SEQUENCE : Invalid Sequence in packet.[I_ASYNC]\nI_TRACE_ON : Trace On.\n");
}

TEST_F(Etmv4Parser, quirk_twelve_zeros_in_sync_are_a_bad_sequence) {
  quirks.no_search_after_bad_packet = true;
  EXPECT_EQ(after_async({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x04}),
            "I_BAD_SEQUENCE : Invalid Sequence in packet.[I_ASYNC]\nI_TRACE_ON : Trace On.\n");
}

TEST_F(Etmv4Parser, discard_and_overflow) {
  EXPECT_EQ(after_async({0x00, 0x03, 0x00, 0x05}),
            "I_DISCARD : Discard.\nI_OVERFLOW : Overflow.\n");
}

TEST_F(Etmv4Parser, unfinished_packets_at_the_end_are_named) {
  EXPECT_EQ(after_async({0x00}),
            "I_INCOMPLETE_EOT : Incomplete packet at end of trace.[I_EXTENSION]\n");
  EXPECT_EQ(after_async({0x00, 0x00}),
            "I_INCOMPLETE_EOT : Incomplete packet at end of trace.[I_ASYNC]\n");
  EXPECT_EQ(after_async({0x95, 0x81}),
            "I_INCOMPLETE_EOT : Incomplete packet at end of trace.[I_ADDR_S_IS0]\n");
}

// ---- Layouts: none is complete before its last byte --------------------------------------------

TEST_F(Etmv4Parser, every_layout_waits_for_its_last_byte) {
  config.trcidr0 |= 3U << 15 | 1U << 6;
  config.trcidr0 &= ~(1U << 29);  // Commit counts in cycle count packets.
  config.trcconfigr |= 7U << 8;
  const std::vector<std::vector<std::uint8_t>> packets = {
      {0x00, 0x03},
      async(),
      {0x01, 0x9F, 0x00, 0x01, 0x05, 0x02, 0x16, 0x07},
      {0x02, 0xD7, 0xDF, 0x01},
      {0x02, 0x92, 0xCB, 0x81, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
      {0x03, 0x05, 0x81, 0x02},
      {0x06, 0x05},
      {0x06, 0x85, 0x10},
      {0x0C, 0x50},
      {0x0E, 0x81, 0x01, 0x82, 0x02},
      {0x0F, 0x81, 0x01},
      {0x2D, 0x85, 0x01},
      {0x2E, 0x01},
      {0x2F, 0x81, 0x01},
      {0x55, 0x12},
      {0x68, 0x81, 0x02, 0x83, 0x04},
      {0x6E, 0x81, 0x02},
      {0x6C, 0x81, 0x02},
      {0x6D, 0x03},
      {0x81, 0x31},
      {0x81, 0xF1, 1, 2, 3, 4, 5, 6, 7, 8},
      {0x82, 1, 2, 3, 4, 0x31},
      {0x83, 1, 2, 3, 4, 0xB1, 1, 2, 3, 4},
      {0x85, 1, 2, 3, 4, 5, 6, 7, 8, 0x71, 1, 2, 3, 4},
      {0x95, 0x01},
      {0x95, 0x81, 0x01},
      {0x96, 0x81, 0x81},
      {0x9A, 1, 2, 3, 4},
      {0x9B, 0x81, 0x82, 0x83, 0x84},
      {0x9D, 1, 2, 3, 4, 5, 6, 7, 8},
      {0x9E, 1, 2, 3, 4, 5, 6, 7, 8},
      {0xA1, 0x81, 0x01},
      {0xA5, 0x81, 0x01, 0x82, 0x02},
      {0xAB, 1, 2, 3, 4, 0x02},
      {0xAC, 0x02},
  };
  for (const auto& packet : packets)
    EXPECT_TRUE(is_whole_only_at_its_end(packet)) << fmt::format("{:02x}", fmt::join(packet, " "));
}

TEST_F(Etmv4Parser, every_ete_layout_waits_for_its_last_byte) {
  ete(3);
  for (const std::vector<std::uint8_t>& packet :
       std::vector<std::vector<std::uint8_t>>{{0x06, 0x31, 0x70},
                                              {0x06, 0x01, 0x00},
                                              {0x09, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                                              {0xB4, 0x81, 0x01},
                                              {0xB5, 0x01},
                                              {0xB6, 1, 2, 3, 4},
                                              {0xB9, 1, 2, 3, 4, 5, 6, 7, 8}})
    EXPECT_TRUE(is_whole_only_at_its_end(packet)) << fmt::format("{:02x}", fmt::join(packet, " "));
}

TEST_F(Etmv4Parser, a_field_without_end_is_a_bad_sequence_of_bounded_length) {
  std::vector<std::uint8_t> bytes = async();
  bytes.push_back(0x2D);
  bytes.resize(bytes.size() + 3 * Parser::kMaxPacketBytes, 0x80);
  Parser parser(config);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.type, PacketType::kBadSequence);
  EXPECT_EQ(packet.error_type, PacketType::kCommit);
  EXPECT_EQ(packet.length, Parser::kMaxPacketBytes);
}

// ---- Trace info; etmv4-ete.md 2.3 ---------------------------------------------------------------

TEST_F(Etmv4Parser, trace_info_with_all_sections_and_two_control_bytes) {
  EXPECT_EQ(after_async({0x01, 0x9F, 0x00, 0x01, 0x05, 0x02, 0x16, 0x07}),
            "I_TRACE_INFO : Trace Info.; INFO=0x1 { CC.1 }; CC_THRESHOLD=0x16; INIT SPEC DEPTH=2; "
            "Decoder Sync point TINFO\n");
}

TEST_F(Etmv4Parser, only_the_first_trace_info_is_initial) {
  EXPECT_EQ(after_info({0x01, 0x01, 0x00}), "I_TRACE_INFO : Trace Info.; INFO=0x0 { CC.0 }\n");
}

TEST_F(Etmv4Parser, info_bit_16_makes_a_trace_info_initial) {
  EXPECT_EQ(after_info({0x01, 0x01, 0x80, 0x80, 0x04}),
            "I_TRACE_INFO : Trace Info.; INFO=0x0 { CC.0 }; Decoder Sync point TINFO\n");
}

TEST_F(Etmv4Parser, ete_trace_info_gives_the_transaction_state) {
  ete();
  EXPECT_EQ(after_info({0x01, 0x01, 0x40}),
            "I_TRACE_INFO : Trace Info.; INFO=0x40 { CC.0, TSTATE.1 }\n");
}

TEST_F(Etmv4Parser, sections_longer_than_five_bytes_shift_the_later_ones) {
  std::vector<std::uint8_t> bytes = async();
  bytes.insert(bytes.end(), {0x01, 0x0F, 0x88, 0x82, 0x81, 0x80, 0x80, 0x01,  // INFO, six bytes
                             0x02, 0x03, 0x04});
  Parser parser(config);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.length, 11U);
  EXPECT_EQ(packet.trace_info.p0_key, 1U);  // KEY: INFO's sixth byte.
  EXPECT_EQ(packet.trace_info.spec_depth, 2U);
  EXPECT_EQ(packet.cc_threshold, 3U);
}

TEST_F(Etmv4Parser, a_trace_info_without_threshold_counts_from_zero_and_shows_the_old_one) {
  EXPECT_EQ(after_info({0x01, 0x09, 0x01, 0x16, 0x12, 0x01, 0x01, 0x01, 0x12}),
            "I_TRACE_INFO : Trace Info.; INFO=0x1 { CC.1 }; CC_THRESHOLD=0x16\n"
            "I_CCNT_F3 : Cycle Count format 3.; Count=0x18\n"
            "I_TRACE_INFO : Trace Info.; INFO=0x1 { CC.1 }; CC_THRESHOLD=0x16\n"
            "I_CCNT_F3 : Cycle Count format 3.; Count=0x2\n");
}

// ---- Timestamps; etmv4-ete.md 2.4 ---------------------------------------------------------------

TEST_F(Etmv4Parser, timestamps_of_the_captures) {
  EXPECT_EQ(after_info({0x02, 0xC0, 0xA1, 0xC5, 0x97, 0x80, 0x80, 0x00}),
            "I_TIMESTAMP : Timestamp.; Updated val = 0x2f150c0\n");
  EXPECT_EQ(after_info({0x02, 0x92, 0xCB, 0x81, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}),
            "I_TIMESTAMP : Timestamp.; Updated val = 0xfffffffff0006592\n");
}

TEST_F(Etmv4Parser, later_timestamps_replace_their_low_bits) {
  EXPECT_EQ(after_info({0x02, 0xD7, 0xDF, 0x01, 0x02, 0x05}),
            "I_TIMESTAMP : Timestamp.; Updated val = 0x6fd7\n"
            "I_TIMESTAMP : Timestamp.; Updated val = 0x6f85\n");
}

TEST_F(Etmv4Parser, the_first_timestamp_after_a_trace_info_is_absolute) {
  EXPECT_EQ(after_info({0x02, 0xD7, 0xDF, 0x01, 0x01, 0x00, 0x02, 0x05}),
            "I_TIMESTAMP : Timestamp.; Updated val = 0x6fd7\n"
            "I_TRACE_INFO : Trace Info.; INFO=0x0 { CC.0 }\n"
            "I_TIMESTAMP : Timestamp.; Updated val = 0x5\n");
}

TEST_F(Etmv4Parser, the_count_of_a_timestamp_is_cut_to_three_bytes_and_to_the_counter) {
  EXPECT_EQ(after_info({0x03, 0x05, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}),
            "I_TIMESTAMP : Timestamp.; Updated val = 0x5; CC=0xfff\n");
  config.trcidr2 |= 8U << 25;
  EXPECT_EQ(after_info({0x03, 0x05, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}),
            "I_TIMESTAMP : Timestamp.; Updated val = 0x5; CC=0xfffff\n");
}

// ---- Exceptions; etmv4-ete.md 2.5 ---------------------------------------------------------------

TEST_F(Etmv4Parser, exceptions_name_their_kind_and_their_address) {
  EXPECT_EQ(after_async({0x06, 0x05, 0x06, 0x5C, 0x06, 0x03}),
            "I_EXCEPT : Exception.;  Call; Ret Addr Follows;\n"
            "I_EXCEPT : Exception.;  IRQ; Ret Addr Follows, Match Prev;\n"
            "I_EXCEPT : Exception.;  Debug Halt; Ret Addr Follows;\n");
}

TEST_F(Etmv4Parser, a_second_byte_gives_the_high_bits_and_the_pending_fault) {
  config.core = {isa::Arch::kV8, isa::Profile::kM};
  EXPECT_EQ(after_async({0x06, 0x91, 0x30}),
            "I_EXCEPT : Exception.;  IRQ8; Fault Pending; Ret Addr Follows;\n");
}

TEST_F(Etmv4Parser, ete_resets_and_failed_transactions_have_types_of_their_own) {
  ete();
  EXPECT_EQ(after_async({0x06, 0x31, 0x70, 0x06, 0x01, 0x00}),
            "I_TRANS_FAIL : Transaction Fail.\nI_PE_RESET : PE Reset.\n");
}

TEST_F(Etmv4Parser, ete_takes_the_second_byte_of_other_numbers_for_an_exception) {
  ete();
  EXPECT_EQ(after_async({0x06, 0xB1, 0x70}),
            "I_EXCEPT : Exception.;  Reserved; Ret Addr Follows;\n");
}

TEST_F(Etmv4Parser, a_pe_reset_pushes_address_zero) {
  ete();
  EXPECT_EQ(after_info({0x9D, 1, 0, 1, 0, 1, 0, 0, 0, 0x06, 0x01, 0x00, 0x90, 0x92}),
            "I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0.; Addr=0x0000000100010004; \n"
            "I_PE_RESET : PE Reset.\n"
            "I_ADDR_MATCH : Exact Address Match., [0]; Addr=0x0000000000000000; \n"
            "I_ADDR_MATCH : Exact Address Match., [2]; Addr=0x0000000100010004; \n");
}

// ---- Counts, commit, cancel; etmv4-ete.md 2.6 ---------------------------------------------------

TEST_F(Etmv4Parser, cycle_counts_with_commit) {
  config.trcidr0 = 1U << 7;
  EXPECT_EQ(after_async({0x01, 0x09, 0x01, 0x16, 0x0C, 0x50, 0x1C, 0x0F, 0x01, 0x0E, 0x01, 0x21}),
            "I_TRACE_INFO : Trace Info.; INFO=0x1 { CC.1 }; CC_THRESHOLD=0x16; "
            "Decoder Sync point TINFO\n"
            "I_CCNT_F2 : Cycle Count format 2.; Count=0x16; Commit(6)\n"
            "I_CCNT_F3 : Cycle Count format 3.; Count=0x16; Commit(4)\n"
            "I_CCNT_F1 : Cycle Count format 1.; Count=0x0; Commit(1)\n"
            "I_CCNT_F1 : Cycle Count format 1.; Count=0x37; Commit(1)\n");
}

TEST_F(Etmv4Parser, cycle_counts_without_commit) {
  EXPECT_EQ(after_async({0x0D, 0xF6, 0x0F, 0x0E, 0x21, 0x13}),
            "I_CCNT_F2 : Cycle Count format 2.; Count=0x6\n"
            "I_CCNT_F1 : Cycle Count format 1.; Count=0x0\n"
            "I_CCNT_F1 : Cycle Count format 1.; Count=0x21\n"
            "I_CCNT_F3 : Cycle Count format 3.; Count=0x3\n");
}

TEST_F(Etmv4Parser, format_2_with_f_commits_up_to_the_speculation_depth) {
  config.trcidr0 = 1U << 7;
  config.trcidr8 = 78;
  EXPECT_EQ(after_async({0x0D, 0x50}),
            "I_CCNT_F2 : Cycle Count format 2.; Count=0x0; Commit(68)\n");
  config.trcidr8 = 0;
  EXPECT_EQ(after_async({0x0D, 0x50}),
            "I_CCNT_F2 : Cycle Count format 2.; Count=0x0; Commit(4294967286)\n");
}

TEST_F(Etmv4Parser, a_commit_field_longer_than_five_bytes_shifts_the_count) {
  config.trcidr0 = 1U << 7;
  EXPECT_EQ(after_async({0x0E, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x07, 0x08}),
            "I_CCNT_F1 : Cycle Count format 1.; Count=0x386; Commit(1350615297)\n");
}

TEST_F(Etmv4Parser, commits_cancels_and_mispredicts) {
  EXPECT_EQ(after_async({0x2D, 0x05, 0x2E, 0x02, 0x2F, 0x03, 0x30, 0x31, 0x32, 0x33, 0x34, 0x37,
                         0x38, 0x3F}),
            "I_COMMIT : Commit; Commit(5)\n"
            "I_CANCEL_F1 : Cancel Format 1.; Cancel(2)\n"
            "I_CANCEL_F1_MISPRED : Cancel Format 1 + Mispredict.; Cancel(3), Mispredict\n"
            "I_MISPREDICT : Mispredict.; Mispredict\n"
            "I_MISPREDICT : Mispredict.; Atom: E, Mispredict\n"
            "I_MISPREDICT : Mispredict.; Atom: EE, Mispredict\n"
            "I_MISPREDICT : Mispredict.; Atom: N, Mispredict\n"
            "I_CANCEL_F2 : Cancel Format 2.; Cancel(1), Mispredict\n"
            "I_CANCEL_F2 : Cancel Format 2.; Atom: N, Cancel(1), Mispredict\n"
            "I_CANCEL_F3 : Cancel Format 3.; Cancel(2), Mispredict\n"
            "I_CANCEL_F3 : Cancel Format 3.; Atom: E, Cancel(5), Mispredict\n");
}

// ---- Addresses; etmv4-ete.md 2.7 ----------------------------------------------------------------

TEST_F(Etmv4Parser, before_a_trace_info_unknown_digits_are_question_marks) {
  EXPECT_EQ(after_async({0x90, 0x95, 0xAF, 0x17, 0x95, 0x3D}),
            "I_ADDR_MATCH : Exact Address Match., [0]; Addr=0x0000000000000000; \n"
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000002EBC ~[0x2EBC]\n"
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000002EF4 ~[0xF4]\n");
  EXPECT_EQ(after_async({0x95, 0xAF, 0x17, 0x95, 0x3D}),
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x???02EBC (16:0) ~[0x2EBC]\n"
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x???02EF4 (16:0) ~[0xF4]\n");
}

TEST_F(Etmv4Parser, short_addresses_replace_low_bits) {
  EXPECT_EQ(after_info({0x95, 0xAF, 0x17, 0x96, 0x81, 0x01, 0x96, 0x7F}),
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000002EBC ~[0x2EBC]\n"
            "I_ADDR_S_IS1 : Address, Short, IS1.; Addr=0x0000000000000102 ~[0x102]\n"
            "I_ADDR_S_IS1 : Address, Short, IS1.; Addr=0x00000000000001FE ~[0xFE]\n");
}

TEST_F(Etmv4Parser, long_addresses_keep_or_clear_the_upper_half) {
  EXPECT_EQ(after_info({0x9D, 0x01, 0, 0, 0, 5, 0, 0, 0, 0x9A, 0x02, 0x01, 0, 0}),
            "I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0.; Addr=0x0000000500000004; \n"
            "I_ADDR_L_32IS0 : Address, Long, 32 bit, IS0.; Addr=0x0000000000000208; \n");
}

TEST_F(Etmv4Parser, a_64_bit_context_keeps_the_upper_half_of_32_bit_addresses) {
  EXPECT_EQ(after_info({0x81, 0x31, 0x9D, 0x01, 0, 0, 0, 5, 0, 0, 0, 0x9B, 0x02, 0x81, 0, 0}),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL1, NS; \n"
            "I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0.; Addr=0x0000000500000004; \n"
            "I_ADDR_L_32IS1 : Address, Long, 32 bit, IS1.; Addr=0x0000000500008104; \n");
}

TEST_F(Etmv4Parser, exact_matches_index_the_last_three_addresses) {
  EXPECT_EQ(after_info({0x95, 0x01, 0x95, 0x02, 0x95, 0x03, 0x92, 0x92, 0x91}),
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000000004 ~[0x4]\n"
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000000008 ~[0x8]\n"
            "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x000000000000000C ~[0xC]\n"
            "I_ADDR_MATCH : Exact Address Match., [2]; Addr=0x0000000000000004; \n"
            "I_ADDR_MATCH : Exact Address Match., [2]; Addr=0x0000000000000008; \n"
            "I_ADDR_MATCH : Exact Address Match., [1]; Addr=0x0000000000000004; \n");
}

TEST_F(Etmv4Parser, source_addresses_share_the_history) {
  ete();
  EXPECT_EQ(after_info({0xB4, 0x01, 0x91, 0xB1, 0xB6, 1, 0, 0, 0}),
            "I_SRC_ADDR_S_IS0 : Source Address, Short, IS0.; Addr=0x0000000000000004 ~[0x4]\n"
            "I_ADDR_MATCH : Exact Address Match., [1]; Addr=0x0000000000000000; \n"
            "I_SRC_ADDR_MATCH : Exact Source Address Match., [1]; Addr=0x0000000000000004; \n"
            "I_SRC_ADDR_L_32IS0 : Source Address, Long, 32 bit, IS0.; Addr=0x0000000000000004; \n");
}

// ---- Context; etmv4-ete.md 2.8 ------------------------------------------------------------------

TEST_F(Etmv4Parser, contexts_of_the_captures) {
  EXPECT_EQ(after_info({0x81, 0xF2, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, NS; CID=0x00000000; VMID=0x0000; \n"
            "I_CTXT : Context Packet.; Ctxt: Same\n");
  config.trcidr2 = 0x88;
  EXPECT_EQ(after_info({0x83, 0x01, 0x9A, 0x4F, 0x00, 0x00}),
            "I_ADDR_CTXT_L_32IS1 : Address & Context, Long, 32 bit, IS1.; "
            "Addr=0x00000000004F9A02; Ctxt: AArch32, EL0, S; \n");
}

TEST_F(Etmv4Parser, root_and_realm) {
  ete(3);
  EXPECT_EQ(after_info({0x81, 0x1B, 0x81, 0x3A}),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL3, Root; \n"
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, Realm; \n");
}

TEST_F(Etmv4Parser, a_vmid_has_as_many_bytes_as_the_registers_say) {
  config.trcidr2 = 1U << 10;
  EXPECT_EQ(after_info({0x81, 0x71, 0x12, 0x04}),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL1, NS; VMID=0x0012; \n"
            "I_TRACE_ON : Trace On.\n");
  config.trcidr2 = 2U << 10;
  EXPECT_EQ(after_info({0x81, 0x71, 0x12, 0x04}),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL1, NS; VMID=0x0412; \n");
}

TEST_F(Etmv4Parser, a_context_that_announces_fields_of_size_zero_eats_a_byte) {
  config.trcidr2 = 0;
  EXPECT_EQ(after_info({0x81, 0xF1, 0x99, 0x04}),
            "I_CTXT : Context Packet.; Ctxt: AArch64,EL1, NS; \nI_TRACE_ON : Trace On.\n");
  EXPECT_EQ(after_info({0x82, 1, 0, 0, 0, 0xF1, 0x04}),
            "I_ADDR_CTXT_L_32IS0 : Address & Context, Long, 32 bit, IS0.; "
            "Addr=0x0000000000000004; Ctxt: AArch64,EL1, NS; \nI_TRACE_ON : Trace On.\n");
}

// ---- Q; etmv4-ete.md 2.9 ------------------------------------------------------------------------

TEST_F(Etmv4Parser, q_packets_of_every_type) {
  config.trcidr0 |= 3U << 15;
  EXPECT_EQ(after_info({0xAA, 0x34, 0x3F, 0x06, 0x00, 0x03, 0xA5, 0x86, 0x1C, 0x03, 0xA1, 0x05,
                        0xAC, 0x07, 0xAF}),
            "I_Q : Q Packet.; Count(3); Addr=0x0000000000067ED0 ~[0x67ED0]\n"
            "I_Q : Q Packet.; Count(3); Addr=0x0000000000063818 ~[0x3818]\n"
            "I_Q : Q Packet.; Count(5); [1]; Addr=0x0000000000067ED0 ~[0x67ED0]\n"
            "I_Q : Q Packet.; Count(7)\n"
            "I_Q : Q Packet.; Count(Unknown)\n");
}

// ---- Headers by configuration; etmv4-ete.md 2.1, 2.12 -------------------------------------------

TEST_F(Etmv4Parser, headers_of_later_versions_are_reserved_before) {
  config.trcidr1 = 0x4100F423;
  EXPECT_EQ(type_of(0x70), PacketType::kReserved);
  config.trcidr1 = 0x4100F433;
  EXPECT_EQ(type_of(0x70), PacketType::kIgnore);
  config.trcidr1 = 0x4100F453;
  EXPECT_EQ(type_of(0x88), PacketType::kReserved);
  config.trcidr1 = 0x4100F463;
  EXPECT_EQ(type_of(0x88), PacketType::kTimestampMarker);
}

TEST_F(Etmv4Parser, headers_of_ete_are_reserved_in_etmv4) {
  for (const std::uint8_t header :
       std::initializer_list<std::uint8_t>{0x0A, 0x0B, 0x09, 0xB0, 0xB4, 0xB9})
    EXPECT_EQ(type_of(header), PacketType::kReserved) << int{header};
  ete();
  EXPECT_EQ(type_of(0x0A), PacketType::kTransactionStart);
  EXPECT_EQ(type_of(0x0B), PacketType::kTransactionCommit);
  EXPECT_EQ(type_of(0xB0), PacketType::kSourceMatch);
  EXPECT_EQ(type_of(0xB9), PacketType::kSource64Is1);
  EXPECT_EQ(type_of(0x88), PacketType::kTimestampMarker);
  EXPECT_EQ(type_of(0x09), PacketType::kReserved);
  ete(3);
  EXPECT_EQ(type_of(0x09), PacketType::kInstrumentation);
}

TEST_F(Etmv4Parser, an_exception_return_is_not_for_ete) {
  EXPECT_EQ(type_of(0x07), PacketType::kExceptionReturn);
  ete();
  EXPECT_EQ(after_async({0x07}),
            "I_RESERVED_CFG : Reserved header for current configuration.[I_EXCEPT_RTN]\n");
}

TEST_F(Etmv4Parser, a_function_return_is_for_v8_m_from_4_2_on) {
  EXPECT_EQ(type_of(0x05), PacketType::kReserved);
  config.core = {isa::Arch::kV8, isa::Profile::kM};
  EXPECT_EQ(type_of(0x05), PacketType::kFunctionReturn);
  config.trcidr1 = 0x4100F413;
  EXPECT_EQ(type_of(0x05), PacketType::kReserved);
}

TEST_F(Etmv4Parser, conditional_packets_need_both_registers) {
  EXPECT_EQ(type_of(0x43), PacketType::kReservedConfig);
  config.trcidr0 |= 1U << 6;
  EXPECT_EQ(type_of(0x43), PacketType::kReservedConfig);
  config.trcconfigr |= 7U << 8;
  EXPECT_EQ(type_of(0x43), PacketType::kCondFlush);
  EXPECT_EQ(type_of(0x6D), PacketType::kCondInstrF3);
  config.trcconfigr = 4U << 8;  // A reserved mode.
  EXPECT_EQ(type_of(0x43), PacketType::kReservedConfig);
}

TEST_F(Etmv4Parser, data_markers_need_data_trace) {
  EXPECT_EQ(type_of(0x23), PacketType::kReservedConfig);
  config.trcidr0 |= 3U << 3;
  config.trcconfigr = 1U << 16 | 1U << 1;
  EXPECT_EQ(type_of(0x23), PacketType::kNumberedDataSync);
  EXPECT_EQ(type_of(0x2C), PacketType::kUnnumberedDataSync);
  config.trcconfigr = 1U << 16;
  EXPECT_EQ(type_of(0x23), PacketType::kReservedConfig);
}

TEST_F(Etmv4Parser, q_needs_its_support) {
  EXPECT_EQ(type_of(0xA5), PacketType::kReserved);
  config.trcidr0 |= 1U << 15;
  EXPECT_EQ(type_of(0xA5), PacketType::kQ);
  EXPECT_EQ(type_of(0xA3), PacketType::kReserved);
}

// ---- Reset; etmv4-ete.md 5.1 --------------------------------------------------------------------

TEST_F(Etmv4Parser, reset_forgets_the_unfinished_packet_and_synchronisation) {
  Parser parser(config);
  std::vector<std::uint8_t> bytes = async();
  bytes.push_back(0x95);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  while (parser.next(packet)) {
  }
  parser.reset();
  EXPECT_FALSE(parser.synchronised());
  EXPECT_FALSE(parser.finish(packet));
}

TEST_F(Etmv4Parser, reset_makes_the_next_trace_info_initial_and_keeps_address_values) {
  Parser parser(config);
  std::vector<std::uint8_t> bytes = async();
  bytes.insert(bytes.end(), {0x01, 0x00, 0x9A, 0x01, 0x01, 0, 0});
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  while (parser.next(packet)) {
  }
  parser.reset();
  bytes = async();
  bytes.insert(bytes.end(), {0x95, 0x02, 0x91, 0x01, 0x00});
  parser.feed({bytes, {&run, 1}});
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.address.value, 0x208U);
  EXPECT_EQ(packet.address.valid_bits, 9);
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.address.value, 0x204U);
  ASSERT_TRUE(parser.next(packet));
  EXPECT_TRUE(packet.trace_info.initial);
}

}  // namespace
}  // namespace waymark::etmv4
