#include "waymark/count/counts.h"

#include <algorithm>
#include <tuple>

namespace waymark::count {
namespace {

auto key_of(const Row& row) { return std::tie(row.context, row.range); }
auto key_of(const Edge& edge) {
  return std::tie(edge.context, edge.from, edge.to, edge.from_isa, edge.subtype);
}

void take_over(Row& to, const Row& from) {
  to.executed += from.executed;
  to.not_executed += from.not_executed;
  to.cycles += from.cycles;
  to.target = std::min(to.target, from.target);
}
void take_over(Edge& to, const Edge& from) { to.times += from.times; }

/// Both are ascending and without repetition, and so is the result.
template <class T>
std::vector<T> merge(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> all;
  all.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (key_of(*left) < key_of(*right)) {
      all.push_back(*left++);
    } else if (key_of(*right) < key_of(*left)) {
      all.push_back(*right++);
    } else {
      all.push_back(*left++);
      take_over(all.back(), *right++);
    }
  }
  all.insert(all.end(), left, a.end());
  all.insert(all.end(), right, b.end());
  return all;
}

template <class T>
void combine_all(std::vector<T>& all) {
  std::ranges::sort(all, [](const T& a, const T& b) { return key_of(a) < key_of(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept != 0 && key_of(all[kept - 1]) == key_of(all[i])) {
      take_over(all[kept - 1], all[i]);
    } else {
      all[kept++] = all[i];
    }
  }
  all.resize(kept);
}

Totals totals_of(const Row& row) {
  return {.instructions = row.instructions(),
          .ranges = row.times(),
          .taken = row.taken(),
          .not_taken = row.not_taken(),
          .calls = row.calls(),
          .cycles = row.cycles};
}

}  // namespace

Context context_of(const Element& element) {
  return {.context_id = element.context_id,
          .vmid = element.vmid,
          .flags = static_cast<std::uint16_t>(element.flags & kContextFlags),
          .trace_id = element.trace_id,
          .exception_level = element.exception_level,
          .security = element.security};
}

Totals& Totals::operator+=(const Totals& other) {
  instructions += other.instructions;
  ranges += other.ranges;
  taken += other.taken;
  not_taken += other.not_taken;
  calls += other.calls;
  cycles += other.cycles;
  return *this;
}

void Counts::add(const Counts& other) {
  rows = rows.empty() ? other.rows : merge(rows, other.rows);
  edges = edges.empty() ? other.edges : merge(edges, other.edges);
  for (std::size_t i = kMaxRows; i < rows.size(); ++i) rest += totals_of(rows[i]);
  if (rows.size() > kMaxRows) rows.resize(kMaxRows);
  for (std::size_t i = kMaxRows; i < edges.size(); ++i) lost_edges += edges[i].times;
  if (edges.size() > kMaxRows) edges.resize(kMaxRows);
  rest += other.rest;
  lost_edges += other.lost_edges;
  for (std::size_t i = 0; i < others.size(); ++i) others[i] += other.others[i];
  pathless_instructions += other.pathless_instructions;
  other_cycles += other.other_cycles;
}

void Counts::combine() {
  combine_all(rows);
  combine_all(edges);
}

Totals Counts::totals() const {
  Totals sum = rest;
  for (const Row& row : rows) sum += totals_of(row);
  return sum;
}

bool Counts::has_cycles() const {
  return totals().cycles + other_cycles +
             others[static_cast<std::size_t>(ElementKind::kCycleCount)] !=
         0;
}

}  // namespace waymark::count
