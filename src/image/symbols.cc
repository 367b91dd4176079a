#include "waymark/image/symbols.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "waymark/base/cut_text.h"

namespace waymark::image {
namespace {

/// Code that is contiguous in a file and in memory.  Adding `shift` turns its addresses in the file
/// into those in memory.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t shift = 0;
};

/// The part of the segment that a region contains; nothing: none of it.
std::optional<Part> part_of(const ElfSegment& segment, const RegionInfo& region) {
  if (!segment.executable || segment.size == 0) return std::nullopt;
  const std::uint64_t first = std::max(segment.offset, region.offset);
  const std::uint64_t last =
      std::min(segment.offset + (segment.size - 1), region.offset + (region.last - region.first));
  if (first > last) return std::nullopt;
  const std::uint64_t linked = segment.address + (first - segment.offset);
  return Part{.first = linked,
              .last = linked + (last - first),
              .shift = region.first + (first - region.offset) - linked};
}

/// Names of places in a program in ascending order, with the best name for each place.
class Names {
 public:
  explicit Names(const ElfFile& file) {
    for (const ElfSymbol& symbol : file.symbols()) {
      if (!symbol.function && !symbol.label) continue;
      // Bit 0 marks T32 functions.
      const bool thumb = file.machine() == ElfFile::kArm && symbol.function;
      places_.push_back(
          {thumb ? symbol.address & ~std::uint64_t{1} : symbol.address, symbol.size, &symbol});
    }
    std::ranges::sort(places_, {}, [](const Place& it) {
      return std::tuple(it.start, !it.symbol->function, it.size == 0, it.symbol);
    });
    const auto same = std::ranges::unique(places_, {}, &Place::start);
    places_.erase(same.begin(), same.end());
  }

  /// Returns at most `most` functions.  A function ends where its size says; without a size, it
  /// ends at the next function or with the part.  A label within a function does not end it.
  [[nodiscard]] std::vector<Function> in(const Part& part, std::size_t most) const {
    std::vector<Function> functions;
    std::optional<std::uint64_t> covered;  ///< The last byte of a function with a size.
    bool open = false;                     ///< The last function has no size.
    for (auto at = std::ranges::lower_bound(places_, part.first, {}, &Place::start);
         at != places_.end() && at->start <= part.last; ++at) {
      if (at->symbol->label && covered && at->start <= *covered) continue;
      if (!functions.empty()) {
        std::uint64_t& last = functions.back().last;
        const std::uint64_t before = at->start + part.shift - 1;
        last = open ? before : std::min(last, before);
      }
      if (functions.size() == most) return functions;
      open = at->size == 0;
      const std::uint64_t room = part.last - at->start;
      const std::uint64_t last = at->start + (open ? room : std::min(at->size - 1, room));
      if (!open) covered = std::max(covered.value_or(0), last);
      functions.push_back({at->start + part.shift, last + part.shift, at->symbol->name});
    }
    return functions;
  }

 private:
  struct Place {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    const ElfSymbol* symbol = nullptr;
  };
  std::vector<Place> places_;
};

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

void Symbols::add(const ElfFile& file) {
  const Names names(file);
  ByLast all = by_last(std::move(functions_));
  for (const ElfSegment& segment : file.segments()) {
    if (!segment.executable || segment.size == 0) continue;
    const Part part{.first = segment.address, .last = segment.address + (segment.size - 1)};
    add_to(all, names.in(part, most_), most_);
  }
  functions_ = in_order(std::move(all));
}

void Symbols::add(const Image& image) {
  struct Program {
    explicit Program(ElfFile&& opened) : file(std::move(opened)), names(file) {}
    ElfFile file;
    Names names;
  };
  std::map<std::string, std::unique_ptr<const Program>> programs;
  ByLast all = by_last(std::move(functions_));
  for (const RegionInfo& region : image.regions()) {
    if (region.kind != RegionKind::kFile || all.size() >= most_) continue;
    const auto [at, is_new] = programs.try_emplace(region.name);
    if (is_new) {
      if (auto file = ElfFile::open(region.name))
        at->second = std::make_unique<const Program>(std::move(*file));
    }
    if (at->second == nullptr) continue;
    for (const ElfSegment& segment : at->second->file.segments()) {
      if (const auto part = part_of(segment, region))
        add_to(all, at->second->names.in(*part, most_ - all.size()), most_);
    }
  }
  functions_ = in_order(std::move(all));
}

const Function* Symbols::find(std::uint64_t address) const {
  const auto at = std::ranges::lower_bound(functions_, address, {}, &Function::last);
  return at != functions_.end() && at->start <= address ? &*at : nullptr;
}

}  // namespace waymark::image
