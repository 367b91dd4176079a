// Detects whether a file has changed: its times, and a digest of its bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "waymark/base/types.h"

namespace waymark::index {

/// When a file last changed, in nanoseconds: its content, and its content or its inode.  Programs
/// cannot set the second time.
struct FileTimes {
  std::uint64_t modified = 0;
  std::uint64_t changed = 0;
  friend bool operator==(const FileTimes&, const FileTimes&) = default;

  [[nodiscard]] bool known() const { return modified != 0 && changed != 0; }
};

/// The times of the file at `path`.  They are not known() if the system does not provide them, or
/// if they are so recent that the file could change again and keep them.
FileTimes file_times(const std::string& path);

/// A digest of the first bytes of a file, which can be continued.  It detects accidental changes;
/// it is not cryptographic.
class FileDigest {
 public:
  /// A digest can be continued at multiples of this.
  static constexpr std::size_t kPiece = 4096;
  using Stop = std::function<bool()>;

  FileDigest() = default;
  /// Continues after `size` bytes, a multiple of kPiece, whose digest is `value`.
  FileDigest(std::uint64_t size, std::uint64_t value) : size_(size), value_(value) {}

  /// Reads the pieces before `end` that were not read yet.  `stop` is called now and then.  False:
  /// it asked to stop.
  bool read(Bytes file, std::uint64_t end, const Stop& stop = {});

  /// The digest of the first `end` bytes.  All pieces before `end`, and none after it, were read.
  [[nodiscard]] std::uint64_t value(Bytes file, std::uint64_t end) const;

 private:
  std::uint64_t size_ = 0;  ///< A multiple of kPiece.
  std::uint64_t value_ = 0;
};

}  // namespace waymark::index
