// The search with Quirks::chunks_end_with_blocks; ptm.md 7.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "waymark/ptm/parser.h"

namespace waymark::ptm {
namespace {

using Block = std::vector<std::uint8_t>;

std::string search(const std::vector<Block>& blocks, bool monitored = true,
                   const Block& memory = {}) {
  Quirks quirks;
  quirks.chunks_end_with_blocks = true;
  Parser parser(Config{}, quirks);
  parser.set_monitored(monitored);
  std::string text;
  Packet packet;
  const auto line = [&] {
    text += fmt::format("{}{} [", packet.index, packet.monitor_only ? "*" : "");
    for (const std::uint8_t byte : parser.packet_bytes()) text += fmt::format("{:02x}", byte);
    text += packet.type == PacketType::kNotSync ? "]\n" : fmt::format("] {}\n", int(packet.type));
  };
  TraceIndex index = 0;
  for (const Block& block : blocks) {
    const frames::Run run{.position = 0, .index = index};
    Block all = block;
    all.insert(all.end(), memory.begin(), memory.end());
    parser.feed({block, {&run, 1}, memory.empty() ? Bytes{} : Bytes(all)});
    while (parser.next(packet)) line();
    index += block.size();
  }
  if (parser.finish(packet)) line();
  return text;
}

Block operator+(Block a, const Block& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Block kSyncBytes = {0, 0, 0, 0, 0, 0x80};
const std::string kAsyncText = fmt::format(" {}", int(PacketType::kAsync));

TEST(PtmBlockSearch, carried_zeros_come_first_and_are_counted_again) {
  const std::vector<Block> blocks = {Block(13, 0x11) + Block{0}, Block(15, 0x22)};
  EXPECT_EQ(search(blocks, true, {0x0F, 0}),
            "0 [11111111111111111111111111]\n13* [00]\n14* [2222222222222222222222222222220f]\n");
}

TEST(PtmBlockSearch, without_a_monitor_carried_zeros_have_no_packet_and_no_index) {
  EXPECT_EQ(search({Block(2, 0x11) + Block{0}, Block(2, 0x22)}, false), "0 [1111]\n2* [222200]\n");
}

TEST(PtmBlockSearch, carried_zeros_are_given_at_every_flush_of_their_block) {
  EXPECT_EQ(search({{0, 0}, Block(18, 0x22)}),
            "0* [0000]\n2 [22222222222222222222222222222222]\n18* [0000]\n20* [22220000]\n");
}

TEST(PtmBlockSearch, an_async_can_begin_in_an_earlier_block) {
  EXPECT_EQ(search({{0x11, 0, 0}, {0, 0, 0, 0x80}}),
            "0 [11]\n1 [000000000080]" + kAsyncText + "\n");
  EXPECT_EQ(search({Block{0x11, 0} + kSyncBytes}),
            "0 [11]\n1 [00000000000080]" + kAsyncText + "\n");
}

TEST(PtmBlockSearch, sixteen_zeros_close_the_candidate) {
  // The seventeenth zero begins another, which is too short.
  const std::string after = search({Block{0x11, 0x11, 0x11} + Block(17, 0) + Block{0x80}});
  EXPECT_EQ(after.find(kAsyncText), std::string::npos) << after;
  // Five fresh zeros are enough, and those that were left belong to the packet.
  EXPECT_EQ(search({Block{0x11} + Block(16, 0) + kSyncBytes}),
            "0 [110000000000000000000000]\n12 [0000000000000000000080]" + kAsyncText + "\n");
}

TEST(PtmBlockSearch, what_a_closed_candidate_has_left_stays) {
  EXPECT_EQ(search({Block(16, 0) + Block{0x11, 0x11}}),
            "0 [00000000000000000000000000]\n13 [0000000000] " +
                std::to_string(int(PacketType::kIncompleteEot)) + "\n");
}

TEST(PtmBlockSearch, what_was_withdrawn_comes_again_as_a_block) {
  Quirks quirks;
  quirks.chunks_end_with_blocks = true;
  Parser parser(Config{}, quirks);
  Block block(16, 0x11);
  block.insert(block.end(), 8, 0x22);
  const frames::Run first{.position = 0, .index = 0};
  parser.feed({block, {&first, 1}, {}});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  ASSERT_EQ(parser.withdraw(), 16U);
  const frames::Run second{.position = 0, .index = 16};
  parser.feed({Bytes(block).subspan(16), {&second, 1}, {}});
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.index, 16U);
  const Bytes shown = parser.packet_bytes();
  EXPECT_EQ(Block(shown.begin(), shown.end()), Block(8, 0x22));
}

}  // namespace
}  // namespace waymark::ptm
