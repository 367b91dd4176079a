#include "waymark/logic/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "waymark/base/escape.h"

#if WAYMARK_HAVE_ZLIB
#include <zlib.h>
#endif

namespace waymark::logic {
namespace {

constexpr std::uint32_t kLocalHeader = 0x0403'4B50;
constexpr std::uint32_t kDirectoryEntry = 0x0201'4B50;
constexpr std::uint32_t kDirectoryEnd = 0x0605'4B50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kEndSize = 22;

/// The little-endian number at an offset whose bytes were checked to be there.
std::uint32_t number(Bytes bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i != 0; --i) value = value << 8 | bytes[at + i - 1];
  return value;
}

bool holds(Bytes bytes, std::uint64_t at, std::uint64_t size) {
  return at <= bytes.size() && size <= bytes.size() - at;
}

std::unexpected<Error> damaged(std::string_view what) {
  return fail(
      ErrorCode::kBadData,
      fmt::format("The ZIP archive is damaged or cut short ({}); copy or save it again.", what));
}

std::unexpected<Error> damaged_file(const ZipEntry& entry, std::string_view what) {
  return damaged(fmt::format("{} in its file {}", what, escaped(entry.name)));
}

/// The end of the directory is followed by a comment of at most 64 KiB.
std::optional<std::size_t> find_end(Bytes archive) {
  constexpr std::size_t kMostComment = 0xFFFF;
  if (archive.size() < kEndSize) return std::nullopt;
  const std::size_t last = archive.size() - kEndSize;
  for (std::size_t back = 0; back <= std::min(last, kMostComment); ++back)
    if (number(archive, last - back, 4) == kDirectoryEnd) return last - back;
  return std::nullopt;
}

/// Where the content of a file begins.
Result<std::uint64_t> content_of(Bytes archive, const ZipEntry& entry) {
  if (!holds(archive, entry.header, kLocalSize) || number(archive, entry.header, 4) != kLocalHeader)
    return damaged_file(entry, "no header");
  const std::uint64_t begin = std::uint64_t{entry.header} + kLocalSize +
                              number(archive, entry.header + 26, 2) +
                              number(archive, entry.header + 28, 2);
  if (!holds(archive, begin, entry.packed)) return damaged_file(entry, "too few bytes");
  return begin;
}

#if WAYMARK_HAVE_ZLIB
/// Owns the state of zlib.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// False: the data is damaged, or longer than the entry says.
  bool run(Bytes packed, std::uint32_t size, const std::function<bool(Bytes)>& take) {
    if (!ready_) return false;
    std::array<std::uint8_t, std::size_t{64} << 10> piece{};
    // zlib does not write to its input.
    stream_.next_in = const_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    std::uint64_t given = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      stream_.next_out = piece.data();
      stream_.avail_out = static_cast<uInt>(piece.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = piece.size() - stream_.avail_out;
      given += made;
      if (given > size || (status == Z_OK && made == 0)) return false;
      if (made != 0 && !take(Bytes(piece).first(made))) return true;
    }
    return status == Z_STREAM_END && given == size;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};
#endif

}  // namespace

bool Zip::is_zip(Bytes archive) {
  return archive.size() >= kLocalSize && number(archive, 0, 4) == kLocalHeader;
}

Result<Zip> Zip::open(Bytes archive) {
  const auto end = find_end(archive);
  if (!end) return damaged("it has no directory");
  const std::uint32_t count = number(archive, *end + 10, 2);
  const std::uint32_t at = number(archive, *end + 16, 4);
  if (at == 0xFFFF'FFFF || count == 0xFFFF)
    return fail(ErrorCode::kUnsupported,
                "The ZIP archive has more than 4 GiB or 65534 files, which is not supported; save "
                "a shorter capture.");
  Zip zip(archive);
  WAYMARK_TRY(zip.read_directory(at, count));
  return zip;
}

Result<void> Zip::read_directory(std::size_t at, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    if (!holds(archive_, at, kEntrySize) || number(archive_, at, 4) != kDirectoryEntry)
      return damaged("an entry is missing in its directory");
    const std::size_t name = number(archive_, at + 28, 2);
    if (!holds(archive_, at + kEntrySize, name)) return damaged("its directory ends too early");
    ZipEntry entry{.name = {},
                   .method = static_cast<std::uint16_t>(number(archive_, at + 10, 2)),
                   .crc = number(archive_, at + 16, 4),
                   .packed = number(archive_, at + 20, 4),
                   .size = number(archive_, at + 24, 4),
                   .header = number(archive_, at + 42, 4)};
    entry.name.assign(reinterpret_cast<const char*>(archive_.data() + at + kEntrySize), name);
    entries_.push_back(std::move(entry));
    at += kEntrySize + name + number(archive_, at + 30, 2) + number(archive_, at + 32, 2);
  }
  // Files that share bytes would let a small archive become any number of bytes.
  std::vector<const ZipEntry*> order;
  order.reserve(entries_.size());
  for (const ZipEntry& entry : entries_) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const ZipEntry* entry) { return entry->header; });
  std::uint64_t free = 0;
  for (const ZipEntry* entry : order) {
    const auto begin = content_of(archive_, *entry);
    if (!begin) return std::unexpected(begin.error());
    if (entry->header < free) return damaged_file(*entry, "bytes of another file");
    free = *begin + entry->packed;
  }
  return {};
}

const ZipEntry* Zip::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &ZipEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<void> Zip::read(const ZipEntry& entry, const Take& take) const {
#if WAYMARK_HAVE_ZLIB
  const auto begin = content_of(archive_, entry);
  if (!begin) return std::unexpected(begin.error());
  const Bytes packed = archive_.subspan(in_memory(*begin), entry.packed);
  constexpr std::uint16_t kDeflated = 8;
  std::uint32_t crc = 0;
  bool stopped = false;
  const auto pass_on = [&](Bytes piece) {
    crc = static_cast<std::uint32_t>(crc32_z(crc, piece.data(), piece.size()));
    stopped = !take(piece);
    return !stopped;
  };
  if (entry.method == 0) {
    if (entry.packed != entry.size) return damaged_file(entry, "a wrong size");
    constexpr std::size_t kPiece = std::size_t{256} << 10;
    for (std::size_t at = 0; at < packed.size() && !stopped; at += kPiece)
      pass_on(packed.subspan(at, std::min(kPiece, packed.size() - at)));
  } else if (entry.method == kDeflated) {
    if (!Inflater().run(packed, entry.size, pass_on))
      return damaged_file(entry, "bytes that cannot be unpacked");
  } else {
    return fail(ErrorCode::kUnsupported,
                fmt::format("The file {} in the ZIP archive is packed by method {}, which is not "
                            "supported; save it again with `deflate`.",
                            escaped(entry.name), entry.method));
  }
  if (!stopped && crc != entry.crc) return damaged_file(entry, "a wrong checksum");
  return {};
#else
  (void)entry;
  (void)take;
  return fail(ErrorCode::kUnsupported,
              "It is a ZIP archive, but Waymark was built without zlib; build with "
              "-DWAYMARK_ZLIB=ON.");
#endif
}

Result<std::string> Zip::read_text(const ZipEntry& entry, std::size_t most) const {
  if (entry.size > most)
    return fail(ErrorCode::kLimit,
                fmt::format("The file {} in the ZIP archive has {} bytes, more than the {} that it "
                            "may have; check that this is a session of sigrok.",
                            escaped(entry.name), entry.size, most));
  std::string text;
  WAYMARK_TRY(read(entry, [&](Bytes piece) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  }));
  return text;
}

}  // namespace waymark::logic
