#include "waymark/image/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "region_map.h"

namespace waymark::image {
namespace {

constexpr std::uint64_t kLastAddress = std::numeric_limits<std::uint64_t>::max();

std::string describe(const Region& region) {
  const std::string space = region.space == kSpaceNone ? "none" : space_name(region.space);
  std::string_view kind;
  switch (region.kind) {
    case RegionKind::kBuffer:
      kind = "buffer";
      break;
    case RegionKind::kFile:
      kind = "file";
      break;
    case RegionKind::kCallback:
      kind = "callback";
      break;
  }
  return fmt::format("{:#x}-{:#x} ({}{}{}, memory space {})", region.first, region.last, kind,
                     region.name.empty() ? "" : " ", region.name, space);
}

/// The last address of `size` bytes at `address`.
Result<std::uint64_t> last_address(std::uint64_t address, std::uint64_t size,
                                   std::string_view what) {
  if (size == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The memory region at {:#x} ({}) is empty; it needs at least one byte.",
                            address, what));
  }
  if (size - 1 > kLastAddress - address) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The memory region of {:#x} bytes at {:#x} ({}) goes past the end of "
                            "the 64-bit address space; at most {:#x} bytes fit there.",
                            size, address, what, kLastAddress - address + 1));
  }
  return address + (size - 1);
}

/// The part of a file that a region uses.
Result<Bytes> part_of(Bytes file, const std::string& path, const FileRegion& region) {
  if (region.offset > file.size() || region.length > file.size() - region.offset) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "The memory region at {:#x} needs {:#x} bytes at offset {:#x} of '{}', but that "
            "file has only {:#x} bytes.",
            region.address, region.length, region.offset, path, file.size()));
  }
  const Bytes rest = file.subspan(static_cast<std::size_t>(region.offset));
  if (region.length != 0) return rest.first(static_cast<std::size_t>(region.length));
  // The region reaches to the end of the file: an odd last byte cannot be part of an instruction.
  const std::size_t even = rest.size() & ~std::size_t{1};
  if (even == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The memory region at {:#x} is empty: '{}' has {:#x} bytes, and fewer "
                            "than two of them from offset {:#x} on.",
                            region.address, path, file.size(), region.offset));
  }
  return rest.first(even);
}

}  // namespace

struct Image::State {
  RegionMap map;
  /// By path as given.  One mapping serves all regions of a file while any of them exists.
  std::map<std::string, std::weak_ptr<const MappedFile>, std::less<>> files;
  const ImageSelector* selector = nullptr;
  std::uint64_t version = 0;

  /// Checks what all kinds have in common, then adds the region.
  Result<void> add(Region region) {
    if (region.space == kSpaceNone) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("The memory region {} is in no memory space, so nothing could read "
                              "it; name at least one.",
                              describe(region)));
    }
    if (const Region* other = map.overlap(region.first, region.last, region.space)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("The memory region {} overlaps the region {}; two regions may share "
                              "addresses only if their memory spaces differ.",
                              describe(region), describe(*other)));
    }
    map.add(std::move(region));
    ++version;
    return {};
  }

  Result<std::shared_ptr<const MappedFile>> mapping_of(const std::string& path) {
    const auto known = files.find(path);
    if (known != files.end()) {
      if (auto mapping = known->second.lock()) return mapping;
    }
    auto opened = MappedFile::open(path);
    if (!opened) {
      Error error = std::move(opened).error();
      error.detail = "No memory image: " + error.detail;
      return std::unexpected(std::move(error));
    }
    auto mapping = std::make_shared<const MappedFile>(std::move(*opened));
    files.insert_or_assign(path, mapping);
    return mapping;
  }

  /// Whether a region of this file starts there.
  [[nodiscard]] bool has_file_region(const std::string& path, std::uint64_t address,
                                     SpaceMask space) const {
    const Region* region = map.overlap(address, address, space);
    return region != nullptr && region->kind == RegionKind::kFile && region->first == address &&
           region->name == path;
  }
};

Image::Image() : state_(std::make_unique<State>()) {}
Image::~Image() = default;

Result<void> Image::add_buffer(std::uint64_t address, Bytes bytes, SpaceMask space,
                               std::string name) {
  const auto last = last_address(address, bytes.size(), name.empty() ? "a buffer" : name);
  if (!last) return std::unexpected(last.error());
  Region region;
  region.kind = RegionKind::kBuffer;
  region.first = address;
  region.last = *last;
  region.space = space;
  region.name = std::move(name);
  region.copy.assign(bytes.begin(), bytes.end());
  region.bytes = region.copy;  // A moved vector keeps its storage.
  return state_->add(std::move(region));
}

Result<void> Image::add_view(std::uint64_t address, Bytes bytes, SpaceMask space,
                             std::string name) {
  const auto last = last_address(address, bytes.size(), name.empty() ? "a buffer" : name);
  if (!last) return std::unexpected(last.error());
  Region region;
  region.kind = RegionKind::kBuffer;
  region.first = address;
  region.last = *last;
  region.space = space;
  region.name = std::move(name);
  region.bytes = bytes;
  return state_->add(std::move(region));
}

Result<void> Image::add_file(const std::string& path, FileRegion file_region, SpaceMask space) {
  if (state_->has_file_region(path, file_region.address, space)) return {};
  auto mapping = state_->mapping_of(path);
  if (!mapping) return std::unexpected(std::move(mapping).error());
  const auto part = part_of((*mapping)->bytes(), path, file_region);
  if (!part) return std::unexpected(part.error());
  const auto last = last_address(file_region.address, part->size(), path);
  if (!last) return std::unexpected(last.error());
  Region region;
  region.kind = RegionKind::kFile;
  region.first = file_region.address;
  region.last = *last;
  region.space = space;
  region.name = path;
  region.bytes = *part;
  region.mapping = *std::move(mapping);
  region.offset = file_region.offset;
  return state_->add(std::move(region));
}

Result<void> Image::add_callback(std::uint64_t first, std::uint64_t last, SpaceMask space,
                                 ReadCallback callback, std::string name) {
  Region region;
  region.kind = RegionKind::kCallback;
  region.first = first;
  region.last = last;
  region.space = space;
  region.name = std::move(name);
  region.callback = std::move(callback);
  if (first > last) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The memory region {} ends before it starts; the end is the address of "
                            "its last byte.",
                            describe(region)));
  }
  if (!region.callback) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The memory region {} has no function to call.", describe(region)));
  }
  return state_->add(std::move(region));
}

Result<void> Image::remove(std::uint64_t address, SpaceMask space) {
  if (state_->map.remove(address, space) == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("No memory region starts at {:#x} in memory space {}.", address,
                            space == kSpaceNone ? "none" : space_name(space)));
  }
  std::erase_if(state_->files, [](const auto& file) { return file.second.expired(); });
  ++state_->version;
  return {};
}

Bytes Image::read(std::uint64_t address, SpaceMask space, TraceId trace_id,
                  std::span<std::uint8_t> scratch) const {
  const auto [region, last] = state_->map.find(address, space);
  if (region == nullptr) return {};
  // One less than what is left: a region may span all 2^64 addresses.
  const std::uint64_t after = last - address;
  if (region->kind != RegionKind::kCallback)
    return region->bytes.subspan(static_cast<std::size_t>(address - region->first),
                                 static_cast<std::size_t>(after) + 1);
  if (scratch.size() > after) scratch = scratch.first(static_cast<std::size_t>(after) + 1);
  if (scratch.empty()) return {};
  const std::size_t filled = region->callback(address, space, trace_id, scratch);
  return scratch.first(std::min(filled, scratch.size()));
}

bool Image::has_callbacks() const {
  return std::ranges::any_of(state_->map.in_order(), [](const auto& region) {
    return region->kind == RegionKind::kCallback;
  });
}

bool Image::has_spaces() const {
  // A callback gets the space, so that its answer can depend on it.
  return std::ranges::any_of(state_->map.in_order(), [](const auto& region) {
    return region->space != kSpaceAny || region->kind == RegionKind::kCallback;
  });
}

void Image::set_selector(const ImageSelector* selector) {
  state_->selector = selector;
  ++state_->version;
}

const ImageSelector* Image::selector() const { return state_->selector; }

std::uint64_t Image::version() const { return state_->version; }

std::vector<RegionInfo> Image::regions() const {
  std::vector<RegionInfo> list;
  list.reserve(state_->map.in_order().size());
  for (const auto& region : state_->map.in_order())
    list.push_back(
        {region->kind, region->first, region->last, region->space, region->name, region->offset});
  return list;
}

}  // namespace waymark::image
