#include "waymark/inputs/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "waymark/base/standard_streams.h"

namespace waymark::inputs {
namespace {

/// The milliseconds between two calls of `stop` while no input comes.
constexpr int kPatience = 100;
constexpr std::size_t kBlock = std::size_t{256} << 10;

std::string reason(int number) { return std::generic_category().message(number); }

std::string temporary_folder() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment.
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

/// Makes a file without a name; -1 and errno if that fails.
int make_nameless_file(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  // Not every file system has O_TMPFILE.
  std::string path = folder + "/waymark-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

std::unexpected<Error> no_copy(const std::string& path, const std::string& folder, int number) {
  return fail(ErrorCode::kIo,
              fmt::format("Cannot copy {} to a temporary file in {}: {}. Set TMPDIR to a folder "
                          "with enough room, or save the input to a file and name that.",
                          input_name(path), folder, reason(number)));
}

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

Result<MappedFile> InputOpener::open(const std::string& path) {
  if (!is_stream(path)) return MappedFile::open(path);
  if (const auto known = copies_.find(path); known != copies_.end())
    return MappedFile::map(known->second->value, input_name(path));
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
  const std::string& path = stream.path();
  const std::string folder = temporary_folder();
  auto copy = std::make_shared<InputStream::Descriptor>(make_nameless_file(folder));
  if (copy->value < 0) return no_copy(path, folder, errno);
  if (note_) {
    note_(fmt::format("{} is copied to a temporary file in {}, because it is read more than once.",
                      input_name(path), folder));
  }
  std::vector<std::uint8_t> block(kBlock);
  while (true) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    if (const int number = write_all(copy->value, text); number != 0)
      return no_copy(path, folder, number);
    const auto size = stream.read(block);
    if (!size) return std::unexpected(size.error());
    if (*size == 0) break;
    head = Bytes(block).first(*size);
  }
  auto file = MappedFile::map(copy->value, input_name(path));
  if (file) copies_.insert_or_assign(path, std::move(copy));
  return file;
}

}  // namespace waymark::inputs
