// The destinations of the listing: one buffer, written to each in large pieces.
#pragma once

#include <string_view>

#include "error_text.h"
#include "options.h"
#include "waymark/base/text_buffer.h"

namespace waymark::compat {

// The beginning of the lines of the listing.
inline constexpr std::string_view kLister = "Trace Packet Lister : ";
inline constexpr std::string_view kReader = "snapshot_reader";

class Log {
 public:
  /// Opens the file for appending.
  explicit Log(const LogOptions& options);
  /// Text that flush() did not write is lost: where memory ran out, it may lack its end.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Append text here, and call settle() regularly.
  [[nodiscard]] TextBuffer& text() { return text_; }

  /// Writes the buffer out once it is large.
  void settle() {
    if (text_.size() >= kFlushSize) flush();
  }
  void flush();

  void line(std::string_view text);

  /// "<component> : <error>", without newline, as the reference logs errors.
  void error(std::string_view component, ErrorNumber number, TraceIndex index, TraceId trace_id,
             std::string_view message);

  /// The text of the last error, without its component; empty if there was none.
  [[nodiscard]] std::string_view last_error() const { return last_error_.view(); }

  /// Writing to a destination failed.
  [[nodiscard]] bool broken() const { return broken_; }
  /// It failed because the reader of the pipe is gone.
  [[nodiscard]] bool reader_left() const { return reader_left_; }

 private:
  static constexpr std::size_t kFlushSize = std::size_t{512} << 10;

  TextBuffer text_{kFlushSize * 2};
  TextBuffer last_error_;
  int outputs_[3];
  int count_ = 0;
  int file_ = -1;
  bool broken_ = false;
  bool reader_left_ = false;
};

}  // namespace waymark::compat
