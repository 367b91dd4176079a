#include "dump_files.h"

#include <algorithm>

#include "core/level.h"
#include "waymark/base/mapped_file.h"

namespace waymark::compat {
namespace {

/// Regions begin at an even address, hold an even number of bytes and do not wrap around.
bool well_formed(std::uint64_t address, std::uint64_t length) {
  return address % 2 == 0 && length % 2 == 0 && address + (length - 1) >= address;
}

void write_region(TextBuffer& out, const Stretch& region) {
  out.put("FileAcc; Range::0x");
  out.hex(region.first, 2);
  out.put(':');
  out.hex(region.last);
  out.put("; Mem Space::");
  out.put(image::space_name(region.space));
  out.put('\n');
}

}  // namespace

ErrorNumber DumpFiles::add(const std::string& path, const inputs::Dump& dump) {
  // 1.3.3 ignores the spaces of dumps.
  const bool named = level_in_use().number >= kLevel155;
  const image::SpaceMask space =
      image::space_by_name(named ? dump.space : std::string()).value_or(image::kSpaceAny);
  const auto known = std::ranges::find(files_, path, &File::path);
  if (known == files_.end()) return add_file(path, dump, space);
  File& file = *known;
  const auto begins_there = [&](const Region& region) {
    return region.first == dump.address && region.space == space;
  };
  if (std::ranges::any_of(file.regions, begins_there)) return ErrorNumber::kOk;
  if (dump.length == 0 || dump.offset > file.size || dump.length > file.size - dump.offset ||
      !well_formed(dump.address, dump.length))
    return ErrorNumber::kInvalidParamVal;
  return add_region(file, {{dump.address, dump.address + (dump.length - 1), space}, dump.offset});
}

ErrorNumber DumpFiles::add_file(const std::string& path, const inputs::Dump& dump,
                                image::SpaceMask space) {
  const auto mapped = MappedFile::open(path);
  if (!mapped) return ErrorNumber::kNotInit;
  const std::uint64_t size = mapped->bytes().size();
  // Without a length: all of the file, except an odd byte at its end.
  if (dump.length == 0 && dump.offset != 0) return ErrorNumber::kMemAccRangeInvalid;
  const std::uint64_t length = dump.length != 0 ? dump.length : size & ~std::uint64_t{1};
  if (length == 0 || dump.offset > size || length > size - dump.offset)
    return ErrorNumber::kNotInit;
  if (!well_formed(dump.address, length)) return ErrorNumber::kMemAccRangeInvalid;
  const Region region{{dump.address, dump.address + (length - 1), space}, dump.offset};
  if (std::ranges::any_of(shown_, [&](const Stretch& old) { return conflicts(region, old); }))
    return ErrorNumber::kMemAccOverlap;
  files_.push_back({path, size, {region}});
  show(path, region);
  return ErrorNumber::kOk;
}

// Only the regions of the same file are compared.
ErrorNumber DumpFiles::add_region(File& file, const Region& region) {
  const auto refuses = [&](const Region& old) {
    return conflicts(region, old) || (region.offset == 0 && old.offset == 0);
  };
  if (std::ranges::any_of(file.regions, refuses)) return ErrorNumber::kInvalidParamVal;
  // The region at the beginning of a file reaches to the first one that is added.
  Region& base = file.regions.front();
  if (file.regions.size() == 1 && base.offset == 0 && base.last - base.first + 1 < region.offset) {
    base.last = base.first + (region.offset - 1);
    show(file.path, base);
  }
  file.regions.push_back(region);
  show(file.path, region);
  return ErrorNumber::kOk;
}

// The image has no overlaps: there, a region fills what the others leave.
void DumpFiles::show(const std::string& path, const Region& region) {
  for (const Stretch& part : uncovered(region, shown_)) {
    const image::FileRegion seen{.address = part.first,
                                 .offset = region.offset + (part.first - region.first),
                                 .length = part.last - part.first + 1};
    static_cast<void>(image_->add_file(path, seen, part.space));
  }
  shown_.push_back(region);
}

void DumpFiles::write(TextBuffer& out) const {
  for (const File& file : files_) {
    out.put("Gen_Info : ");
    // The region at the beginning of the file, then the others by address.
    std::vector<Region> regions = file.regions;
    const auto base = std::ranges::find(regions, std::uint64_t{0}, &Region::offset);
    if (base != regions.end()) std::rotate(regions.begin(), base, base + 1);
    std::ranges::sort(regions.begin() + 1, regions.end(), {}, &Region::first);
    for (const Region& region : regions) write_region(out, region);
    out.put("Filename=");
    out.put(file.path);
    out.put('\n');
  }
}

}  // namespace waymark::compat
