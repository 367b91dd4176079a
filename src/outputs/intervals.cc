#include "waymark/outputs/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/outputs/json.h"

namespace waymark::outputs {
namespace {

using Row = IntervalReport::Row;

struct Figure {
  std::string_view name;   ///< For people.
  std::string_view field;  ///< For programs.
  std::uint64_t (*of)(const Row& row);
};

constexpr std::array<Figure, 7> kFigures = {{
    {"intervals", "count", [](const Row& row) { return row.lengths.distribution.count(); }},
    {"minimum", "minimum",
     [](const Row& row) { return row.lengths.shortest ? row.lengths.shortest->length : 0; }},
    {"median", "median", [](const Row& row) { return row.lengths.distribution.quantile(500); }},
    {"mean", "mean", [](const Row& row) { return row.lengths.distribution.mean(); }},
    {"95th percentile", "p95",
     [](const Row& row) { return row.lengths.distribution.quantile(950); }},
    {"99th percentile", "p99",
     [](const Row& row) { return row.lengths.distribution.quantile(990); }},
    {"maximum", "maximum",
     [](const Row& row) { return row.lengths.longest ? row.lengths.longest->length : 0; }},
}};

std::string place_of(const std::optional<interval::Interval>& interval) {
  return interval ? fmt::format("{}..{}", interval->from, interval->to) : "-";
}

/// In place of a length that no interval has.
bool is_measured(const Row& row) { return row.lengths.distribution.count() != 0; }

void write_histogram(TextBuffer& out, const Row& row) {
  constexpr std::size_t kWidth = 50;
  const auto bars = row.lengths.distribution.histogram();
  std::uint64_t most = 1;
  for (const auto& bar : bars) most = std::max(most, bar.count);
  out.put(fmt::format("\n{:>20}   {:>12}\n", interval::unit_name(row.unit), "intervals"));
  for (const auto& bar : bars) {
    const auto width = static_cast<std::size_t>(static_cast<double>(bar.count) /
                                                static_cast<double>(most) * kWidth);
    // Everything that occurred at all is visible.
    const std::size_t shown = bar.count == 0 ? 0 : std::max<std::size_t>(width, 1);
    out.put(fmt::format("{:>20}   {:>12}{}{}\n", fmt::format("{}..{}", bar.from, bar.to), bar.count,
                        shown == 0 ? "" : "  ", std::string(shown, '#')));
  }
}

}  // namespace

void write_text(TextBuffer& out, const IntervalReport& report, bool histogram) {
  out.put(fmt::format("{} to {}: {}; {} happened {}, {} happened {}\n\n", escaped(report.from),
                      escaped(report.to), counted(report.pairs, "interval"), escaped(report.from),
                      counted(report.begun, "time"), escaped(report.to),
                      counted(report.ended, "time")));
  const auto line = [&](std::string_view name, auto cell) {
    out.put(fmt::format("{:<16}", name));
    for (const Row& row : report.rows) out.put(fmt::format("  {:>22}", cell(row)));
    out.put('\n');
  };
  line("", [](const Row& row) { return std::string(interval::unit_name(row.unit)); });
  for (const Figure& figure : kFigures) {
    line(figure.name, [&](const Row& row) {
      const bool shown = is_measured(row) || figure.field == "count";
      return shown ? fmt::format("{}", figure.of(row)) : std::string("-");
    });
  }
  line("shortest at", [](const Row& row) { return place_of(row.lengths.shortest); });
  line("longest at", [](const Row& row) { return place_of(row.lengths.longest); });
  if (std::ranges::any_of(report.rows,
                          [](const Row& row) { return !row.lengths.distribution.is_exact(); }))
    out.put("\nWith this many intervals, percentiles are rounded down by up to 1.6 %.\n");
  if (!histogram) return;
  const auto first = std::ranges::find_if(report.rows, is_measured);
  if (first != report.rows.end()) write_histogram(out, *first);
}

void write_json(TextBuffer& out, const IntervalReport& report) {
  for (const Row& row : report.rows) {
    out.put(R"({"type":"interval","from":)");
    write_json_string(out, report.from);
    out.put(R"(,"to":)");
    write_json_string(out, report.to);
    out.put(fmt::format(R"(,"unit":"{}","begun":{},"ended":{},"pairs":{})",
                        interval::unit_name(row.unit), report.begun, report.ended, report.pairs));
    for (const Figure& figure : kFigures) {
      if (is_measured(row) || figure.field == "count") {
        out.put(fmt::format(R"(,"{}":{})", figure.field, figure.of(row)));
      } else {
        out.put(fmt::format(R"(,"{}":null)", figure.field));
      }
    }
    const auto extreme = [&](std::string_view name,
                             const std::optional<interval::Interval>& interval) {
      if (interval) {
        out.put(fmt::format(R"(,"{}":{{"from_index":{},"to_index":{},"begin":{}}})", name,
                            interval->from, interval->to, interval->begin));
      } else {
        out.put(fmt::format(R"(,"{}":null)", name));
      }
    };
    extreme("shortest", row.lengths.shortest);
    extreme("longest", row.lengths.longest);
    out.put(fmt::format(R"(,"exact":{},"histogram":[)", row.lengths.distribution.is_exact()));
    bool first = true;
    for (const auto& bar : row.lengths.distribution.histogram()) {
      out.put(fmt::format(R"({}{{"from":{},"to":{},"count":{}}})", first ? "" : ",", bar.from,
                          bar.to, bar.count));
      first = false;
    }
    out.put("]}\n");
  }
}

void write_csv(TextBuffer& out, const IntervalReport& report) {
  out.put("unit");
  for (const Figure& figure : kFigures) out.put(fmt::format(",{}", figure.field));
  out.put(",shortest_from,shortest_to,longest_from,longest_to\n");
  for (const Row& row : report.rows) {
    out.put(interval::unit_name(row.unit));
    for (const Figure& figure : kFigures) {
      const bool shown = is_measured(row) || figure.field == "count";
      out.put(shown ? fmt::format(",{}", figure.of(row)) : ",");
    }
    for (const auto* const extreme : {&row.lengths.shortest, &row.lengths.longest})
      out.put(*extreme ? fmt::format(",{},{}", (*extreme)->from, (*extreme)->to) : ",,");
    out.put('\n');
  }
}

}  // namespace waymark::outputs
