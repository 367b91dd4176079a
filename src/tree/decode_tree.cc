#include "waymark/tree/decode_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace waymark {

DecodeTree::DecodeTree(std::optional<frames::Options> formatted, const TreeQuirks& quirks)
    : quirks_(quirks) {
  if (formatted) demux_.emplace(*formatted, quirks.frame_layer);
  enabled_.set();
}

Result<void> DecodeTree::add(std::unique_ptr<Source> source) {
  const TraceId id = formatted() ? source->trace_id() : TraceId{0};
  if (sources_[id] != nullptr)
    return fail(ErrorCode::kConflict,
                formatted() ? fmt::format("Two sources claim the trace ID 0x{:02x}.", id)
                            : std::string("An unformatted capture holds one source only."),
                kNoIndex, id);
  source->set_observer(watchers_.observer, id);
  sources_[id] = std::move(source);
  return {};
}

Source* DecodeTree::source(TraceId id) const {
  if (!formatted()) return sources_[0].get();
  return id < kTraceIdCount ? sources_[id].get() : nullptr;
}

std::vector<Source*> DecodeTree::sources() const {
  std::vector<Source*> found;
  for (const auto& source : sources_)
    if (source != nullptr) found.push_back(source.get());
  return found;
}

void DecodeTree::set_filter(std::span<const TraceId> ids) {
  if (ids.empty()) {
    enabled_.set();
    return;
  }
  enabled_.reset();
  for (const TraceId id : ids)
    if (id < kTraceIdCount) enabled_.set(id);
}

void DecodeTree::set_observer(Observer* observer) {
  watchers_.observer = observer;
  shows_ = watchers_.in_order();
  for (TraceId id = 0; id < kTraceIdCount; ++id)
    if (sources_[id] != nullptr) sources_[id]->set_observer(observer, id);
}

void DecodeTree::set_raw_monitor(frames::RawMonitor* monitor, bool packed, bool unpacked) {
  watchers_.unpacked = unpacked ? monitor : nullptr;
  watchers_.packed = packed && monitor != nullptr;
  shows_ = watchers_.in_order();
  if (demux_) demux_->set_monitor(monitor, packed);
}

Source* DecodeTree::listener(TraceId id) const {
  if (!formatted()) return sources_[0].get();
  return id < kTraceIdCount && enabled_[id] ? sources_[id].get() : nullptr;
}

Result<void> DecodeTree::feed(TraceIndex index, Bytes block) {
  if (demux_) return demux_->feed(index, block);
  block_ = {.run = {.position = 0, .index = index}, .bytes = block};
  if (sources_[0] != nullptr) {
    progress_.current = sources_[0].get();
    progress_.current->feed({block, {&block_.run, 1}});
  }
  return {};
}

void DecodeTree::finish() { progress_ = {.phase = Phase::kFinishing}; }

void DecodeTree::lose() { progress_ = {.phase = Phase::kEndingPiece, .loses = true}; }

Source* DecodeTree::make_source(TraceId id) {
  if (!late_.make || !is_source_id(id) || !enabled_[id] || late_.asked[id]) return nullptr;
  late_.asked.set(id);
  if (auto made = late_.make(id)) (void)add(std::move(made));
  return listener(id);
}

void DecodeTree::reset() {
  failed_ = false;
  progress_ = {};
  if (demux_) demux_->reset();
  reset_sources();
}

void DecodeTree::reset_sources() {
  ++resets_;
  const TraceId end = formatted() ? kTraceIdCount : TraceId{1};
  for (TraceId id = 0; id < end; ++id)
    if (Source* source = listener(id)) source->reset();
}

std::size_t DecodeTree::next(std::span<Element> out) {
  std::size_t count = 0;
  while (!failed_ && count < out.size()) {
    if (progress_.current != nullptr) {
      const std::size_t given = progress_.current->next(out.subspan(count));
      count += given;
      // If the source stopped early, so must we; it gives 0 when it is done.
      if (given != 0 && count < out.size()) return count;
      if (given != 0) continue;
      if (progress_.phase == Phase::kInput && progress_.current->failed()) {
        failed_ = true;
        break;
      }
      if (progress_.phase == Phase::kInput && !formatted()) break;
      progress_.current = nullptr;
    }
    // Raw frames and the packets of the next segment come after what was given.
    if (shows_ && count != 0) break;
    if (!next_source(count != 0)) break;
  }
  return count;
}

void DecodeTree::report(const Diagnostic& record) {
  if (demux_ && record.is_damage()) ++demux_->statistics().damage;
  if (watchers_.observer != nullptr) watchers_.observer->on_diagnostic(record);
}

// Gives the next segment of the current frame for which there is a source.  False: none.
bool DecodeTree::take_segment(frames::Demux& demux) {
  while (progress_.segment < progress_.segment_count) {
    const frames::Segment& segment = demux.frame().segments[progress_.segment++];
    Source* source = listener(segment.id);
    if (source == nullptr && late_.make) [[unlikely]]
      source = make_source(segment.id);
    const bool shown =
        segment.id == kNoTraceId || (segment.id < kTraceIdCount && enabled_[segment.id]);
    if (watchers_.unpacked != nullptr && shown)
      watchers_.unpacked->on_raw_frame(frames::RawKind::kIdData, segment.index, segment.id,
                                       segment.bytes());
    demux.statistics().count(segment.id, segment.size, source != nullptr);
    if (source == nullptr) continue;
    if (segment.size == 0) {
      if (!quirks_.frame_layer.empty_segment_fails) continue;
      Diagnostic record;
      record.fault = Fault::kInvalidBlock;
      record.stage = Stage::kPackets;
      record.fatal = true;
      record.stream_id = segment.id;
      record.finding = Finding::kSegmentEmpty;
      report(record);
      failed_ = true;
      return false;
    }
    const std::size_t passed = passed_of(segment);
    if (passed == segment.size) continue;
    first_[segment.id] = 0;
    block_.run = {.position = 0, .index = segment.index + passed};
    const Bytes memory = quirks_.memory_after_segments
                             ? memory_.from(progress_.segment - 1).subspan(passed)
                             : Bytes{};
    source->feed({segment.bytes().subspan(passed), {&block_.run, 1}, memory});
    progress_.current = source;
    return true;
  }
  return false;
}

// The number of bytes of the segment that begin_at() leaves out.
std::size_t DecodeTree::passed_of(const frames::Segment& segment) const {
  const TraceIndex first = first_[segment.id];
  if (first <= segment.index) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(first - segment.index, segment.size));
}

// Consecutive frames of one source: feeding them at once gives the same as one by one.
bool DecodeTree::take_plain_frames(frames::Demux& demux) {
  constexpr std::size_t kMost = 1024;  // 16 KiB of capture.
  if (has_quirks() || watchers_.unpacked != nullptr) return false;
  const TraceId id = demux.current_id();
  Source* source = listener(id);
  if (source == nullptr || first_[id] != 0) return false;
  plain_.clear();
  const std::size_t frames = demux.take_plain_frames(plain_, kMost);
  if (frames == 0) return false;
  demux.statistics().count(id, plain_.size(), true);
  source->feed(plain_.block());
  progress_.current = source;
  return true;
}

// Gives the next source its bytes.  False: there is no more input, an error occurred, or elements
// must be given before a report.
bool DecodeTree::next_segment(bool elements_pending) {
  if (!demux_) return false;
  while (true) {
    if (take_segment(*demux_)) return true;
    if (failed_) return false;
    if (!progress_.step_waits && take_plain_frames(*demux_)) return true;
    if (!progress_.step_waits) progress_.step = demux_->step();
    const bool speaks =
        progress_.step != frames::Step::kFrame && progress_.step != frames::Step::kNeedInput;
    progress_.step_waits = speaks && elements_pending;
    if (progress_.step_waits) return false;
    switch (progress_.step) {
      case frames::Step::kFrame:
        progress_.segment = 0;
        progress_.segment_count = demux_->frame().count;
        if (quirks_.memory_after_segments) memory_.fill(demux_->frame());
        break;
      case frames::Step::kReset:
        if (quirks_.resets_lose_elements) {
          reset_sources();
          break;
        }
        progress_.phase = Phase::kEndingPiece;
        progress_.next_finishing = 0;
        return true;
      case frames::Step::kSkipped:
        report(demux_->error());
        break;
      case frames::Step::kError:
        report(demux_->error());
        if (quirks_.frame_errors_are_fatal) {
          failed_ = true;
          return false;
        }
        demux_->resync();
        // A packet that a source had begun does not continue after the lost bytes.
        reset_sources();
        break;
      case frames::Step::kNeedInput:
        return false;
    }
  }
}

void DecodeTree::work(const SourceWork& work) {
  if (progress_.phase == Phase::kInput && demux_ && !has_quirks()) return split(*demux_, work);
  while (!failed_) {
    if (progress_.current != nullptr) {
      work(*progress_.current);
      if (progress_.phase == Phase::kInput) {
        failed_ = progress_.current->failed();
        if (failed_ || !formatted()) return;
      }
      progress_.current = nullptr;
    }
    if (!next_source(false)) return;
  }
}

// Handles the whole block, source by source.
void DecodeTree::split(frames::Demux& demux, const SourceWork& work) {
  constexpr std::size_t kMostFrames = 1024;
  streams_.resize(kTraceIdCount);
  while (!failed_) {
    const TraceId id = demux.current_id();
    if (listener(id) != nullptr && first_[id] == 0) {
      const std::size_t frames = demux.take_plain_frames(streams_[id], kMostFrames);
      demux.statistics().count(id, frames * frames::kPlainFrameBytes, true);
    }
    const frames::Step step = demux.step();
    if (step == frames::Step::kFrame) {
      const frames::Frame& frame = demux.frame();
      for (std::size_t i = 0; i < frame.count; ++i) {
        const frames::Segment& segment = frame.segments[i];
        const bool is_wanted =
            listener(segment.id) != nullptr || make_source(segment.id) != nullptr;
        demux.statistics().count(segment.id, segment.size, is_wanted);
        if (!is_wanted) continue;
        const std::size_t passed = passed_of(segment);
        if (passed == segment.size) continue;
        first_[segment.id] = 0;
        streams_[segment.id].append(segment.index + passed, segment.bytes().subspan(passed));
      }
      continue;
    }
    work_all(work);
    if (failed_ || step == frames::Step::kNeedInput) return;
    if (step == frames::Step::kSkipped || step == frames::Step::kError) report(demux.error());
    if (step == frames::Step::kError) demux.resync();
    if (step == frames::Step::kReset) end_piece(work);
    // A packet that a source had begun does not continue after the lost bytes.
    if (step == frames::Step::kError) reset_sources();
  }
}

void DecodeTree::end_piece(const SourceWork& work) {
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    Source* const source = listener(id);
    if (source == nullptr) continue;
    source->finish_piece();
    work(*source);
  }
  reset_sources();
}

void DecodeTree::work_all(const SourceWork& work) {
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    frames::StreamBuffer& stream = streams_[id];
    if (stream.empty()) continue;
    sources_[id]->feed(stream.block());
    work(*sources_[id]);
    stream.clear();
    if (sources_[id]->failed()) {
      failed_ = true;
      return;
    }
  }
}

// Gives the next source something to do.  False: nothing is left.
bool DecodeTree::next_source(bool elements_pending) {
  if (progress_.phase == Phase::kInput) return next_segment(elements_pending);
  if (next_to_finish()) return true;
  if (progress_.phase == Phase::kFinishing) return false;
  reset_sources();
  if (std::exchange(progress_.loses, false) && demux_) demux_->reset();
  progress_.phase = Phase::kInput;
  return true;
}

bool DecodeTree::next_to_finish() {
  const TraceId end = formatted() ? kTraceIdCount : TraceId{1};
  while (progress_.next_finishing < end) {
    Source* source = listener(progress_.next_finishing++);
    if (source == nullptr) continue;
    if (progress_.phase == Phase::kFinishing) {
      source->finish();
    } else {
      source->finish_piece();
    }
    progress_.current = source;
    return true;
  }
  return false;
}

void DecodeTree::restart_block() {
  if (progress_.phase != Phase::kInput || progress_.current == nullptr) return;
  const std::size_t used = progress_.current->withdraw();
  Bytes rest;
  Bytes memory;
  if (!demux_) {
    rest = block_.bytes.subspan(block_.restarted_at + used);
  } else {
    const frames::Segment& segment = demux_->frame().segments[progress_.segment - 1];
    const auto at = static_cast<std::size_t>(block_.run.index - segment.index) + used;
    rest = segment.bytes().subspan(at);
    if (quirks_.memory_after_segments) memory = memory_.from(progress_.segment - 1).subspan(at);
  }
  if (rest.empty()) return;
  if (!demux_) block_.restarted_at += used;
  block_.run.index += used;
  progress_.current->feed({rest, {&block_.run, 1}, memory});
}

void DecodeTree::leave_block() {
  const std::size_t used = progress_.current != nullptr ? progress_.current->withdraw() : 0;
  if (!demux_) return;
  if (progress_.current != nullptr && progress_.phase == Phase::kInput) {
    // What no source has read does not count.
    const frames::Segment& segment = demux_->frame().segments[progress_.segment - 1];
    const auto at = static_cast<std::size_t>(block_.run.index - segment.index) + used;
    demux_->statistics().valid_id_bytes -= segment.size - at;
  }
  progress_.segment = progress_.segment_count;
  demux_->withdraw();
}

void DecodeTree::go_on(TraceId current_id) {
  if (demux_) demux_->go_on(current_id);
}

void DecodeTree::begin_at(TraceId id, TraceIndex first) {
  if (id < kTraceIdCount) first_[id] = first;
}

std::size_t DecodeTree::consumed() const {
  if (demux_) return demux_->consumed();
  return sources_[0] != nullptr ? block_.restarted_at + sources_[0]->consumed() : 0;
}

std::size_t DecodeTree::withdraw() {
  if (demux_) return demux_->withdraw();
  return sources_[0] != nullptr ? block_.restarted_at + sources_[0]->withdraw() : 0;
}

std::uint64_t DecodeTree::damage() const {
  std::uint64_t records = frame_statistics().damage;
  for (const auto& source : sources_)
    if (source != nullptr) records += source->statistics().diagnostics;
  return records;
}

frames::Statistics DecodeTree::frame_statistics() const {
  return demux_ ? demux_->statistics() : frames::Statistics{};
}

std::unique_ptr<DecodeTree> DecodeTree::clone() const {
  auto copy = std::make_unique<DecodeTree>(demux_ ? std::optional(demux_->options()) : std::nullopt,
                                           quirks_);
  if (demux_) {
    copy->demux_ = demux_;
    copy->demux_->set_monitor(nullptr, false);
  }
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    if (sources_[id] == nullptr) continue;
    copy->sources_[id] = sources_[id]->clone();
    copy->sources_[id]->set_observer(nullptr, id);
  }
  copy->enabled_ = enabled_;
  copy->first_ = first_;
  copy->failed_ = failed_;
  return copy;
}

bool DecodeTree::can_jump() const {
  return !has_quirks() && std::ranges::all_of(sources_, [](const auto& source) {
    return source == nullptr || source->can_jump();
  });
}

void DecodeTree::jump() {
  if (demux_) demux_->start(demux_->current_id());
  for (const auto& source : sources_)
    if (source != nullptr) source->jump();
}

void DecodeTree::restore(const DecodeTree& other) {
  if (demux_ && other.demux_) {
    const frames::Statistics counts = demux_->statistics();
    demux_ = other.demux_;
    demux_->statistics() = counts;
    demux_->set_monitor(nullptr, false);
  }
  for (TraceId id = 0; id < kTraceIdCount; ++id)
    if (sources_[id] != nullptr) sources_[id]->restore(*other.sources_[id]);
  failed_ = other.failed_;
  progress_ = {};
}

bool DecodeTree::same_framing(const DecodeTree& other) const {
  return failed_ == other.failed_ && (!demux_ || demux_->same_state(*other.demux_));
}

bool DecodeTree::same_state(const DecodeTree& other) const {
  if (!same_framing(other)) return false;
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    if (sources_[id] != nullptr && !sources_[id]->same_state(*other.sources_[id])) return false;
  }
  return true;
}

void DecodeTree::add_statistics(const DecodeTree& other) {
  if (demux_) demux_->statistics() += other.frame_statistics();
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    if (sources_[id] != nullptr && other.sources_[id] != nullptr)
      sources_[id]->add_statistics(other.sources_[id]->statistics());
  }
}

void DecodeTree::reset_statistics() {
  if (demux_) demux_->statistics() = {};
  for (const auto& source : sources_)
    if (source != nullptr) source->reset_statistics();
}

}  // namespace waymark
