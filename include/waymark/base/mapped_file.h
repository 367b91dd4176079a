// A file as read-only memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "waymark/base/result.h"

namespace waymark {

/// Maps a whole regular file read-only; move-only, unmaps when destroyed.  An empty file is an
/// empty span.  The content is shared with the file system: if another program shortens the file
/// while it is mapped, reading the lost part raises SIGBUS.  Reading is safe from any number of
/// threads.
class MappedFile {
 public:
  /// kNotFound: no such file; kIo: the system refuses, or it is not a regular file.  `detail` names
  /// the path and the reason.
  static Result<MappedFile> open(const std::string& path);

  /// The same for a file that is read as text, and so is in memory as a whole.  kLimit: it has more
  /// than kMostText bytes.
  static Result<MappedFile> open_text(const std::string& path);

  /// As open(), for a descriptor that is open for reading and stays the caller's.  `path` is its
  /// name in messages.
  static Result<MappedFile> map(int descriptor, const std::string& path);

  static constexpr std::size_t kMostText = std::size_t{64} << 20;

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] Bytes bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data_), size_};
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Says that the bytes before `offset` are not needed soon, so that their memory is released.
  /// They can still be read. This way a pass over a file of any size takes little memory. Not from
  /// two threads at a time.
  void passed(std::uint64_t offset);

 private:
  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t released_ = 0;  ///< A multiple of kReleased.
};

/// While it lives, reading a place of the file loads only what is read. Otherwise the system loads
/// up to some megabytes after each place, which is right for a pass over the file, but makes a look
/// at places far apart read all of it. The file must outlive it.
class ScatteredReads {
 public:
  explicit ScatteredReads(const MappedFile& file);
  ~ScatteredReads();
  ScatteredReads(const ScatteredReads&) = delete;
  ScatteredReads& operator=(const ScatteredReads&) = delete;

 private:
  void advise(int advice) const;

  Bytes content_;
};

}  // namespace waymark
