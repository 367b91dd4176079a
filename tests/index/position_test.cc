// Places as users name them.
#include <gtest/gtest.h>

#include "waymark/index/finder.h"

namespace waymark::index {
namespace {

TEST(Position, bytes_decimal_hexadecimal_and_with_units) {
  const auto offset = [](std::string_view text) {
    const auto position = parse_position(text);
    EXPECT_TRUE(position) << text;
    EXPECT_EQ(position->kind, Position::Kind::kOffset);
    return position->value;
  };
  EXPECT_EQ(offset("0"), 0U);
  EXPECT_EQ(offset("4096"), 4096U);
  EXPECT_EQ(offset("0x1000"), 4096U);
  EXPECT_EQ(offset("4KiB"), 4096U);
  EXPECT_EQ(offset("3MiB"), 3U << 20);
  EXPECT_EQ(offset("2GiB"), std::uint64_t{2} << 30);
  EXPECT_EQ(offset("64M"), std::uint64_t{64} << 20);
}

TEST(Position, timestamps_and_synchronisation_points) {
  const auto time = parse_position("t:0x10");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->kind, Position::Kind::kTimestamp);
  EXPECT_EQ(time->value, 16U);
  const auto sync = parse_position("s:17");
  ASSERT_TRUE(sync);
  EXPECT_EQ(sync->kind, Position::Kind::kSync);
  EXPECT_EQ(sync->value, 17U);
}

TEST(Position, other_texts_are_refused_with_the_forms_there_are) {
  for (const char* text : {"", "soon", "-1", "4 MiB", "4MBit", "t:", "s:x", "x:5", "KiB",
                           "18446744073709551615GiB", "99999999999999999999"}) {
    const auto position = parse_position(text);
    ASSERT_FALSE(position) << text;
    EXPECT_EQ(position.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(position.error().detail.find("t:123456"), std::string::npos);
  }
}

}  // namespace
}  // namespace waymark::index
