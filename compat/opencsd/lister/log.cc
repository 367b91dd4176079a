#include "log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "waymark/base/escape.h"
#include "waymark/base/standard_streams.h"

namespace waymark::compat {
namespace {

void complain(std::string_view what, int error) {
  TextBuffer text;
  text.put("trc_pkt_lister: ");
  put_escaped(text, what);
  text.put(": ");
  text.put(std::generic_category().message(error));
  text.put(".\n");
  write_to_standard_error(text.view());
}

/// As write_all(); what a terminal would obey is escaped, as names of files and devices can hold
/// it.
int write_listing(int descriptor, std::string_view text) {
  if (::isatty(descriptor) != 1) return write_all(descriptor, text);
  TextBuffer shown;
  put_escaped_lines(shown, text);
  return write_all(descriptor, shown.view());
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
    complain("cannot open the log file " + options.file_name, errno);
  }
}

Log::~Log() {
  if (file_ >= 0) ::close(file_);
}

void Log::flush() {
  // A destination that fails once is no longer used; the others continue.
  for (int i = 0; i < count_;) {
    const int error = write_listing(outputs_[i], text_.view());
    if (error == 0) {
      ++i;
      continue;
    }
    if (error == EPIPE) {
      reader_left_ = true;
    } else {
      complain("cannot write the listing", error);
    }
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
