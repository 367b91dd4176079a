#include "waymark/mtb/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "waymark/mtb/text.h"

namespace waymark::mtb {
namespace {

/// "index [bytes] text", one line per packet.
std::string packets(const std::vector<std::uint8_t>& bytes, std::size_t chunk = 4096) {
  Parser parser;
  Packet packet;
  std::string lines;
  const auto take = [&] {
    TextBuffer text;
    write_packet(text, packet);
    EXPECT_EQ(packet.length, parser.packet_bytes().size());
    lines += fmt::format("{} [{:02x}] {}\n", packet.index, fmt::join(parser.packet_bytes(), " "),
                         text.view());
  };
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    const frames::Run run{.position = 0, .index = 100 + at};
    parser.feed({Bytes(bytes).subspan(at, std::min(chunk, bytes.size() - at)), {&run, 1}});
    while (parser.next(packet)) take();
  }
  if (parser.finish(packet)) take();
  return lines;
}

const std::vector<std::uint8_t> kBytes = {
    0x02, 0x01, 0,    0,    0x0D, 0x01, 0,    0,    0x07, 0x01, 0,    0,    0,
    0x02, 0,    0,    0xF9, 0xFF, 0xFF, 0xFF, 0x06, 0x01, 0,    0,    0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0,    0,    0,    0,    0,
    0,    0xFF, 0xFF, 0xFF, 0xFE, 0x40, 0,    0,    0,    0x0A, 0x01, 0};
constexpr std::string_view kLines =
    "100 [02 01 00 00 0d 01 00 00] MTB_BRANCH : src=0x00000102; dst=0x0000010c; A=0; S=1\n"
    "108 [07 01 00 00 00 02 00 00] MTB_EXCEPT : ret=0x00000106; dst=0x00000200; A=1; S=0\n"
    "116 [f9 ff ff ff 06 01 00 00] MTB_EXC_RTN : EXC_RETURN=0xfffffff9; dst=0x00000106; A=1; "
    "S=0\n"
    "124 [ff ff ff ff ff ff ff ff] MTB_UNUSED : all ones\n"
    "132 [00 00 00 00 00 00 00 00] MTB_UNUSED : all zeros\n"
    "140 [ff ff ff fe 40 00 00 00] MTB_FNC_RTN : FNC_RETURN=0xfeffffff; dst=0x00000040; A=1; "
    "S=0\n"
    "148 [0a 01 00] MTB_INCOMPLETE_EOT\n";

TEST(MtbParser, reads_records_of_each_type) { EXPECT_EQ(packets(kBytes), kLines); }

TEST(MtbParser, reads_the_same_in_any_chunks) {
  for (const std::size_t chunk : {1U, 3U, 7U, 8U, 9U, 16U})
    EXPECT_EQ(packets(kBytes, chunk), kLines) << chunk;
}

TEST(MtbParser, gives_up_what_it_has_not_read) {
  Parser parser;
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({kBytes, {&run, 1}});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(parser.withdraw(), 8U);
  EXPECT_FALSE(parser.next(packet));
  EXPECT_EQ(parser.statistics().total_bytes, 8U);
}

TEST(MtbParser, forgets_an_unfinished_record_when_it_is_reset) {
  Parser parser;
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({Bytes(kBytes).first(3), {&run, 1}});
  Packet packet;
  EXPECT_FALSE(parser.next(packet));
  parser.reset();
  EXPECT_FALSE(parser.finish(packet));
}

}  // namespace
}  // namespace waymark::mtb
