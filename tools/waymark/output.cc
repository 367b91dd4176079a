#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>

#include "interrupt.h"
#include "waymark/base/same_file.h"
#include "waymark/index/store.h"

namespace waymark::cli {

namespace {

bool is_regular(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// The first lines of `text`, at most `most` characters; part of a line if it is longer.
std::string_view whole_lines(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t end = text.rfind('\n', most - 1);
  return text.substr(0, end == std::string_view::npos ? most : end + 1);
}

std::unexpected<Error> index_would_be_lost(const std::string& path) {
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "-o {}: this is an index, which would be overwritten; choose another file with -o.",
          path));
}

std::unexpected<Error> cannot_write(const std::string& path, int code) {
  return fail(ErrorCode::kIo, fmt::format("Cannot write {}: {}. Choose another file with -o.", path,
                                          std::generic_category().message(code)));
}

}  // namespace

Result<void> refuse_input(const std::string& path, std::span<const std::string> inputs) {
  const bool is_standard = path.empty() || path == "-";
  const std::string* const input =
      is_standard ? find_same_file(STDOUT_FILENO, inputs) : find_same_file(path, inputs);
  if (input == nullptr) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "{}: this is the input file {}, which would be overwritten; choose another file with -o.",
          is_standard ? "Standard output" : "-o " + path, *input));
}

Result<void> refuse_inputs_in(const std::string& folder, const inputs::Snapshot& snapshot,
                              std::span<const inputs::SnapshotFile> files,
                              std::span<const std::string> inputs) {
  const std::filesystem::path path(folder);
  const auto texts = inputs::snapshot_texts(snapshot);
  if (!texts) return {};  // write_snapshot() says why, and writes nothing.
  for (const inputs::SnapshotText& text : *texts)
    WAYMARK_TRY(refuse_input((path / text.name).string(), inputs));
  for (const inputs::SnapshotFile& file : files)
    WAYMARK_TRY(refuse_input((path / file.name).string(), inputs));
  return {};
}

Output::Output(int descriptor, std::string name)
    : text_(kFlushSize * 2),
      name_(std::move(name)),
      descriptor_(descriptor),
      is_file_(is_regular(descriptor)) {}

Result<Output> Output::open(const std::string& path, std::span<const std::string> inputs) {
  WAYMARK_TRY(refuse_input(path, inputs));
  if (path.empty() || path == "-") return Output(STDOUT_FILENO, "standard output");
  if (index::is_index_file(path)) return index_would_be_lost(path);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return cannot_write(path, errno);
  return Output(descriptor, path);
}

Result<Output> Output::open_whole(const std::string& path, std::span<const std::string> inputs) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  // Anything that is not a file, such as /dev/null, cannot be replaced.
  if (path.empty() || path == "-" ||
      (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)))
    return open(path, inputs);
  WAYMARK_TRY(refuse_input(path, inputs));
  if (index::is_index_file(path)) return index_would_be_lost(path);
  // A link stays a link: the file that it leads to is replaced.
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
  const std::string target = ignored ? path : real.string();
  std::string temporary = target + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot_write(path, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  // Without this, the file keeps the narrow permissions of a temporary one, which does no harm.
  (void)::fchmod(descriptor, 0666 & ~mask);
  Output output(descriptor, path);
  output.temporary_ = std::move(temporary);
  output.target_ = target;
  return output;
}

bool Output::commit() {
  if (!flush()) return false;
  if (temporary_.empty()) return true;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    error_ = fmt::format("Cannot write {}: {}.", name_, std::generic_category().message(errno));
    return false;
  }
  temporary_.clear();
  return true;
}

Output::Output(Output&& other) noexcept
    : text_(std::move(other.text_)),
      stamp_(other.stamp_),
      stamped_(std::move(other.stamped_)),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      target_(std::move(other.target_)),
      error_(std::move(other.error_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_file_(other.is_file_),
      reader_left_(other.reader_left_),
      gave_up_(other.gave_up_) {}

Output::~Output() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool Output::flush() {
  if (stamp_) {
    stamped_.clear();
    stamp_->put(stamped_, text_.view());
  }
  const std::string_view all = stamp_ ? stamped_.view() : text_.view();
  std::string_view rest = failed() ? std::string_view{} : all;
  while (!rest.empty() && reader_takes_more()) {
    // A write of PIPE_BUF goes into a pipe as a whole or not at all.
    const std::string_view part = is_file_ ? rest : whole_lines(rest, PIPE_BUF);
    const ssize_t written = ::write(descriptor_, part.data(), part.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another program made the descriptor non-blocking.  A signal ends the wait.
      pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      (void)::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      fail_write(all.substr(0, all.size() - rest.size()), errno);
      break;
    }
  }
  text_.clear();
  return !failed();
}

/// False after an interrupt if the pipe stays full: the program ends although its reader waits.
bool Output::reader_takes_more() {
  constexpr int kPatience = 200;  // Milliseconds.
  if (!interrupted() || gave_up_) return !gave_up_;
  pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  gave_up_ = ::poll(&ready, 1, kPatience) <= 0;
  return !gave_up_;
}

/// Removes the partial last line from a file.
void Output::fail_write(std::string_view written, int code) {
  if (is_file_) {
    const std::size_t lines =
        written.rfind('\n') == std::string_view::npos ? 0 : written.rfind('\n') + 1;
    const auto extra = static_cast<off_t>(written.size() - lines);
    const off_t end = ::lseek(descriptor_, 0, SEEK_CUR);
    // A failure here leaves a partial last line: nothing more can be done.
    if (extra != 0 && end >= extra && ::ftruncate(descriptor_, end - extra) != 0) errno = code;
  }
  if (code == EPIPE) {
    reader_left_ = true;
    error_ = fmt::format("The reader of {} closed it.", name_);
  } else if (code == ENOSPC || code == EDQUOT) {
    error_ = fmt::format(
        "Cannot write {}: the disk is full. {}ake room, or choose another place "
        "with -o.",
        name_, temporary_.empty() ? "The output so far is kept; m" : "M");
  } else {
    error_ = fmt::format("Cannot write {}: {}.", name_, std::generic_category().message(code));
  }
}

}  // namespace waymark::cli
