#include "memory.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "level.h"
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
  const auto known = claims().by_path.find(path);
  if (known != claims().by_path.end() && known->second.address != address)
    return ErrorNumber::kMemAccFileDiffRange;
  auto file = MappedFile::open(path);
  if (!file) return ErrorNumber::kNotInit;
  Claims::Claim& claim = claims().by_path[path];
  claim.address = address;
  ++claim.users;
  out.reset(new SharedFile(path, *std::move(file)));
  return ErrorNumber::kOk;
}

ErrorNumber Memory::add(Accessor accessor) {
  // Only the first part is compared.
  if (std::ranges::any_of(
          shown_, [&](const Stretch& old) { return conflicts(accessor.parts.front(), old); }))
    return ErrorNumber::kMemAccOverlap;
  if (!show(accessor)) {
    show_all();
    return ErrorNumber::kMemAccRangeInvalid;
  }
  accessors_.push_back(std::move(accessor));
  return ErrorNumber::kOk;
}

/// False: the image refuses a part.
bool Memory::show(const Accessor& accessor) {
  for (const Part& part : accessor.parts) {
    if (part.space == image::kSpaceNone) continue;
    for (const Stretch& seen : uncovered(part, shown_)) {
      const std::uint64_t distance = seen.first - part.first;
      const std::uint64_t length = seen.last - seen.first + 1;
      const bool asks = accessor.kind == image::RegionKind::kCallback;
      const auto added =
          asks ? image_.add_callback(seen.first, seen.last, seen.space, accessor.function)
               : image_.add_view(
                     seen.first,
                     accessor.bytes.subspan(static_cast<std::size_t>(part.offset + distance),
                                            static_cast<std::size_t>(length)),
                     seen.space);
      if (!added) return false;
    }
    shown_.push_back(part);
  }
  return true;
}

/// After the removal of an accessor that covered others.
void Memory::show_all() {
  shown_.clear();
  for (const image::RegionInfo& region : image_.regions())
    static_cast<void>(image_.remove(region.first, region.space));
  for (const Accessor& accessor : accessors_) static_cast<void>(show(accessor));
}

ErrorNumber Memory::add_file(std::uint64_t address, ocsd_mem_space_acc_t space, const char* path) {
  const ocsd_file_mem_region_t whole = {0, address, 0};
  return add_file_regions({&whole, 1}, space, path);
}

ErrorNumber Memory::add_file_regions(std::span<const ocsd_file_mem_region_t> regions,
                                     ocsd_mem_space_acc_t space, const char* path) {
  begin();
  if (regions.empty() || path == nullptr || *path == '\0') return ErrorNumber::kInvalidParamVal;
  Accessor accessor{.kind = image::RegionKind::kFile,
                    .parts = {},
                    .bytes = {},
                    .function = {},
                    .path = path,
                    .file = nullptr};
  const ErrorNumber claimed =
      SharedFile::claim(accessor.path, regions[0].start_address, accessor.file);
  if (claimed != ErrorNumber::kOk) return claimed;
  accessor.bytes = accessor.file->bytes();
  const std::uint64_t size = accessor.bytes.size();
  const bool whole = regions[0].file_offset == 0 && regions[0].region_size == 0;
  const auto fits = [&](const ocsd_file_mem_region_t& region) {
    return region.region_size != 0 && region.file_offset <= size &&
           region.region_size <= size - region.file_offset;
  };
  if (whole ? size < 2 : !fits(regions[0])) return ErrorNumber::kNotInit;

  std::vector<Part>& parts = accessor.parts;
  for (const ocsd_file_mem_region_t& region : regions) {
    const bool all = parts.empty() && whole;
    const std::uint64_t length = all ? (size & ~std::uint64_t{1}) : region.region_size;
    if (!all && !fits(region)) continue;
    const Part part{{region.start_address, region.start_address + length - 1, space_of(space)},
                    all ? 0 : region.file_offset};
    if (!well_formed(part.first, part.last)) {
      if (parts.empty()) return ErrorNumber::kMemAccRangeInvalid;
      continue;
    }
    if (std::ranges::any_of(parts, [&](const Part& other) {
          return other.contains(part.first) || other.contains(part.last);
        }))
      continue;
    parts.push_back(part);
  }
  std::ranges::sort(parts.begin() + 1, parts.end(), {}, &Part::first);
  return add(std::move(accessor));
}

ErrorNumber Memory::add_buffer(std::uint64_t address, ocsd_mem_space_acc_t space,
                               const std::uint8_t* bytes, std::uint32_t size) {
  begin();
  if (bytes == nullptr || size < 4) return ErrorNumber::kInvalidParamVal;
  const Part part{{address, address + size - 1, space_of(space)}, 0};
  if (!well_formed(part.first, part.last)) return ErrorNumber::kMemAccRangeInvalid;
  return add({.kind = image::RegionKind::kBuffer,
              .parts = {part},
              .bytes = Bytes(bytes, size),
              .function = {},
              .path = {},
              .file = nullptr});
}

ErrorNumber Memory::add_callback(std::uint64_t first, std::uint64_t last,
                                 ocsd_mem_space_acc_t space, Fn_MemAcc_CB function,
                                 Fn_MemAccID_CB id_function, const void* context) {
  begin();
  if (function == nullptr && id_function == nullptr) return ErrorNumber::kInvalidParamVal;
  if (!well_formed(first, last)) return ErrorNumber::kMemAccRangeInvalid;
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
    bad_length_ = true;
    Logger::instance().error(
        "Gen_Info", OCSD_ERR_SEV_WARN, ErrorNumber::kMemAccBadLen, kNoIndex, kNoTraceId,
        caches_ ? "Mem Acc: Cache access error" : "Mem acc: bad return length");
    return 0;
  };
  return add({.kind = image::RegionKind::kCallback,
              .parts = {{{first, last, space_of(space)}, 0}},
              .bytes = {},
              .function = ask,
              .path = {},
              .file = nullptr});
}

ErrorNumber Memory::remove(std::uint64_t address, ocsd_mem_space_acc_t space) {
  if (!exists_) return ErrorNumber::kNotInit;
  const image::SpaceMask mask = space_of(space);
  const auto at = std::ranges::find_if(accessors_, [&](const Accessor& accessor) {
    return (accessor.space() & mask) != 0 &&
           std::ranges::any_of(accessor.parts,
                               [&](const Part& part) { return part.contains(address); });
  });
  if (at == accessors_.end()) return ErrorNumber::kInvalidParamVal;
  const Accessor removed = std::move(*at);
  accessors_.erase(at);
  const bool alone = std::ranges::none_of(removed.parts, [&](const Part& part) {
    return std::ranges::count_if(shown_, [&](const Stretch& other) { return meet(part, other); }) >
           1;
  });
  if (!alone) {
    show_all();
    return ErrorNumber::kOk;
  }
  for (const Part& part : removed.parts) {
    static_cast<void>(image_.remove(part.first, part.space));
    std::erase(shown_, static_cast<const Stretch&>(part));
  }
  return ErrorNumber::kOk;
}

/// Before the first accessor is added: the environment determines the initial state of the cache.
void Memory::begin() {
  if (exists_) return;
  exists_ = true;
  // A program that changes the environment at the same time must lock it.
  if (level_in_use().number < kLevel155) {
    // Its cache cannot be changed.
    page_size_ = kPage133;
    return;
  }
  caches_ = std::getenv("OPENCSD_MEMACC_CACHE_OFF") == nullptr;
  const char* const size = std::getenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE");
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
  if (!exists_) return;
  constexpr std::string_view kKinds[] = {"BuffAcc", "FileAcc", "CB  Acc"};
  Logger& logger = Logger::instance();
  logger.message("Gen_Info", OCSD_ERR_SEV_INFO, "Mapped Memory Accessors\n");
  TextBuffer text;
  for (const Accessor& accessor : accessors_) {
    text.clear();
    for (const Part& part : accessor.parts) {
      text.put(kKinds[static_cast<std::size_t>(accessor.kind)]);
      text.put("; Range::0x");
      text.hex(part.first, 2);
      text.put(':');
      text.hex(part.last);
      text.put("; Mem Space::");
      text.put(image::space_name(part.space));
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

std::optional<std::uint32_t> Memory::read(std::uint64_t address, TraceId trace_id,
                                          ocsd_mem_space_acc_t space, std::span<std::uint8_t> out) {
  bad_length_ = false;
  const Bytes bytes = image_.read(address, space_of(space), trace_id, out);
  if (bad_length_) return std::nullopt;
  const std::size_t size = std::min(bytes.size(), out.size());
  // A page of the cache answers with everything or nothing.
  if (caches_ && size < out.size() && out.size() <= page_size_) return 0;
  if (bytes.data() != out.data()) std::copy_n(bytes.begin(), size, out.begin());
  return static_cast<std::uint32_t>(size);
}

}  // namespace waymark::compat
