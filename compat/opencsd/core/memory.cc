#include "memory.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "logger.h"

namespace waymark::compat {
namespace {

constexpr ocsd_mem_space_acc_t kOldSpaceAny = static_cast<ocsd_mem_space_acc_t>(0x1F);

struct Claims {
  struct Claim {
    std::uint64_t address = 0;
    unsigned users = 0;
  };
  std::mutex mutex;
  std::map<std::string, Claim, std::less<>> by_path;
};

Claims& claims() {
  // Never destroyed, because trees may live longer.
  static auto* const kAll = new Claims;
  return *kAll;
}

/// Ranges begin at an even address and end with an odd one.
bool well_formed(std::uint64_t first, std::uint64_t last) {
  return first < last && (first & 1) == 0 && (last & 1) == 1;
}

void log_error(ErrorNumber number, std::string_view message) {
  Logger::instance().error("Gen_Err", OCSD_ERR_SEV_ERROR, number, kNoIndex, kNoTraceId, message);
}

}  // namespace

image::SpaceMask space_of(ocsd_mem_space_acc_t space) {
  if (space == kOldSpaceAny) return image::kSpaceAny;
  return static_cast<image::SpaceMask>(space);
}

SharedFile::~SharedFile() {
  const std::lock_guard lock(claims().mutex);
  const auto at = claims().by_path.find(path_);
  if (at != claims().by_path.end() && --at->second.users == 0) claims().by_path.erase(at);
}

ErrorNumber SharedFile::claim(const std::string& path, std::uint64_t address,
                              std::unique_ptr<SharedFile>& out) {
  const std::lock_guard lock(claims().mutex);
  auto& claim = claims().by_path[path];
  if (claim.users != 0 && claim.address != address) return ErrorNumber::kMemAccFileDiffRange;
  claim.address = address;
  ++claim.users;
  out.reset(new SharedFile(path));
  return ErrorNumber::kOk;
}

bool Memory::overlaps(const Range& range, image::SpaceMask space) const {
  return std::ranges::any_of(accessors_, [&](const Accessor& accessor) {
    return (accessor.space & space) != 0 &&
           std::ranges::any_of(accessor.ranges, [&](const Range& other) {
             return range.first <= other.last && other.first <= range.last;
           });
  });
}

ErrorNumber Memory::add(Accessor accessor) {
  accessors_.push_back(std::move(accessor));
  return ErrorNumber::kOk;
}

ErrorNumber Memory::add_file(std::uint64_t address, ocsd_mem_space_acc_t space, const char* path) {
  const ocsd_file_mem_region_t whole = {0, address, 0};
  return add_file_regions({&whole, 1}, space, path);
}

ErrorNumber Memory::add_file_regions(std::span<const ocsd_file_mem_region_t> regions,
                                     ocsd_mem_space_acc_t space, const char* path) {
  if (regions.empty() || path == nullptr || *path == '\0') return ErrorNumber::kInvalidParamVal;
  begin();
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const bool whole = regions[0].file_offset == 0 && regions[0].region_size == 0;
  const auto fits = [&](const ocsd_file_mem_region_t& region) {
    return region.region_size != 0 && region.file_offset <= size &&
           region.region_size <= size - region.file_offset;
  };
  if (error || (whole ? size < 2 : !fits(regions[0]))) return ErrorNumber::kNotInit;

  Accessor accessor{.kind = image::RegionKind::kFile,
                    .space = space_of(space),
                    .ranges = {},
                    .path = path,
                    .file = nullptr};
  const ErrorNumber claimed =
      SharedFile::claim(accessor.path, regions[0].start_address, accessor.file);
  if (claimed != ErrorNumber::kOk) return claimed;

  std::vector<image::FileRegion> parts;
  for (const ocsd_file_mem_region_t& region : regions) {
    const bool all = parts.empty() && whole;
    const std::uint64_t length = all ? (size & ~std::uintmax_t{1}) : region.region_size;
    if (!all && !fits(region)) continue;
    const Range range{region.start_address, region.start_address + length - 1};
    if (!well_formed(range.first, range.last)) {
      if (parts.empty()) return ErrorNumber::kMemAccRangeInvalid;
      continue;
    }
    if (std::ranges::any_of(accessor.ranges, [&](const Range& other) {
          return range.first <= other.last && other.first <= range.last;
        }))
      continue;
    accessor.ranges.push_back(range);
    parts.push_back(
        {.address = range.first, .offset = all ? 0 : region.file_offset, .length = length});
  }
  for (const Range& range : accessor.ranges)
    if (overlaps(range, accessor.space)) return ErrorNumber::kMemAccOverlap;
  if (accessor.space != image::kSpaceNone) {
    for (const image::FileRegion& part : parts)
      if (!image_.add_file(accessor.path, part, accessor.space)) return ErrorNumber::kNotInit;
  }
  std::ranges::sort(accessor.ranges.begin() + 1, accessor.ranges.end(), {}, &Range::first);
  return add(std::move(accessor));
}

ErrorNumber Memory::add_buffer(std::uint64_t address, ocsd_mem_space_acc_t space,
                               const std::uint8_t* bytes, std::uint32_t size) {
  if (bytes == nullptr || size < 4) return ErrorNumber::kInvalidParamVal;
  begin();
  const Range range{address, address + size - 1};
  if (!well_formed(range.first, range.last)) return ErrorNumber::kMemAccRangeInvalid;
  Accessor accessor{.kind = image::RegionKind::kBuffer,
                    .space = space_of(space),
                    .ranges = {range},
                    .path = {},
                    .file = nullptr};
  if (overlaps(range, accessor.space)) return ErrorNumber::kMemAccOverlap;
  if (accessor.space != image::kSpaceNone &&
      !image_.add_view(address, Bytes(bytes, size), accessor.space))
    return ErrorNumber::kMemAccRangeInvalid;
  return add(std::move(accessor));
}

ErrorNumber Memory::add_callback(std::uint64_t first, std::uint64_t last,
                                 ocsd_mem_space_acc_t space, Fn_MemAcc_CB function,
                                 Fn_MemAccID_CB id_function, const void* context) {
  if (function == nullptr && id_function == nullptr) return ErrorNumber::kInvalidParamVal;
  begin();
  const Range range{first, last};
  if (!well_formed(first, last)) return ErrorNumber::kMemAccRangeInvalid;
  Accessor accessor{.kind = image::RegionKind::kCallback,
                    .space = space_of(space),
                    .ranges = {range},
                    .path = {},
                    .file = nullptr};
  if (overlaps(range, accessor.space)) return ErrorNumber::kMemAccOverlap;
  const auto ask = [=, this](std::uint64_t address, image::SpaceMask asked, TraceId trace_id,
                             std::span<std::uint8_t> out) -> std::size_t {
    constexpr std::uint32_t kOpcode = 4;
    const std::uint32_t most = caches_ ? page_size_ : kOpcode;
    const std::uint32_t wanted = std::min(static_cast<std::uint32_t>(out.size()), most);
    const auto in = static_cast<ocsd_mem_space_acc_t>(asked);
    const std::uint32_t got = function != nullptr
                                  ? function(context, address, in, wanted, out.data())
                                  : id_function(context, address, in, trace_id, wanted, out.data());
    if (got <= wanted) return got;
    log_error(ErrorNumber::kMemAccBadLen, "Mem Acc: bad return length");
    return 0;
  };
  if (accessor.space != image::kSpaceNone && !image_.add_callback(first, last, accessor.space, ask))
    return ErrorNumber::kMemAccRangeInvalid;
  return add(std::move(accessor));
}

ErrorNumber Memory::remove(std::uint64_t address, ocsd_mem_space_acc_t space) {
  if (!exists_) return ErrorNumber::kNotInit;
  const image::SpaceMask mask = space_of(space);
  const auto at = std::ranges::find_if(accessors_, [&](const Accessor& accessor) {
    return (accessor.space & mask) != 0 &&
           std::ranges::any_of(accessor.ranges, [&](const Range& range) {
             return range.first <= address && address <= range.last;
           });
  });
  if (at == accessors_.end()) return ErrorNumber::kInvalidParamVal;
  for (const Range& range : at->ranges) static_cast<void>(image_.remove(range.first, at->space));
  accessors_.erase(at);
  return ErrorNumber::kOk;
}

/// Before the first accessor is added: the environment determines the initial state of the cache.
void Memory::begin() {
  if (exists_) return;
  exists_ = true;
  // A program that changes the environment at the same time must lock it.
  // NOLINTBEGIN(concurrency-mt-unsafe)
  caches_ = std::getenv("OPENCSD_MEMACC_CACHE_OFF") == nullptr;
  const char* const size = std::getenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE");
  // NOLINTEND(concurrency-mt-unsafe)
  if (size == nullptr) return;
  const unsigned long asked = std::strtoul(size, nullptr, 0);
  page_size_ =
      static_cast<std::uint32_t>(std::clamp<unsigned long>(asked, kLeastPage, kGreatestPage));
}

ErrorNumber Memory::set_caching(bool enable, unsigned page_size, int pages) {
  if (!exists_) return ErrorNumber::kNotInit;
  ++caching_changes_;
  caches_ = enable;
  if (!enable) return ErrorNumber::kOk;
  // Decisions are cached, not pages, so the number of pages has no effect.
  if (page_size >= kLeastPage && page_size <= kGreatestPage && pages >= kLeastPages &&
      pages <= kMostPages) {
    page_size_ = page_size;
    return ErrorNumber::kOk;
  }
  log_error(ErrorNumber::kInvalidParamVal, "Memory access cache sizes out of range.");
  return ErrorNumber::kInvalidParamVal;
}

void Memory::log_ranges() const {
  constexpr std::string_view kKinds[] = {"BuffAcc", "FileAcc", "CB  Acc"};
  Logger& logger = Logger::instance();
  logger.message("Gen_Info", OCSD_ERR_SEV_INFO, "Mapped Memory Accessors\n");
  TextBuffer text;
  for (const Accessor& accessor : accessors_) {
    text.clear();
    for (const Range& range : accessor.ranges) {
      text.put(kKinds[static_cast<std::size_t>(accessor.kind)]);
      text.put("; Range::0x");
      text.hex(range.first, 2);
      text.put(':');
      text.hex(range.last);
      text.put("; Mem Space::");
      text.put(image::space_name(accessor.space));
      text.put('\n');
    }
    if (accessor.kind == image::RegionKind::kFile) {
      text.put("Filename=");
      text.put(accessor.path);
      text.put('\n');
    }
    logger.message("Gen_Info", OCSD_ERR_SEV_INFO, text.view());
  }
  logger.message("Gen_Info", OCSD_ERR_SEV_INFO, "========================\n");
}

std::uint32_t Memory::read(std::uint64_t address, TraceId trace_id, ocsd_mem_space_acc_t space,
                           std::span<std::uint8_t> out) const {
  const Bytes bytes = image_.read(address, space_of(space), trace_id, out);
  const std::size_t size = std::min(bytes.size(), out.size());
  if (bytes.data() != out.data()) std::copy_n(bytes.begin(), size, out.begin());
  return static_cast<std::uint32_t>(size);
}

}  // namespace waymark::compat
