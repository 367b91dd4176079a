// A time in each line of output: when the bytes that it describes arrived.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/text_buffer.h"

namespace waymark::outputs {

/// Adds the time to lines of text, objects of JSON and rows of CSV that were made without it.
class LineStamp {
 public:
  enum class Form : std::uint8_t { kText, kJson, kCsv };

  explicit LineStamp(Form form) : form_(form) {}

  /// The time of the lines from now on, in nanoseconds since 1970; 0: not known.
  void set_time(std::int64_t time) { time_ = time; }

  /// Appends `lines`, which are whole.  The first line of CSV is its header, as are those of text
  /// before there is a time.
  void put(TextBuffer& out, std::string_view lines);

 private:
  void put_line(TextBuffer& out, std::string_view line);

  Form form_;
  bool has_header_ = false;
  std::int64_t time_ = 0;
};

/// "2026-11-26T19:13:33.123456Z": UTC, in microseconds.
void write_arrival(TextBuffer& out, std::int64_t time);

}  // namespace waymark::outputs
