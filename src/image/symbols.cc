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
  return code_at(functions_, address).function;
}

CodeAt code_at(const std::vector<Function>& functions, std::uint64_t address) {
  const auto at = std::ranges::lower_bound(functions, address, {}, &Function::last);
  if (at == functions.end()) return {};
  if (at->start > address) return {.end = at->start};
  return {.function = &*at, .end = at->last == kNoAddress ? kNoAddress : at->last + 1};
}

std::string_view parent_name(std::string_view name) {
  // A suffix that a compiler adds to the name of a part or copy, perhaps with a number after it.
  constexpr std::string_view kSuffixes[] = {".cold", ".part", ".__part", ".constprop",
                                            ".isra", ".llvm", ".__uniq"};
  for (bool again = true; again;) {
    again = false;
    const std::size_t digits = name.find_last_not_of("0123456789");
    std::string_view stem = name;
    if (digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '.')
      stem = name.substr(0, digits);
    for (const std::string_view suffix : kSuffixes) {
      if (!stem.ends_with(suffix) || stem.size() == suffix.size()) continue;
      name = stem.substr(0, stem.size() - suffix.size());
      again = true;
    }
    if (again) continue;
  }
  return name;
}

}  // namespace waymark::image
