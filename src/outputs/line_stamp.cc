#include "waymark/outputs/line_stamp.h"

#include <chrono>
#include <utility>

namespace waymark::outputs {
namespace {

constexpr std::size_t kWidth = 27;

void put_digits(TextBuffer& out, std::uint64_t value, unsigned digits) {
  char* const at = out.grow(digits);
  for (unsigned i = digits; i-- != 0; value /= 10) at[i] = static_cast<char>('0' + value % 10);
  out.advance(digits);
}

}  // namespace

void write_arrival(TextBuffer& out, std::int64_t time) {
  using namespace std::chrono;
  const sys_time<microseconds> moment{floor<microseconds>(nanoseconds(time))};
  const auto day = floor<days>(moment);
  const year_month_day date(day);
  const hh_mm_ss clock(moment - day);
  put_digits(out, static_cast<std::uint64_t>(int{date.year()}), 4);
  out.put('-');
  put_digits(out, unsigned{date.month()}, 2);
  out.put('-');
  put_digits(out, unsigned{date.day()}, 2);
  out.put('T');
  put_digits(out, static_cast<std::uint64_t>(clock.hours().count()), 2);
  out.put(':');
  put_digits(out, static_cast<std::uint64_t>(clock.minutes().count()), 2);
  out.put(':');
  put_digits(out, static_cast<std::uint64_t>(clock.seconds().count()), 2);
  out.put('.');
  put_digits(out, static_cast<std::uint64_t>(clock.subseconds().count()), 6);
  out.put('Z');
}

void LineStamp::put(TextBuffer& out, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::size_t size = end == std::string_view::npos ? lines.size() : end + 1;
    put_line(out, lines.substr(0, size));
    lines.remove_prefix(size);
  }
}

void LineStamp::put_line(TextBuffer& out, std::string_view line) {
  const bool is_header = !std::exchange(has_header_, true);
  switch (form_) {
    case Form::kJson:
      if (time_ == 0 || !line.starts_with('{')) break;
      out.put(R"({"arrival":")");
      write_arrival(out, time_);
      out.put(line.starts_with("{}") ? std::string_view("\"") : std::string_view("\","));
      line.remove_prefix(1);
      break;
    case Form::kCsv:
      if (is_header) {
        out.put("arrival");
      } else if (time_ != 0) {
        write_arrival(out, time_);
      }
      out.put(',');
      break;
    case Form::kText:
      if (is_header && time_ == 0) {
        out.put("arrival");
        for (std::size_t i = 7; i < kWidth; ++i) out.put(' ');
      } else if (time_ != 0) {
        write_arrival(out, time_);
      } else {
        out.put('-');
        for (std::size_t i = 1; i < kWidth; ++i) out.put(' ');
      }
      out.put(' ');
      break;
  }
  out.put(line);
}

}  // namespace waymark::outputs
