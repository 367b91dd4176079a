// Files in a ZIP archive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::logic {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  ///< 0: stored, 8: deflated.
  std::uint32_t crc = 0;
  std::uint32_t packed = 0;
  std::uint32_t size = 0;
  std::uint32_t header = 0;  ///< Where its local header is.
};

/// The archive must outlive the object.
class Zip {
 public:
  /// Receives the content of a file in pieces; false: no more is wanted.
  using Take = std::function<bool(Bytes)>;

  static bool is_zip(Bytes archive);

  /// The detail of an error is a sentence without the name of the archive.  kBadData: the directory
  /// is missing or damaged, or its files overlap; kUnsupported: an archive of more than 4 GiB.
  static Result<Zip> open(Bytes archive);

  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  /// nullptr: there is no such file.
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;

  /// Never gives more bytes than the entry states.  kBadData: they are damaged, which is known only
  /// after `take` had them; kUnsupported: packed by another method, or built without zlib.
  Result<void> read(const ZipEntry& entry, const Take& take) const;

  /// The whole file.  kLimit: it has more than `most` bytes.
  [[nodiscard]] Result<std::string> read_text(const ZipEntry& entry, std::size_t most) const;

 private:
  explicit Zip(Bytes archive) : archive_(archive) {}
  Result<void> read_directory(std::size_t at, std::size_t count);

  Bytes archive_;
  std::vector<ZipEntry> entries_;
};

}  // namespace waymark::logic
