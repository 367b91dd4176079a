#include "waymark/count/functions.h"

#include <algorithm>
#include <map>

namespace waymark::count {

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
  const image::Function* const first = symbols.functions().data();
  // Numbers functions from 1; 0 has no name.
  const auto number_of = [&](std::uint64_t address) {
    const image::Function* const function = symbols.find(address);
    return function == nullptr ? 0 : static_cast<std::size_t>(function - first) + 1;
  };
  std::map<std::size_t, FunctionRow> rows;
  const auto row_of = [&](std::size_t number) -> FunctionRow& {
    FunctionRow& row = rows[number];
    if (number != 0) row.function = first + (number - 1);
    return row;
  };
  for (const Row& row : counts.rows) {
    FunctionRow& sum = row_of(number_of(row.range.start));
    sum.instructions += row.instructions();
    sum.calls += row.calls();
    sum.cycles += row.cycles;
  }
  for (const Branch& branch : branches(counts)) {
    if (!branch.taken || branch.to == kNoAddress) continue;
    const std::size_t to = number_of(branch.to);
    if (to == 0 || branch.to != first[to - 1].start) continue;
    if (branch.subtype != isa::InstrSubtype::kBranchLink && number_of(branch.from) == to) continue;
    row_of(to).entered += branch.times;
  }
  std::vector<FunctionRow> all;
  all.reserve(rows.size());
  for (const auto& [number, row] : rows) all.push_back(row);
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
