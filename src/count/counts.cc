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

/// The first element from `at` on whose key is not below that of `wanted`; it is usually near `at`.
template <class T>
std::size_t advance_to(const std::vector<T>& all, std::size_t at, const T& wanted) {
  std::size_t step = 1;
  std::size_t end = at;
  while (end < all.size() && key_of(all[end]) < key_of(wanted)) {
    at = end + 1;
    end += step;
    step *= 2;
  }
  const auto below = [](const T& a, const T& b) { return key_of(a) < key_of(b); };
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(end, all.size()));
  return static_cast<std::size_t>(std::lower_bound(first, last, wanted, below) - all.begin());
}

/// Reserves room for `size` elements at once, so that a large vector moves only once.  Memory that
/// is not written yet takes no space.
template <class T>
void make_room(std::vector<T>& all, std::size_t size) {
  constexpr std::size_t kLarge = Counts::kMaxRows / 8;
  if (size <= all.capacity()) return;
  all.reserve(size > kLarge ? std::max(size, Counts::kMaxRows) : std::max(size, 2 * all.size()));
}

/// Adds `b` to `a` in the memory of `a`.  Both are ascending and without repetition, and so is the
/// result.  The first Counts::kMaxRows remain; `spill` gets the others.
template <class T, class Spill>
void merge_into(std::vector<T>& a, const std::vector<T>& b, Spill spill) {
  std::size_t added = 0;
  std::size_t at = 0;
  for (const T& row : b) {
    at = advance_to(a, at, row);
    if (at == a.size() || key_of(row) < key_of(a[at])) ++added;
  }
  // Backwards, so that nothing is overwritten before it was moved.
  std::size_t left = a.size();
  std::size_t right = b.size();
  std::size_t end = a.size() + added;
  const auto last = [&] {
    const bool from_b = left == 0 || (right != 0 && key_of(a[left - 1]) < key_of(b[right - 1]));
    if (from_b) return b[--right];
    T row = a[--left];
    if (right != 0 && key_of(row) == key_of(b[right - 1])) take_over(row, b[--right]);
    return row;
  };
  for (; end > Counts::kMaxRows; --end) spill(last());
  make_room(a, end);
  if (a.size() < end) a.resize(end);
  const std::size_t size = end;
  // NOLINTNEXTLINE(bugprone-infinite-loop): last() changes `right`.
  while (right != 0) a[--end] = last();
  a.resize(size);
}

template <class T>
void combine_all(std::vector<T>& all) {
  const auto below = [](const T& a, const T& b) { return key_of(a) < key_of(b); };
  if (!std::ranges::is_sorted(all, below)) std::ranges::sort(all, below);
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

}  // namespace

Totals totals_of(const Row& row) {
  return {.instructions = row.instructions(),
          .ranges = row.times(),
          .taken = row.taken(),
          .not_taken = row.not_taken(),
          .calls = row.calls(),
          .cycles = row.cycles};
}

Context context_of(const Element& element) {
  return {.context_id = element.context_id,
          .vmid = element.vmid,
          .flags = static_cast<std::uint16_t>(element.flags & kContextFlags),
          .trace_id = element.trace_id,
          .exception_level = element.exception_level,
          .security = element.security};
}

bool continues(const Context& before, const Context& now) {
  if ((now.flags & kElementElValid) != 0 && now.exception_level != 0) return true;
  const unsigned both = before.flags & now.flags;
  return before.task == now.task &&
         ((both & kElementContextIdValid) == 0 || before.context_id == now.context_id) &&
         ((both & kElementVmidValid) == 0 || before.vmid == now.vmid);
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
  merge_into(rows, other.rows, [this](const Row& row) { rest += totals_of(row); });
  merge_into(edges, other.edges, [this](const Edge& edge) { lost_edges += edge.times; });
  rest += other.rest;
  lost_edges += other.lost_edges;
  for (std::size_t i = 0; i < others.size(); ++i) others[i] += other.others[i];
  for (const auto& [place, times] : other.unread)
    if (unread.size() < kMaxRows || unread.contains(place)) unread[place] += times;
  pathless_instructions += other.pathless_instructions;
  other_cycles += other.other_cycles;
}

void Counts::add(Counts&& other) {
  if (rows.size() < other.rows.size()) rows.swap(other.rows);
  if (edges.size() < other.edges.size()) edges.swap(other.edges);
  add(static_cast<const Counts&>(other));
}

bool Counts::has_room_for(const Row& row) const {
  return rows.size() < kMaxRows || key_of(row) <= key_of(rows.back());
}

void Counts::keep(const std::function<bool(TaskId task)>& filter) {
  std::erase_if(rows, [&](const Row& row) { return !filter(row.context.task); });
  std::erase_if(edges, [&](const Edge& edge) { return !filter(edge.context.task); });
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
