#include "waymark/count/ranking.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace waymark::count {
namespace {

auto place_of(const Branch& branch) {
  return std::tie(branch.context, branch.from, branch.isa, branch.type, branch.subtype,
                  branch.taken, branch.to);
}

/// Adds up the branches of the same place; the result is ascending.
void combine(std::vector<Branch>& all) {
  std::ranges::sort(all, {}, place_of);
  std::size_t kept = 0;
  for (const Branch& branch : all) {
    if (kept != 0 && place_of(all[kept - 1]) == place_of(branch)) {
      all[kept - 1].times += branch.times;
    } else {
      all[kept++] = branch;
    }
  }
  all.resize(kept);
}

}  // namespace

std::uint64_t weight(const Row& row, Order order) {
  switch (order) {
    case Order::kInstructions:
      return row.instructions();
    case Order::kTimes:
      return row.times();
    case Order::kCycles:
      return row.cycles;
    case Order::kCalls:
      return row.calls();
  }
  return 0;
}

std::vector<Row> top(const Counts& counts, Order order, std::size_t most) {
  // Rows are large, so they are not copied before the greatest are known.
  std::vector<const Row*> found;
  for (const Row& row : counts.rows)
    if (weight(row, order) != 0) found.push_back(&row);
  most = std::min(most, found.size());
  const auto middle = found.begin() + static_cast<std::ptrdiff_t>(most);
  const auto greater = [order](const Row* a, const Row* b) {
    const std::uint64_t left = weight(*a, order);
    const std::uint64_t right = weight(*b, order);
    return left != right ? left > right : a < b;  // Rows are ascending.
  };
  if (most < found.size()) {
    std::ranges::partial_sort(found, middle, greater);
  } else {
    std::ranges::sort(found, greater);
  }
  std::vector<Row> rows;
  rows.reserve(most);
  for (auto at = found.begin(); at != middle; ++at) rows.push_back(**at);
  return rows;
}

std::vector<Branch> branches(const Counts& counts) {
  std::vector<Branch> all;
  for (const Row& row : counts.rows) {
    if (!row.range.is_branch()) continue;
    Branch branch = {.context = row.context,
                     .isa = row.range.isa,
                     .type = row.range.last_type,
                     .subtype = row.range.last_subtype,
                     .from = row.range.last_address()};
    if (row.not_executed != 0) {
      branch.to = row.range.end;
      branch.times = row.not_executed;
      all.push_back(branch);
    }
    if (row.executed != 0) {
      branch.taken = true;
      branch.to = row.target;
      branch.times = row.executed;
      if (row.calls() == 0 && branch.subtype == isa::InstrSubtype::kBranchLink)
        branch.subtype = isa::InstrSubtype::kNone;
      all.push_back(branch);
    }
  }
  combine(all);
  // The known targets of indirect branches are subtracted from the unknown ones.
  const std::size_t known = all.size();
  for (const Edge& edge : counts.edges) {
    Branch branch = {.context = edge.context,
                     .isa = edge.from_isa,
                     .type = isa::InstrType::kIndirectBranch,
                     .subtype = edge.subtype,
                     .taken = true,
                     .from = edge.from,
                     .to = kNoAddress,
                     .times = edge.times};
    const auto rows = std::span(all).first(known);
    const auto at = std::ranges::lower_bound(rows, place_of(branch), {}, place_of);
    if (at != rows.end() && place_of(*at) == place_of(branch))
      at->times -= std::min(at->times, branch.times);
    branch.to = edge.to;
    all.push_back(branch);
  }
  std::erase_if(all, [](const Branch& branch) { return branch.times == 0; });
  combine(all);
  return all;
}

std::vector<Branch> top_branches(const Counts& counts, std::size_t most) {
  std::vector<Branch> all = branches(counts);
  std::ranges::sort(all, [](const Branch& a, const Branch& b) {
    return a.times != b.times ? a.times > b.times : place_of(a) < place_of(b);
  });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace waymark::count
