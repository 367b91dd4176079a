#include "waymark/mtb/buffer.h"

#include <gmock/gmock.h>

namespace waymark::mtb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// MASK 2: eight records.
constexpr std::uint32_t kMask64 = 0x8000'0002;

std::array<DumpPart, 2> order(std::uint64_t size, const BufferRegisters& registers) {
  const auto parts = order_records(size, registers);
  EXPECT_TRUE(parts) << parts.error().detail;
  return parts.value_or(std::array<DumpPart, 2>{});
}

std::string refusal(std::uint64_t size, const BufferRegisters& registers) {
  const auto parts = order_records(size, registers);
  return parts ? "" : parts.error().detail;
}

TEST(MtbBuffer, has_the_records_up_to_the_pointer) {
  EXPECT_THAT(order(64, {.position = 0x38, .master = kMask64}),
              ElementsAre(DumpPart{0, 56}, DumpPart{}));
}

TEST(MtbBuffer, that_wrapped_begins_at_the_pointer) {
  EXPECT_THAT(order(64, {.position = 0x0C, .master = kMask64}),
              ElementsAre(DumpPart{8, 64}, DumpPart{0, 8}));
  EXPECT_THAT(order(64, {.position = 0x04, .master = kMask64}),
              ElementsAre(DumpPart{0, 64}, DumpPart{0, 0}));
}

TEST(MtbBuffer, may_be_anywhere_in_the_sram) {
  // The block of 64 bytes at 0x1C0, of which the dump has only the block, or all before it, too.
  EXPECT_THAT(order(64, {.position = 0x1CC, .master = kMask64}),
              ElementsAre(DumpPart{8, 64}, DumpPart{0, 8}));
  EXPECT_THAT(order(0x1000, {.position = 0x1CC, .master = kMask64}),
              ElementsAre(DumpPart{0x1C8, 0x200}, DumpPart{0x1C0, 0x1C8}));
  EXPECT_THAT(order(0x1000, {.position = 0x1C8, .master = kMask64}),
              ElementsAre(DumpPart{0x1C0, 0x1C8}, DumpPart{}));
}

TEST(MtbBuffer, may_be_dumped_as_far_as_it_is_used) {
  EXPECT_THAT(order(16, {.position = 0x10, .master = kMask64}),
              ElementsAre(DumpPart{0, 16}, DumpPart{}));
}

TEST(MtbBuffer, is_at_most_as_large_as_the_sram) {
  // MASK 31: 2^35 bytes.
  EXPECT_THAT(order(256, {.position = 0x84, .master = 31}),
              ElementsAre(DumpPart{128, 256}, DumpPart{0, 128}));
  EXPECT_THAT(order(256, {.position = 0x80, .master = 31}),
              ElementsAre(DumpPart{0, 128}, DumpPart{}));
}

TEST(MtbBuffer, of_mask_0_has_two_records) {
  EXPECT_THAT(order(16, {.position = 0x0C, .master = 0}),
              ElementsAre(DumpPart{8, 16}, DumpPart{0, 8}));
}

TEST(MtbBuffer, begins_where_the_pointer_was_before_tracing) {
  EXPECT_THAT(order(64, {.position = 0x30, .master = kMask64, .initial_position = 0x10}),
              ElementsAre(DumpPart{16, 48}, DumpPart{}));
  // After it wrapped, this does not matter.
  EXPECT_THAT(order(64, {.position = 0x0C, .master = kMask64, .initial_position = 0x10}),
              ElementsAre(DumpPart{8, 64}, DumpPart{0, 8}));
  EXPECT_THAT(refusal(64, {.position = 0x30, .master = kMask64, .initial_position = 0x38}),
              HasSubstr("INITIAL_POSITION 0x00000038"));
}

TEST(MtbBuffer, of_other_registers_is_refused) {
  EXPECT_THAT(refusal(40, {.position = 0x0C, .master = kMask64}), HasSubstr("40 bytes"));
  EXPECT_THAT(refusal(32, {.position = 0x38, .master = kMask64}), HasSubstr("32 bytes"));
  EXPECT_THAT(refusal(100, {.position = 0x1CC, .master = kMask64}), HasSubstr("0x1c8"));
  EXPECT_THAT(refusal(8, {.position = 0x04, .master = 0}), HasSubstr("8 bytes"));
}

TEST(MtbBuffer, without_a_record_is_refused) {
  EXPECT_THAT(refusal(64, {.position = 0, .master = kMask64}), HasSubstr("has no record"));
}

/// Records of straight code, each eight bytes after the one before it, from number `first` on.
std::vector<std::uint8_t> records(std::uint32_t first, std::uint32_t count, bool start = false) {
  std::vector<std::uint8_t> bytes;
  const auto word = [&](std::uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  for (std::uint32_t i = first; i != first + count; ++i) {
    word(0x1'0000 * i + 4);
    word((0x1'0000 * (i + 1)) | (start && i == first ? 1U : 0U));
  }
  return bytes;
}

std::vector<std::uint8_t> join(std::vector<std::uint8_t> front,
                               const std::vector<std::uint8_t>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

TEST(MtbBuffer, shows_where_it_wraps) {
  EXPECT_EQ(find_oldest(join(records(8, 3), records(3, 5))), 24U);
  EXPECT_EQ(find_oldest(join(records(8, 1), records(1, 7))), 8U);
}

TEST(MtbBuffer, does_not_show_a_wrap_without_one_place) {
  EXPECT_EQ(find_oldest(records(1, 8)), std::nullopt) << "the first does not follow the last";
  EXPECT_EQ(find_oldest(join(records(8, 3), records(3, 3))), std::nullopt) << "too few";
  EXPECT_EQ(find_oldest(join(join(records(8, 3), records(20, 3)), records(3, 5))), std::nullopt)
      << "two places";
  EXPECT_EQ(find_oldest(join(records(8, 3, true), records(3, 5))), std::nullopt)
      << "tracing started at the first record";
  EXPECT_EQ(find_oldest(join(join(records(8, 3), std::vector<std::uint8_t>(8)), records(3, 5))),
            std::nullopt)
      << "a part was never written";
}

}  // namespace
}  // namespace waymark::mtb
