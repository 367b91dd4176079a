// File regions, through the public interface of the image.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "waymark/image/image.h"

namespace waymark::image {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ImageFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "waymark_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A file whose bytes count from 0 upwards.
  std::string counting(const std::string& name, std::size_t size) {
    const std::string path = (folder_ / name).string();
    std::ofstream file(path, std::ios::binary);
    for (std::size_t n = 0; n < size; ++n) file.put(static_cast<char>(n));
    return path;
  }

  Bytes read(std::uint64_t address, SpaceMask space = kSpaceAny) {
    return image_.read(address, space, 0, {});
  }

  std::filesystem::path folder_;
  Image image_;
};

TEST_F(ImageFile, whole_file_at_an_address) {
  const std::string path = counting("image", 6);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x8000}));
  EXPECT_THAT(read(0x8000), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(read(0x8004), ElementsAre(4, 5));
  const auto regions = image_.regions();
  ASSERT_THAT(regions, SizeIs(1));
  EXPECT_EQ(regions[0].kind, RegionKind::kFile);
  EXPECT_EQ(regions[0].last, 0x8005U);
  EXPECT_EQ(regions[0].name, path);
}

TEST_F(ImageFile, a_length_of_zero_means_the_rest_rounded_down_to_even) {
  const std::string path = counting("image", 9);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000}));
  EXPECT_THAT(read(0x1000), SizeIs(8));
  ASSERT_TRUE(image_.add_file(path, {.address = 0x2000, .offset = 4}));
  EXPECT_THAT(read(0x2000), ElementsAre(4, 5, 6, 7));
}

TEST_F(ImageFile, offsets_need_not_be_page_aligned) {
  const std::string path = counting("image", 0x3000);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000, .offset = 0x1003, .length = 3}));
  EXPECT_THAT(read(0x1000), ElementsAre(3, 4, 5));
  ASSERT_TRUE(image_.add_file(path, {.address = 0x2000, .offset = 0, .length = 0x3000}));
  EXPECT_THAT(read(0x2000), SizeIs(0x3000));
}

TEST_F(ImageFile, offset_and_length_must_lie_in_the_file) {
  const std::string path = counting("image", 8);
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  const FileRegion regions[] = {
      {.address = 0, .offset = 0, .length = 9},     {.address = 0, .offset = 4, .length = 5},
      {.address = 0, .offset = 9, .length = 0},     {.address = 0, .offset = 8, .length = 0},
      {.address = 0, .offset = 7, .length = 0},     {.address = 0, .offset = kHuge, .length = 2},
      {.address = 0, .offset = 2, .length = kHuge}, {.address = kHuge - 3, .offset = 0},
  };
  for (const FileRegion& region : regions) {
    const auto added = image_.add_file(path, region);
    ASSERT_FALSE(added) << region.offset;
    EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(added.error().detail, HasSubstr(path));
  }
  EXPECT_THAT(image_.regions(), IsEmpty());
}

TEST_F(ImageFile, may_end_with_the_address_space) {
  const std::string path = counting("image", 8);
  ASSERT_TRUE(image_.add_file(path, {.address = ~std::uint64_t{7}}));
  EXPECT_THAT(read(~std::uint64_t{0}), ElementsAre(7));
}

TEST_F(ImageFile, missing_empty_and_unusable_files_are_reported) {
  const auto missing = image_.add_file((folder_ / "none").string(), {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().detail, HasSubstr("none: No such file"));

  EXPECT_EQ(image_.add_file(counting("empty", 0), {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(image_.add_file(counting("one", 1), {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(image_.add_file(folder_.string(), {}).error().code, ErrorCode::kIo);
  EXPECT_EQ(image_.add_file("", {}).error().code, ErrorCode::kNotFound);

  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(image_.add_file(pipe, {}).error().code, ErrorCode::kIo);
}

TEST_F(ImageFile, a_start_that_is_known_already_is_ignored) {
  const std::string path = counting("image", 8);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000, .offset = 0, .length = 4}));
  const std::uint64_t version = image_.version();
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000, .offset = 2, .length = 2}));
  EXPECT_EQ(image_.version(), version);
  EXPECT_THAT(image_.regions(), SizeIs(1));
  EXPECT_THAT(read(0x1000), ElementsAre(0, 1, 2, 3));
}

TEST_F(ImageFile, other_overlaps_conflict) {
  const std::string path = counting("image", 8);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000}));
  const auto shifted = image_.add_file(path, {.address = 0x1002});
  ASSERT_FALSE(shifted);
  EXPECT_EQ(shifted.error().code, ErrorCode::kConflict);
  EXPECT_THAT(shifted.error().detail, HasSubstr("0x1002-0x1009"));
  EXPECT_THAT(shifted.error().detail, HasSubstr("0x1000-0x1007"));
  EXPECT_TRUE(image_.add_file(path, {.address = 0x1000}, kSpaceEl1N)) << "another space set";
  EXPECT_FALSE(image_.add_file(counting("other", 8), {.address = 0x1000}));
}

TEST_F(ImageFile, regions_of_one_file_share_one_mapping) {
  const std::string path = counting("image", 8);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000, .offset = 0, .length = 4}));
  ASSERT_TRUE(image_.add_file(path, {.address = 0x2000, .offset = 4, .length = 4}, kSpaceEl3));
  EXPECT_EQ(read(0x1000).data() + 4, read(0x2000, kSpaceEl3).data());
}

TEST_F(ImageFile, the_mapping_lasts_as_long_as_a_region_needs_it) {
  const std::string path = counting("image", 8);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000, .offset = 0, .length = 4}));
  ASSERT_TRUE(image_.add_file(path, {.address = 0x2000, .offset = 4, .length = 4}));
  std::filesystem::remove(path);
  ASSERT_TRUE(image_.remove(0x1000, kSpaceAny));
  EXPECT_THAT(read(0x2000), ElementsAre(4, 5, 6, 7));
  ASSERT_TRUE(image_.add_file(path, {.address = 0x3000})) << "still mapped";
  ASSERT_TRUE(image_.remove(0x2000, kSpaceAny));
  ASSERT_TRUE(image_.remove(0x3000, kSpaceAny));
  EXPECT_EQ(image_.add_file(path, {.address = 0x3000}).error().code, ErrorCode::kNotFound);
}

TEST_F(ImageFile, a_file_replaced_by_renaming_keeps_its_old_bytes) {
  const std::string path = counting("image", 8);
  ASSERT_TRUE(image_.add_file(path, {.address = 0x1000}));
  std::filesystem::rename(counting("shorter", 2), path);
  EXPECT_THAT(read(0x1006), ElementsAre(6, 7));
}

}  // namespace
}  // namespace waymark::image
