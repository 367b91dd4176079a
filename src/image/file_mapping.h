// A file, mapped read-only.
#pragma once

#include <memory>
#include <string>

#include "waymark/base/result.h"

namespace waymark::image {

/// Owns one mapping of a whole regular file; immutable, so any thread may read it.
///
/// The mapping follows the file, not its name: to replace a file by another of that name is
/// harmless.  To cut a file short in place while it is mapped is not, and cannot be made so without
/// a copy: the operating system answers a read of what is gone with SIGBUS.
class FileMapping {
 public:
  /// kNotFound: no such file.  kIo: no regular file, or one that cannot be read or mapped.
  static Result<std::shared_ptr<const FileMapping>> open(const std::string& path);

  explicit FileMapping(Bytes bytes) : bytes_(bytes) {}
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  /// The size is that at the time of open().
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace waymark::image
