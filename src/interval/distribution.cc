#include "waymark/interval/distribution.h"

#include <algorithm>
#include <bit>

#include "waymark/base/wide.h"

namespace waymark::interval {
namespace {

constexpr unsigned kBucketBits = 6;

/// The lowest value of the bucket that the value is in.
std::uint64_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width <= kBucketBits + 1) return value;
  const unsigned shift = width - kBucketBits - 1;
  return value >> shift << shift;
}

}  // namespace

void Distribution::add(std::uint64_t value) {
  ++count_;
  sum_ += value;
  if (sum_ < value) ++sum_high_;
  if (!is_exact()) {
    ++buckets_[bucket_of(value)];
    return;
  }
  if (!values_.empty() && value < values_.back()) is_sorted_ = false;
  values_.push_back(value);
  if (values_.size() > kMostExact) give_up_exactness();
}

void Distribution::give_up_exactness() {
  for (const std::uint64_t value : values_) ++buckets_[bucket_of(value)];
  values_.clear();
  values_.shrink_to_fit();
  is_sorted_ = true;
}

void Distribution::add(const Distribution& other) {
  count_ += other.count_;
  sum_ += other.sum_;
  sum_high_ += other.sum_high_ + (sum_ < other.sum_ ? 1 : 0);
  if (is_exact() && other.is_exact() && values_.size() + other.values_.size() <= kMostExact) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
    is_sorted_ = false;
    return;
  }
  if (is_exact()) give_up_exactness();
  for (const std::uint64_t value : other.values_) ++buckets_[bucket_of(value)];
  for (const auto& [value, times] : other.buckets_) buckets_[value] += times;
}

std::uint64_t Distribution::mean() const {
  if (count_ == 0) return 0;
  return static_cast<std::uint64_t>((Wide{sum_high_} << 64 | sum_) / count_);
}

const std::vector<std::uint64_t>& Distribution::sorted() const {
  if (!is_sorted_) std::ranges::sort(values_);
  is_sorted_ = true;
  return values_;
}

std::uint64_t Distribution::quantile(unsigned per_mille) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>((Wide{count_} * per_mille + 999) / 1000);
  const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, count_);
  if (is_exact()) return sorted()[static_cast<std::size_t>(rank - 1)];
  std::uint64_t passed = 0;
  for (const auto& [value, times] : buckets_) {
    passed += times;
    if (passed >= rank) return value;
  }
  return buckets_.rbegin()->first;
}

std::vector<Distribution::Bar> Distribution::histogram() const {
  std::map<int, std::uint64_t> counts;
  if (is_exact()) {
    for (const std::uint64_t value : values_) ++counts[static_cast<int>(std::bit_width(value))];
  } else {
    for (const auto& [value, times] : buckets_)
      counts[static_cast<int>(std::bit_width(value))] += times;
  }
  std::vector<Bar> bars;
  if (counts.empty()) return bars;
  for (int width = counts.begin()->first; width <= counts.rbegin()->first; ++width) {
    const auto at = counts.find(width);
    const std::uint64_t from = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
    bars.push_back({from, width == 0 ? 0 : from - 1 + from,
                    at == counts.end() ? std::uint64_t{0} : at->second});
  }
  return bars;
}

}  // namespace waymark::interval
