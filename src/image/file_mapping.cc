#include "file_mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace waymark::image {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

std::unexpected<Error> fail_with(int number, const char* verb, const std::string& path) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  return fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("The memory image file '{}' cannot be {}: {}.", path, verb,
                          std::generic_category().message(number)));
}

}  // namespace

Result<std::shared_ptr<const FileMapping>> FileMapping::open(const std::string& path) {
  // O_NONBLOCK: to open a named pipe must not wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return fail_with(errno, "opened", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail_with(errno, "examined", path);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kIo,
                fmt::format("'{}' is no regular file, so it cannot be a memory image.", path));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::make_shared<const FileMapping>(Bytes{});
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return fail_with(errno, "mapped", path);
  return std::make_shared<const FileMapping>(
      Bytes{static_cast<const std::uint8_t*>(address), size});
}

FileMapping::~FileMapping() {
  if (bytes_.empty()) return;
  // munmap() takes a pointer to non-const, but writes nothing.
  ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace waymark::image
