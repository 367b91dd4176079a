#include "log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace waymark::compat {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Log::Log(const LogOptions& options) {
  if (options.to_stdout) outputs_[count_++] = STDOUT_FILENO;
  if (options.to_stderr) outputs_[count_++] = STDERR_FILENO;
  if (!options.to_file) return;
  file_ = ::open(options.file_name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ >= 0) {
    outputs_[count_++] = file_;
  } else {
    fmt::print(stderr, "trc_pkt_lister: cannot open the log file {}: {}.\n", options.file_name,
               std::generic_category().message(errno));
  }
}

Log::~Log() {
  flush();
  if (file_ >= 0) ::close(file_);
}

void Log::flush() {
  // A destination that fails once is no longer used; the others continue.
  for (int i = 0; i < count_;) {
    if (write_all(outputs_[i], text_.view())) {
      ++i;
      continue;
    }
    fmt::print(stderr, "trc_pkt_lister: cannot write the listing: {}.\n",
               std::generic_category().message(errno));
    outputs_[i] = outputs_[--count_];
    broken_ = true;
  }
  text_.clear();
}

void Log::line(std::string_view text) {
  text_.put(text);
  text_.put('\n');
}

void Log::error(std::string_view component, ErrorNumber number, TraceIndex index, TraceId trace_id,
                std::string_view message) {
  last_error_.clear();
  write_error(last_error_, number, index, trace_id, message);
  text_.put(component);
  text_.put(" : ");
  text_.put(last_error_.view());
}

}  // namespace waymark::compat
