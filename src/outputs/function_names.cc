#include "waymark/outputs/function_names.h"

#include <algorithm>
#include <map>
#include <utility>

#include "itm_words.h"
#include "waymark/diff/programs.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

/// The address of the code that an element is about; kNoAddress: none.
std::uint64_t code_address(const Element& element) {
  switch (element.kind) {
    case ElementKind::kInstrRange:
    case ElementKind::kInstrRangeNoPath:
    case ElementKind::kAddrNacc:
      return element.start;
    case ElementKind::kItmTrace:
      return itm_address(element);
    default:
      return kNoAddress;
  }
}

struct Part {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<Part> common(const Part& one, const Part& other) {
  const Part part{std::max(one.first, other.first), std::min(one.last, other.last)};
  if (part.first > part.last) return std::nullopt;
  return part;
}

/// What a program occupies of the memory: its segments or, in a relocatable file, its code.
std::vector<Part> parts_of(const GivenProgram& given) {
  std::vector<Part> parts;
  const auto add = [&](std::uint64_t first, std::uint64_t last) {
    parts.push_back({first + given.bias, last + given.bias});
  };
  for (const program::Segment& segment : given.program->segments())
    if (segment.size != 0) add(segment.address, segment.address + (segment.size - 1));
  if (!parts.empty()) return parts;
  for (const program::CodeRange& range : given.program->code()) add(range.first, range.last);
  return parts;
}

}  // namespace

PlaceLookup lookup_in(std::shared_ptr<const program::Program> program) {
  return [program = std::move(program)](const Element& /*element*/, std::uint64_t address) {
    return program::Place{program.get(), address};
  };
}

ImagePrograms::ImagePrograms(std::vector<GivenProgram> given, const image::Image& image,
                             const program::DebugSearch& search)
    : given_(std::move(given)) {
  std::map<std::string, std::shared_ptr<const program::Program>> programs;
  for (const image::RegionInfo& region : image.regions()) {
    if (region.kind != image::RegionKind::kFile) continue;
    const auto [at, is_new] = programs.try_emplace(region.name);
    if (is_new) {
      // Most files of an image are not programs.
      if (auto opened = program::Program::open(region.name, search))
        at->second = *std::move(opened);
    }
    if (at->second == nullptr) continue;
    regions_.push_back({region.first, region.last, region.offset, at->second});
  }
}

program::Place ImagePrograms::find(std::uint64_t address) const {
  for (const GivenProgram& given : given_) {
    const std::uint64_t linked = address - given.bias;
    if (given.program->function(linked) != nullptr) return {given.program.get(), linked};
  }
  for (const Region& region : regions_) {
    if (address < region.first || address > region.last) continue;
    const auto linked = region.program->address_of(region.file_offset + (address - region.first));
    if (linked) return {region.program.get(), *linked};
  }
  // Code of a given program that has no name.
  for (const GivenProgram& given : given_) {
    const std::uint64_t linked = address - given.bias;
    const std::vector<program::CodeRange>& code = given.program->code();
    const auto at = std::ranges::lower_bound(code, linked, {}, &program::CodeRange::last);
    if (at != code.end() && at->first <= linked) return {given.program.get(), linked};
  }
  return {};
}

bool ImagePrograms::has_functions() const {
  return std::ranges::any_of(given_,
                             [](const auto& it) { return !it.program->functions().empty(); }) ||
         std::ranges::any_of(regions_,
                             [](const auto& it) { return !it.program->functions().empty(); });
}

std::vector<const program::Program*> ImagePrograms::programs() const {
  std::vector<const program::Program*> programs;
  const auto add = [&programs](const program::Program* program) {
    if (std::ranges::find(programs, program) == programs.end()) programs.push_back(program);
  };
  for (const GivenProgram& given : given_) add(given.program.get());
  for (const Region& region : regions_) add(region.program.get());
  return programs;
}

/// Nothing: the function does not begin in the region.
std::optional<image::AddressRange> ImagePrograms::range_in(const Region& region,
                                                           const program::Function& function) {
  const auto offset = region.program->offset_of(function.start);
  if (!offset || *offset < region.file_offset ||
      *offset - region.file_offset > region.last - region.first)
    return std::nullopt;
  const std::uint64_t start = region.first + (*offset - region.file_offset);
  const std::uint64_t room = region.last - start;
  return image::AddressRange{start, start + std::min(function.last - function.start, room)};
}

std::vector<image::AddressRange> ImagePrograms::addresses(const program::Program& program,
                                                          const program::Function& function) const {
  std::vector<image::AddressRange> ranges;
  for (const GivenProgram& given : given_) {
    if (given.program.get() == &program)
      ranges.push_back({function.start + given.bias, function.last + given.bias});
  }
  for (const Region& region : regions_) {
    if (region.program.get() != &program) continue;
    if (const auto range = range_in(region, function)) ranges.push_back(*range);
  }
  return ranges;
}

std::optional<ProgramOverlap> ImagePrograms::overlap() const {
  for (auto one = given_.begin(); one != given_.end(); ++one) {
    const std::vector<Part> parts = parts_of(*one);
    for (auto other = given_.begin(); other != one; ++other) {
      if (one->bias == other->bias &&
          diff::identity_of(*one->program) == diff::identity_of(*other->program))
        continue;
      for (const Part& before : parts_of(*other)) {
        for (const Part& part : parts) {
          if (const auto both = common(before, part))
            return ProgramOverlap{
                {other->program.get(), one->program.get()}, both->first, both->last};
        }
      }
    }
    for (const Region& region : regions_)
      if (auto found = overlap(*one, region)) return found;
  }
  return std::nullopt;
}

std::optional<ProgramOverlap> ImagePrograms::overlap(const GivenProgram& given,
                                                     const Region& region) const {
  const program::Program& own = *region.program;
  const bool have_ids = !given.program->build_id().empty() && !own.build_id().empty();
  const auto first_linked = own.address_of(region.file_offset);
  const bool same_place = first_linked && *first_linked + given.bias == region.first;
  if (have_ids && same_place && given.program->build_id() == own.build_id()) return std::nullopt;
  // A segment of code may begin with headers, of which a program has no bytes.
  for (const program::Function& function : given.program->functions()) {
    const auto both = common({function.start + given.bias, function.last + given.bias},
                             {region.first, region.last});
    if (!both) continue;
    const ProgramOverlap found{{&own, given.program.get()}, both->first, both->last};
    if (have_ids) return found;
    const auto linked = own.address_of(region.file_offset + (both->first - region.first));
    if (!linked) continue;
    const Bytes first = own.bytes_from(*linked);
    const Bytes second = given.program->bytes_from(both->first - given.bias);
    const std::uint64_t size = both->last - both->first + 1;
    const std::size_t count =
        in_memory(std::min({size, std::uint64_t{first.size()}, std::uint64_t{second.size()}}));
    if (!std::ranges::equal(first.first(count), second.first(count))) return found;
  }
  return std::nullopt;
}

image::Symbols ImagePrograms::symbols() const {
  image::Symbols symbols;
  std::vector<program::Function> functions;
  for (const GivenProgram& given : given_) {
    functions = given.program->functions();
    for (program::Function& function : functions) {
      function.start += given.bias;
      function.last += given.bias;
    }
    symbols.add(std::move(functions));
  }
  for (const Region& region : regions_) {
    functions.clear();
    for (const program::Function& function : region.program->functions()) {
      if (const auto range = range_in(region, function))
        functions.push_back({range->first, range->last, function.name});
    }
    symbols.add(std::move(functions));
  }
  return symbols;
}

PlaceLookup ImagePrograms::lookup(std::shared_ptr<const ImagePrograms> programs) {
  return [programs = std::move(programs)](const Element& /*element*/, std::uint64_t address) {
    return programs->find(address);
  };
}

bool FunctionNames::find(const Element& element) {
  const std::uint64_t address = code_address(element);
  if (address == kNoAddress) return false;
  const program::Place place = lookup_(element, address);
  const program::Function* const found =
      place.program == nullptr ? nullptr : place.program->function(place.address);
  frames_.clear();
  if ((details_.lines || details_.inlines) && place.program != nullptr) {
    place.program->frames(place.address, frames_);
    // A chain without any line says no more than the name of the function.
    if (std::ranges::all_of(frames_, [](const program::Frame& it) { return it.file.empty(); }))
      frames_.clear();
  }
  if (found == nullptr && frames_.empty()) return false;
  place_ = place;
  function_ = found;
  if (found != nullptr && found != named_) readable_ = readable_name(found->name);
  if (found != nullptr) named_ = found;
  return true;
}

const std::string& FunctionNames::readable(const program::Frame& frame) {
  const auto [at, is_new] = frame_names_.try_emplace(frame.function);
  if (is_new) at->second = readable_name(std::string(frame.function));
  return at->second;
}

}  // namespace waymark::outputs
