#include "symbols.h"

#include <algorithm>
#include <tuple>

#include "waymark/base/cut_text.h"

namespace waymark::program {
namespace {

/// GLOBAL, then WEAK, then LOCAL.
std::uint8_t rank_of(std::uint8_t binding) {
  if (binding == ElfName::kGlobal) return 0;
  return binding == ElfName::kWeak ? 1 : 2;
}

std::size_t leading_underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

/// `$x`, `$d`, `$a` and `$t` begin A64 code, data, A32 code and T32 code; `.name` may follow.
std::optional<Content> mapping_of(std::string_view name) {
  if (name.size() < 2 || name[0] != '$' || (name.size() > 2 && name[2] != '.')) return std::nullopt;
  switch (name[1]) {
    case 'x':
      return Content::kA64;
    case 'd':
      return Content::kData;
    case 'a':
      return Content::kA32;
    case 't':
      return Content::kT32;
    default:
      return std::nullopt;
  }
}

const CodeRange* range_of(const std::vector<CodeRange>& code, std::uint64_t address) {
  const auto at = std::ranges::lower_bound(code, address, {}, &CodeRange::last);
  return at != code.end() && at->first <= address ? &*at : nullptr;
}

/// The last byte of the section of a symbol, if it is in one.
std::optional<std::uint64_t> end_of_section(const Elf& elf, const ElfName& symbol,
                                            std::uint64_t address) {
  if (symbol.section >= elf.sections.size()) return std::nullopt;
  const ElfSection& section = elf.sections[symbol.section];
  if (address < section.address || address - section.address >= section.size) return std::nullopt;
  const std::uint64_t last = section.address + (section.size - 1);
  // A damaged section may go past the end of the address space.
  return last < address ? std::nullopt : std::optional(last);
}

}  // namespace

std::vector<CodeRange> code_ranges(const Elf& elf) {
  std::vector<CodeRange> all;
  const auto add = [&](std::uint64_t address, std::uint64_t size) {
    if (size == 0 || address + (size - 1) < address) return;
    all.push_back({address, address + (size - 1)});
  };
  for (const ElfLoad& load : elf.loads)
    if (load.executable) add(load.address, load.memory_size);
  if (elf.loads.empty()) {
    for (const ElfSection& section : elf.sections)
      if (section.is_code()) add(section.address, section.size);
  }
  std::ranges::sort(all, {}, &CodeRange::first);
  std::vector<CodeRange> merged;
  for (const CodeRange& range : all) {
    if (!merged.empty() && range.first <= merged.back().last) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

std::vector<NamedPlace> named_places(const Elf& elf, const ElfSection& table,
                                     const std::vector<CodeRange>& code) {
  std::vector<NamedPlace> places;
  for (const ElfName& symbol : elf.names(table)) {
    if (!symbol.is_function() && symbol.type != ElfName::kNoType) continue;
    // Mapping symbols ($a, $t, $x, $d) do not name a place in the program.
    if (symbol.name.front() == '$') continue;
    // Bit 0 marks T32 functions.
    const bool thumb = elf.machine == Elf::kArm && symbol.is_function();
    const std::uint64_t start = thumb ? symbol.value & ~std::uint64_t{1} : symbol.value;
    const CodeRange* const range = range_of(code, start);
    if (range == nullptr) continue;
    const std::uint64_t section = end_of_section(elf, symbol, start).value_or(range->last);
    places.push_back({.start = start,
                      .size = symbol.size,
                      .limit = std::min(range->last, section),
                      .name = symbol.name,
                      .function = symbol.is_function(),
                      .rank = rank_of(symbol.binding)});
  }
  return places;
}

std::vector<Function> functions_of(std::vector<NamedPlace> places) {
  // The best of several aliases comes first.  Where nothing else decides, that is the last one of
  // the table, as other tools have it.
  std::ranges::reverse(places);
  std::ranges::stable_sort(places, {}, [](const NamedPlace& it) {
    return std::tuple(it.start, !it.function, it.rank, ~it.size, leading_underscores(it.name));
  });
  std::vector<Function> functions;
  std::optional<std::uint64_t> covered;  // The last byte of a function with a size.
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const NamedPlace& place = places[i];
    if (i != 0 && place.start == start) continue;
    start = place.start;
    // An alias may have the size that this symbol lacks.
    std::uint64_t size = place.size;
    for (std::size_t j = i; size == 0 && j < places.size() && places[j].start == start; ++j)
      size = places[j].function == place.function ? places[j].size : 0;
    if (!place.function && covered && start <= *covered) continue;
    if (!functions.empty()) {
      std::uint64_t& last = functions.back().last;
      last = std::min(last, start - 1);
    }
    const std::uint64_t room = place.limit - start;
    const std::uint64_t last = start + (size == 0 ? room : std::min(size - 1, room));
    if (size != 0) covered = std::max(covered.value_or(0), last);
    functions.push_back({start, last, cut_text(place.name, kLongestName)});
  }
  return functions;
}

std::vector<ContentChange> contents_of(const Elf& elf, const ElfSection& table) {
  std::vector<ContentChange> changes;
  for (const ElfName& symbol : elf.names(table)) {
    if (const auto content = mapping_of(symbol.name)) changes.push_back({symbol.value, content});
  }
  if (changes.empty()) return changes;
  std::ranges::stable_sort(changes, {}, &ContentChange::address);
  std::vector<ContentChange> ends;
  for (const ElfSection& section : elf.sections) {
    if ((section.flags & ElfSection::kAlloc) == 0 || section.size == 0) continue;
    // Code before the first symbol of a section is not known.
    const auto at = std::ranges::lower_bound(changes, section.address, {}, &ContentChange::address);
    if (at == changes.end() || at->address != section.address)
      ends.push_back({section.address, std::nullopt});
    const std::uint64_t end = section.address + section.size;
    const auto next = std::ranges::lower_bound(changes, end, {}, &ContentChange::address);
    if (next == changes.end() || next->address != end) ends.push_back({end, std::nullopt});
  }
  changes.insert(changes.end(), ends.begin(), ends.end());
  std::ranges::stable_sort(changes, {}, [](const ContentChange& it) {
    // Where a section ends and the next begins at once, its symbol counts.
    return std::tuple(it.address, it.content.has_value());
  });
  return changes;
}

}  // namespace waymark::program
