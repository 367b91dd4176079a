#include "waymark/perf/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace waymark::perf {
namespace {

/// The next word of `line`, which loses it.
std::string_view take_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

bool is_function(std::string_view type) {
  return type == "t" || type == "T" || type == "w" || type == "W";
}

}  // namespace

Result<std::vector<image::Function>> read_kallsyms(std::string_view text) {
  std::vector<image::Function> all;
  bool any = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view digits = take_word(line);
    const std::string_view type = take_word(line);
    const std::string_view name = take_word(line);
    std::uint64_t address = 0;
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
    if (error != std::errc() || rest != digits.data() + digits.size()) continue;
    // "$x" and "$d" say what is code.
    if (!is_function(type) || name.empty() || name.front() == '$') continue;
    any = true;
    if (address == 0) continue;
    if (all.size() == image::Symbols::kMost) break;
    all.push_back({.start = address, .last = address, .name = std::string(name)});
  }
  if (all.empty()) {
    return fail(ErrorCode::kBadData,
                any ? "all addresses are 0, because the kernel hid them (kptr_restrict); copy "
                      "/proc/kallsyms as root."
                    : "this is not a copy of /proc/kallsyms: it has no function.");
  }
  std::ranges::stable_sort(all, {}, &image::Function::start);
  // The first name of an address counts; each function reaches to the next one.
  const auto same = std::ranges::unique(all, {}, &image::Function::start);
  all.erase(same.begin(), same.end());
  constexpr std::uint64_t kLargest = 0xFFFFF;  // Before a gap.
  for (std::size_t i = 0; i < all.size(); ++i) {
    image::Function& function = all[i];
    function.last = function.start + std::min(kLargest, ~function.start);
    if (i + 1 < all.size()) function.last = std::min(function.last, all[i + 1].start - 1);
  }
  return all;
}

}  // namespace waymark::perf
