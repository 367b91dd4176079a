#include "part_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace waymark::view {
namespace {

constexpr std::size_t kBatch = 512;

bool traces_instructions(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
    case Protocol::kPtm:
    case Protocol::kEtmV4:
    case Protocol::kEte:
    case Protocol::kMtb:
      return true;
    default:
      return false;
  }
}

bool has_time(const Element& element) {
  if ((element.flags & kElementTimeIsPartial) != 0) return false;
  switch (element.kind) {
    case ElementKind::kTimestamp:
      return true;
    case ElementKind::kSwTrace:
      return (element.extra & kSwTimestamp) != 0;
    case ElementKind::kItmTrace:
      return static_cast<ItmKind>(element.extra & kItmKindMask) == ItmKind::kGlobalTimestamp;
    default:
      return false;
  }
}

bool has_local_time(const Element& element) {
  const auto kind = static_cast<ItmKind>(element.extra & kItmKindMask);
  return element.kind == ElementKind::kItmTrace && kind >= ItmKind::kTimestampSync &&
         kind <= ItmKind::kBothDelay;
}

}  // namespace

/// Gives what the engine tells to the clock first.
class PartDecoder::Relay final : public stacks::Sink {
 public:
  explicit Relay(PartDecoder& owner) : owner_(owner) {}

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override {
    if (owner_.sink_ != nullptr) owner_.sink_->on_track(track, source, thread);
  }
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
    if (owner_.sink_ != nullptr) owner_.sink_->on_switch(source, track, position);
  }
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override {
    if (owner_.sink_ != nullptr) owner_.sink_->on_enter(track, position, code, opening);
  }
  void on_leave(stacks::TrackId track, std::uint64_t position) override {
    if (owner_.sink_ != nullptr) owner_.sink_->on_leave(track, position);
  }
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override {
    if (owner_.sink_ != nullptr) owner_.sink_->on_instant(track, position, what);
  }
  void on_gap(TraceId source, std::uint64_t position) override {
    owner_.clock_->on_gap(source, position);
    if (owner_.sink_ != nullptr) owner_.sink_->on_gap(source, position);
  }
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
    owner_.clock_->on_timestamp(source, position, time);
    if (owner_.sink_ != nullptr) owner_.sink_->on_timestamp(source, position, time);
  }
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    owner_.clock_->on_cycles(source, position, cycles);
    if (owner_.sink_ != nullptr) owner_.sink_->on_cycles(source, position, cycles);
  }

 private:
  PartDecoder& owner_;
};

PartDecoder::PartDecoder(const SessionOptions& options, inputs::Capture&& capture)
    : options_(options), capture_(std::move(capture)), batch_(kBatch) {
  can_jump_ = capture_.tree().can_jump();
  blank_ = capture_.tree().clone();
  decoders_ = &capture_.tree();
  for (const inputs::CaptureSource& source : capture_.sources()) {
    executes_[source.id] = traces_instructions(source.source->protocol());
    has_others_ = has_others_ || !executes_[source.id];
  }
  local_times_ =
      capture_.sources().size() == 1 && capture_.sources()[0].source->protocol() == Protocol::kItm;
  relay_ = std::make_unique<Relay>(*this);
}

PartDecoder::~PartDecoder() = default;

Result<std::unique_ptr<PartDecoder>> PartDecoder::open(const SessionOptions& options) {
  auto capture = options.open();
  if (!capture) return std::unexpected(std::move(capture).error());
  return std::unique_ptr<PartDecoder>(new PartDecoder(options, std::move(*capture)));
}

Result<void> PartDecoder::make_engine() {
  stacks::Options options;
  if (options_.stack_options) {
    auto made = options_.stack_options(capture_);
    if (!made) return std::unexpected(std::move(made).error());
    options = std::move(*made);
  }
  options.sink = relay_.get();
  options.most_nodes = std::size_t{1} << 19;
  engine_ = std::make_unique<stacks::Engine>(std::move(options));
  if (options_.set_sources) options_.set_sources(*engine_, capture_);
  return {};
}

Result<void> PartDecoder::begin(const Keyframe& from, AxisUnit unit, std::uint64_t origin,
                                const std::function<stacks::Code(stacks::CodeId)>& code_of) {
  rest_ = {};
  limit_ = kNoIndex;
  skips_ = false;
  if (from.entry) {
    begin_early(from);
  } else {
    const DecodeTree& state = from.decoders ? *from.decoders : *blank_;
    if (can_jump_) {
      decoders_ = &capture_.tree();
      decoders_->restore(state);
    } else {
      other_ = state.clone();
      decoders_ = other_.get();
    }
    capture_.seek(from.index);
  }
  index_ = from.index;
  finished_ = from.at_end;
  clock_ = std::make_unique<AxisClock>(unit, origin);
  clock_->set_recent(from.recent);
  others_ = {};
  for (std::size_t i = 0; i < from.sources.size(); ++i) {
    const TraceId id = capture_.sources()[i].id;
    clock_->restore(id, from.sources[i].clock);
    if (!executes_[id]) others_[id] = from.sources[i].n;
  }
  WAYMARK_TRY(make_engine());
  engine_->restore(from.stacks, code_of);
  return {};
}

/// Decoders begin so much earlier that they are exact, and what they give before the keyframe is
/// skipped.
void PartDecoder::begin_early(const Keyframe& from) {
  const DecoderEntry& entry = *from.entry;
  other_ = blank_->clone();
  decoders_ = other_.get();
  capture_.seek(entry.index);
  if (!entry.from_start) decoders_->go_on(entry.current_id);
  for (TraceId id = 0; id < kTraceIdCount; ++id) decoders_->begin_at(id, kNoIndex);
  skips_ = true;
  skipped_ = {};
  for (std::size_t i = 0; i < from.sources.size(); ++i) {
    const TraceId id = capture_.sources()[i].id;
    decoders_->begin_at(id, from.sources[i].first);
    skipped_[id] = from.sources[i].resume;
  }
}

std::span<const Element> PartDecoder::without_skipped(std::span<const Element> elements) {
  if (!skips_) return elements;
  kept_.clear();
  for (const Element& element : elements) {
    std::optional<ResumePoint>& resume = skipped_[element.trace_id];
    if (!resume) {
      kept_.push_back(element);
    } else if (element.index < resume->index) {
      continue;
    } else if (resume->skip != 0) {
      // From the first one on, the index of the others does not matter.
      *resume = {.index = 0, .skip = resume->skip - 1};
      if (resume->skip == 0) resume.reset();
    } else {
      resume.reset();
      kept_.push_back(element);
    }
  }
  return kept_;
}

Result<PartDecoder::Step> PartDecoder::drain(const Take& take, const Stop& stop) {
  while (const std::size_t count = decoders_->next(batch_)) {
    if (stop && stop()) return fail(ErrorCode::kLimit, "The question was given up.");
    const std::span<const Element> elements = without_skipped(std::span(batch_).first(count));
    if (!elements.empty() && !take(elements)) return Step::kStopped;
  }
  return Step::kBlock;
}

/// Never beyond a place where a keyframe can be.
std::optional<inputs::TraceBlock> PartDecoder::next_block() {
  if (rest_.bytes.empty()) {
    auto block = capture_.next_block();
    if (!block) return std::nullopt;
    rest_ = *block;
  }
  const std::size_t alignment = std::max<std::size_t>(decoders_->alignment(), 1);
  const auto most = std::max<std::size_t>(options_.keyframe_bytes / alignment, 1) * alignment;
  inputs::TraceBlock block = rest_;
  if (block.bytes.size() > most) block.bytes = block.bytes.first(most);
  if (limit_ > block.index && limit_ - block.index < block.bytes.size())
    block.bytes = block.bytes.first(static_cast<std::size_t>(limit_ - block.index));
  rest_.index += block.bytes.size();
  rest_.bytes = rest_.bytes.subspan(block.bytes.size());
  return block;
}

Result<PartDecoder::Step> PartDecoder::step(const Take& take, const Stop& stop) {
  if (finished_) return Step::kEnd;
  const auto block = next_block();
  if (!block) {
    finished_ = true;
    decoders_->finish();
    const auto rest = drain(take, stop);
    if (!rest || *rest == Step::kStopped) return rest;
    return Step::kEnd;
  }
  if (stop && stop()) return fail(ErrorCode::kLimit, "The question was given up.");
  WAYMARK_TRY(decoders_->feed(block->index, block->bytes));
  const auto drained = drain(take, stop);
  if (!drained || *drained == Step::kStopped) return drained;
  if (decoders_->failed()) {
    return fail(ErrorCode::kBadData,
                fmt::format("{}: decoding cannot go on after byte {}.", capture_.trace().path(),
                            block->index + decoders_->consumed()));
  }
  index_ = block->index + block->bytes.size();
  return Step::kBlock;
}

std::optional<ElementTime> PartDecoder::time_of(const Element& element) const {
  if (local_times_ ? has_local_time(element) : has_time(element))
    return ElementTime{.time = element.timestamp, .is_of_those_before = local_times_};
  return std::nullopt;
}

void PartDecoder::observe(std::span<const Element> elements) {
  if (!has_others_) return engine_->observe(elements);
  for (std::size_t i = 0; i < elements.size();) {
    const TraceId id = elements[i].trace_id;
    std::size_t end = i + 1;
    while (end < elements.size() && elements[end].trace_id == id) ++end;
    if (executes_[id]) {
      engine_->observe(elements.subspan(i, end - i));
      if (clock_->unit() == AxisUnit::kInstructions)
        clock_->set_recent(static_cast<double>(engine_->position(id)));
    } else {
      for (const Element& element : elements.subspan(i, end - i))
        clock_->on_element(id, others_[id]++, element.index, time_of(element));
    }
    i = end;
  }
}

Keyframe PartDecoder::keyframe() {
  Keyframe frame;
  frame.index = index_;
  frame.at_end = finished_;
  if (!finished_) {
    std::shared_ptr<DecodeTree> decoders = can_jump_ ? blank_->clone() : decoders_->clone();
    if (can_jump_) decoders->restore(*decoders_);
    frame.decoders = std::move(decoders);
  }
  frame.stacks = engine_->save();
  frame.recent = clock_->recent();
  for (const inputs::CaptureSource& source : capture_.sources()) {
    const AxisClock::State& state = clock_->state(source.id);
    frame.sources.push_back({.n = n(source.id), .t = state.t, .clock = state});
  }
  return frame;
}

}  // namespace waymark::view
