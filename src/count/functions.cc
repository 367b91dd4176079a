#include "waymark/count/functions.h"

#include <algorithm>
#include <map>

#include "waymark/count/calls.h"

namespace waymark::count {
namespace {

/// Both are in one function, or in parts of one.
bool is_within(const FunctionAt& a, const FunctionAt& b) {
  if (a.function == nullptr || b.function == nullptr || a.program != b.program) return false;
  return a.start == b.start ||
         image::parent_name(a.function->name) == image::parent_name(b.function->name);
}

}  // namespace

std::uint64_t weight(const FunctionRow& row, Order order) {
  switch (order) {
    case Order::kInstructions:
      return row.instructions;
    case Order::kTimes:
      return row.entered;
    case Order::kCycles:
      return row.cycles;
    case Order::kCalls:
      return row.calls;
  }
  return 0;
}

std::vector<FunctionRow> functions(const Counts& counts, const image::Symbols& symbols) {
  return functions(counts, [&symbols](std::uint64_t address) -> FunctionAt {
    const image::Function* const found = symbols.find(address);
    return {.function = found, .start = found == nullptr ? 0 : found->start};
  });
}

std::vector<FunctionRow> functions(const Counts& counts,
                                   const std::function<FunctionAt(std::uint64_t address)>& find) {
  struct Key {
    std::uint32_t program;
    bool named;
    std::uint64_t start;
    auto operator<=>(const Key&) const = default;
  };
  const auto key_of = [](const FunctionAt& at) {
    return Key{at.program, at.function != nullptr, at.start};
  };
  std::map<Key, FunctionRow> rows;
  const auto row_of = [&](const FunctionAt& at) -> FunctionRow& {
    FunctionRow& row = rows[key_of(at)];
    row.function = at.function;
    row.program = at.program;
    return row;
  };
  for (const Row& row : counts.rows) {
    FunctionRow& sum = row_of(find(row.range.start));
    sum.instructions += row.instructions();
    sum.cycles += row.cycles;
  }
  for (const Branch& branch : branches(counts)) {
    if (!branch.taken) continue;
    const FunctionAt from = find(branch.from);
    const FunctionAt to = branch.to == kNoAddress ? FunctionAt{} : find(branch.to);
    const bool named = to.function != nullptr;
    const Call call = call_of(branch.subtype, named && branch.to == to.start, is_within(from, to));
    if (call == Call::kNone) continue;
    row_of(from).calls += branch.times;
    if (named) row_of(to).entered += branch.times;
  }
  std::vector<FunctionRow> all;
  all.reserve(rows.size());
  for (const auto& [key, row] : rows) all.push_back(row);
  return all;
}

std::vector<FunctionRow> top(std::vector<FunctionRow> rows, Order order, std::size_t most) {
  std::erase_if(rows, [&](const FunctionRow& row) { return weight(row, order) == 0; });
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&](const FunctionRow& row) { return weight(row, order); });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace waymark::count
