#include "waymark/image/symbols.h"

#include <algorithm>
#include <map>

#include "waymark/base/cut_text.h"

namespace waymark::image {
namespace {

/// By last byte.
using ByLast = std::map<std::uint64_t, Function>;

void add_to(ByLast& all, std::vector<Function> more, std::size_t most) {
  for (Function& function : more) {
    if (all.size() >= most) return;
    if (function.last < function.start) continue;
    if (function.name.size() > kLongestName) function.name = cut_text(function.name, kLongestName);
    const auto next = all.lower_bound(function.start);
    if (next != all.end() && next->second.start <= function.last) continue;
    all.emplace_hint(next, function.last, std::move(function));
  }
}

ByLast by_last(std::vector<Function>&& functions) {
  ByLast all;
  for (Function& function : functions)
    all.emplace_hint(all.end(), function.last, std::move(function));
  return all;
}

std::vector<Function> in_order(ByLast&& all) {
  std::vector<Function> functions;
  functions.reserve(all.size());
  for (auto& [last, function] : all) functions.push_back(std::move(function));
  return functions;
}

}  // namespace

void Symbols::add(std::vector<Function> functions) {
  ByLast all = by_last(std::move(functions_));
  add_to(all, std::move(functions), most_);
  functions_ = in_order(std::move(all));
}

const Function* Symbols::find(std::uint64_t address) const {
  const auto at = std::ranges::lower_bound(functions_, address, {}, &Function::last);
  return at != functions_.end() && at->start <= address ? &*at : nullptr;
}

}  // namespace waymark::image
