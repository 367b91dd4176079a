#include "waymark/image/symbols.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace waymark::image {
namespace {

/// Code that is one piece in a file and in memory; `shift` leads from its addresses in the file to
/// those in memory.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t shift = 0;
};

struct Candidate {
  std::uint64_t start = 0;
  const ElfSymbol* symbol = nullptr;
};

/// The best name of each place; ascending.
std::vector<Candidate> candidates_in(const ElfFile& file, const Part& part) {
  std::vector<Candidate> found;
  for (const ElfSymbol& symbol : file.symbols()) {
    if (!symbol.function && !symbol.label) continue;
    // Bit 0 tells T32 functions.
    const bool thumb = file.machine() == ElfFile::kArm && symbol.function;
    const std::uint64_t start = thumb ? symbol.address & ~std::uint64_t{1} : symbol.address;
    if (start >= part.first && start <= part.last) found.push_back({start, &symbol});
  }
  std::ranges::stable_sort(found, {}, [](const Candidate& it) {
    return std::tuple(it.start, !it.symbol->function, it.symbol->size == 0);
  });
  const auto same = std::ranges::unique(found, {}, &Candidate::start);
  found.erase(same.begin(), same.end());
  return found;
}

/// A function ends where its size says, or else at the next one, or with the part; a label within a
/// function names no other one.
std::vector<Function> functions_in(const ElfFile& file, const Part& part) {
  std::vector<Candidate> found = candidates_in(file, part);
  const auto last_by_size = [&](const Candidate& it) {
    return std::min(part.last, it.start + std::min(it.symbol->size - 1, part.last - it.start));
  };
  std::optional<std::uint64_t> covered;
  std::erase_if(found, [&](const Candidate& it) {
    if (it.symbol->label && covered && it.start <= *covered) return true;
    if (it.symbol->size != 0) covered = std::max(covered.value_or(0), last_by_size(it));
    return false;
  });
  std::vector<Function> functions;
  functions.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::uint64_t last = i + 1 < found.size() ? found[i + 1].start - 1 : part.last;
    if (found[i].symbol->size != 0) last = std::min(last, last_by_size(found[i]));
    functions.push_back({found[i].start + part.shift, last + part.shift, found[i].symbol->name});
  }
  return functions;
}

/// What of the segment a region shows; nothing: none of it.
std::optional<Part> part_of(const ElfSegment& segment, const RegionInfo& region) {
  const std::uint64_t size = region.last - region.first;  // Less one.
  const std::uint64_t first = std::max(segment.offset, region.offset);
  const std::uint64_t last = std::min(segment.offset + (segment.size - 1), region.offset + size);
  if (!segment.executable || segment.size == 0 || first > last) return std::nullopt;
  const std::uint64_t linked = segment.address + (first - segment.offset);
  return Part{.first = linked,
              .last = linked + (last - first),
              .shift = region.first + (first - region.offset) - linked};
}

}  // namespace

void Symbols::add(const Image& image) {
  std::map<std::string, std::optional<ElfFile>> files;
  for (const RegionInfo& region : image.regions()) {
    if (region.kind != RegionKind::kFile) continue;
    const auto [at, is_new] = files.try_emplace(region.name);
    if (is_new) {
      if (auto file = ElfFile::open(region.name)) at->second = std::move(*file);
    }
    if (!at->second) continue;
    for (const ElfSegment& segment : at->second->segments())
      if (const auto part = part_of(segment, region)) add(functions_in(*at->second, *part));
  }
}

void Symbols::add(const ElfFile& file) {
  for (const ElfSegment& segment : file.segments()) {
    if (!segment.executable || segment.size == 0) continue;
    add(functions_in(file,
                     {.first = segment.address, .last = segment.address + (segment.size - 1)}));
  }
}

void Symbols::add(std::vector<Function> more) {
  std::erase_if(more, [&](const Function& function) {
    const auto next = std::ranges::lower_bound(functions_, function.start, {}, &Function::last);
    return next != functions_.end() && next->start <= function.last;
  });
  functions_.insert(functions_.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  std::ranges::sort(functions_, {}, &Function::start);
}

const Function* Symbols::find(std::uint64_t address) const {
  const auto at = std::ranges::lower_bound(functions_, address, {}, &Function::last);
  return at != functions_.end() && at->start <= address ? &*at : nullptr;
}

}  // namespace waymark::image
