#include "../../src/program/section_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace waymark::program {
namespace {

class SectionCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread.
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread.
    ::unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    const std::filesystem::path all = std::filesystem::path(folder_) / "waymark/sections";
    if (!std::filesystem::exists(all)) return {};
    return {std::filesystem::directory_iterator(all), {}};
  }

  std::string folder_ = testing::TempDir() + "waymark_cache_XXXXXX";
  std::vector<std::uint8_t> id_{1, 2, 3};
  std::vector<std::uint8_t> packed_ = std::vector<std::uint8_t>(1000, 7);
  std::vector<std::uint8_t> unpacked_ = std::vector<std::uint8_t>(kSmallestCachedSection, 9);
  PackedSection section_{id_, ".debug_info", packed_, unpacked_.size()};
};

TEST_F(SectionCacheTest, what_was_kept_is_found) {
  EXPECT_FALSE(find_in_cache(section_));
  keep_in_cache(section_, unpacked_);
  const auto found = find_in_cache(section_);
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::ranges::equal(found->bytes(), unpacked_));
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(std::filesystem::status(files()[0]).permissions(), std::filesystem::perms::owner_read);
}

TEST_F(SectionCacheTest, another_program_or_section_is_not_found) {
  keep_in_cache(section_, unpacked_);
  std::vector<std::uint8_t> other = packed_;
  other.back() ^= 1;
  EXPECT_FALSE(find_in_cache({id_, ".debug_info", other, unpacked_.size()}));
  EXPECT_FALSE(find_in_cache({id_, ".debug_line", packed_, unpacked_.size()}));
  EXPECT_FALSE(find_in_cache({id_, ".debug_info", packed_, unpacked_.size() + 1}));
  const std::vector<std::uint8_t> id{1, 2, 4};
  EXPECT_FALSE(find_in_cache({id, ".debug_info", packed_, unpacked_.size()}));
}

TEST_F(SectionCacheTest, small_sections_and_programs_without_a_build_id_are_not_kept) {
  keep_in_cache({{}, ".debug_info", packed_, unpacked_.size()}, unpacked_);
  keep_in_cache({id_, ".debug_info", packed_, 10}, Bytes(unpacked_).first(10));
  EXPECT_TRUE(files().empty());
}

TEST_F(SectionCacheTest, a_file_that_was_cut_is_not_used) {
  keep_in_cache(section_, unpacked_);
  ASSERT_EQ(files().size(), 1U);
  std::filesystem::permissions(files()[0], std::filesystem::perms::owner_all);
  std::filesystem::resize_file(files()[0], 100);
  EXPECT_FALSE(find_in_cache(section_));
}

TEST_F(SectionCacheTest, names_of_damaged_files_stay_in_the_folder) {
  keep_in_cache({id_, "../../.debug/\n", packed_, unpacked_.size()}, unpacked_);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_TRUE(files()[0].filename().string().starts_with("010203-debug-"));
}

}  // namespace
}  // namespace waymark::program
