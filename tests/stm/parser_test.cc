#include "waymark/stm/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/stm_bench.h"

namespace waymark::stm {
namespace {

using support::kStmAsync;
using support::nibbles;
using support::StmBench;

const std::string kAsync(kStmAsync);

std::string after(std::string_view stream, char version = '3') {
  return StmBench().after_version(stream, version);
}

StmBench reference() {
  StmBench bench;
  bench.quirks = Quirks::reference();
  return bench;
}

// The examples of stm-itm.md 6.
TEST(StmParser, data_of_every_size) {
  EXPECT_EQ(after("C5 4A5 51234 612345678 7123456789ABCDEF0"),
            "D4:4 bit data; Data=0x5\n"
            "D8:8 bit data; Data=0xa5\n"
            "D16:16 bit data; Data=0x1234\n"
            "D32:32 bit data; Data=0x12345678\n"
            "D64:64 bit data; Data=0x123456789abcdef0\n");
}

TEST(StmParser, marked_data_of_every_size) {
  EXPECT_EQ(after("FD5 F8A5 F91234 FA12345678 FB123456789ABCDEF0"),
            "D4M:4 bit data + marker; Data=0x5\n"
            "D8M:8 bit data + marker; Data=0xa5\n"
            "D16M:16 bit data + marker; Data=0x1234\n"
            "D32M:32 bit data + marker; Data=0x12345678\n"
            "D64M:64 bit data + marker; Data=0x123456789abcdef0\n");
}

TEST(StmParser, timestamped_data_of_every_size) {
  EXPECT_EQ(after("FC511 F4A522E F5123430AF F61234567840BCD F7123456789ABCDEF00"),
            "D4TS:4 bit data + timestamp; Data=0x5; TS=0x0000000000000001 ~[0x1]\n"
            "D8TS:8 bit data + timestamp; Data=0xa5; TS=0x000000000000002E ~[0x2E]\n"
            "D16TS:16 bit data + timestamp; Data=0x1234; TS=0x00000000000000AF ~[0xAF]\n"
            "D32TS:32 bit data + timestamp; Data=0x12345678; TS=0x0000000000000BCD ~[0xBCD]\n"
            "D64TS:64 bit data + timestamp; Data=0x123456789abcdef0; TS=0x0000000000000BCD\n");
}

TEST(StmParser, marked_and_timestamped_data_of_every_size) {
  EXPECT_EQ(after("D8234 8A50 9123411 A12345678DFFFFFFFFFFFFFF B123456789ABCDEF010"),
            "D4MTS:4 bit data + marker + timestamp; Data=0x8; TS=0x0000000000000034 ~[0x34]\n"
            "D8MTS:8 bit data + marker + timestamp; Data=0xa5; TS=0x0000000000000034\n"
            "D16MTS:16 bit data + marker + timestamp; Data=0x1234; TS=0x0000000000000031 ~[0x1]\n"
            "D32MTS:32 bit data + marker + timestamp; Data=0x12345678; TS=0x00FFFFFFFFFFFFFF "
            "~[0xFFFFFFFFFFFFFF]\n"
            "D64MTS:64 bit data + marker + timestamp; Data=0x123456789abcdef0; "
            "TS=0x00FFFFFFFFFFFFF0 ~[0x0]\n");
}

TEST(StmParser, masters_and_channels) {
  EXPECT_EQ(after("112 F30480 322 113 F11234 301"),
            "M8:Set current master; Master=0x12\n"
            "C16:Set current channel; Chan=0x0480\n"
            "C8:Set current channel; Chan=0x0422\n"
            "M8:Set current master; Master=0x13\n"
            "M16:Set current master; Master=0x1234\n"
            "C8:Set current channel; Chan=0x0001\n");
}

TEST(StmParser, errors_reset_the_channel) {
  EXPECT_EQ(after("112 F30480 2AA 301 F30480 F2BB 302"),
            "M8:Set current master; Master=0x12\n"
            "C16:Set current channel; Chan=0x0480\n"
            "MERR:Master Error\n"
            "C8:Set current channel; Chan=0x0001\n"
            "C16:Set current channel; Chan=0x0480\n"
            "GERR:Global Error\n"
            "C8:Set current channel; Chan=0x0002\n");
}

TEST(StmParser, flags_triggers_and_frequency) {
  EXPECT_EQ(after("FE E11 F0677 F07882AB F080124F800 F013123"),
            "FLAG:Flag packet\n"
            "FLAGTS:Flag packet + timestamp; TS=0x0000000000000001 ~[0x1]\n"
            "TRIG:Trigger packet; TrigData=0x77\n"
            "TRIGTS:Trigger packet + timestamp; TrigData=0x88; TS=0x00000000000000AB ~[0xAB]\n"
            "FREQ:Frequency packet; Freq=19200000Hz\n"
            "NULL:Null packet; TS=0x0000000000000123 ~[0x123]\n");
}

TEST(StmParser, packets_that_coresight_does_not_send) {
  EXPECT_EQ(
      after("F021AB F0301215 F09000F42400 F0A17 F0B181F F0F00003938700 F0F100039387001A "
            "F0F2 F0F33C"),
      "USER:User data; Data=0xab\n"
      "USERTS:User data + timestamp; Data=0x1; TS=0x0000000000000015 ~[0x15]\n"
      "FREQTS:Frequency packet + timestamp; Freq=1000000Hz; TS=0x0000000000000015\n"
      "XSYNC:Cross synchronisation packet; Id=0x17\n"
      "XSYNCTS:Cross synchronisation packet + timestamp; Id=0x18; TS=0x000000000000001F "
      "~[0xF]\n"
      "FREQ_40:Frequency packet; Freq=60000000Hz\n"
      "FREQ_40TS:Frequency packet + timestamp; Freq=60000000Hz; TS=0x000000000000001A ~[0xA]\n"
      "DIP:DIP packet\n"
      "CERR:Channel Error; Code=0x3c\n");
}

TEST(StmParser, versions_and_their_timestamps) {
  EXPECT_EQ(after("E3123 F004 E18 F002 E15", '3'),
            "FLAGTS:Flag packet + timestamp; TS=0x0000000000000123 ~[0x123]\n"
            "VERSION:Version packet; Ver=4\n"
            // 0x123 is 0x1B2 in Gray code; 0x1B8 is 0x12F.
            "FLAGTS:Flag packet + timestamp; TS=0x000000000000012F ~[0xF]\n"
            "VERSION:Version packet; Ver=2\n"
            "FLAGTS:Flag packet + timestamp; TS=0x0000000000000134 ~[0x4]\n");
}

TEST(StmParser, gray_timestamps_as_in_the_sheet) {
  EXPECT_EQ(after("F4AA8DEADBEEF F4AA20F", '4'),
            "D8TS:8 bit data + timestamp; Data=0xaa; TS=0x0000000094C92B4A ~[0x94C92B4A]\n"
            "D8TS:8 bit data + timestamp; Data=0xaa; TS=0x0000000094C92BF5 ~[0xF5]\n");
}

TEST(StmParser, extended_version_says_the_nibble_order) {
  EXPECT_EQ(after("F00B82 51234 E2AB F00B02 51234"),
            "VERSION:Version packet; Ver=11; STPv2.3; little endian\n"
            "D16:16 bit data; Data=0x4321\n"
            "FLAGTS:Flag packet + timestamp; TS=0x00000000000000BA ~[0xBA]\n"
            "VERSION:Version packet; Ver=11; STPv2.3; big endian\n"
            "D16:16 bit data; Data=0x1234\n");
}

TEST(StmParser, packets_begin_in_either_nibble) {
  EXPECT_EQ(StmBench().lines(kAsync + "F003 4AA C5 0"),
            "0 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "11 [0f 30] VERSION:Version packet; Ver=3\n"
            "13 [a4 ca] D8:8 bit data; Data=0xaa\n"
            "14 [c0 05] D4:4 bit data; Data=0x5\n"
            "15 [00] NULL:Null packet\n");
}

TEST(StmParser, reference_counts_the_next_byte_for_an_upper_nibble) {
  const std::string text = reference().lines(kAsync + "F003 4AA C5 0");
  EXPECT_NE(text.find("15 [c0 05] D4"), std::string::npos) << text;
  EXPECT_NE(text.find("16 [00] NULL"), std::string::npos) << text;
}

TEST(StmParser, async_in_sync_at_either_nibble) {
  EXPECT_EQ(StmBench().lines(kAsync + kAsync + "4AA" + kAsync + "C5 0"),
            "0 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "11 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "22 [a4 fa] D8:8 bit data; Data=0xaa\n"
            "23 [f0 ff ff ff ff ff ff ff ff ff ff c0] ASYNC:Alignment synchronisation packet\n"
            "34 [c0 05] D4:4 bit data; Data=0x5\n"
            "35 [00] NULL:Null packet\n");
}

TEST(StmParser, bad_packets_of_every_kind) {
  const auto first = [](std::string_view stream, const Quirks& quirks = {}) {
    StmBench bench;
    bench.quirks = quirks;
    const std::string text = bench.lines(kAsync + std::string(stream) + "000000000000");
    const std::size_t begin = text.find('\n') + 1;
    const std::size_t space = text.find("] ", begin) + 2;
    return text.substr(space, text.find('\n', begin) - space);
  };
  EXPECT_EQ(first("F4AA1", Quirks::reference()), "BAD_SEQUENCE:Invalid sequence in packet[D8]");
  EXPECT_EQ(first("F003"), "VERSION:Version packet; Ver=3");
  EXPECT_EQ(first("F005"), "BAD_SEQUENCE:Invalid sequence in packet[VERSION]");
  EXPECT_EQ(first("F001"), "BAD_SEQUENCE:Invalid sequence in packet[VERSION]");
  EXPECT_EQ(first("F4AAF"), "BAD_SEQUENCE:Invalid sequence in packet[D8]");
  EXPECT_EQ(first("FFFF3"), "BAD_SEQUENCE:Invalid sequence in packet[ASYNC]");
  EXPECT_EQ(first("F0C"), "RESERVED:Reserved Packet Header");
  EXPECT_EQ(first("F041"), "TIME:Time packet of unknown layout");
  EXPECT_EQ(first("F0F9"), "RESERVED:Reserved Packet Header");
  EXPECT_EQ(first("FF1"), "PDID:Packet of unknown layout");
}

TEST(StmParser, search_after_a_bad_packet) {
  EXPECT_EQ(StmBench().lines(kAsync + "F005 4AA 4BB" + kAsync + "F003 4CC"),
            "0 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "11 [0f 50] BAD_SEQUENCE:Invalid sequence in packet[VERSION]\n"
            "13 [a4 4a bb] NOTSYNC:STM not synchronised\n"
            "16 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "27 [0f 30] VERSION:Version packet; Ver=3\n"
            "29 [c4 0c] D8:8 bit data; Data=0xcc\n"
            "30 [00] NULL:Null packet\n");
}

TEST(StmParser, reference_reads_on_after_a_bad_packet) {
  EXPECT_EQ(reference().lines(kAsync + "F005 4AA F10"),
            "0 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "11 [0f 50] BAD_SEQUENCE:Invalid sequence in packet[VERSION]\n"
            "13 [a4 fa] D8:8 bit data; Data=0xaa\n"
            "15 [f0 01] RESERVED:Reserved Packet Header\n"
            "16 [00] NULL:Null packet\n");
}

TEST(StmParser, reference_names_the_packet_before_a_bad_async) {
  const std::string text = reference().lines(kAsync + "F003 FFFF3 0");
  EXPECT_NE(text.find("13 [ff ff 03] BAD_SEQUENCE:Invalid sequence in packet[VERSION]"),
            std::string::npos)
      << text;
}

// A nibble is lost, so D8 takes the first F of the ASYNC.
TEST(StmParser, async_that_begins_in_a_packet) {
  std::vector<Packet> packets;
  StmBench().parse(nibbles(kAsync + "F003 4A" + kAsync + "F003 4BB"), 4096,
                   [&](const Parser&, const Packet& packet) { packets.push_back(packet); });
  ASSERT_GE(packets.size(), 6U);
  EXPECT_EQ(packets[2].payload, 0xAFU);
  EXPECT_EQ(packets[3].type, PacketType::kAsync);
  EXPECT_EQ(packets[3].defect, Defect::kAsyncInPacket);
  EXPECT_EQ(packets[3].nibbles, 21);
  EXPECT_EQ(packets[5].payload, 0xBBU);
}

// The payload takes 8 F nibbles, the length nibble is another, and the search finds the rest.
TEST(StmParser, async_that_begins_in_a_bad_packet) {
  std::vector<Packet> packets;
  StmBench().parse(nibbles(kAsync + "F003 A" + kAsync + "F003 4BB"), 4096,
                   [&](const Parser&, const Packet& packet) { packets.push_back(packet); });
  ASSERT_GE(packets.size(), 6U);
  EXPECT_EQ(packets[2].defect, Defect::kTimestampSize);
  EXPECT_EQ(packets[3].type, PacketType::kAsync);
  EXPECT_EQ(packets[3].nibbles, 13);
  EXPECT_EQ(packets[5].payload, 0xBBU);
}

TEST(StmParser, unsynchronised_bytes_come_in_pieces) {
  const std::string junk(2 * 40 + 1, '1');
  EXPECT_EQ(StmBench().lines(junk + kAsync + "F003"),
            "0 [11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11] NOTSYNC:STM not synchronised\n"
            "16 [11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11] NOTSYNC:STM not synchronised\n"
            "32 [11 11 11 11 11 11 11 11 f1] NOTSYNC:STM not synchronised\n"
            "40 [f0 ff ff ff ff ff ff ff ff ff ff f0] ASYNC:Alignment synchronisation packet\n"
            "51 [f0 00 03] VERSION:Version packet; Ver=3\n"
            "53 [00] NULL:Null packet\n");
}

TEST(StmParser, nothing_but_unsynchronised_bytes) {
  EXPECT_EQ(StmBench().lines("FFFF1234"), "0 [ff ff 21 43] NOTSYNC:STM not synchronised\n");
}

// See stm-itm.md 5.1; each case was observed in the reference.
TEST(StmParser, reference_shows_unsynchronised_bytes_by_block) {
  EXPECT_EQ(reference().lines("111FFF" + kAsync + "F003", 4),
            "0 [11 f1] NOTSYNC:STM not synchronised\n"
            "4 [] NOTSYNC:STM not synchronised\n"
            "8 [] NOTSYNC:STM not synchronised\n"
            "12 [ff 0f] NOTSYNC:STM not synchronised\n"
            "1 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "14 [0f 30] VERSION:Version packet; Ver=3\n");
}

TEST(StmParser, reference_counts_unsynchronised_nibbles_in_eight_bits) {
  EXPECT_EQ(reference().lines(std::string(260, '1') + kAsync + "F003"),
            "0 [11 11] NOTSYNC:STM not synchronised\n"
            "2 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "141 [0f 30] VERSION:Version packet; Ver=3\n");
}

TEST(StmParser, reference_shows_bytes_beyond_a_segment) {
  // 15 bytes whose last three are F and are held back; then a segment of one byte.
  const std::vector<std::uint8_t> first = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
                                           0x11, 0x11, 0x11, 0x11, 0xFF, 0xFF, 0xFF};
  std::vector<std::uint8_t> memory = first;
  memory[0] = 0x21;
  const frames::Run runs[] = {{.position = 0, .index = 0}, {.position = 0, .index = 15}};
  Parser parser(Config{}, Quirks::reference());
  Packet packet;
  parser.feed({first, {runs, 1}});
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(parser.packet_bytes().size(), 12U);
  ASSERT_FALSE(parser.next(packet));
  parser.feed({Bytes(memory).first(1), {runs + 1, 1}, memory});
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.index, 15U);
  EXPECT_THAT(parser.packet_bytes(), testing::ElementsAre(0x21, 0x11, 0x11, 0x11));
}

TEST(StmParser, incomplete_at_the_end) {
  EXPECT_EQ(after("412 F6123"),
            "D8:8 bit data; Data=0x12\n"
            "INCOMPLETE_EOT:Incomplete packet flushed at end of trace[D32]\n");
  EXPECT_EQ(after("FFFFFF"), "INCOMPLETE_EOT:Incomplete packet flushed at end of trace[ASYNC]\n");
  EXPECT_EQ(reference().after_version("412 0FFFF"),
            "D8:8 bit data; Data=0x12\n"
            "INCOMPLETE_EOT:Incomplete packet flushed at end of trace[NULL]\n");
}

TEST(StmParser, the_last_block_is_not_read_after_the_end) {
  // An ASYNC that was found, and a packet that is carried, at the end.
  for (const std::string_view stream :
       {"12FFFFFFFFFFFFFFFFFFFFF0", "FFFFFFFFFFFFFFFFFFFFF0F0034412"}) {
    const std::vector<std::uint8_t> bytes = nibbles(stream);
    stm::Parser parser({}, {});
    stm::Packet packet;
    const frames::Run run{};
    for (const std::uint8_t byte : bytes) {
      // The sanitizers see a read of a block that is gone.
      const std::vector<std::uint8_t> block = {byte};
      parser.feed({block, {&run, 1}});
      while (parser.next(packet)) continue;
    }
    while (parser.finish(packet)) EXPECT_FALSE(parser.next(packet));
  }
}

TEST(StmParser, endless_f_nibbles_are_bounded) {
  const std::vector<std::uint8_t> erased(100000, 0xFF);
  std::vector<std::uint8_t> bytes = nibbles(kAsync);
  bytes.insert(bytes.end(), erased.begin(), erased.end());
  bytes.push_back(0);
  std::size_t longest = 0;
  PacketType last = PacketType::kNotSync;
  StmBench().parse(bytes, 4096, [&](const Parser& parser, const Packet& packet) {
    longest = std::max(longest, parser.packet_bytes().size());
    last = packet.type == PacketType::kNull ? last : packet.type;
  });
  EXPECT_EQ(longest, Parser::kMaxPacketBytes);
  EXPECT_EQ(last, PacketType::kAsync);
}

TEST(StmParser, withdrawn_bytes_leave_the_nibble_that_was_not_used) {
  const std::vector<std::uint8_t> bytes = nibbles(kAsync + "F003 4AA 4BB 4CC 0");
  Parser parser(Config{});
  Packet packet;
  const frames::Run run{};
  parser.feed({bytes, {&run, 1}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.payload, 0xAAU);
  const std::size_t used = parser.withdraw();
  EXPECT_EQ(used, 15U);
  EXPECT_FALSE(parser.next(packet));
  const frames::Run rest{.position = 0, .index = used};
  parser.feed({Bytes(bytes).subspan(used), {&rest, 1}});
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.payload, 0xBBU);
  EXPECT_EQ(packet.index, 14U);
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.payload, 0xCCU);
}

TEST(StmParser, a_nibble_that_is_left_has_the_index_of_the_next_block_with_the_quirk) {
  const std::vector<std::uint8_t> bytes = nibbles(kAsync + "F003 4AA 4BB");
  for (const bool quirk : {false, true}) {
    Parser parser(Config{}, {.index_of_next_byte = quirk});
    Packet packet;
    const frames::Run run{};
    parser.feed({Bytes(bytes).first(15), {&run, 1}});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(parser.next(packet));
    EXPECT_EQ(parser.withdraw(), 15U);
    // At the end of the trace it is lost.
    EXPECT_EQ(Parser(parser).finish(packet), !quirk);
    const frames::Run next{.position = 0, .index = 40};
    parser.feed({Bytes(bytes).subspan(15), {&next, 1}});
    ASSERT_TRUE(parser.next(packet));
    EXPECT_EQ(packet.payload, 0xBBU);
    EXPECT_EQ(packet.index, quirk ? 40U : 14U);
  }
}

TEST(StmParser, reset_forgets_what_packets_set) {
  Parser parser(Config{});
  Packet packet;
  std::vector<std::uint8_t> bytes = nibbles(kAsync + "F003 112 E2AB");
  const frames::Run run{};
  parser.feed({bytes, {&run, 1}});
  while (parser.next(packet)) {
  }
  EXPECT_EQ(packet.timestamp, 0xABU);
  parser.reset();
  EXPECT_FALSE(parser.synchronised());
  bytes = nibbles(kAsync + "F003 E10");
  parser.feed({bytes, {&run, 1}});
  while (parser.next(packet)) {
  }
  EXPECT_EQ(packet.timestamp, 0U);
  EXPECT_EQ(packet.master, 0);
}

TEST(StmParser, timestamps_before_any_version) {
  const auto texts = [](const Quirks& quirks) {
    StmBench bench;
    bench.quirks = quirks;
    return bench.lines(kAsync + "F4AA15 F4AB0 4AC 0");
  };
  EXPECT_EQ(texts({}),
            "0 [ff ff ff ff ff ff ff ff ff ff 0f] ASYNC:Alignment synchronisation packet\n"
            "11 [4f aa 51] D8TS:8 bit data + timestamp; Data=0xaa; TS=unknown\n"
            "14 [4f ba 40] D8TS:8 bit data + timestamp; Data=0xab; TS=0x0000000000000000\n"
            "16 [40 ca] D8:8 bit data; Data=0xac\n"
            "18 [00] NULL:Null packet\n"
            "18 [00] NULL:Null packet\n");
  EXPECT_NE(texts(Quirks::reference()).find("11 [4f aa 51] BAD_SEQUENCE"), std::string::npos);
}

/// The index of every packet in one block with the quirks of the reference.
std::vector<TraceIndex> reference_indexes(const std::vector<std::uint8_t>& bytes) {
  StmBench reference;
  reference.quirks = Quirks::reference();
  std::vector<TraceIndex> indexes;
  reference.parse(bytes, 4096,
                  [&](const Parser&, const Packet& packet) { indexes.push_back(packet.index); });
  return indexes;
}

// 255 nibbles come before the first F: the count of 8 bits is 0 after it.
TEST(StmParser, reference_counts_an_f_after_a_wrap_from_the_front) {
  std::vector<std::uint8_t> bytes(127, 0x11);
  bytes.push_back(0xF1);
  bytes.insert(bytes.end(), 10, 0xFF);
  bytes.insert(bytes.end(), {0xF0, 0x00, 0x43});
  for (int i = 0; i < 60; ++i) bytes.insert(bytes.end(), {0x44, 0x12});
  const std::vector<TraceIndex> indexes = reference_indexes(bytes);
  ASSERT_FALSE(indexes.empty());
  EXPECT_EQ(indexes[0], 0U);
  for (const TraceIndex index : indexes) EXPECT_LE(index, bytes.size() + 1);
}

TEST(StmParser, no_index_of_the_reference_is_past_the_end) {
  // A finding of stm_decode_fuzz, without its settings.
  std::vector<std::uint8_t> bytes = {0xFF, 0x0E, 0x00, 0x00, 0xA1, 0xE8, 0x53, 0x63};
  bytes.insert(bytes.end(), 83, 0xFF);
  bytes.insert(bytes.end(), 8, 0x21);
  bytes.insert(bytes.end(),
               {0xFF, 0xFF, 0x00, 0x16, 0xE8, 0x00, 0xE0, 0x80, 0x44, 0xF6, 0xFF, 0xFF,
                0xCF, 0xF0, 0xFE, 0x06, 0x00, 0x6C, 0x9F, 0xFD, 0xFF, 0xFF, 0xFF, 0xFF,
                0xFF, 0xFF, 0xFF, 0x01, 0x00, 0xE0, 0x60, 0x8E, 0xF6, 0xFF, 0xFF, 0xFF});
  bytes.insert(bytes.end(), {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF0});
  for (const TraceIndex index : reference_indexes(bytes)) EXPECT_LE(index, bytes.size() + 1);
  // Runs of F nibbles at every distance from the wrap.
  for (std::size_t before = 100; before < 300; ++before) {
    std::vector<std::uint8_t> run(before, 0x11);
    run.push_back(0xF1);
    run.insert(run.end(), 40, 0xFF);
    run.push_back(0x00);
    for (const TraceIndex index : reference_indexes(run))
      EXPECT_LE(index, run.size() + 1) << before;
  }
}

}  // namespace
}  // namespace waymark::stm
