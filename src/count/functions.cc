#include "waymark/count/functions.h"

#include <algorithm>
#include <map>

#include "waymark/base/wide.h"
#include "waymark/count/calls.h"
#include "waymark/isa/instruction_run.h"

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

FunctionAt function_at(const std::vector<image::Function>& functions, std::uint64_t address) {
  const image::CodeAt code = image::code_at(functions, address);
  return {.function = code.function,
          .start = code.function == nullptr ? 0 : code.function->start,
          .end = code.end};
}

void each_share(const Row& row, const FindFunction& find, const ReadHalfword& read,
                const std::function<void(const FunctionShare&)>& take) {
  const Range& range = row.range;
  std::uint64_t start = range.start;
  std::uint32_t passed = 0;
  std::uint64_t given = 0;
  FunctionAt at = find(start);
  while (at.end > start && at.end < range.end) {
    const auto run = isa::instructions_below(range.isa, start, at.end, read);
    if (!run || run->count >= range.count - passed || run->end >= range.end) break;
    passed += run->count;
    const auto due = static_cast<std::uint64_t>(Wide{row.cycles} * passed / range.count);
    take({.at = at, .instructions = row.times() * run->count, .cycles = due - given});
    given = due;
    start = run->end;
    at = find(start);
  }
  take({.at = at,
        .instructions = row.times() * (range.count - passed),
        .cycles = row.cycles - given});
}

std::vector<FunctionRow> functions(const Counts& counts, const image::Symbols& symbols,
                                   const ReadHalfword& read) {
  return functions(
      counts,
      [&symbols](std::uint64_t address) { return function_at(symbols.functions(), address); },
      read);
}

std::vector<FunctionRow> functions(const Counts& counts, const FindFunction& find,
                                   const ReadHalfword& read) {
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
    each_share(row, find, read, [&row_of](const FunctionShare& share) {
      FunctionRow& sum = row_of(share.at);
      sum.instructions += share.instructions;
      sum.cycles += share.cycles;
    });
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
