#include "waymark/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <thread>

namespace waymark::image {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint8_t> filled(std::size_t size, std::uint8_t value) {
  return std::vector<std::uint8_t>(size, value);
}

Bytes read(const Image& image, std::uint64_t address, SpaceMask space = kSpaceAny) {
  return image.read(address, space, 0x10, {});
}

/// A callback that fills all of `out` with `value`.
ReadCallback filling(std::uint8_t value) {
  return [value](std::uint64_t, SpaceMask, TraceId, std::span<std::uint8_t> out) {
    std::ranges::fill(out, value);
    return out.size();
  };
}

TEST(Image, an_empty_image_reads_nothing) {
  const Image image;
  EXPECT_THAT(read(image, 0), IsEmpty());
  EXPECT_THAT(read(image, kTop), IsEmpty());
  EXPECT_THAT(image.regions(), IsEmpty());
  EXPECT_FALSE(image.has_callbacks());
  EXPECT_FALSE(image.has_spaces());
}

TEST(ImageBuffer, reads_go_to_the_end_of_the_region_and_no_further) {
  Image image;
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(image.add_buffer(0x1000, bytes));
  EXPECT_THAT(read(image, 0x1000), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(read(image, 0x1004), ElementsAre(5, 6));
  EXPECT_THAT(read(image, 0x1005), ElementsAre(6));
  EXPECT_THAT(read(image, 0x1006), IsEmpty());
  EXPECT_THAT(read(image, 0xfff), IsEmpty());
}

TEST(ImageBuffer, is_a_copy) {
  Image image;
  std::vector<std::uint8_t> bytes = {1, 2};
  ASSERT_TRUE(image.add_buffer(0, bytes));
  bytes[0] = 9;
  EXPECT_THAT(read(image, 0), ElementsAre(1, 2));
}

TEST(ImageBuffer, adjacent_regions_do_not_join) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(2, 1)));
  ASSERT_TRUE(image.add_buffer(0x1002, filled(2, 2)));
  EXPECT_THAT(read(image, 0x1000), ElementsAre(1, 1));
  EXPECT_THAT(read(image, 0x1002), ElementsAre(2, 2));
}

TEST(ImageBuffer, may_end_with_the_address_space_but_not_after_it) {
  Image image;
  ASSERT_TRUE(image.add_buffer(kTop - 3, filled(4, 7)));
  EXPECT_THAT(read(image, kTop), ElementsAre(7));
  EXPECT_THAT(read(image, kTop - 3), SizeIs(4));
  EXPECT_EQ(image.regions().at(0).last, kTop);

  const auto past = image.add_buffer(kTop - 7, filled(9, 1));
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(past.error().detail, HasSubstr("0xfffffffffffffff8"));
  EXPECT_THAT(past.error().detail, HasSubstr("at most 0x8 bytes"));
}

TEST(ImageBuffer, must_hold_something_and_be_somewhere) {
  Image image;
  EXPECT_EQ(image.add_buffer(0, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(image.add_buffer(0, filled(2, 1), kSpaceNone).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(image.regions(), IsEmpty());
}

TEST(ImageOverlap, is_refused_with_both_ranges) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(0x100, 1), kSpaceEl1N, "boot"));
  const auto second = image.add_buffer(0x10fe, filled(0x10, 2), kSpaceEl1N, "kernel");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_EQ(
      second.error().detail,
      "The memory region 0x10fe-0x110d (buffer kernel, memory space EL1N) overlaps the "
      "region 0x1000-0x10ff (buffer boot, memory space EL1N); two regions may share addresses "
      "only if their memory spaces differ.");
}

TEST(ImageOverlap, the_region_in_the_fewest_spaces_is_read) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(0x100, 1)));
  ASSERT_TRUE(image.add_buffer(0x1010, filled(0x10, 2), kSpaceEl1N));
  ASSERT_TRUE(image.add_buffer(0x1018, filled(0x10, 3), kSpaceEl1N | kSpaceEl1S));
  const auto read = [&](std::uint64_t address, SpaceMask space) {
    std::uint8_t scratch[4];
    const Bytes bytes = image.read(address, space, 0x10, scratch);
    return std::pair(bytes.empty() ? 0 : bytes[0], bytes.size());
  };
  // What a read gives ends where a narrower region begins, or ends itself.
  EXPECT_EQ(read(0x1000, kSpaceEl1N), std::pair(1, std::size_t{0x10}));
  EXPECT_EQ(read(0x1010, kSpaceEl1N), std::pair(2, std::size_t{0x10}));
  EXPECT_EQ(read(0x1020, kSpaceEl1N), std::pair(3, std::size_t{8}));
  EXPECT_EQ(read(0x1028, kSpaceEl1N), std::pair(1, std::size_t{0xD8}));
  EXPECT_EQ(read(0x1010, kSpaceEl1S), std::pair(1, std::size_t{8}));
  EXPECT_EQ(read(0x1010, kSpaceEl3), std::pair(1, std::size_t{0xF0}));
}

TEST(ImageOverlap, each_way_of_overlapping_is_found) {
  const std::pair<std::uint64_t, std::size_t> ranges[] = {
      {0x1000, 0x100},  // the same
      {0x0f00, 0x101},  // one byte at the start
      {0x10ff, 0x100},  // one byte at the end
      {0x1010, 0x010},  // inside
      {0x0f00, 0x400},  // around
  };
  for (const auto& [address, size] : ranges) {
    Image image;
    ASSERT_TRUE(image.add_buffer(0x1000, filled(0x100, 1)));
    ASSERT_TRUE(image.add_buffer(0x2000, filled(0x100, 1)));
    EXPECT_FALSE(image.add_buffer(address, filled(size, 2))) << std::hex << address;
    EXPECT_THAT(image.regions(), SizeIs(2));
  }
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(0x100, 1)));
  EXPECT_TRUE(image.add_buffer(0x0f00, filled(0x100, 2)));
  EXPECT_TRUE(image.add_buffer(0x1100, filled(0x100, 3)));
}

TEST(ImageOverlap, different_spaces_may_share_addresses) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 1), kSpaceEl1S));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 2), kSpaceNonSecure));
  EXPECT_FALSE(image.add_buffer(0x1002, filled(4, 4), kSpaceEl1S));
  ASSERT_TRUE(image.add_buffer(0x1002, filled(4, 3), kSpaceEl3));
  EXPECT_THAT(read(image, 0x1000, kSpaceEl1S), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(read(image, 0x1000, kSpaceEl2), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(read(image, 0x1000, kSpaceEl3), IsEmpty());
  EXPECT_THAT(read(image, 0x1002, kSpaceEl3), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(read(image, 0x1000, kSpaceRoot), IsEmpty());
  EXPECT_THAT(read(image, 0x1000, kSpaceNone), IsEmpty());
}

TEST(ImageOverlap, a_read_in_several_spaces_takes_what_came_first) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x2000, filled(2, 9), kSpaceEl1N));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(2, 1), kSpaceEl1S));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(2, 2), kSpaceEl1N));
  EXPECT_THAT(read(image, 0x1000, kSpaceAny), ElementsAre(1, 1));
  EXPECT_THAT(read(image, 0x1000, kSpaceEl1S | kSpaceEl1N), ElementsAre(1, 1));
  ASSERT_TRUE(image.remove(0x1000, kSpaceEl1S));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(2, 3), kSpaceEl1S));
  EXPECT_THAT(read(image, 0x1000, kSpaceAny), ElementsAre(2, 2));
}

TEST(ImageLookup, finds_the_region_among_many_added_in_any_order) {
  Image image;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const std::uint64_t slot = n * 617 % 1000;
    ASSERT_TRUE(image.add_buffer(slot * 0x10, filled(8, static_cast<std::uint8_t>(slot))));
  }
  for (std::uint64_t slot = 0; slot < 1000; ++slot) {
    const Bytes bytes = read(image, slot * 0x10 + 3);
    ASSERT_THAT(bytes, SizeIs(5));
    EXPECT_EQ(bytes[0], static_cast<std::uint8_t>(slot));
    EXPECT_THAT(read(image, slot * 0x10 + 8), IsEmpty());
  }
}

TEST(ImageCallback, is_asked_with_address_space_and_trace_id) {
  Image image;
  std::uint64_t address = 0;
  SpaceMask space = 0;
  TraceId trace_id = 0;
  const ReadCallback callback = [&](std::uint64_t a, SpaceMask s, TraceId t,
                                    std::span<std::uint8_t> out) -> std::size_t {
    address = a;
    space = s;
    trace_id = t;
    out[0] = 0xAB;
    return 1;
  };
  ASSERT_TRUE(image.add_callback(0x1000, 0x1fff, kSpaceAny, callback, "process"));
  std::array<std::uint8_t, 16> scratch{};
  const Bytes bytes = image.read(0x1234, kSpaceEl2, 0x21, scratch);
  EXPECT_THAT(bytes, ElementsAre(0xAB));
  EXPECT_EQ(bytes.data(), scratch.data());
  EXPECT_EQ(address, 0x1234U);
  EXPECT_EQ(space, kSpaceEl2);
  EXPECT_EQ(trace_id, 0x21);
}

TEST(ImageCallback, gets_no_more_room_than_scratch_and_region_have) {
  Image image;
  ASSERT_TRUE(image.add_callback(0x1000, 0x1fff, kSpaceAny, filling(5)));
  std::array<std::uint8_t, 16> scratch{};
  EXPECT_THAT(image.read(0x1000, kSpaceAny, 0, scratch), SizeIs(16));
  EXPECT_THAT(image.read(0x1ffd, kSpaceAny, 0, scratch), ElementsAre(5, 5, 5));
  EXPECT_THAT(image.read(0x1fff, kSpaceAny, 0, scratch), ElementsAre(5));
  EXPECT_THAT(image.read(0x2000, kSpaceAny, 0, scratch), IsEmpty());
  EXPECT_THAT(image.read(0x1000, kSpaceAny, 0, {}), IsEmpty());
}

TEST(ImageCallback, that_claims_too_much_is_cut_to_what_it_was_given) {
  Image image;
  const ReadCallback liar = [](std::uint64_t, SpaceMask, TraceId, std::span<std::uint8_t>) {
    return std::numeric_limits<std::size_t>::max();
  };
  ASSERT_TRUE(image.add_callback(0, kTop, kSpaceAny, liar));
  std::array<std::uint8_t, 8> scratch{};
  EXPECT_THAT(image.read(0x1000, kSpaceAny, 0, scratch), SizeIs(8));
  EXPECT_THAT(image.read(kTop - 1, kSpaceAny, 0, scratch), SizeIs(2));
}

TEST(ImageCallback, that_has_nothing_leaves_the_address_unreadable) {
  Image image;
  const ReadCallback nothing = [](std::uint64_t, SpaceMask, TraceId, std::span<std::uint8_t>) {
    return std::size_t{0};
  };
  ASSERT_TRUE(image.add_callback(0, kTop, kSpaceAny, nothing));
  std::array<std::uint8_t, 8> scratch{};
  EXPECT_THAT(image.read(0, kSpaceAny, 0, scratch), IsEmpty());
}

TEST(ImageCallback, may_cover_the_whole_address_space) {
  Image image;
  ASSERT_TRUE(image.add_callback(0, kTop, kSpaceAny, filling(3)));
  std::array<std::uint8_t, 4> scratch{};
  EXPECT_THAT(image.read(0, kSpaceAny, 0, scratch), SizeIs(4));
  EXPECT_THAT(image.read(kTop, kSpaceAny, 0, scratch), ElementsAre(3));
  EXPECT_FALSE(image.add_buffer(0, filled(1, 1)));
  EXPECT_FALSE(image.add_buffer(kTop, filled(1, 1)));
}

TEST(ImageCallback, must_have_a_function_and_a_proper_range) {
  Image image;
  EXPECT_EQ(image.add_callback(0, 1, kSpaceAny, {}).error().code, ErrorCode::kInvalidArgument);
  const auto backwards = image.add_callback(0x2000, 0x1000, kSpaceAny, filling(0));
  EXPECT_EQ(backwards.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(backwards.error().detail, HasSubstr("0x2000-0x1000"));
  EXPECT_EQ(image.add_callback(0, 1, kSpaceNone, filling(0)).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(ImageRemove, takes_regions_that_start_there_in_that_space) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 1), kSpaceEl1S));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 2), kSpaceEl1N));
  ASSERT_TRUE(image.add_buffer(0x2000, filled(4, 3), kSpaceEl1N));
  ASSERT_TRUE(image.remove(0x1000, kSpaceEl1S));
  EXPECT_THAT(read(image, 0x1000), ElementsAre(2, 2, 2, 2));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 4), kSpaceEl1S));
  ASSERT_TRUE(image.remove(0x1000, kSpaceAny));
  EXPECT_THAT(read(image, 0x1000), IsEmpty());
  EXPECT_THAT(image.regions(), SizeIs(1));
}

TEST(ImageRemove, of_an_unmapped_address_is_an_error) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 1), kSpaceEl1S));
  const auto inside = image.remove(0x1002, kSpaceEl1S);
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(inside.error().detail, HasSubstr("0x1002"));
  EXPECT_FALSE(image.remove(0x1000, kSpaceEl1N));
  EXPECT_FALSE(image.remove(0x1000, kSpaceNone));
}

TEST(ImageVersion, changes_with_each_change_and_only_then) {
  Image image;
  const std::uint64_t fresh = image.version();
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 1)));
  const std::uint64_t added = image.version();
  EXPECT_NE(added, fresh);
  ASSERT_FALSE(image.add_buffer(0x1000, filled(4, 1)));
  ASSERT_FALSE(image.remove(0x2000, kSpaceAny));
  EXPECT_EQ(image.version(), added);
  ASSERT_TRUE(image.remove(0x1000, kSpaceAny));
  EXPECT_NE(image.version(), added);
  EXPECT_NE(image.version(), fresh);
}

TEST(ImageFlags, reports_what_reads_depend_on) {
  Image image;
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 1)));
  EXPECT_FALSE(image.has_spaces());
  ASSERT_TRUE(image.add_buffer(0x2000, filled(4, 1), kSpaceSecure));
  EXPECT_TRUE(image.has_spaces());
  EXPECT_FALSE(image.has_callbacks());
  ASSERT_TRUE(image.remove(0x2000, kSpaceSecure));
  EXPECT_FALSE(image.has_spaces());
  ASSERT_TRUE(image.add_callback(0x3000, 0x3fff, kSpaceAny, filling(0)));
  EXPECT_TRUE(image.has_callbacks());
  EXPECT_TRUE(image.has_spaces()) << "a callback gets the space";
}

TEST(ImageRegions, are_listed_in_the_order_in_which_they_came) {
  Image image;
  ASSERT_TRUE(image.add_callback(0x9000, 0x9fff, kSpaceEl3, filling(0), "live"));
  ASSERT_TRUE(image.add_buffer(0x1000, filled(4, 1), kSpaceAny, "rom"));
  const auto regions = image.regions();
  ASSERT_THAT(regions, SizeIs(2));
  EXPECT_EQ(regions[0].kind, RegionKind::kCallback);
  EXPECT_EQ(regions[0].first, 0x9000U);
  EXPECT_EQ(regions[0].last, 0x9fffU);
  EXPECT_EQ(regions[0].space, kSpaceEl3);
  EXPECT_EQ(regions[0].name, "live");
  EXPECT_EQ(regions[1].kind, RegionKind::kBuffer);
  EXPECT_EQ(regions[1].name, "rom");
}

TEST(ImageThreads, reads_from_several_threads_agree) {
  Image image;
  for (std::uint64_t n = 0; n < 64; ++n)
    ASSERT_TRUE(image.add_buffer(n * 0x100, filled(0x80, static_cast<std::uint8_t>(n))));
  ASSERT_TRUE(image.add_callback(0x10000, 0x1ffff, kSpaceAny, filling(0xCC)));
  std::array<std::uint64_t, 4> wrong{};
  {
    std::vector<std::jthread> threads;
    threads.reserve(wrong.size());
    for (std::uint64_t& count : wrong) {
      threads.emplace_back([&] {
        std::array<std::uint8_t, 4> scratch{};
        for (std::uint64_t n = 0; n < 20'000; ++n) {
          const std::uint64_t slot = n % 64;
          if (read(image, slot * 0x100)[0] != slot) ++count;
          if (image.read(0x10000 + n, kSpaceAny, 1, scratch)[0] != 0xCC) ++count;
        }
      });
    }
  }
  EXPECT_THAT(wrong, testing::Each(0));
}

}  // namespace
}  // namespace waymark::image
