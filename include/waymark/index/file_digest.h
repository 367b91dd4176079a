// Whether a file is still what it was: when it last changed, and a digest of its bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "waymark/base/types.h"

namespace waymark::index {

/// When a file last changed, in nanoseconds: its content, and its content or its inode.  The second
/// time cannot be set by programs.
struct FileTimes {
  std::uint64_t modified = 0;
  std::uint64_t changed = 0;
  friend bool operator==(const FileTimes&, const FileTimes&) = default;

  [[nodiscard]] bool known() const { return modified != 0 && changed != 0; }
};

/// The times of the file at `path`.  Not known() where the system does not tell them, and where
/// they are so recent that the file could change once more and keep them.
FileTimes file_times(const std::string& path);

/// A digest of the first bytes of a file, which can be continued.  It shows accidental changes; it
/// is not cryptographic.
class FileDigest {
 public:
  /// Where a digest can be continued: multiples of this.
  static constexpr std::size_t kPiece = 4096;
  using Stop = std::function<bool()>;

  FileDigest() = default;
  /// Continues after `size` bytes, a multiple of kPiece, whose digest is `value`.
  FileDigest(std::uint64_t size, std::uint64_t value) : size_(size), value_(value) {}

  /// Reads the pieces that lie before `end` and are not read yet.  `stop` is asked now and then.
  /// False: it said to stop.
  bool read(Bytes file, std::uint64_t end, const Stop& stop = {});

  /// The digest of the first `end` bytes.  All pieces before `end`, and none after it, were read.
  [[nodiscard]] std::uint64_t value(Bytes file, std::uint64_t end) const;

 private:
  std::uint64_t size_ = 0;  ///< A multiple of kPiece.
  std::uint64_t value_ = 0;
};

}  // namespace waymark::index
