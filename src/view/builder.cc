#include "builder.h"

#include <algorithm>
#include <utility>

namespace waymark::view {
namespace {

constexpr std::uint64_t kMostKeyframes = 2048;
/// Trace that choose_axis() reads.
constexpr std::uint64_t kSurvey = std::uint64_t{8} << 20;
constexpr std::size_t kMostPending = std::size_t{1} << 18;

}  // namespace

Result<AxisChoice> choose_axis(PartDecoder& decoder, const Stop& stop) {
  AxisChoice axis;
  std::array<bool, 256> timed{};
  bool executes = false;
  bool has_cycles = false;
  std::optional<std::uint64_t> earliest;
  // Some trace units send timestamps although nothing counts: all are equal, and no axis.
  bool time_passes = false;
  WAYMARK_TRY(decoder.begin({}, AxisUnit::kInstructions, 0, {}));
  std::size_t missing = decoder.capture().sources().size();
  const auto take = [&](std::span<const Element> elements) {
    for (const Element& element : elements) {
      executes = executes || element.kind == ElementKind::kInstrRange;
      has_cycles = has_cycles || (element.flags & kElementHasCycleCount) != 0;
      const auto time = decoder.time_of(element);
      if (!time) continue;
      time_passes = time_passes || (earliest && time->time != *earliest);
      earliest = std::min(earliest.value_or(time->time), time->time);
      if (!std::exchange(timed[element.trace_id], true)) --missing;
    }
    return missing != 0 || !time_passes;
  };
  while (decoder.index() < kSurvey) {
    const auto step = decoder.step(take, stop);
    if (!step) return std::unexpected(step.error());
    if (*step != PartDecoder::Step::kBlock) break;
  }
  axis.has_cycles = has_cycles;
  axis.has_timestamps = time_passes;
  if (time_passes) {
    axis.unit = AxisUnit::kTicks;
    axis.origin = *earliest;
  } else if (has_cycles && decoder.capture().sources().size() == 1) {
    axis.unit = AxisUnit::kCycles;
  } else {
    axis.unit = executes ? AxisUnit::kInstructions : AxisUnit::kBytes;
  }
  return axis;
}

stacks::Code CodeList::get(stacks::CodeId code) const {
  const std::scoped_lock lock(mutex_);
  return code < codes_.size() ? codes_[code] : stacks::Code{};
}

std::size_t CodeList::size() const {
  const std::scoped_lock lock(mutex_);
  return codes_.size();
}

void CodeList::take(const stacks::Tree& tree) {
  const std::scoped_lock lock(mutex_);
  while (codes_.size() < tree.codes().size()) {
    codes_.push_back(tree.codes()[codes_.size()]);
    codes_.back().source = nullptr;
  }
}

void CodeList::take(std::vector<stacks::Code> codes) {
  const std::scoped_lock lock(mutex_);
  codes_.assign(codes.begin(), codes.end());
}

std::vector<stacks::Code> CodeList::all() const {
  const std::scoped_lock lock(mutex_);
  return {codes_.begin(), codes_.end()};
}

Builder::Builder(PartDecoder& decoder, FunctionTable& functions, CodeList& codes,
                 const AxisChoice& axis, std::uint64_t least)
    : decoder_(decoder),
      codes_(codes),
      numbers_(functions),
      axis_(axis),
      marks_(decoder.message_reader()),
      keyframes_(decoder.capture().sources().size(),
                 std::max(least, decoder.capture().trace_bytes() / kMostKeyframes)) {
  for (const inputs::CaptureSource& source : decoder.capture().sources()) {
    places_[source.id] = static_cast<std::uint8_t>(sources_.size());
    sources_.push_back({.id = source.id});
  }
}

Result<bool> Builder::step(const Stop& stop) {
  if (complete_) return false;
  if (!std::exchange(begun_, true)) {
    decoder_.set_sink(this);
    WAYMARK_TRY(decoder_.begin(*keyframes_.all().front(), axis_.unit, axis_.origin, {}));
  }
  const auto take_batch = [this](std::span<const Element> elements) {
    take(elements);
    return true;
  };
  const auto step = decoder_.step(take_batch, stop);
  if (!step) return std::unexpected(step.error());
  if (*step == PartDecoder::Step::kEnd) {
    complete_ = true;
    std::vector<std::pair<TraceId, FoundMark>> rest;
    marks_.finish(rest);
    for (const auto& [id, mark] : rest) add_mark(source(id), mark, decoder_.n(id));
    keep_keyframe();
    resolve_rest();
    // The tree gets what its sources still hold.
    decoder_.set_sink(nullptr);
    decoder_.engine().finish();
    codes_.take(decoder_.engine().tree());
    return false;
  }
  if (axis_.unit == AxisUnit::kInstructions || axis_.unit == AxisUnit::kBytes)
    for (Source& each : sources_) resolve(each, decoder_.n(each.id));
  if (keyframes_.is_due(decoder_.index())) keep_keyframe();
  return true;
}

Known Builder::known(bool tree) {
  Known known;
  known.keyframes = keyframes_.all();
  known.overview = overview_;
  const auto threads = decoder_.engine().tracks(false);
  for (const stacks::OpenTrack& thread : threads) {
    OverviewTrack& track = known.overview.track(thread.track);
    track.source = thread.source;
    track.thread = thread.thread;
  }
  if (tree) known.tree = std::make_shared<const stacks::Tree>(decoder_.engine().tree());
  for (const Source& each : sources_) {
    known.n.push_back(decoder_.n(each.id));
    known.quality.push_back(decoder_.engine().quality(each.id));
  }
  known.bytes = decoder_.index();
  known.complete = complete_;
  return known;
}

void Builder::keep_keyframe() {
  codes_.take(decoder_.engine().tree());
  Keyframe keyframe = decoder_.keyframe();
  std::vector<std::size_t> unused;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    SourceAt& at = keyframe.sources[i];
    if (axis_.unit == AxisUnit::kInstructions && decoder_.executes(sources_[i].id))
      at.t = static_cast<double>(at.n);
    unused.push_back(decoder_.clock().made(sources_[i].id).size());
  }
  keyframes_.keep(std::move(keyframe), unused);
}

// ---- Elements -------------------------------------------------------------------------------

void Builder::take(std::span<const Element> elements) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    keyframes_.note(places_[element.trace_id], element);
    if (element.kind == ElementKind::kInstrRange) continue;
    found_.clear();
    marks_.find(element, found_);
    if (found_.empty()) continue;
    decoder_.observe(elements.subspan(done, i - done));
    done = i;
    for (const FoundMark& mark : found_)
      add_mark(source(element.trace_id), mark, decoder_.n(element.trace_id));
  }
  decoder_.observe(elements.subspan(done));
  for (Source& each : sources_) {
    if (decoder_.executes(each.id) || decoder_.clock().made(each.id).empty()) continue;
    resolve(each, decoder_.n(each.id));
  }
}

void Builder::add_mark(Source& source, const FoundMark& mark, std::uint64_t n) {
  source.pending.push_back(
      {.from = n,
       .to = n,
       .track = source_track(mark.is_message ? kMessageTracks : kEventTracks, source.id),
       .what = What::kMark,
       .mark = static_cast<std::uint32_t>(source.marks.size())});
  source.marks.emplace_back(mark.is_message, Mark{.kind = mark.kind, .text = mark.text});
  coarsen(source);
}

void Builder::end_run(Source& source, std::uint64_t position) {
  const std::uint64_t from = std::exchange(source.run_from, position);
  if (position == from || !source.track) return;
  const Track& track = tracks_[*source.track];
  source.pending.push_back({.from = from,
                            .to = position,
                            .track = *source.track,
                            .function = track.stack.empty() ? 0 : track.stack.back(),
                            .depth = static_cast<std::uint32_t>(track.stack.size())});
  coarsen(source);
}

/// Without points for a long time, neighbours become one.
void Builder::coarsen(Source& source) {
  if (source.pending.size() < kMostPending) return;
  std::vector<Pending> fewer;
  fewer.reserve(kMostPending);
  for (Pending& each : source.pending) {
    Pending* const last = fewer.empty() ? nullptr : &fewer.back();
    const bool joins = last != nullptr && last->what == What::kRun && each.what == What::kRun &&
                       last->track == each.track && last->cycles == 0;
    if (!joins) {
      fewer.push_back(each);
      continue;
    }
    // `cycles` marks what was joined, so that only pairs are.
    if (each.to - each.from > last->to - last->from) last->function = each.function;
    last->depth = std::max(last->depth, each.depth);
    last->to = each.to;
    last->cycles = 1;
  }
  for (Pending& each : fewer)
    if (each.what == What::kRun) each.cycles = 0;
  source.pending = std::move(fewer);
  // Marks and gaps alone are too many: their places are not known better than this.
  if (source.pending.size() > kMostPending - kMostPending / 8) {
    const AxisPoints points({source.last.value_or(AxisPoint{})});
    for (const Pending& each : source.pending) give(source, each, points);
    source.pending.clear();
    source.marks.clear();
  }
}

void Builder::resolve(Source& source, std::uint64_t position) {
  const bool executes = decoder_.executes(source.id);
  if (executes) end_run(source, position);
  std::vector<AxisPoint> made = decoder_.clock().take(source.id);
  const AxisPoint last = source.last.value_or(AxisPoint{});
  if (axis_.unit == AxisUnit::kInstructions && executes) {
    made = {last, {position, static_cast<double>(position)}};
  } else if (!made.empty()) {
    keyframes_.add_points(places_[source.id], made);
    if (source.last) made.insert(made.begin(), last);
  }
  if (made.empty()) return;
  const AxisPoints points(std::move(made));
  const std::uint64_t known = points.all().back().n;
  std::vector<Pending> later;
  for (const Pending& each : source.pending) {
    if (each.to <= known) {
      give(source, each, points);
    } else {
      later.push_back(each);
    }
  }
  std::vector<std::pair<bool, Mark>> marks;
  for (Pending& each : later) {
    if (each.what != What::kMark) continue;
    marks.push_back(std::move(source.marks[each.mark]));
    each.mark = static_cast<std::uint32_t>(marks.size() - 1);
  }
  source.pending = std::move(later);
  source.marks = std::move(marks);
  source.last = points.all().back();
  overview_.reach(source.last->t);
}

void Builder::resolve_rest() {
  for (Source& each : sources_) {
    if (decoder_.executes(each.id)) end_run(each, decoder_.n(each.id));
    resolve(each, decoder_.n(each.id));
    const AxisPoints points({each.last.value_or(AxisPoint{})});
    for (const Pending& pending : each.pending) give(each, pending, points);
    each.pending.clear();
    each.marks.clear();
  }
}

void Builder::give(Source& source, const Pending& pending, const AxisPoints& points) {
  Overview::Part part{.from = points.at(pending.from),
                      .to = points.before(pending.to),
                      .cycles = pending.cycles,
                      .function = pending.function,
                      .depth = pending.depth};
  switch (pending.what) {
    case What::kRun:
      part.instructions = pending.to - pending.from;
      break;
    case What::kGap:
      std::swap(part.from, part.to);
      part.is_gap = true;
      break;
    case What::kException:
      part.to = part.from;
      part.exceptions = 1;
      break;
    case What::kCycles:
      break;
    case What::kMark: {
      auto& [is_message, mark] = source.marks[pending.mark];
      part.to = part.from;
      part.messages = 1;
      mark.at = part.from;
      OverviewTrack& track = overview_.track(pending.track);
      track.source = source.id;
      track.add(std::move(mark));
      break;
    }
  }
  part.to = std::max(part.from, part.to);
  overview_.add(pending.track, part);
  if (pending.what != What::kRun && pending.what != What::kCycles) return;
  const TrackNumber counter =
      source_track(pending.what == What::kRun ? kInstructionTracks : kCycleTracks, source.id);
  if (pending.what == What::kRun) {
    part.function = 0;
    overview_.add(counter, part);
  }
  overview_.track(counter).source = source.id;
}

// ---- Stacks ---------------------------------------------------------------------------------

void Builder::on_track(stacks::TrackId track, TraceId source, std::uint64_t /*thread*/) {
  if (tracks_.size() <= track) tracks_.resize(track + 1);
  tracks_[track].source = source;
}

void Builder::on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) {
  Source& of = this->source(source);
  end_run(of, position);
  of.track = track;
}

void Builder::on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                       stacks::Opening opening) {
  Track& on = tracks_[track];
  Source& of = source(on.source);
  if (of.track == track) end_run(of, position);
  const stacks::Tree& tree = decoder_.engine().tree();
  on.stack.push_back(numbers_.number(tree, code));
  if (tree.code(code).kind == stacks::CodeKind::kException && opening == stacks::Opening::kCall) {
    of.pending.push_back(
        {.from = position, .to = position, .track = track, .what = What::kException});
  }
}

void Builder::on_leave(stacks::TrackId track, std::uint64_t position) {
  Track& on = tracks_[track];
  Source& of = source(on.source);
  if (of.track == track) end_run(of, position);
  if (!on.stack.empty()) on.stack.pop_back();
}

void Builder::on_instant(stacks::TrackId /*track*/, std::uint64_t /*position*/,
                         stacks::Instant /*what*/) {}

void Builder::on_gap(TraceId source, std::uint64_t position) {
  Source& of = this->source(source);
  end_run(of, position);
  if (!of.track) return;
  of.pending.push_back({.from = position, .to = position, .track = *of.track, .what = What::kGap});
  coarsen(of);
}

void Builder::on_timestamp(TraceId source, std::uint64_t position, std::uint64_t /*time*/) {
  Source& of = this->source(source);
  const AxisClock::State& state = decoder_.clock().state(source);
  if (axis_.unit == AxisUnit::kTicks && state.is_set && !state.is_after_gap) resolve(of, position);
}

void Builder::on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) {
  Source& of = this->source(source);
  end_run(of, position);
  of.pending.push_back({.from = of.cycles_from,
                        .to = position,
                        .cycles = cycles,
                        .track = source_track(kCycleTracks, source),
                        .what = What::kCycles});
  of.cycles_from = position;
  if (axis_.unit == AxisUnit::kCycles) resolve(of, position);
  coarsen(of);
}

}  // namespace waymark::view
