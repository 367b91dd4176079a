// Frames: options, quirks and block sizes come from the first bytes of the input, the capture from
// the rest.  Invariants: every byte is counted, skipped or held, once; each step makes progress;
// the bulk splitter gives what the stepwise demultiplexer gives; multiplexing the result and
// demultiplexing it again gives it back.
#include <algorithm>
#include <array>
#include <vector>

#include "require.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/mux.h"
#include "waymark/frames/splitter.h"
#include "waymark/frames/text.h"

namespace {

using namespace waymark;
using namespace waymark::frames;
using fuzz::require;

std::vector<std::pair<std::size_t, TraceIndex>> segments_of(const StreamBlock& block) {
  std::vector<std::pair<std::size_t, TraceIndex>> segments;
  for_each_segment(block, [&](std::size_t position, TraceIndex index, std::size_t) {
    segments.emplace_back(position, index);
  });
  return segments;
}

bool same(const StreamBlock& left, const StreamBlock& right) {
  return std::ranges::equal(left.bytes, right.bytes) && segments_of(left) == segments_of(right);
}

class Counter : public RawMonitor {
 public:
  void on_raw_frame(RawKind kind, TraceIndex index, TraceId id, Bytes bytes) override {
    text.clear();
    write_raw_frame(text, kind, index, id, bytes);
  }
  TextBuffer text;
};

struct Plan {
  Options options;
  Quirks quirks;
  std::size_t block = 0;
  TraceIndex start = 0;
};

using Streams = std::array<StreamBuffer, kTraceIdCount>;

// Returns the streams; `whole` if there was neither damage nor a reset.
Streams stepwise(const Plan& plan, Bytes capture, bool& whole) {
  Streams streams;
  Counter monitor;
  Demux demux(plan.options, plan.quirks);
  demux.set_monitor(&monitor, true);
  std::uint64_t lost = 0;
  for (std::size_t at = 0; at < capture.size(); at += plan.block) {
    const Bytes block = capture.subspan(at, std::min(plan.block, capture.size() - at));
    require(demux.feed(plan.start + at, block).has_value(), "a good block was refused");
    std::size_t steps = 0;
    for (Step step = demux.step(); step != Step::kNeedInput; step = demux.step()) {
      require(++steps <= 3 * block.size() + 4, "no progress");
      require(demux.consumed() <= block.size(), "more used than given");
      if (step == Step::kSkipped) lost += demux.error().lost;
      if (step == Step::kError) demux.resync();
      if (step != Step::kFrame) {
        whole = false;
        continue;
      }
      for (const Segment& segment : demux.frame().view()) {
        require(segment.size <= 15, "segment too long");
        demux.statistics().count(segment.id, segment.size, is_source_id(segment.id));
        if (segment.id < kTraceIdCount) streams[segment.id].append(segment.index, segment.bytes());
      }
    }
    require(demux.consumed() == block.size(), "block not used up");
  }
  require(demux.statistics().total() + lost + demux.held() == capture.size(),
          "bytes counted not exactly once");
  return streams;
}

Streams bulk(const Plan& plan, Bytes capture) {
  StreamSplitter splitter(plan.options, ~IdSet());
  for (std::size_t at = 0; at < capture.size(); at += plan.block) {
    require(
        splitter
            .feed(plan.start + at, capture.subspan(at, std::min(plan.block, capture.size() - at)))
            .has_value(),
        "a good block was refused");
    for (Step step = splitter.step(); step != Step::kNeedInput; step = splitter.step()) {
      require(step != Step::kFrame, "the splitter gave a frame");
      if (step == Step::kError) splitter.resync();
    }
  }
  Streams streams;
  for (TraceId id = 0; id < kTraceIdCount; ++id) streams[id] = std::move(splitter.stream(id));
  return streams;
}

void round_trip(const Streams& streams, const MuxOptions& mux_options) {
  Mux mux(mux_options);
  // Slices of all sources in turn, so that IDs change at all places of the frame.
  bool more = true;
  for (std::size_t from = 0, slice = 1; more; from += slice, slice = slice % 17 + 1) {
    more = false;
    for (TraceId id = 1; id < 0x7F; ++id) {
      const Bytes bytes = streams[id].block().bytes;
      if (from >= bytes.size()) continue;
      more = true;
      require(mux.write(id, bytes.subspan(from, std::min(slice, bytes.size() - from))).has_value(),
              "write refused");
    }
  }
  mux.finish();
  StreamSplitter splitter(mux_options.demux_options(), ~IdSet());
  if (!mux.bytes().empty()) require(splitter.feed(0, mux.bytes()).has_value(), "frames refused");
  require(splitter.step() == Step::kNeedInput, "our own frames have errors");
  require(splitter.held() == 0, "our own frames are not whole");
  for (TraceId id = 1; id < 0x7F; ++id)
    require(std::ranges::equal(splitter.stream(id).block().bytes, streams[id].block().bytes),
            "round trip differs");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const unsigned mode = data[0];
  Plan plan;
  plan.options = {.has_fsyncs = (mode & 2) != 0,
                  .has_hsyncs = (mode & 4) != 0,
                  .memory_aligned = (mode & 1) != 0,
                  .reset_on_4x_fsync = (mode & 8) != 0};
  if (!check(plan.options)) return 0;
  const Quirks quirks{.block_end_moves_index = (mode & 16) != 0,
                      .fsync_after_hsync_fails = (mode & 32) != 0};
  const std::size_t alignment = plan.options.alignment();
  plan.start = (mode & 64) != 0 ? 0xFFFF'FFF0U : 0;
  Bytes capture(data + 4, (size - 4) / alignment * alignment);
  if (capture.empty()) return 0;

  plan.block = (data[1] + 1U) * alignment;
  bool cut_whole = true;
  const Streams cut = stepwise(plan, capture, cut_whole);
  const Streams split = bulk(plan, capture);
  for (TraceId id = 0; id < kTraceIdCount; ++id)
    require(same(cut[id].block(), split[id].block()), "bulk differs from stepwise");

  Plan in_one = plan;
  in_one.block = capture.size();
  bool whole = true;
  const Streams uncut = stepwise(in_one, capture, whole);
  // A run of FSYNCs that the end of a block cuts may be good although the whole run is bad.
  if (!plan.options.reset_on_4x_fsync || (whole && cut_whole)) {
    for (TraceId id = 0; id < kTraceIdCount; ++id)
      require(same(cut[id].block(), uncut[id].block()), "the size of blocks matters");
  }

  plan.quirks = quirks;
  stepwise(plan, capture, whole);

  const bool aligned = (data[2] & 1) != 0;
  round_trip(uncut, {.fsync_period = aligned ? 0U : 1U + data[2] / 64U,
                     .hsync_period = aligned ? 0U : data[3] % 16U,
                     .delayed_id_changes = (data[2] & 2) != 0,
                     .id_repeat = (data[2] >> 2) & 15U});
  return 0;
}
