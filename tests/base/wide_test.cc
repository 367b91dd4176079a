#include "waymark/base/wide.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace waymark {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

std::uint64_t low(PortableWide value) { return static_cast<std::uint64_t>(value); }
std::uint64_t high(PortableWide value) { return low(value >> 64); }

TEST(PortableWide, product_and_quotient_of_the_largest_numbers) {
  const PortableWide product = PortableWide(kMost) * kMost;
  EXPECT_EQ(high(product), kMost - 1);
  EXPECT_EQ(low(product), 1U);
  EXPECT_EQ(low(product / kMost), kMost);
  EXPECT_EQ(low((PortableWide(1'000'000'000) * kMost) / 1'000'000'000), kMost);
}

TEST(PortableWide, sums_carry_and_differences_borrow) {
  EXPECT_EQ(high(PortableWide(kMost) + 1), 1U);
  EXPECT_EQ(low(PortableWide(kMost) + 1), 0U);
  const PortableWide mask = (PortableWide(1) << 64) - 1;
  EXPECT_EQ(high(mask), 0U);
  EXPECT_EQ(low(mask), kMost);
  EXPECT_EQ(high(~mask), kMost);
}

TEST(PortableWide, shifts_across_the_middle) {
  const PortableWide value = PortableWide(0x0123'4567'89AB'CDEF) << 40;
  EXPECT_EQ(high(value), 0x01'2345'6789U);
  EXPECT_EQ(low(value), 0xABCD'EF00'0000'0000U);
  EXPECT_EQ(low(value >> 40), 0x0123'4567'89AB'CDEFU);
  EXPECT_EQ(low(value << 0), low(value));
  EXPECT_EQ(static_cast<std::uint8_t>(value >> 40 & 0xFF), 0xEF);
}

TEST(PortableWide, compares_the_high_part_first) {
  EXPECT_LT(PortableWide(kMost), PortableWide(1) << 64);
  EXPECT_EQ(PortableWide(7) << 64 >> 64, PortableWide(7));
}

#ifdef __SIZEOF_INT128__
/// Numbers of all lengths.
std::uint64_t number(std::mt19937_64& random) { return random() >> (random() % 64); }

TEST(PortableWide, is_as_the_type_of_the_compiler) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::array<std::uint64_t, 4> n = {number(random), number(random), number(random),
                                            number(random) | 1};
    const auto bits = static_cast<unsigned>(random() % 128);
    const Wide a = Wide{n[0]} << 64 | n[1];
    const Wide b = Wide{n[2]} << 64 | n[3];
    const PortableWide c = PortableWide(n[0]) << 64 | n[1];
    const PortableWide d = PortableWide(n[2]) << 64 | n[3];
    const auto expect = [](PortableWide got, Wide wanted) {
      ASSERT_EQ(low(got), static_cast<std::uint64_t>(wanted));
      ASSERT_EQ(high(got), static_cast<std::uint64_t>(wanted >> 64));
    };
    expect(c + d, a + b);
    expect(c - d, a - b);
    expect(c * d, a * b);
    expect(c / d, a / b);
    expect(c / n[3], a / n[3]);
    expect((c & d) | ~c, (a & b) | ~a);
    expect(c << bits, a << bits);
    expect(c >> bits, a >> bits);
    ASSERT_EQ(c < d, a < b);
  }
}
#endif

}  // namespace
}  // namespace waymark
