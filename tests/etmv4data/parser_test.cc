#include "waymark/etmv4data/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/random.h"
#include "waymark/base/text_buffer.h"
#include "waymark/etmv4data/encoder.h"
#include "waymark/etmv4data/fields.h"
#include "waymark/etmv4data/text.h"

namespace waymark::etmv4data {
namespace {

using Data = std::vector<std::uint8_t>;

Data operator+(Data left, const Data& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
const Data kAsync = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};

/// "index [bytes] text", one packet per line; the bytes of long ones are counted.
std::string packets(const Data& bytes, std::size_t chunk = 65536, const Config& config = {}) {
  std::string text;
  Parser parser(config);
  Packet packet;
  const auto take = [&] {
    TextBuffer out;
    write_packet(out, packet);
    const Bytes raw = parser.packet_bytes();
    EXPECT_EQ(raw.size(), packet.length);
    text += raw.size() > 16
                ? fmt::format("{} [{} bytes] {}\n", packet.index, raw.size(), out.view())
                : fmt::format("{} [{:02x}] {}\n", packet.index, fmt::join(raw, " "), out.view());
  };
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    const frames::Run run{.position = 0, .index = at};
    parser.feed({Bytes(bytes).subspan(at, std::min(chunk, bytes.size() - at)), {&run, 1}});
    while (parser.next(packet)) take();
  }
  if (parser.finish(packet)) take();
  EXPECT_FALSE(parser.finish(packet));
  return text;
}

const std::string kAsyncLine =
    "0 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n";

TEST(Etmv4DataParser, reads_what_is_certain) {
  EXPECT_EQ(packets(kAsync + Data{0x01, 0x03, 0x00, 0x03, 0x00, 0x05, 0x00, 0x1B}),
            kAsyncLine +
                "12 [01] D_UNNUM_DS_MKR : Data Synchronisation Marker - Unnumbered.\n"
                "13 [03] D_SUPPRESSION : Data Suppressed.\n"
                "14 [00 03] D_DISCARD : Discard.\n"
                "16 [00 05] D_OVERFLOW : Overflow.\n"
                "18 [00 1b] D_NUM_DS_MKR : Data Synchronisation Marker - Numbered.; 5\n");
}

TEST(Etmv4DataParser, updates_the_low_bits_of_timestamps) {
  EXPECT_EQ(packets(kAsync + Data{0x02, 0x85, 0x01, 0x02, 0x06, 0x02, 0x80, 0x80, 0x80, 0x80, 0x80,
                                  0x80, 0x80, 0x80, 0xFF}),
            kAsyncLine +
                "12 [02 85 01] D_TIMESTAMP : Timestamp.; Updated val = 0x85\n"
                "15 [02 06] D_TIMESTAMP : Timestamp.; Updated val = 0x86\n"
                "17 [02 80 80 80 80 80 80 80 80 ff] D_TIMESTAMP : Timestamp.; Updated val = "
                "0xff00000000000000\n");
}

TEST(Etmv4DataParser, passes_over_unknown_layouts_up_to_the_next_synchronisation) {
  EXPECT_EQ(packets(kAsync + Data{0x75, 0x12, 0x34, 0x01, 0x03} + kAsync + Data{0x01}),
            kAsyncLine +
                "12 [75 12 34 01 03] D_UNKNOWN : Packets of unknown layout.[D_P1_F1]; 5 bytes\n"
                "17 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n"
                "29 [01] D_UNNUM_DS_MKR : Data Synchronisation Marker - Unnumbered.\n");
}

TEST(Etmv4DataParser, gives_long_gaps_in_pieces) {
  const std::string text = packets(kAsync + Data(3000, 0x20));
  EXPECT_EQ(text,
            kAsyncLine +
                "12 [1012 bytes] D_UNKNOWN : Packets of unknown layout.[D_P2_F1]; 1012 bytes\n"
                "1024 [1012 bytes] D_UNKNOWN : Packets of unknown layout.[D_P2_F1]; "
                "continued, 1012 bytes\n"
                "2036 [976 bytes] D_UNKNOWN : Packets of unknown layout.[D_P2_F1]; "
                "continued, 976 bytes\n");
}

TEST(Etmv4DataParser, takes_the_last_zeros_of_a_run_for_the_synchronisation) {
  EXPECT_EQ(packets(kAsync + Data{0x04, 0x00, 0x00} + kAsync),
            kAsyncLine +
                "12 [04 00 00] D_UNKNOWN : Packets of unknown layout.[D_EVENT]; 3 bytes\n"
                "15 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n");
}

TEST(Etmv4DataParser, resynchronises_after_reserved_headers_and_bad_sequences) {
  EXPECT_EQ(packets(kAsync + Data{0xC0, 0x01} + kAsync + Data{0x00, 0x07, 0x01} + kAsync +
                    Data{0, 0, 0, 0x01} + kAsync),
            kAsyncLine +
                "12 [c0 01] D_RESERVED : Reserved Packet Header\n"
                "14 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n"
                "26 [00 07 01] D_RESERVED : Reserved Packet Header\n"
                "29 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n"
                "41 [00 00 00 01] D_BAD_SEQUENCE : Invalid Sequence in packet.[D_ASYNC]\n"
                "45 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n");
}

TEST(Etmv4DataParser, searches_first) {
  EXPECT_EQ(packets(Data{0x01, 0x02} + kAsync),
            "0 [01 02] D_NOT_SYNC : D Stream not synchronised\n"
            "2 [00 00 00 00 00 00 00 00 00 00 00 80] D_ASYNC : Alignment Synchronisation.\n");
}

TEST(Etmv4DataParser, shows_what_was_begun_at_the_end_of_the_trace) {
  EXPECT_EQ(packets(kAsync + Data{0x02, 0x80}),
            kAsyncLine +
                "12 [02 80] D_INCOMPLETE_EOT : Incomplete packet at end of trace.[D_TIMESTAMP]\n");
  EXPECT_EQ(
      packets(kAsync + Data{0x00}),
      kAsyncLine + "12 [00] D_INCOMPLETE_EOT : Incomplete packet at end of trace.[D_ASYNC]\n");
}

TEST(Etmv4DataParser, reads_layouts_that_the_user_supplies) {
  Config config;
  config.layouts = *parse_layouts("D_P1_F1 fixed=1 continued=2\nD_TRACE_INFO fixed=2\nD_P2_F1\n");
  EXPECT_EQ(packets(kAsync + Data{0x00, 0x01, 0x11, 0x22, 0x70, 0xAA, 0x85, 0x84, 0x70, 0xAA, 0x05,
                                  0x20, 0x01, 0x80, 0x12},
                    65536, config),
            kAsyncLine +
                "12 [00 01 11 22] D_TRACE_INFO : Trace Info.\n"
                "16 [70 aa 85 84] D_P1_F1 : Data Address, format 1.\n"
                "20 [70 aa 05] D_P1_F1 : Data Address, format 1.\n"
                "23 [20] D_P2_F1 : Data Value, format 1.\n"
                "24 [01] D_UNNUM_DS_MKR : Data Synchronisation Marker - Unnumbered.\n"
                "25 [80 12] D_UNKNOWN : Packets of unknown layout.[D_P1_F2]; 2 bytes\n");
}

// Every header of the tables in etmv4-data.md 2, by name.
TEST(Etmv4DataParser, classifies_every_header) {
  const auto type_of = [](std::uint8_t header) {
    const std::string text = packets(kAsync + Data{header, 0x55});
    return text.substr(kAsyncLine.size());
  };
  EXPECT_NE(type_of(0x10).find("[D_P2_F4]"), std::string::npos);
  EXPECT_NE(type_of(0x14).find("[D_P1_F3]"), std::string::npos);
  EXPECT_NE(type_of(0x1F).find("[D_P2_F5]"), std::string::npos);
  EXPECT_NE(type_of(0x2F).find("[D_P2_F1]"), std::string::npos);
  EXPECT_NE(type_of(0x37).find("[D_P2_F2]"), std::string::npos);
  EXPECT_NE(type_of(0x3F).find("[D_P2_F6]"), std::string::npos);
  EXPECT_NE(type_of(0x5F).find("[D_P2_F3]"), std::string::npos);
  EXPECT_NE(type_of(0x6F).find("[D_P1_F4]"), std::string::npos);
  EXPECT_NE(type_of(0x7F).find("[D_P1_F1]"), std::string::npos);
  EXPECT_NE(type_of(0xBF).find("[D_P1_F2]"), std::string::npos);
  EXPECT_NE(type_of(0xF5).find("[D_P1_F7]"), std::string::npos);
  EXPECT_NE(type_of(0xF7).find("[D_P1_F6]"), std::string::npos);
  EXPECT_NE(type_of(0xFF).find("[D_P1_F5]"), std::string::npos);
  for (const std::uint8_t reserved : Data{0x05, 0x0F, 0xC0, 0xF4})
    EXPECT_NE(type_of(reserved).find("D_RESERVED"), std::string::npos);
}

TEST(Etmv4DataParser, gives_the_same_in_any_chunks_and_covers_every_byte) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    support::Random random(seed);
    Data bytes;
    for (unsigned i = 0; i < 60; ++i) {
      if (random.one_in(5)) bytes = bytes + kAsync;
      if (random.one_in(6)) bytes = bytes + Data(random.below(14), 0);
      bytes.push_back(random.pick<std::uint8_t>({0, 1, 2, 3, 0x75, random.byte(), random.byte()}));
    }
    Config config;
    if (random.coin()) config.layouts = *parse_layouts("D_P1_F2 fixed=1 continued=3\nD_P1_F1\n");
    const std::string whole = packets(bytes, 65536, config);
    for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U})
      ASSERT_EQ(packets(bytes, chunk, config), whole) << seed;
    Parser parser(config);
    Packet packet;
    const frames::Run run{};
    parser.feed({bytes, {&run, 1}});
    Data covered;
    while (parser.next(packet)) {
      ASSERT_EQ(packet.index, covered.size()) << seed;
      covered.insert(covered.end(), parser.packet_bytes().begin(), parser.packet_bytes().end());
    }
    if (parser.finish(packet))
      covered.insert(covered.end(), parser.packet_bytes().begin(), parser.packet_bytes().end());
    ASSERT_EQ(covered, bytes) << seed;
  }
}

TEST(Etmv4DataEncoder, writes_what_the_parser_reads) {
  for (const std::string_view keyword : {"async", "discard", "overflow", "marker_unnumbered",
                                         "marker_numbered", "suppression", "timestamp"}) {
    auto packet = packet_of_keyword(keyword);
    ASSERT_TRUE(packet) << keyword;
    packet->marker = 6;
    packet->timestamp = 0x1234567890;
    Data bytes = kAsync;
    ASSERT_TRUE(encode(*packet, bytes));
    Parser parser({});
    Packet read;
    const frames::Run run{};
    parser.feed({bytes, {&run, 1}});
    ASSERT_TRUE(parser.next(read));
    ASSERT_TRUE(parser.next(read)) << keyword;
    EXPECT_EQ(read.type, packet->type);
    EXPECT_EQ(read.length, bytes.size() - kAsync.size());
    const bool numbered = read.type == PacketType::kNumberedMarker;
    EXPECT_EQ(read.marker, numbered ? 6 : 0);
    EXPECT_EQ(read.timestamp, read.type == PacketType::kTimestamp ? 0x1234567890U : 0U);
  }
}

TEST(Etmv4DataEncoder, refuses_what_is_not_known) {
  Data out;
  Packet packet;
  packet.type = PacketType::kAddressF1;
  EXPECT_FALSE(encode(packet, out));
  packet.type = PacketType::kNumberedMarker;
  packet.marker = 8;
  EXPECT_FALSE(encode(packet, out));
  packet.type = PacketType::kTimestamp;
  packet.timestamp_bits = 8;
  EXPECT_FALSE(encode(packet, out));
  EXPECT_TRUE(out.empty());
  EXPECT_FALSE(packet_of_keyword("address_f1"));
}

TEST(Etmv4DataLayouts, errors_name_the_wrong_line) {
  EXPECT_EQ(parse_layouts("D_P1_F1 fixed=1\n\n# c\nD_ASYNC fixed=1\n").error().detail.substr(0, 17),
            "line 4: 'D_ASYNC'");
  EXPECT_EQ(parse_layouts("D_P1_F1 fixed=256\n").error().detail,
            "line 1: 'fixed=256' is neither fixed=N nor continued=N with N up to 255.");
  EXPECT_EQ(parse_layouts("D_P1_F1\nD_P1_F1\n").error().detail,
            "line 2: D_P1_F1 already has a layout.");
  EXPECT_FALSE(parse_layouts("D_P1_F1 length=2\n"));
  const auto layouts = parse_layouts("D_P2_F6 continued=9 fixed=2 # comment\r\n");
  ASSERT_TRUE(layouts);
  EXPECT_EQ(layouts->find(PacketType::kValueF6), (Layout{2, 9}));
  EXPECT_FALSE(layouts->find(PacketType::kValueF5));
}

}  // namespace
}  // namespace waymark::etmv4data
