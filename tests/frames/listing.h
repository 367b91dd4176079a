// Runs a Demux over bytes and writes down its steps, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "waymark/frames/demux.h"
#include "waymark/frames/text.h"

namespace waymark::frames {

inline constexpr Options kAligned{};
inline constexpr Options kAlignedReset{.reset_on_4x_fsync = true};
inline constexpr Options kFsyncs{.has_fsyncs = true, .memory_aligned = false};
inline constexpr Options kHsyncs{.has_fsyncs = true, .has_hsyncs = true, .memory_aligned = false};
inline constexpr Options kHsyncsOnly{.has_hsyncs = true, .memory_aligned = false};
inline constexpr Options kBare{.memory_aligned = false};

/// Everything that a run gave, in order: "index;id;bytes" for each segment, and one line for each
/// other step.
struct Listing {
  std::vector<std::string> lines;
  Statistics statistics;
  std::uint64_t lost = 0;
  std::uint64_t held = 0;
  friend bool operator==(const Listing&, const Listing&) = default;
};

inline std::string line_of(const Segment& segment) {
  TextBuffer text;
  text.dec(segment.index);
  text.put(';');
  if (segment.id == kNoTraceId) {
    text.put("??");
  } else {
    text.hex(segment.id, 2);
  }
  text.put(';');
  for (const std::uint8_t byte : segment.bytes()) {
    text.put(' ');
    text.hex(byte, 2);
  }
  return std::string(text.view());
}

/// Feeds `bytes` in blocks of `chunk`; a last piece that does not fill the alignment is left out.
/// After an error it continues with resync().
inline Listing list(const Options& options, Bytes bytes, std::size_t chunk,
                    const Quirks& quirks = {}, TraceIndex start = 0) {
  Listing listing;
  Demux demux(options, quirks);
  bytes = bytes.first(bytes.size() / options.alignment() * options.alignment());
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    if (!demux.feed(start + at, bytes.subspan(at, std::min(chunk, bytes.size() - at)))) {
      listing.lines.emplace_back("refused");
      break;
    }
    for (Step step = demux.step(); step != Step::kNeedInput; step = demux.step()) {
      switch (step) {
        case Step::kFrame:
          for (const Segment& segment : demux.frame().view()) {
            listing.lines.push_back(line_of(segment));
            demux.statistics().count(segment.id, segment.size, is_source_id(segment.id));
          }
          break;
        case Step::kReset:
          listing.lines.emplace_back("reset");
          break;
        case Step::kSkipped:
          listing.lines.push_back("skipped " + std::to_string(demux.error().lost) + " from " +
                                  std::to_string(demux.error().index));
          listing.lost += demux.error().lost;
          break;
        case Step::kError:
          listing.lines.push_back("error at " + std::to_string(demux.error().index) + ": " +
                                  std::string(describe(demux.error())));
          demux.resync();
          break;
        case Step::kNeedInput:
          break;
      }
    }
  }
  listing.statistics = demux.statistics();
  listing.held = demux.held();
  return listing;
}

inline Listing list(const Options& options, Bytes bytes) {
  return list(options, bytes, bytes.size());
}

/// The raw monitor's lines.
class TextMonitor : public RawMonitor {
 public:
  void on_raw_frame(RawKind kind, TraceIndex index, TraceId id, Bytes bytes) override {
    write_raw_frame(text, kind, index, id, bytes);
  }
  TextBuffer text;
};

/// The raw output, packed and unpacked, as a driver without filters gives it.
inline void write_raw(Demux& demux, TextMonitor& monitor, TraceIndex index, Bytes block) {
  if (!demux.feed(index, block)) return;
  for (Step step = demux.step(); step != Step::kNeedInput; step = demux.step()) {
    if (step != Step::kFrame) continue;
    for (const Segment& segment : demux.frame().view())
      monitor.on_raw_frame(RawKind::kIdData, segment.index, segment.id, segment.bytes());
  }
}

}  // namespace waymark::frames
