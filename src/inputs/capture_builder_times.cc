// When the trace of a recording was executed, by its timestamps.  See perf-cs-etm.md 9.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "capture_builder.h"
#include "perf_input.h"
#include "waymark/base/plural.h"
#include "waymark/tree/per_source.h"

namespace waymark::inputs {
namespace {

/// The timestamps of one unit, and the places where it started or stated the context.
class UnitTimes final : public Observer {
 public:
  UnitTimes(const perf::Unit& unit, perf::TimeAlignment& to) : unit_(unit), to_(to) {}

  [[nodiscard]] bool wants_packets() const override { return false; }
  [[nodiscard]] bool wants_landmarks() const override { return true; }
  void on_landmark(const Landmark& landmark, TraceId /*stream_id*/) override {
    switch (landmark.kind) {
      case LandmarkKind::kTimestamp:
        to_.on_timestamp(unit_, landmark.index, landmark.value, landmark.whole);
        break;
      case LandmarkKind::kContext:
      case LandmarkKind::kTraceOn:
        to_.on_break(unit_, landmark.index);
        break;
      default:
        break;
    }
  }

 private:
  const perf::Unit& unit_;
  perf::TimeAlignment& to_;
};

}  // namespace

Result<perf::TraceTimes> CaptureBuilder::align_times(const std::vector<TraceIndex>& begins) {
  PerfInput& input = *capture_.perf_;
  const perf::Recording& recording = input.recording;
  if (!recording.time) return perf::TraceTimes();
  perf::TimeAlignment alignment(recording);
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<UnitTimes> observers;
  observers.reserve(recording.units.size());
  for (const perf::Unit& unit : recording.units) {
    if (!unit.trace_id || !unit.traces_times()) continue;
    if (!options_.virtual_timestamps && !perf::counts_virtual_time(unit)) continue;
    const auto core = isa::core_by_name(core_name_of(unit));
    if (!core) return std::unexpected(core.error());
    auto made =
        row_of(unit).make(registers_of(unit), *core, capture_.image_.get(), {.decode = false});
    // The error is reported when the source is made for decoding.
    if (!made) continue;
    observers.emplace_back(unit, alignment);
    (*made)->set_observer(&observers.back(), *unit.trace_id);
    sources.push_back(*std::move(made));
  }
  if (sources.empty()) return perf::TraceTimes();
  input.times = TimeSource::kTimestamps;
  std::vector<Source*> driven;
  driven.reserve(sources.size());
  for (const auto& source : sources) driven.push_back(source.get());
  PerSourceDriver driver(frame_options(capture_.framing_), driven);
  const Bytes trace = capture_.trace_.bytes();
  const auto pass = [](Source& source) { static_cast<void>(source.next({})); };
  for (std::size_t i = 0; i < begins.size(); ++i) {
    WAYMARK_TRY(go_on());
    const perf::Piece& piece = recording.pieces[input.order[i]];
    if (!alignment.matters(piece)) continue;
    const TraceIndex end = i + 1 < begins.size() ? begins[i + 1] : trace.size();
    alignment.begin_piece(piece, begins[i]);
    // The mark before each piece resets the sources.
    const Bytes bytes =
        trace.first(static_cast<std::size_t>(end)).subspan(static_cast<std::size_t>(begins[i]));
    WAYMARK_TRY(driver.work(begins[i], bytes, pass));
  }
  if (alignment.implausible() != 0) {
    note(fmt::format(
        "{}: in {} of trace, timestamps are later than the record of the trace, so they come from "
        "another clock. There, the times of the records give the order of trace and mappings.",
        name_, counted(alignment.implausible(), "piece")));
  }
  return alignment.take();
}

void CaptureBuilder::note_missing_contexts() {
  const PerfInput& input = *capture_.perf_;
  const perf::Recording& recording = input.recording;
  if (recording.traces_contexts() || recording.per_task) return;
  if (std::ranges::none_of(recording.buffers,
                           [](const perf::Buffer& buffer) { return buffer.cpu.has_value(); }))
    return;
  if (!recording.has_switches()) {
    note(
        fmt::format("{}: the recording does not show which process ran on each CPU. Record again "
                    "with context IDs "
                    "(cs_etm/contextid/), or with perf record --switch-events.",
                    name_));
  } else if (input.times == TimeSource::kAuxRecords) {
    note(
        fmt::format("{}: the process is known only where one thread ran alone on a CPU, because "
                    "the trace has neither context IDs nor times that can be compared with those "
                    "of context switches. Record again with cs_etm/contextid/.",
                    name_));
  }
}

}  // namespace waymark::inputs
