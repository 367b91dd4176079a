#include "waymark/itm/parser.h"

#include <gtest/gtest.h>

#include "support/itm_bench.h"

namespace waymark::itm {
namespace {

using support::ItmBench;

constexpr std::string_view kAsyncText = "ITM_ASYNC: ; 'Alignment synchronisation packet'\n";

std::string bytes_before_text(std::string text) {
  // The lines without the content that the text of a packet gives.
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string line = text.substr(0, end);
    out += line.substr(0, line.find(": ")) + '\n';
    text.erase(0, end + 1);
  }
  return out;
}

// The bytes of stm-itm.md 12.1 and of its capture.
const std::vector<std::uint8_t> kSearch = {0xF0, 0x00, 0x00, 0x34, 0x00, 0x12, 0x33, 0x44,
                                           0x12, 0x43, 0x55, 0x66, 0x22, 0x77, 0x88, 0x99,
                                           0x00, 0x00, 0x00, 0x00, 0x00, 0x80};

TEST(ItmSearch, gives_chunks_with_the_index_of_their_first_byte) {
  EXPECT_EQ(bytes_before_text(ItmBench{}.packets(kSearch)),
            "0 [f0] ITM_NOTSYNC\n"
            "1* [00 00 34] ITM_NOTSYNC\n"
            "4* [00 12 33 44 12 43 55 66] ITM_NOTSYNC\n"
            "12* [22 77 88 99] ITM_NOTSYNC\n"
            "16 [00 00 00 00 00 80] ITM_ASYNC\n");
}

TEST(ItmSearch, repeats_the_index_of_the_last_candidate_as_the_reference_does) {
  ItmBench bench;
  bench.config.quirks = Quirks::reference();
  EXPECT_EQ(bytes_before_text(bench.packets(kSearch)),
            "0 [f0] ITM_NOTSYNC\n"
            "1* [00 00 34] ITM_NOTSYNC\n"
            "4* [00 12 33 44 12 43 55 66] ITM_NOTSYNC\n"
            "4* [22 77 88 99] ITM_NOTSYNC\n"
            "16 [00 00 00 00 00 80] ITM_ASYNC\n");
}

TEST(ItmSearch, goes_on_after_its_first_chunk_with_the_index_of_the_next_byte) {
  ItmBench bench;
  bench.config.quirks = Quirks::reference();
  EXPECT_EQ(bytes_before_text(bench.packets({1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9})),
            "0 [01 02 03 04 05 06 07 08] ITM_NOTSYNC\n"
            "8* [01 02 03 04 05 06 07 08] ITM_NOTSYNC\n"
            "8* [09] ITM_NOTSYNC\n");
}

TEST(ItmSearch, reports_at_the_end_of_each_block_as_the_reference_does) {
  ItmBench bench;
  bench.config.quirks = Quirks::reference();
  EXPECT_EQ(bytes_before_text(bench.packets({0xF0, 0xF1, 0xF2, 0xF3, 0, 0, 0, 0, 0, 0x80}, 3)),
            "0 [f0 f1 f2] ITM_NOTSYNC\n"
            "3* [f3] ITM_NOTSYNC\n"
            "4 [00 00 00 00 00 80] ITM_ASYNC\n");
}

TEST(ItmSearch, begins_with_an_empty_packet_only_in_the_reference) {
  ItmBench bench;
  EXPECT_EQ(bytes_before_text(bench.packets(ItmBench::async())),
            "0 [00 00 00 00 00 80] ITM_ASYNC\n");
  bench.config.quirks = Quirks::reference();
  EXPECT_EQ(bytes_before_text(bench.packets(ItmBench::async())),
            "0 [] ITM_NOTSYNC\n0 [00 00 00 00 00 80] ITM_ASYNC\n");
}

TEST(ItmSearch, takes_any_number_of_zeros_from_five_on) {
  EXPECT_EQ(bytes_before_text(ItmBench{}.packets({0, 0, 0, 0, 0, 0, 0, 0, 0x80})),
            "0 [00 00 00 00 00 00 00 00 80] ITM_ASYNC\n");
  EXPECT_EQ(bytes_before_text(ItmBench{}.packets({0, 0, 0, 0, 0x80})),
            "0 [00 00 00 00 80] ITM_NOTSYNC\n");
}

TEST(ItmSearch, is_bounded_in_a_desert_of_zeros) {
  std::vector<std::uint8_t> bytes(3 * Parser::kMaxPacketBytes, 0);
  bytes.push_back(0x80);
  Parser parser({});
  Packet packet;
  const frames::Run run{};
  parser.feed({bytes, {&run, 1}});
  std::size_t sum = 0;
  while (parser.next(packet)) {
    EXPECT_EQ(packet.index, sum);
    EXPECT_LE(packet.length, Parser::kMaxPacketBytes);
    sum += packet.length;
  }
  EXPECT_EQ(packet.type, PacketType::kAsync);
  EXPECT_EQ(sum, bytes.size());
}

TEST(ItmSearch, is_left_out_where_the_stream_has_no_synchronisation) {
  ItmBench bench;
  bench.config.starts_in_sync = true;
  EXPECT_EQ(bytes_before_text(bench.packets({0x01, 0x48, 0x04, 0x01, 0x69})),
            "0 [01 48] ITM_SWIT\n2 [04] ITM_RESERVED\n3 [01 69] ITM_SWIT\n");
}

TEST(ItmParser, reads_on_at_the_next_synchronisation_after_a_bad_packet) {
  EXPECT_EQ(bytes_before_text(ItmBench{}.packets(
                {0, 0, 0, 0, 0, 0x80, 0x04, 0x03, 0, 0, 0, 0, 0, 0x80, 0x01, 0x41})),
            "0 [00 00 00 00 00 80] ITM_ASYNC\n"
            "6 [04] ITM_RESERVED\n"
            "7* [03] ITM_NOTSYNC\n"
            "8 [00 00 00 00 00 80] ITM_ASYNC\n"
            "14 [01 41] ITM_SWIT\n");
}

TEST(ItmParser, goes_on_with_the_next_byte_as_the_reference_does) {
  ItmBench bench;
  bench.config.quirks.goes_on_after_bad_packet = true;
  // The zeros become data of the packet that the byte 03 begins.
  EXPECT_EQ(bench.after_async({0x04, 0x03, 0, 0, 0, 0, 0x01, 0x41}),
            "ITM_RESERVED: ; 'Reserved Packet Header'\n"
            "ITM_SWIT: {src id: 0x00}  0x00000000; 'Software Stimulus write packet'\n"
            "ITM_SWIT: {src id: 0x00}  0x41; 'Software Stimulus write packet'\n");
}

TEST(ItmParser, bounds_continued_payloads) {
  const ItmBench bench;
  EXPECT_EQ(bench.after_async({0xC0, 0x80, 0x80, 0x80, 0x80}),
            "ITM_BAD_SEQUENCE: [Init type: ITM_TS_LOCAL] ; 'Invalid sequence in packet'\n");
  EXPECT_EQ(bench.after_async({0x94, 0x80, 0x80, 0x80, 0x80}),
            "ITM_BAD_SEQUENCE: [Init type: ITM_GTS_1] ; 'Invalid sequence in packet'\n");
  EXPECT_EQ(bench.after_async({0xB4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}),
            "ITM_BAD_SEQUENCE: [Init type: ITM_GTS_2] ; 'Invalid sequence in packet'\n");
  EXPECT_EQ(bench.after_async({0x88, 0x80, 0x80, 0x80, 0x80}),
            "ITM_BAD_SEQUENCE: [Init type: ITM_EXTENSION] ; 'Invalid sequence in packet'\n");
}

TEST(ItmParser, rejects_a_short_synchronisation) {
  EXPECT_EQ(ItmBench{}.after_async({0, 0, 0x80}),
            "ITM_BAD_SEQUENCE: [Init type: ITM_ASYNC] ; 'Invalid sequence in packet'\n");
  EXPECT_EQ(ItmBench{}.after_async({0, 0, 0, 0, 0, 0, 0x81}),
            "ITM_BAD_SEQUENCE: [Init type: ITM_ASYNC] ; 'Invalid sequence in packet'\n");
}

TEST(ItmParser, knows_every_reserved_header) {
  unsigned reserved = 0;
  unsigned reserved_in_reference = 0;
  for (unsigned header = 0; header < 256; ++header) {
    Packet packet;
    std::vector<std::uint8_t> bytes = ItmBench::async();
    bytes.insert(bytes.end(), {static_cast<std::uint8_t>(header), 0, 0, 0, 0, 0x80});
    for (const bool reference : {false, true}) {
      Config config;
      config.quirks.reserved_local_timestamps = reference;
      Parser parser(config);
      const frames::Run run{};
      parser.feed({bytes, {&run, 1}});
      ASSERT_TRUE(parser.next(packet));
      ASSERT_TRUE(parser.next(packet)) << header;
      if (packet.type == PacketType::kReserved) ++(reference ? reserved_in_reference : reserved);
    }
  }
  EXPECT_EQ(reserved_in_reference, 14U);  // xxxx0100 except 94 and B4.
  EXPECT_EQ(reserved, 18U);               // And 80, 90, A0, B0.
}

TEST(ItmParser, shows_what_was_begun_at_the_end_of_the_trace) {
  EXPECT_EQ(
      ItmBench{}.after_async({0x03, 0x01, 0x02}),
      "ITM_INCOMPLETE_EOT: [Init type: ITM_SWIT] ; 'Incomplete packet flushed at end of trace'\n");
  EXPECT_EQ(
      ItmBench{}.after_async({0, 0, 0}),
      "ITM_INCOMPLETE_EOT: [Init type: ITM_ASYNC] ; 'Incomplete packet flushed at end of trace'\n");
}

TEST(ItmParser, clears_the_flags_of_a_timestamp_in_its_bytes_only_in_the_reference) {
  ItmBench bench;
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x94, 0x82, 0xCF, 0xFA, 0x77};
  EXPECT_EQ(bench.packets(bytes),
            "0 [00 00 00 00 00 80] " + std::string(kAsyncText) +
                "6 [94 82 cf fa 77] ITM_GTS_1: { TS bits [25:0], Clk change, Clk wrap} 0x02fea782; "
                "'Global Timestamp [25:0]'\n");
  bench.config.quirks.timestamp_flags_cleared = true;
  EXPECT_NE(bench.packets(bytes).find("6 [94 82 cf fa 17] ITM_GTS_1: { TS bits [25:0], Clk change, "
                                      "Clk wrap} 0x02fea782"),
            std::string::npos);
  // The same if the packet is in two blocks.
  EXPECT_EQ(bench.packets(bytes, 9), bench.packets(bytes));
}

TEST(ItmParser, gives_no_packet_before_its_last_byte) {
  support::Random random(3);
  for (unsigned i = 0; i < 500; ++i) {
    std::vector<std::uint8_t> one;
    const Packet made = support::random_itm_packet(random);
    ASSERT_TRUE(encode(made, one));
    for (std::size_t size = 1; size <= one.size(); ++size) {
      std::vector<std::uint8_t> bytes = ItmBench::async();
      bytes.insert(bytes.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(size));
      Parser parser({});
      Packet packet;
      const frames::Run run{};
      parser.feed({bytes, {&run, 1}});
      ASSERT_TRUE(parser.next(packet));
      ASSERT_EQ(parser.next(packet), size == one.size());
    }
  }
}

TEST(ItmParser, counts_what_it_read) {
  const std::vector<std::uint8_t> bytes = {0x55, 0, 0, 0, 0, 0, 0x80, 0x04, 0x77};
  Parser parser({});
  Packet packet;
  const frames::Run run{};
  parser.feed({bytes, {&run, 1}});
  while (parser.next(packet)) {
  }
  EXPECT_TRUE(parser.finish(packet));
  EXPECT_EQ(parser.statistics(), (ParserStatistics{9, 2, 1, 0}));
}

TEST(ItmParser, gives_back_what_it_has_not_read) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x01, 0x41, 0x01, 0x42};
  Parser parser({});
  Packet packet;
  const frames::Run run{};
  parser.feed({bytes, {&run, 1}});
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(parser.withdraw(), 8U);
  EXPECT_FALSE(parser.next(packet));
  EXPECT_EQ(parser.statistics().total_bytes, 8U);
}

TEST(ItmParser, is_as_new_after_a_reset) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x03, 0x41};
  Parser parser({});
  Packet packet;
  const frames::Run run{};
  parser.feed({bytes, {&run, 1}});
  while (parser.next(packet)) {
  }
  parser.reset();
  EXPECT_FALSE(parser.synchronised());
  EXPECT_FALSE(parser.finish(packet));
}

}  // namespace
}  // namespace waymark::itm
