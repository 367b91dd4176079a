#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace waymark::cli {

Result<void> refuse_input(const std::string& path, std::span<const std::string> inputs) {
  std::error_code error;
  for (const std::string& input : inputs) {
    if (!std::filesystem::equivalent(path, input, error)) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("-o {}: this is the input file {}, which would be lost; choose another "
                            "place with -o.",
                            path, input));
  }
  return {};
}

Result<Output> Output::open(const std::string& path, std::span<const std::string> inputs) {
  if (path.empty() || path == "-") return Output(STDOUT_FILENO, "standard output");
  WAYMARK_TRY(refuse_input(path, inputs));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return fail(ErrorCode::kIo, fmt::format("Cannot write {}: {}. Choose another file with -o.",
                                            path, std::generic_category().message(errno)));
  }
  return Output(descriptor, path);
}

Output::Output(Output&& other) noexcept
    : text_(std::move(other.text_)),
      name_(std::move(other.name_)),
      error_(std::move(other.error_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Output::~Output() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

bool Output::flush() {
  if (failed()) {
    text_.clear();
    return false;
  }
  std::string_view rest = text_.view();
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail_write(rest, errno);
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  text_.clear();
  return !failed();
}

/// In a file, the last line that is not whole is taken back.
void Output::fail_write(std::string_view unwritten, int code) {
  const std::string_view written = text_.view().substr(0, text_.size() - unwritten.size());
  struct stat status{};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    const std::size_t lines =
        written.rfind('\n') == std::string_view::npos ? 0 : written.rfind('\n') + 1;
    const auto extra = static_cast<off_t>(written.size() - lines);
    const off_t end = ::lseek(descriptor_, 0, SEEK_CUR);
    // A failure here leaves a partial last line: nothing more can be done.
    if (extra != 0 && end >= extra && ::ftruncate(descriptor_, end - extra) != 0) errno = code;
  }
  if (code == EPIPE) {
    error_ = fmt::format("The reader of {} went away; the rest is not written.", name_);
  } else if (code == ENOSPC || code == EDQUOT) {
    error_ = fmt::format(
        "Cannot write {}: the disk is full. What was decoded before is kept; make "
        "room, or choose another place with -o.",
        name_);
  } else {
    error_ = fmt::format("Cannot write {}: {}.", name_, std::generic_category().message(code));
  }
}

}  // namespace waymark::cli
