#include "waymark/inputs/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "temporary_file.h"

namespace waymark::inputs {
namespace {

/// The milliseconds between two calls of `stop` while no input comes.
constexpr int kPatience = 100;
constexpr std::size_t kBlock = std::size_t{256} << 10;

std::string reason(int number) { return std::generic_category().message(number); }

bool is_null_device(const struct stat& status) {
  struct stat null_device{};
  return ::stat("/dev/null", &null_device) == 0 && S_ISCHR(null_device.st_mode) &&
         status.st_rdev == null_device.st_rdev;
}

}  // namespace

struct InputStream::Descriptor {
  explicit Descriptor(int number, bool ours = true) : value(number), owned(ours) {}
  ~Descriptor() {
    if (owned && value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int value;
  bool owned;
  bool empty = false;  ///< The null device.
};

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

InputStream::InputStream(std::string path, std::shared_ptr<Descriptor> descriptor, StopReading stop)
    : path_(std::move(path)), descriptor_(std::move(descriptor)), stop_(std::move(stop)) {}

Result<InputStream> InputStream::open(const std::string& path, StopReading stop) {
  const bool standard = path == "-";
  // Without O_NONBLOCK, opening a pipe without a writer would wait without calling `stop`.
  auto descriptor = std::make_shared<Descriptor>(
      standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), !standard);
  struct stat status{};
  if (descriptor->value < 0 || ::fstat(descriptor->value, &status) != 0) {
    const int number = errno;
    return fail(number == ENOENT || number == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("Cannot open {}: {}.", input_name(path), reason(number)));
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kIo,
                fmt::format("Cannot read {}: it is a folder, not a file.", input_name(path)));
  }
  if (::isatty(descriptor->value) != 0) {
    return fail(ErrorCode::kIo, fmt::format("Cannot read {}: it is a terminal; pipe the capture "
                                            "into the command, or name a file.",
                                            input_name(path)));
  }
  descriptor->empty = S_ISCHR(status.st_mode) && is_null_device(status);
  if ((S_ISCHR(status.st_mode) && !descriptor->empty) || S_ISBLK(status.st_mode)) {
    return fail(ErrorCode::kIo, fmt::format("Cannot read {}: it is a device, whose content may "
                                            "have no end; copy what is needed to a file and name "
                                            "that.",
                                            input_name(path)));
  }
  return InputStream(path, std::move(descriptor), std::move(stop));
}

Result<std::size_t> InputStream::read(std::span<std::uint8_t> out) {
  if (descriptor_->empty || out.empty()) return 0;
  while (true) {
    if (stop_ && stop_())
      return fail(ErrorCode::kIo, fmt::format("Reading {} was interrupted.", input_name(path_)));
    // The timeout is needed, as a signal may come just before the call.
    pollfd ready{.fd = descriptor_->value, .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, kPatience);
    if (count == 0 || (count < 0 && errno == EINTR)) continue;
    const ssize_t size = ::read(descriptor_->value, out.data(), out.size());
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR && errno != EAGAIN)
      return fail(ErrorCode::kIo,
                  fmt::format("Cannot read {}: {}.", input_name(path_), reason(errno)));
  }
}

Result<bool> InputStream::wait(std::chrono::milliseconds patience) {
  if (descriptor_->empty) return true;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    if (stop_ && stop_())
      return fail(ErrorCode::kIo, fmt::format("Reading {} was interrupted.", input_name(path_)));
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() < 0) return false;
    pollfd ready{.fd = descriptor_->value, .events = POLLIN, .revents = 0};
    const int most = static_cast<int>(std::min<std::int64_t>(left.count(), kPatience));
    if (::poll(&ready, 1, most) > 0) return true;
    if (left.count() == 0) return false;
  }
}

Result<MappedFile> InputOpener::open(const std::string& path) {
  if (!is_stream(path)) return MappedFile::open(path);
  if (const auto known = copies_.find(path); known != copies_.end())
    return known->second->map(input_name(path));
  if (path == "-") {
    // A redirected file needs no copy.  This name refers to it, so that no output replaces it.
    struct stat status{};
    if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
        ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
      return MappedFile::map(STDIN_FILENO, "/dev/stdin");
    }
  }
  auto stream = InputStream::open(path, stop_);
  if (!stream) return std::unexpected(std::move(stream).error());
  return open(*stream, {});
}

Result<MappedFile> InputOpener::open(InputStream& stream, Bytes head) {
  const std::string name = input_name(stream.path());
  auto copy = TemporaryFile::create(fmt::format("Cannot copy {}", name));
  if (!copy) return std::unexpected(copy.error());
  if (note_) {
    note_(fmt::format("{} is copied to a temporary file in {}, because it is read more than once.",
                      name, TemporaryFile::folder()));
  }
  std::vector<std::uint8_t> block(kBlock);
  while (true) {
    WAYMARK_TRY(copy->write(head));
    const auto size = stream.read(block);
    if (!size) return std::unexpected(size.error());
    if (*size == 0) break;
    head = Bytes(block).first(*size);
  }
  auto file = copy->map(name);
  if (file)
    copies_.insert_or_assign(stream.path(), std::make_shared<TemporaryFile>(*std::move(copy)));
  return file;
}

}  // namespace waymark::inputs
