#include "waymark/protocol/header_pattern.h"

#include <gtest/gtest.h>

namespace waymark::protocol {
namespace {

struct Row {
  HeaderPattern pattern;
  char type;
};

constexpr Row kRows[] = {{"xxxx xxx1", 'b'}, {"1xxx xxx0", 'a'}, {"0000 0000", 's'},
                         {"0111 xxxx", 'e'}, {"0111 0000", 'i'}, {"0111 0001", 'j'}};
constexpr HeaderPattern kReserved[] = {"0000 1xx0", "0000 01x0", "0000 0010", "0001 xxx0",
                                       "001x xxx0", "010x xxx0", "0110 xxx0"};

/// Whether tables can be made of the rows.
template <const auto& kRows, const auto& kReserved>
concept Compiles =
    requires { typename std::bool_constant<(index_headers(kRows, kReserved), true)>; };

TEST(HeaderPatterns, match_headers_with_these_bits) {
  constexpr HeaderPattern kPattern = "0100 0x10";
  for (unsigned header = 0; header < 256; ++header)
    EXPECT_EQ(kPattern.matches(header), header == 0x42 || header == 0x46) << header;
  EXPECT_EQ(kPattern.weight(), 7);
  EXPECT_EQ(HeaderPattern("xxxxxxxx").weight(), 0);
}

TEST(HeaderPatterns, give_each_header_to_the_row_with_fewer_x) {
  constexpr HeaderIndex kIndex = index_headers(kRows, kReserved);
  EXPECT_EQ(kIndex[0x00], 2);
  EXPECT_EQ(kIndex[0x01], 0);
  EXPECT_EQ(kIndex[0xFE], 1);
  EXPECT_EQ(kIndex[0x70], 4);
  EXPECT_EQ(kIndex[0x71], 5);
  EXPECT_EQ(kIndex[0x72], 3);
  EXPECT_EQ(kIndex[0x73], 3);
  EXPECT_EQ(kIndex[0x02], kNoRow);
}

TEST(HeaderPatterns, give_a_part_of_the_row_by_header) {
  constexpr auto kTypes = map_headers(kRows, kReserved, 'r', &Row::type);
  EXPECT_EQ(kTypes[0x00], 's');
  EXPECT_EQ(kTypes[0x70], 'i');
  EXPECT_EQ(kTypes[0x7F], 'e');
  EXPECT_EQ(kTypes[0x02], 'r');
}

constexpr Row kTied[] = {{"0xxx xxxx", 'a'}, {"x000 0000", 'b'}, {"1xxx xxxx", 'c'}};
constexpr Row kReallyTied[] = {{"0xxx xxxx", 'a'}, {"xxxx xxx0", 'b'}, {"1xxx xxxx", 'c'}};
constexpr Row kHalf[] = {{"0xxx xxxx", 'a'}};
constexpr HeaderPattern kOtherHalf[] = {"1xxx xxxx"};
constexpr HeaderPattern kTooMuch[] = {"1xxx xxxx", "0000 0000"};
constexpr HeaderPattern kTooLittle[] = {"11xx xxxx"};
constexpr HeaderPattern kTwice[] = {"1xxx xxxx", "1111 1111"};
constexpr std::array<HeaderPattern, 0> kNothing{};

// Each is an error of the compiler.
static_assert(Compiles<kRows, kReserved>);
static_assert(Compiles<kTied, kNothing>);
static_assert(Compiles<kHalf, kOtherHalf>);
static_assert(!Compiles<kReallyTied, kNothing>, "two rows of equal weight claim one header");
static_assert(!Compiles<kHalf, kNothing>, "headers without a row that are not reserved");
static_assert(!Compiles<kHalf, kTooLittle>, "the same for some headers");
static_assert(!Compiles<kHalf, kTooMuch>, "a header has a row and is reserved");
static_assert(!Compiles<kHalf, kTwice>, "a header is reserved twice");

}  // namespace
}  // namespace waymark::protocol
