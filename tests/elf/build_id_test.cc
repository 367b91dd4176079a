#include "waymark/elf/build_id.h"

#include <gtest/gtest.h>

#include <array>

#include "support/small_elf.h"

namespace waymark::elf {
namespace {

const std::vector<std::uint8_t> kId = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                       11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

TEST(BuildId, is_read_from_the_notes) {
  EXPECT_EQ(build_id_of(support::small_elf(kId, {0xD65F03C0})), kId);
  EXPECT_EQ(build_id_of(support::small_elf({1, 2, 3, 4, 5, 6, 7, 8}, {})).size(), 8U);
  EXPECT_TRUE(build_id_of(support::small_elf({}, {})).empty());
}

TEST(BuildId, files_that_are_cut_or_damaged_have_none_or_the_same) {
  const auto whole = support::small_elf(kId, {0xD65F03C0});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto id = build_id_of(Bytes(whole).first(size));
    EXPECT_TRUE(id.empty() || id == kId) << size;
  }
  for (std::size_t at = 0; at < support::kSmallElfCode; ++at) {
    for (const std::uint8_t value : std::array<std::uint8_t, 3>{0x00, 0x7F, 0xFF}) {
      auto damaged = whole;
      damaged[at] = value;
      EXPECT_LE(build_id_of(damaged).size(), 64U) << at;
    }
  }
}

TEST(BuildId, zeros_at_the_end_do_not_count) {
  const std::vector<std::uint8_t> id = {1, 2, 0, 4};
  EXPECT_TRUE(same_build_id(id, {1, 2, 0, 4, 0, 0}));
  EXPECT_TRUE(same_build_id({1, 2, 0, 4, 0, 0}, id));
  EXPECT_FALSE(same_build_id(id, {1, 2}));
  EXPECT_FALSE(same_build_id(id, {1, 2, 0, 5}));
  EXPECT_FALSE(same_build_id({}, {}));
  EXPECT_FALSE(same_build_id({0, 0}, {0}));
  EXPECT_EQ(build_id_text({0x0A, 0xFF}), "0aff");
}

}  // namespace
}  // namespace waymark::elf
