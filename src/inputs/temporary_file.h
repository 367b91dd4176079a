// A file without a name, for bytes that are made while an input is opened.
#pragma once

#include <string>

#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"

namespace waymark::inputs {

/// In $TMPDIR, or else in /tmp.  Move-only.  The file disappears with the object and the memory
/// that it was mapped to.
class TemporaryFile {
 public:
  /// `purpose` begins the error sentences: "Cannot copy standard input".  kIo: the system refuses.
  static Result<TemporaryFile> create(std::string purpose);

  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// Writes after what was written before.  kIo: the disk is full, or another failure of the
  /// system.
  Result<void> write(Bytes bytes);

  /// The bytes written so far.  `name` is the path in messages.
  [[nodiscard]] Result<MappedFile> map(const std::string& name) const;

  /// The folder that the file is in.
  static std::string folder();

 private:
  TemporaryFile(std::string purpose, int descriptor)
      : purpose_(std::move(purpose)), descriptor_(descriptor) {}
  [[nodiscard]] std::unexpected<Error> failed(int number) const;

  std::string purpose_;
  int descriptor_ = -1;
};

}  // namespace waymark::inputs
