#include "waymark/flow/follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "support/random.h"

namespace waymark::flow {
namespace {

constexpr std::uint32_t kNop = 0xD503201F;
constexpr std::uint32_t kRet = 0xD65F03C0;
const isa::Options kOptions{.arch = isa::Arch::kAA64, .track_it_block = true};

std::vector<std::uint8_t> code(std::initializer_list<std::uint32_t> words) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : words)
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  return bytes;
}

class FollowerTest : public testing::Test {
 protected:
  void add(std::uint64_t address, std::initializer_list<std::uint32_t> words,
           image::SpaceMask space = image::kSpaceAny) {
    ASSERT_TRUE(image_.add_buffer(address, code(words), space));
  }
  image::Image image_;
};

TEST_F(FollowerTest, a_block_ends_with_its_waypoint) {
  add(0x1000, {kNop, kNop, 0x94000004, kNop});
  Follower follower(image_, kOptions, 1);
  const Block& block = follower.block(0x1000, isa::Isa::kA64, 0);
  EXPECT_EQ(block.start, 0x1000U);
  EXPECT_EQ(block.end, 0x100CU);
  EXPECT_EQ(block.count, 3U);
  EXPECT_EQ(block.ended, BlockEnd::kWaypoint);
  EXPECT_TRUE(block.is_direct_branch());
  EXPECT_TRUE(block.link);
  EXPECT_EQ(block.target, 0x1018U);
}

TEST_F(FollowerTest, a_block_ends_where_memory_does) {
  add(0x1000, {kNop, kNop});
  Follower follower(image_, kOptions, 1);
  const Block& block = follower.block(0x1004, isa::Isa::kA64, 0);
  EXPECT_EQ(block.ended, BlockEnd::kNotAccessible);
  EXPECT_EQ(block.count, 1U);
  EXPECT_EQ(block.end, 0x1008U);
  EXPECT_EQ(follower.block(0x2000, isa::Isa::kA64, 0).count, 0U);
}

TEST_F(FollowerTest, a_block_goes_on_into_the_next_region) {
  add(0x1000, {kNop});
  add(0x1004, {kNop, kRet});
  Follower follower(image_, kOptions, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).end, 0x100CU);
}

TEST_F(FollowerTest, an_instruction_needs_its_own_bytes_only) {
  ASSERT_TRUE(image_.add_buffer(0x1000, std::vector<std::uint8_t>{0x00, 0xBF, 0x70, 0x47}));
  Follower follower(image_, kOptions, 1);
  EXPECT_EQ(follower.block(0x1002, isa::Isa::kT32, 0).ended, BlockEnd::kWaypoint);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kT32, 0).end, 0x1004U);
}

TEST_F(FollowerTest, half_of_an_instruction_is_not_accessible) {
  ASSERT_TRUE(image_.add_buffer(0x1000, std::vector<std::uint8_t>{0x00, 0xBF, 0x00, 0xF0}));
  Follower follower(image_, kOptions, 1);
  EXPECT_EQ(follower.block(0x1002, isa::Isa::kT32, 0).ended, BlockEnd::kNotAccessible);
}

TEST_F(FollowerTest, an_instruction_may_begin_in_one_region_and_end_in_another) {
  ASSERT_TRUE(image_.add_buffer(0x1000, std::vector<std::uint8_t>{0x00, 0xF0}));
  ASSERT_TRUE(image_.add_buffer(0x1002, std::vector<std::uint8_t>{0x00, 0xF8}));
  Follower follower(image_, kOptions, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kT32, 0).end, 0x1004U);
}

TEST_F(FollowerTest, the_it_state_is_part_of_a_block) {
  add(0x1000, {0xBF00BF04, 0x4770BF00, 0});  // ITT EQ; NOP; NOP; BX LR
  Follower follower(image_, kOptions, 1);
  const Block& whole = follower.block(0x1000, isa::Isa::kT32, 0);
  EXPECT_EQ(whole.count, 4U);
  EXPECT_FALSE(whole.conditional);
  EXPECT_FALSE(follower.block(0x1006, isa::Isa::kT32, 0).conditional);
  EXPECT_TRUE(follower.block(0x1006, isa::Isa::kT32, 1).conditional);
}

TEST_F(FollowerTest, a_second_look_does_not_walk_again) {
  add(0x1000, {kNop, kRet});
  Follower follower(image_, kOptions, 1);
  follower.block(0x1000, isa::Isa::kA64, 0);
  follower.block(0x1000, isa::Isa::kA64, 0);
  EXPECT_EQ(follower.statistics().walks, 1U);
  follower.set_cache_enabled(false);
  follower.block(0x1000, isa::Isa::kA64, 0);
  EXPECT_EQ(follower.statistics().walks, 2U);
}

TEST_F(FollowerTest, a_successor_is_linked_and_checked) {
  add(0x1000, {0x14000002, kNop, kNop, kRet});
  Follower follower(image_, kOptions, 1);
  const Block& first = follower.block(0x1000, isa::Isa::kA64, 0);
  const Block& next = follower.successor(first, true, 0x1008, isa::Isa::kA64, 0);
  EXPECT_EQ(first.next[1], &next);
  EXPECT_EQ(follower.successor(first, true, 0x1004, isa::Isa::kA64, 0).start, 0x1004U);
}

TEST_F(FollowerTest, memory_spaces_do_not_share_blocks) {
  add(0x1000, {kNop, kRet}, image::kSpaceEl1N);
  add(0x1000, {kRet}, image::kSpaceEl1S);
  Follower follower(image_, kOptions, 1);
  follower.select(image::kSpaceEl1N, 0);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 2U);
  follower.select(image::kSpaceEl1S, 0);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 1U);
  follower.select(image::kSpaceEl1N, 0);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 2U);
  EXPECT_EQ(follower.statistics().walks, 2U);
}

TEST_F(FollowerTest, contexts_do_not_share_blocks_of_callbacks) {
  bool second = false;
  ASSERT_TRUE(image_.add_callback(
      0x1000, 0x1FFF, image::kSpaceAny,
      [&](std::uint64_t, image::SpaceMask, TraceId, std::span<std::uint8_t> out) -> std::size_t {
        const auto bytes = code({second ? kRet : kNop, kRet});
        std::ranges::copy(bytes, out.begin());
        return bytes.size();
      }));
  Follower follower(image_, kOptions, 1);
  follower.select(image::kSpaceEl1N, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 2U);
  second = true;
  follower.select(image::kSpaceEl1N, 2);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 1U);
  follower.select(image::kSpaceEl1N, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 2U);
  follower.flush();
  follower.select(image::kSpaceEl1N, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).count, 1U);
}

TEST_F(FollowerTest, a_callback_that_could_not_answer_is_asked_again) {
  bool ready = false;
  ASSERT_TRUE(image_.add_callback(
      0x1000, 0x1FFF, image::kSpaceAny,
      [&](std::uint64_t, image::SpaceMask, TraceId, std::span<std::uint8_t> out) -> std::size_t {
        if (!ready) return 0;
        std::ranges::copy(code({kRet}), out.begin());
        return 4;
      }));
  Follower follower(image_, kOptions, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).ended, BlockEnd::kNotAccessible);
  ready = true;
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).ended, BlockEnd::kWaypoint);
}

TEST_F(FollowerTest, a_changed_image_is_noticed_and_flushed) {
  add(0x1000, {kNop});
  Follower follower(image_, kOptions, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).ended, BlockEnd::kNotAccessible);
  EXPECT_TRUE(follower.current());
  add(0x1004, {kRet});
  EXPECT_FALSE(follower.current());
  follower.flush();
  EXPECT_TRUE(follower.current());
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).ended, BlockEnd::kWaypoint);
}

TEST_F(FollowerTest, a_block_over_the_range_limit_says_so) {
  add(0x1000, {kNop, kNop, kRet});
  Follower follower(image_, kOptions, 1);
  follower.set_range_limit(2);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).ended, BlockEnd::kRangeLimit);
  follower.set_range_limit(3);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).ended, BlockEnd::kWaypoint);
}

TEST_F(FollowerTest, an_opcode_that_cannot_be_ends_a_block_before_it) {
  add(0x1000, {kNop, 0x00000001, kRet});
  isa::Options checked = kOptions;
  checked.a64_opcode_check = true;
  Follower follower(image_, checked, 1);
  const Block& block = follower.block(0x1000, isa::Isa::kA64, 0);
  EXPECT_EQ(block.ended, BlockEnd::kInvalidOpcode);
  EXPECT_EQ(block.end, 0x1004U);
}

// Hostile traces cannot cause the same megabytes to be classified from every address in them.
TEST_F(FollowerTest, overlapping_long_walks_share_their_rest) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 16384; ++i) {
    const auto word = code({kNop});
    bytes.insert(bytes.end(), word.begin(), word.end());
  }
  const auto last = code({kRet});
  bytes.insert(bytes.end(), last.begin(), last.end());
  ASSERT_TRUE(image_.add_buffer(0x10000, bytes));
  Follower follower(image_, kOptions, 1);
  for (unsigned i = 0; i < 64; ++i) {
    const Block& block = follower.block(0x10000 + 4 * i, isa::Isa::kA64, 0);
    EXPECT_EQ(block.count, 16385 - i);
    EXPECT_EQ(block.end, 0x10000U + 4 * 16385);
    EXPECT_TRUE(block.is_indirect_branch());
  }
  EXPECT_LT(follower.statistics().instructions, 16385U + 64 * 2048);
}

TEST_F(FollowerTest, long_walks_share_their_rest_where_an_instruction_crosses_the_boundary) {
  // From half a word before, four-byte instructions never begin at a multiple of 8 KiB.
  const std::vector<std::uint8_t> bytes(std::size_t{1} << 18, 0xFF);
  ASSERT_TRUE(image_.add_buffer(0x10002, bytes));
  Follower follower(image_, kOptions, 1);
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_GT(follower.block(0x10002 + 4 * i, isa::Isa::kT32, 0).count, 60000U);
  EXPECT_LT(follower.statistics().instructions, 65536U + 64 * 2048);
}

// An image may show gigabytes of zeros.
TEST_F(FollowerTest, a_walk_without_a_waypoint_ends_at_the_end_of_the_next_region) {
  constexpr std::uint64_t kRegion = std::uint64_t{4} << 20;
  std::vector<std::uint8_t> bytes(5 * kRegion, 0);
  const auto last = code({kRet});
  std::ranges::copy(last, bytes.begin() + 4 * kRegion + 0x100);
  ASSERT_TRUE(image_.add_buffer(0, bytes));
  Follower follower(image_, kOptions, 1);
  support::Random random(1);
  for (unsigned i = 0; i < 2000; ++i) {
    std::uint64_t address = random.below(4 * kRegion);
    if (i % 4 == 0) address |= kRegion - 0x2000;  // There, no checkpoint is left in the region.
    const bool thumb = i % 2 == 0;
    address &= thumb ? ~std::uint64_t{1} : ~std::uint64_t{3};
    const isa::Isa isa = thumb ? isa::Isa::kT32 : isa::Isa::kA64;
    const Block& block = follower.block(address, isa, 0);
    const std::uint64_t end = (address / kRegion + 2) * kRegion;
    const bool limited = address < 3 * kRegion;
    EXPECT_EQ(block.ended, limited ? BlockEnd::kRangeLimit : BlockEnd::kWaypoint);
    EXPECT_EQ(block.end, limited ? end : 4 * kRegion + 0x104);
    if (i % 200 != 0) continue;
    // The state of other walks has no influence.
    Follower other(image_, kOptions, 1);
    const Block& alone = other.block(address, isa, 0);
    EXPECT_EQ(alone.ended, block.ended);
    EXPECT_EQ(alone.end, block.end);
    EXPECT_EQ(alone.count, block.count);
  }
  EXPECT_LT(follower.statistics().instructions, 2000U * 4096 + 40 * kRegion / 2);
}

TEST_F(FollowerTest, a_copy_has_an_empty_cache_and_the_same_view) {
  add(0x1000, {kNop, kRet}, image::kSpaceEl1N);
  Follower follower(image_, kOptions, 1);
  follower.select(image::kSpaceEl1N, 0);
  follower.block(0x1000, isa::Isa::kA64, 0);
  Follower copy(follower);
  EXPECT_EQ(copy.space(), image::kSpaceEl1N);
  EXPECT_EQ(copy.block(0x1000, isa::Isa::kA64, 0).count, 2U);
  EXPECT_EQ(copy.statistics().walks, 1U);
}

TEST_F(FollowerTest, fetch_gives_one_instruction_of_any_type) {
  add(0x1000, {kNop, kRet});
  Follower follower(image_, kOptions, 1);
  std::uint8_t it = 0;
  EXPECT_EQ(follower.fetch(0x1000, isa::Isa::kA64, it).instruction.type, isa::InstrType::kOther);
  EXPECT_EQ(follower.fetch(0x1004, isa::Isa::kA64, it).instruction.type,
            isa::InstrType::kIndirectBranch);
  EXPECT_EQ(follower.fetch(0x1008, isa::Isa::kA64, it).outcome, BlockEnd::kNotAccessible);
}

TEST_F(FollowerTest, neighbours_come_from_one_answer_of_a_callback) {
  const std::vector<std::uint8_t> memory = code({kNop, kRet, kNop, kNop, kRet, kRet});
  std::size_t calls = 0;
  ASSERT_TRUE(image_.add_callback(0x1000, 0x1017, image::kSpaceAny,
                                  [&](std::uint64_t address, image::SpaceMask, TraceId,
                                      std::span<std::uint8_t> out) -> std::size_t {
                                    ++calls;
                                    const auto rest = std::span(memory).subspan(address - 0x1000);
                                    const std::size_t size = std::min(rest.size(), out.size());
                                    std::copy_n(rest.begin(), size, out.begin());
                                    return size;
                                  }));
  Follower follower(image_, kOptions, 1);
  follower.select(image::kSpaceEl1N, 1);
  EXPECT_EQ(follower.block(0x1000, isa::Isa::kA64, 0).end, 0x1008U);
  EXPECT_EQ(follower.block(0x1008, isa::Isa::kA64, 0).end, 0x1014U);
  EXPECT_EQ(follower.block(0x1014, isa::Isa::kA64, 0).end, 0x1018U);
  EXPECT_EQ(calls, 1U);
  // Another context means other memory.
  follower.select(image::kSpaceEl1N, 2);
  follower.block(0x1008, isa::Isa::kA64, 0);
  EXPECT_EQ(calls, 2U);
  // And nothing is older than requested.
  follower.select(image::kSpaceEl1N, 1);
  follower.flush();
  follower.block(0x1014, isa::Isa::kA64, 0);
  EXPECT_EQ(calls, 3U);
}

TEST_F(FollowerTest, a_full_cache_starts_again_with_the_next_block_that_it_keeps) {
  constexpr std::uint64_t kStart = 0x10000;
  constexpr std::uint64_t kBlocks = std::uint64_t{1} << 19;
  constexpr std::uint64_t kEnd = kStart + 4 * kBlocks;
  std::array<std::uint8_t, 256> returns{};
  for (std::size_t at = 0; at < returns.size(); at += 4)
    std::ranges::copy(code({kRet}), returns.begin() + static_cast<std::ptrdiff_t>(at));
  ASSERT_TRUE(image_.add_callback(
      0, 0xFFFFFFFF, image::kSpaceAny,
      [&](std::uint64_t address, image::SpaceMask, TraceId, std::span<std::uint8_t> out) {
        if (address > kEnd) return std::size_t{0};
        const std::size_t size = std::min(returns.size(), out.size());
        std::copy_n(returns.begin(), size, out.begin());
        return size;
      }));
  Follower follower(image_, kOptions, 1);
  const Block* last = nullptr;
  for (std::uint64_t address = kStart; address != kEnd; address += 4)
    last = &follower.block(address, isa::Isa::kA64, 0);
  ASSERT_NE(last, nullptr);
  const std::uint64_t flushes = follower.statistics().flushes;
  // A block that is not kept takes nothing from the others, including the block that leads to it.
  const Block& missing = follower.successor(*last, true, kEnd + 4096, isa::Isa::kA64, 0);
  EXPECT_EQ(missing.ended, BlockEnd::kNotAccessible);
  EXPECT_EQ(follower.statistics().flushes, flushes);
  EXPECT_EQ(last->start, kEnd - 4);
  EXPECT_EQ(last->next[1], nullptr);
  EXPECT_EQ(&follower.block(kEnd - 4, isa::Isa::kA64, 0), last);
  const Block& next = follower.successor(*last, true, kEnd, isa::Isa::kA64, 0);
  EXPECT_EQ(follower.statistics().flushes, flushes + 1);
  EXPECT_EQ(next.start, kEnd);
  EXPECT_EQ(next.end, kEnd + 4);
  EXPECT_EQ(next.ended, BlockEnd::kWaypoint);
  EXPECT_EQ(&follower.block(kEnd, isa::Isa::kA64, 0), &next);
  EXPECT_EQ(follower.block(kStart, isa::Isa::kA64, 0).start, kStart);
}

}  // namespace
}  // namespace waymark::flow
