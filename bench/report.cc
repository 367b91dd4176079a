#include "bench/report.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

namespace waymark::bench {
namespace {

/// Rates per second; where only packets were made, an element is a packet.
struct Rates {
  double trace_mb = 0;
  double items = 0;
  double instructions = 0;
  double text_mb = 0;
  double ns_per_item = 0;
};

Rates rates(const Counts& counts, std::size_t trace_bytes, std::uint64_t items, double seconds) {
  const auto per_second = [&](std::uint64_t n) { return static_cast<double>(n) / seconds; };
  return {.trace_mb = per_second(trace_bytes) / 1e6,
          .items = per_second(items),
          .instructions = per_second(counts.instructions),
          .text_mb = per_second(counts.text_bytes) / 1e6,
          .ns_per_item = items != 0 ? seconds * 1e9 / static_cast<double>(items) : 0};
}

/// The unit of the rate.  The reference's listing is only text: it made as many elements as
/// Waymark.
std::uint64_t items_of(const Row& row, const Counts& counts) {
  if (row.work == Work::kPackets) return counts.packets;
  if (row.work == Work::kListing && row.own.ran()) return row.own.counts.elements;
  return counts.elements;
}

Counts with_instructions(const Row& row, Counts counts) {
  if (row.work == Work::kListing && row.own.ran())
    counts.instructions = row.own.counts.instructions;
  return counts;
}

std::string million(double value) { return value == 0 ? "-" : fmt::format("{:.1f}", value / 1e6); }

std::string table_line(const Row& row, const Series& series, std::size_t trace_bytes,
                       std::string_view first, const std::string& side,
                       const std::string& allocations, const std::string& ratio) {
  const Counts counts = with_instructions(row, series.counts);
  const Rates r = rates(counts, trace_bytes, items_of(row, counts), series.best());
  return fmt::format("{:<24} {:<14} {:>8.2f} {:>9} {:>9} {:>9.1f} {:>8} {:>7} {:>7}\n", first, side,
                     r.trace_mb, million(r.items), million(r.instructions), r.ns_per_item,
                     r.text_mb == 0 ? "-" : fmt::format("{:.1f}", r.text_mb), allocations, ratio);
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

void json_series(std::string& out, std::string_view name, const Row& row, const Series& series,
                 std::size_t trace_bytes) {
  const Counts counts = with_instructions(row, series.counts);
  const Rates r = rates(counts, trace_bytes, items_of(row, counts), series.best());
  fmt::format_to(std::back_inserter(out),
                 R"(,"{}":{{"passes":{},"best_seconds":{:.6f},"median_seconds":{:.6f},)"
                 R"("trace_mb_per_second":{:.3f},"items_per_second":{:.0f},)"
                 R"("instructions_per_second":{:.0f},"ns_per_item":{:.3f},)"
                 R"("packets":{},"elements":{},"ranges":{},"instructions":{},"text_bytes":{}}})",
                 name, series.seconds.size(), series.best(), series.median(), r.trace_mb, r.items,
                 r.instructions, r.ns_per_item, counts.packets, counts.elements, counts.ranges,
                 counts.instructions, counts.text_bytes);
}

}  // namespace

std::string table(const Capture& capture, std::span<const Row> rows, const std::string& reference) {
  std::string out =
      fmt::format("{}: {} bytes of trace, {} source{}\n", capture.name, capture.trace.size(),
                  capture.sources.size(), capture.sources.size() == 1 ? "" : "s");
  for (const std::string& note : capture.notes) out += "  " + note + '\n';
  fmt::format_to(std::back_inserter(out),
                 "{:<24} {:<14} {:>8} {:>9} {:>9} {:>9} {:>8} {:>7} {:>7}\n", "", "", "trace",
                 "items", "instr.", "", "text", "", "");
  fmt::format_to(std::back_inserter(out),
                 "{:<24} {:<14} {:>8} {:>9} {:>9} {:>9} {:>8} {:>7} {:>7}\n", "row", "side", "MB/s",
                 "M/s", "M/s", "ns/item", "MB/s", "allocs", "ratio");
  for (const Row& row : rows) {
    std::string_view first = work_name(row.work);
    if (row.own.ran()) {
      const std::string ratio =
          row.comparable() ? fmt::format("{:.1f}", row.reference.best() / row.own.best()) : "-";
      out += table_line(row, row.own, capture.trace.size(), first, "Waymark",
                        fmt::format("{}", row.warm_allocations), ratio);
      first = "";
    }
    if (row.reference.ran()) {
      out += table_line(row, row.reference, capture.trace.size(), first, reference, "", "1");
      first = "";
    }
    if (!row.remark.empty()) {
      fmt::format_to(std::back_inserter(out), "{:<24} {}\n", first, row.remark);
    }
  }
  const Row& elements = rows[static_cast<std::size_t>(Work::kElementBatches)];
  if (elements.comparable()) {
    const Counts& own = elements.own.counts;
    const Counts& other = elements.reference.counts;
    fmt::format_to(std::back_inserter(out),
                   "Both: {} and {} elements, {} and {} instructions; kinds and ranges equal.\n",
                   own.elements, other.elements, own.instructions, other.instructions);
  }
  return out;
}

std::string json(const Capture& capture, std::span<const Row> rows, const std::string& reference) {
  std::string out =
      fmt::format(R"({{"capture":{},"trace_bytes":{},"sources":{},"reference":{},"rows":[)",
                  json_text(capture.name), capture.trace.size(), capture.sources.size(),
                  reference.empty() ? "null" : json_text(reference));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (i != 0) out += ',';
    out += R"({"row":)" + json_text(work_name(row.work));
    if (row.own.ran()) {
      json_series(out, "waymark", row, row.own, capture.trace.size());
      fmt::format_to(std::back_inserter(out),
                     R"(,"warm_seconds":{:.6f},"warm_allocations":{},"cold_allocations":{})",
                     row.warm_seconds, row.warm_allocations, row.own.counts.allocations);
    }
    if (row.reference.ran()) {
      json_series(out, "opencsd", row, row.reference, capture.trace.size());
    }
    if (row.comparable()) {
      fmt::format_to(std::back_inserter(out), R"(,"ratio":{:.3f},"median_ratio":{:.3f})",
                     row.reference.best() / row.own.best(),
                     row.reference.median() / row.own.median());
    }
    if (!row.remark.empty()) out += R"(,"remark":)" + json_text(row.remark);
    out += '}';
  }
  return out + "]}";
}

}  // namespace waymark::bench
