// Counts made from elements one by one, in the simplest way, to compare counting with.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/decoded.h"
#include "waymark/count/counter.h"
#include "waymark/element/element.h"

namespace waymark::support {

class PlainCounter {
 public:
  explicit PlainCounter(bool timestamps_repeat_cycles, bool shares_cycles = true)
      : repeat_(timestamps_repeat_cycles), shares_(shares_cycles) {}

  void add(std::span<const Element> elements) {
    for (const Element& element : elements) add(element);
  }

  [[nodiscard]] count::Counts counts() const {
    count::Counts counts = counts_;
    for (const auto& [key, row] : rows_) counts.rows.push_back(row);
    for (const auto& [key, edge] : edges_) counts.edges.push_back(edge);
    return counts;
  }

 private:
  using RowKey = std::pair<count::Context, count::Range>;
  using EdgeKey =
      std::tuple<count::Context, std::uint64_t, std::uint64_t, isa::Isa, isa::InstrSubtype>;

  void add(const Element& element) {
    const bool has_cycles = (element.flags & kElementHasCycleCount) != 0;
    if (element.kind == ElementKind::kInstrRange) {
      add_range(element);
      if (has_cycles) add_cycles(element.cycle_count);
      return;
    }
    ++counts_.others[static_cast<std::size_t>(element.kind)];
    using enum ElementKind;
    const bool gap =
        element.kind == kNoSync || element.kind == kTraceOn || element.kind == kEndOfTrace;
    const bool flows_on = element.kind == kTimestamp || element.kind == kCycleCount ||
                          element.kind == kEvent || element.kind == kSyncMarker ||
                          element.kind == kInstrumentation || element.kind == kDataAddress ||
                          element.kind == kDataValue || element.kind == kDataEvent;
    const bool states_target = element.kind == kException &&
                               (element.flags & kElementReturnAddress) != 0 &&
                               (element.flags & kElementTailChain) == 0;
    if (states_target) close_branch(element.end);
    const bool same_thread = element.kind == kPeContext && branch_ &&
                             count::continues(branch_->first, count::context_of(element));
    if (!flows_on && !same_thread) branch_.reset();
    if (element.kind == kInstrRangeNoPath) counts_.pathless_instructions += element.count;
    if (gap) {
      counts_.other_cycles += waiting_;
      waiting_ = 0;
      group_.clear();
    }
    if (!has_cycles) return;
    if (gap || element.kind == kPeContext) {
      counts_.other_cycles += element.cycle_count;
    } else if (!(element.kind == kTimestamp && repeat_)) {
      add_cycles(element.cycle_count);
    }
  }

  void add_range(const Element& element) {
    const count::Range range = {.start = element.start,
                                .end = element.end,
                                .count = element.count,
                                .isa = element.isa,
                                .last_type = element.last_type,
                                .last_subtype = element.last_subtype,
                                .last_size = element.last_size,
                                .conditional = (element.flags & kElementConditional) != 0};
    const RowKey key{count::context_of(element), range};
    count::Row& row = rows_[key];
    row.context = key.first;
    row.range = range;
    const bool executed = (element.flags & kElementExecuted) != 0;
    ++(executed ? row.executed : row.not_executed);
    close_branch(element.start);
    if (executed && element.last_type == isa::InstrType::kIndirectBranch &&
        element.last_subtype != isa::InstrSubtype::kV8ExceptionReturn)
      branch_ = key;
    group_.push_back(key);
  }

  void close_branch(std::uint64_t to) {
    if (!branch_) return;
    const count::Range& from = branch_->second;
    const EdgeKey way{branch_->first, from.end - from.last_size, to, from.isa, from.last_subtype};
    count::Edge& edge = edges_[way];
    edge = {.context = branch_->first,
            .from = from.end - from.last_size,
            .to = to,
            .from_isa = from.isa,
            .subtype = from.last_subtype,
            .times = edge.times + 1};
    branch_.reset();
  }

  void add_cycles(std::uint64_t cycles) {
    if (!shares_) {
      counts_.other_cycles += cycles;
      return;
    }
    waiting_ += cycles;
    if (group_.empty()) return;
    std::uint64_t all = 0;
    for (const RowKey& key : group_) all += key.second.count;
    std::uint64_t passed = 0;
    std::uint64_t given = 0;
    for (const RowKey& key : group_) {
      passed += key.second.count;
      // All of it, even if no range has an instruction: quirks make such ranges.
      const std::uint64_t due = passed == all ? waiting_ : waiting_ * passed / all;
      rows_[key].cycles += due - given;
      given = due;
    }
    waiting_ = 0;
    group_.clear();
  }

  bool repeat_;
  bool shares_;
  count::Counts counts_;
  std::map<RowKey, count::Row> rows_;
  std::map<EdgeKey, count::Edge> edges_;
  std::optional<RowKey> branch_;
  std::vector<RowKey> group_;
  std::uint64_t waiting_ = 0;
};

inline std::string text_of(const count::Context& context) {
  return fmt::format("{}: {:x}/{:x}/{}/{} flags {:x}", context.trace_id, context.context_id,
                     context.vmid, context.exception_level, static_cast<int>(context.security),
                     context.flags);
}
inline std::string text_of(const count::Row& row) {
  const count::Range& range = row.range;
  return fmt::format("{}, {:x}-{:x} x{} isa {} ends {}/{}/{}{}: E {} N {} cycles {}",
                     text_of(row.context), range.start, range.end, range.count,
                     static_cast<int>(range.isa), static_cast<int>(range.last_type),
                     static_cast<int>(range.last_subtype), range.last_size,
                     range.conditional ? "c" : "", row.executed, row.not_executed, row.cycles);
}
inline std::string text_of(const count::Edge& edge) {
  return fmt::format("{}, {:x} -> {:x}: {}", text_of(edge.context), edge.from, edge.to, edge.times);
}

/// The first difference between the counts; empty: none.  Targets of direct branches are left out,
/// because the elements do not state all of them.
inline std::string difference(count::Counts a, count::Counts b) {
  for (count::Counts* counts : {&a, &b})
    for (count::Row& row : counts->rows) row.target = kNoAddress;
  const auto part = [](const auto& left, const auto& right, const char* what) {
    const auto [at, other] = std::ranges::mismatch(left, right);
    std::string text;
    if (at != left.end()) text += "\n  " + text_of(*at);
    if (other != right.end()) text += "\n  " + text_of(*other);
    return text.empty() ? text
                        : fmt::format("{} {} of {} and {}:{}", what, at - left.begin(), left.size(),
                                      right.size(), text);
  };
  if (auto text = part(a.rows, b.rows, "row"); !text.empty()) return text;
  if (auto text = part(a.edges, b.edges, "edge"); !text.empty()) return text;
  if (a == b) return {};
  return fmt::format("other cycles {} and {}, pathless {} and {}, or other elements",
                     a.other_cycles, b.other_cycles, a.pathless_instructions,
                     b.pathless_instructions);
}

/// Makes a walk harvest in the middle, a few packets from now.
inline void harvest_soon(count::Counter& counter, std::uint32_t turn) {
  counter.budget = 1 + turn % 5;
}

/// The first difference between counting a stream, fed in such chunks, and the sums of its
/// elements; empty: none.
inline std::string counting_difference(const PlainCounter& plain, Source& source, TraceIndex start,
                                       Bytes bytes, std::size_t chunk) {
  count::Counter counter;
  auto turn = static_cast<std::uint32_t>(bytes.size());
  feed_each(source, start, bytes, chunk, [&] {
    harvest_soon(counter, turn++);
    source.count(counter);
  });
  source.finish();
  source.count(counter);
  return difference(plain.counts(), counter.take());
}

}  // namespace waymark::support
