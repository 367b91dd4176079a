#include "waymark/perf/perf_map.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "waymark/base/cut_text.h"

namespace waymark::perf {
namespace {

constexpr std::string_view kBlanks = " \t";

/// The next number of `line`, which loses it.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  std::string_view digits = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(digits.size());
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [rest, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || rest != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<image::Function> read_perf_map(std::string_view text) {
  struct Named {
    std::uint64_t last;
    std::string_view name;
  };
  std::map<std::uint64_t, Named> all;  // By the first address.
  while (!text.empty() && all.size() < image::Symbols::kMost) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto first = take_number(line);
    if (!first) continue;
    const std::uint64_t size = take_number(line).value_or(0);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (size == 0 || line.empty()) continue;
    const std::uint64_t last = *first + std::min(size - 1, ~*first);
    // The rest of those that it overlaps.
    auto at = all.upper_bound(*first);
    if (at != all.begin() && std::prev(at)->second.last >= *first) --at;
    while (at != all.end() && at->first <= last) {
      const auto [old_first, old] = *at;
      at = all.erase(at);
      if (old_first < *first) all[old_first] = {*first - 1, old.name};
      if (old.last > last) all[last + 1] = old;
    }
    all[*first] = {last, line};
  }
  std::vector<image::Function> functions;
  functions.reserve(all.size());
  for (const auto& [first, named] : all)
    functions.push_back({first, named.last, cut_text(named.name, kLongestName)});
  return functions;
}

}  // namespace waymark::perf
