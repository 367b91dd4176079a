#include "temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "waymark/base/standard_streams.h"

namespace waymark::inputs {

std::string TemporaryFile::folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

Result<TemporaryFile> TemporaryFile::create(std::string purpose) {
  const std::string folder = TemporaryFile::folder();
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    // Not every file system has O_TMPFILE.
    std::string path = folder + "/waymark-XXXXXX";
    descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(path.c_str());
  }
  const int number = errno;
  TemporaryFile file(std::move(purpose), descriptor);
  if (descriptor < 0) return file.failed(number);
  return file;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : purpose_(std::move(other.purpose_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  std::swap(purpose_, other.purpose_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::unexpected<Error> TemporaryFile::failed(int number) const {
  return fail(ErrorCode::kIo,
              fmt::format("{} to a temporary file in {}: {}. Set TMPDIR to a folder with enough "
                          "room.",
                          purpose_, folder(), std::generic_category().message(number)));
}

Result<void> TemporaryFile::write(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const int number = write_all(descriptor_, text); number != 0) return failed(number);
  return {};
}

Result<MappedFile> TemporaryFile::map(const std::string& name) const {
  return MappedFile::map(descriptor_, name);
}

}  // namespace waymark::inputs
