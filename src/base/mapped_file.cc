#include "waymark/base/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace waymark {
namespace {

// The memory that is released at a time; whole pages.
constexpr std::size_t kReleased = std::size_t{16} << 20;

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

std::unexpected<Error> system_failure(const std::string& path, const char* verb, int number) {
  const bool absent = number == ENOENT || number == ENOTDIR;
  return fail(
      absent ? ErrorCode::kNotFound : ErrorCode::kIo,
      fmt::format("Cannot {} {}: {}.", verb, path, std::generic_category().message(number)));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return fail(ErrorCode::kNotFound, "A file name contains a zero byte, which is not allowed.");
  }
  // Without O_NONBLOCK, opening a pipe without a writer would wait for ever.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.get() < 0) return system_failure(path, "open", errno);
  return map(descriptor.get(), path);
}

Result<MappedFile> MappedFile::open_text(const std::string& path) {
  Result<MappedFile> file = open(path);
  if (file && file->size() > kMostText) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: the file has {} bytes, more than the {} allowed for a text file; "
                            "check that it is a text file.",
                            path, file->size(), kMostText));
  }
  return file;
}

Result<MappedFile> MappedFile::map(int descriptor, const std::string& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return system_failure(path, "inspect", errno);
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kIo, fmt::format("Cannot read {}: it is a folder, not a file.", path));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kIo, fmt::format("Cannot read {}: it is {}, not a regular file; copy "
                                            "its content to a file and name that.",
                                            path,
                                            S_ISFIFO(status.st_mode)   ? "a pipe"
                                            : S_ISSOCK(status.st_mode) ? "a socket"
                                                                       : "a device"));
  }

  if (!std::in_range<std::size_t>(status.st_size)) {
    return fail(
        ErrorCode::kLimit,
        fmt::format("Cannot read {}: it has {} bytes, more than a program for a 32-bit machine "
                    "can address; use a 64-bit machine.",
                    path, status.st_size));
  }

  MappedFile file;
  file.path_ = path;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return file;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return system_failure(path, "map", errno);
  file.data_ = static_cast<const std::uint8_t*>(address);
  file.size_ = size;
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

void MappedFile::passed(std::uint64_t offset) {
  const std::size_t end =
      static_cast<std::size_t>(std::min<std::uint64_t>(offset, size_)) / kReleased * kReleased;
  released_ = std::min(released_, end);  // A lower one: another pass.
  if (end == released_) return;
  // The mapping is private and never written, so that released pages are read from the file again.
  // If the system refuses, the memory stays.
  static_cast<void>(
      ::madvise(const_cast<std::uint8_t*>(data_) + released_, end - released_, MADV_DONTNEED));
  released_ = end;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      released_(std::exchange(other.released_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
  path_ = std::move(other.path_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  released_ = std::exchange(other.released_, 0);
  return *this;
}

ScatteredReads::ScatteredReads(const MappedFile& file) : content_(file.bytes()) {
  advise(MADV_RANDOM);
}

ScatteredReads::~ScatteredReads() { advise(MADV_NORMAL); }

// If the system refuses, reading is only slower.
void ScatteredReads::advise(int advice) const {
  if (content_.empty()) return;
  static_cast<void>(::madvise(const_cast<std::uint8_t*>(content_.data()), content_.size(), advice));
}

}  // namespace waymark
