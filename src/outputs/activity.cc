#include "waymark/outputs/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "itm_words.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/base/utf8.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

/// Exceptions and ports that are shown.
constexpr std::size_t kMostNumbers = 8;
constexpr std::size_t kMostLines = 8;

struct HotPlace {
  std::string name{};
  std::string program{};  ///< Empty: it is not shown.
  std::uint64_t now = 0;
  std::uint64_t total = 0;
};

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6)
                     : fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// The functions with most of the interval; those without any now come by their total.
std::vector<HotPlace> hot_places(const ActivityReport& report, const ActivityView& view) {
  std::map<std::pair<std::string, std::string>, HotPlace> by_name;
  const auto add = [&](const count::ActivityCounts& counts, std::uint64_t HotPlace::* field) {
    for (const auto& [place, weight] : counts.places) {
      ActivityName name = view.name ? view.name(place) : ActivityName();
      std::string shown = name.function.empty() ? fmt::format("0x{:x}", place.address)
                                                : escaped(readable_name(name.function));
      by_name[{std::move(shown), escaped(name.program)}].*field += weight;
    }
  };
  add(report.now, &HotPlace::now);
  add(report.total, &HotPlace::total);
  std::vector<HotPlace> places;
  places.reserve(by_name.size());
  for (auto& [name, place] : by_name) {
    place.name = name.first;
    place.program = name.second;
    places.push_back(std::move(place));
  }
  const auto is_hotter = [](const HotPlace& a, const HotPlace& b) {
    if (a.now != b.now) return a.now > b.now;
    if (a.total != b.total) return a.total > b.total;
    return std::pair(a.name, a.program) < std::pair(b.name, b.program);
  };
  const std::size_t most = std::min(view.most, places.size());
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(most), is_hotter);
  places.resize(most);
  return places;
}

using Numbers = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

/// The highest counts in total.
Numbers highest(const std::map<std::uint32_t, std::uint64_t>& counts) {
  Numbers numbers(counts.begin(), counts.end());
  std::ranges::stable_sort(numbers, std::ranges::greater(), &Numbers::value_type::second);
  if (numbers.size() > kMostNumbers) numbers.resize(kMostNumbers);
  return numbers;
}

std::uint64_t count_of(const std::map<std::uint32_t, std::uint64_t>& counts, std::uint32_t number) {
  const auto found = counts.find(number);
  return found == counts.end() ? 0 : found->second;
}

/// As many characters as there are columns.  The text is escaped, so that each has one column or,
/// for wide ones, two, which the terminal cuts.
std::string_view fit(std::string_view text, std::size_t width) {
  if (width == 0) return text;
  std::size_t at = 0;
  for (std::size_t column = 0; at < text.size() && column < width; ++column)
    at += std::max<std::size_t>(first_character(text.substr(at)).length, 1);
  return text.substr(0, at);
}

class Page {
 public:
  Page(TextBuffer& out, const ActivityView& view) : out_(out), view_(view) {}

  void line(std::string_view text) {
    out_.put(fit(text, view_.width));
    out_.put('\n');
  }
  void heading(std::string_view text) {
    begin_colour(out_, view_.style, Colour::kHeading);
    out_.put(fit(text, view_.width));
    end_colour(out_, view_.style);
    out_.put('\n');
  }

 private:
  TextBuffer& out_;
  const ActivityView& view_;
};

void write_numbers(Page& page, const ActivityReport& report) {
  const Numbers exceptions = highest(report.total.exceptions);
  if (!exceptions.empty()) page.heading("     per s       total  exception");
  for (const auto& [number, total] : exceptions) {
    const std::string_view word = exception_word(number);
    page.line(fmt::format("{:>10.1f}  {:>10}  {}{}{}",
                          per_second(count_of(report.now.exceptions, number), report.seconds),
                          total, number, word.empty() ? "" : " ", word));
  }
  const Numbers ports = highest(report.total.ports);
  if (!ports.empty()) page.heading("   bytes/s       bytes  port");
  for (const auto& [port, total] : ports) {
    page.line(fmt::format("{:>10.1f}  {:>10}  {}",
                          per_second(count_of(report.now.ports, port), report.seconds), total,
                          port));
  }
}

}  // namespace

void write_text(TextBuffer& out, const ActivityReport& report, const ActivityView& view) {
  Page page(out, view);
  page.heading(fmt::format("{}  {}  {}/s, {} in all", escaped(report.name),
                           clock_text(report.total_seconds),
                           bytes_text(per_second(report.bytes, report.seconds)),
                           bytes_text(static_cast<double>(report.total_bytes))));
  page.line(fmt::format("overflows {:.1f}/s, {} in all; {}",
                        per_second(report.now.overflows, report.seconds), report.total.overflows,
                        counted(report.gaps, "gap")));
  if (report.total.samples + report.total.sleeping != 0) {
    page.line(fmt::format("samples {:.1f}/s, asleep {:.1f} %",
                          per_second(report.now.samples + report.now.sleeping, report.seconds),
                          share(report.now.sleeping, report.now.samples + report.now.sleeping)));
  }
  if (report.total.instructions != 0)
    page.line(
        fmt::format("instructions {:.0f}/s", per_second(report.now.instructions, report.seconds)));
  if (report.total.software != 0)
    page.line(
        fmt::format("software packets {:.1f}/s", per_second(report.now.software, report.seconds)));
  const std::vector<HotPlace> places = hot_places(report, view);
  if (!places.empty()) page.heading("    now  in all  function");
  for (const HotPlace& place : places) {
    page.line(fmt::format("{:>5.1f} %  {:>4.1f} %  {}{}{}", share(place.now, report.now.weight()),
                          share(place.total, report.total.weight()), place.name,
                          place.program.empty() ? "" : "  ", place.program));
  }
  write_numbers(page, report);
  const std::size_t shown = std::min(kMostLines, report.lines.size());
  for (std::size_t i = report.lines.size() - shown; i < report.lines.size(); ++i)
    page.line(fmt::format("port {}: {}", report.lines[i].port, escaped(report.lines[i].text)));
}

void write_json(TextBuffer& out, const ActivityReport& report, const ActivityView& view) {
  out.put(fmt::format(R"({{"type":"activity","seconds":{:.3f},"bytes":{},"total_bytes":{},)"
                      R"("gaps":{},"overflows":{},"samples":{},"sleeping":{},"instructions":{},)"
                      R"("software":{},"functions":[)",
                      report.seconds, report.bytes, report.total_bytes, report.gaps,
                      report.now.overflows, report.now.samples, report.now.sleeping,
                      report.now.instructions, report.now.software));
  std::string_view comma;
  for (const HotPlace& place : hot_places(report, view)) {
    out.put(comma);
    out.put("{\"name\":");
    write_json_string(out, place.name);
    if (!place.program.empty()) {
      out.put(",\"program\":");
      write_json_string(out, place.program);
    }
    out.put(fmt::format(R"(,"now":{},"total":{}}})", place.now, place.total));
    comma = ",";
  }
  out.put("],\"exceptions\":{");
  comma = "";
  for (const auto& [number, times] : report.now.exceptions) {
    out.put(fmt::format("{}\"{}\":{}", comma, number, times));
    comma = ",";
  }
  out.put("},\"ports\":{");
  comma = "";
  for (const auto& [port, bytes] : report.now.ports) {
    out.put(fmt::format("{}\"{}\":{}", comma, port, bytes));
    comma = ",";
  }
  out.put("}}\n");
}

}  // namespace waymark::outputs
