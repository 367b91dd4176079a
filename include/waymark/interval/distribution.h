// The distribution of lengths: quantiles and a histogram of any number of values.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace waymark::interval {

/// Quantiles are exact up to kMostExact values.  Beyond that, each value counts as the lowest one
/// of its bucket; buckets are at most 1/64 of their values wide.  Distributions can be added, in
/// any order.  One owner; not thread safe.
class Distribution {
 public:
  static constexpr std::size_t kMostExact = std::size_t{1} << 20;

  void add(std::uint64_t value);
  void add(const Distribution& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Rounded down.  0: there are no values.
  [[nodiscard]] std::uint64_t mean() const;
  /// The least value that is not less than `per_mille` of 1000 values.  0: there are no values.
  [[nodiscard]] std::uint64_t quantile(unsigned per_mille) const;
  [[nodiscard]] bool is_exact() const { return buckets_.empty(); }

  struct Bar {
    std::uint64_t from = 0;
    std::uint64_t to = 0;  ///< Inclusive.
    std::uint64_t count = 0;
  };
  /// The values by powers of two, ascending, from the least to the greatest; those between are
  /// there even if they have none.
  [[nodiscard]] std::vector<Bar> histogram() const;

 private:
  void give_up_exactness();
  [[nodiscard]] const std::vector<std::uint64_t>& sorted() const;

  mutable std::vector<std::uint64_t> values_;
  mutable bool is_sorted_ = true;
  std::map<std::uint64_t, std::uint64_t> buckets_;  ///< By their lowest value, once not exact.
  std::uint64_t count_ = 0;
  // The sum, in 128 bits.
  std::uint64_t sum_ = 0;
  std::uint64_t sum_high_ = 0;
};

}  // namespace waymark::interval
