#include "waymark/interval/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace waymark::interval {
namespace {

TEST(Distribution, of_nothing) {
  const Distribution none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.mean(), 0U);
  EXPECT_EQ(none.quantile(500), 0U);
  EXPECT_TRUE(none.histogram().empty());
}

TEST(Distribution, quantiles_are_values_that_occurred) {
  Distribution lengths;
  for (const std::uint64_t value : {7U, 1U, 5U, 3U}) lengths.add(value);
  EXPECT_EQ(lengths.quantile(0), 1U);
  EXPECT_EQ(lengths.quantile(500), 3U);
  EXPECT_EQ(lengths.quantile(501), 5U);
  EXPECT_EQ(lengths.quantile(1000), 7U);
  EXPECT_EQ(lengths.mean(), 4U);
}

TEST(Distribution, the_histogram_has_every_power_of_two_between) {
  Distribution lengths;
  for (const std::uint64_t value : {0U, 1U, 9U, 15U}) lengths.add(value);
  const auto bars = lengths.histogram();
  ASSERT_EQ(bars.size(), 5U);
  EXPECT_EQ(bars[0].to, 0U);
  EXPECT_EQ(bars[1].count, 1U);
  EXPECT_EQ(bars[2].count, 0U);
  EXPECT_EQ(bars[4].from, 8U);
  EXPECT_EQ(bars[4].to, 15U);
  EXPECT_EQ(bars[4].count, 2U);
  Distribution great;
  great.add(~std::uint64_t{0});
  EXPECT_EQ(great.histogram().front().to, ~std::uint64_t{0});
}

TEST(Distribution, many_values_keep_their_quantiles_nearly) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> values(Distribution::kMostExact + 1000);
  for (std::uint64_t& value : values) value = random() >> (random() % 60);
  Distribution all;
  Distribution parts[2];
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.add(values[i]);
    parts[i % 2].add(values[i]);
  }
  EXPECT_FALSE(all.is_exact());
  EXPECT_TRUE(parts[0].is_exact());
  parts[1].add(parts[0]);
  std::ranges::sort(values);
  for (const unsigned part : {1U, 10U, 500U, 950U, 990U, 1000U}) {
    const std::size_t rank = (values.size() * part + 999) / 1000;
    const std::uint64_t exact = values[rank - 1];
    EXPECT_LE(all.quantile(part), exact);
    EXPECT_GE(all.quantile(part), exact - exact / 64);
    EXPECT_EQ(parts[1].quantile(part), all.quantile(part));
  }
  EXPECT_EQ(parts[1].count(), values.size());
  EXPECT_EQ(parts[1].mean(), all.mean());
}

}  // namespace
}  // namespace waymark::interval
