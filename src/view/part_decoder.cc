#include "part_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "waymark/inputs/trace_name.h"

namespace waymark::view {
namespace {

constexpr std::size_t kBatch = 512;

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

PartDecoder::PartDecoder(const SessionOptions& options, StateCache* states,
                         inputs::Capture&& capture)
    : options_(options),
      states_(states),
      capture_(std::move(capture)),
      kinds_(capture_),
      decoders_(capture_),
      relay_(std::make_unique<Relay>(*this)),
      batch_(kBatch) {}

PartDecoder::~PartDecoder() = default;

Result<std::unique_ptr<PartDecoder>> PartDecoder::open(const SessionOptions& options,
                                                       StateCache* states) {
  auto capture = options.open();
  if (!capture) return std::unexpected(std::move(capture).error());
  return std::unique_ptr<PartDecoder>(new PartDecoder(options, states, std::move(*capture)));
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
  skipped_.reset();
  const StateCache::State kept =
      from.entry && states_ != nullptr ? states_->find(from.index) : nullptr;
  if (from.entry && kept == nullptr) {
    begin_early(from);
  } else {
    decoders_.restore(kept != nullptr ? kept.get() : from.decoders.get());
    capture_.seek(from.index);
  }
  blocks_.begin(from.index);
  finished_ = from.at_end;
  clock_ = std::make_unique<AxisClock>(unit, origin);
  clock_->set_recent(from.recent);
  others_ = {};
  for (std::size_t i = 0; i < from.sources.size(); ++i) {
    const TraceId id = capture_.sources()[i].id;
    clock_->restore(id, from.sources[i].clock);
    if (!executes(id)) others_[id] = from.sources[i].n;
  }
  WAYMARK_TRY(make_engine());
  engine_->restore(from.stacks, code_of);
  return {};
}

/// Decoders begin so much earlier that they are exact, and what they give before the keyframe is
/// skipped.
void PartDecoder::begin_early(const Keyframe& from) {
  decoders_.enter(*from.entry);
  capture_.seek(from.entry->index);
  for (std::size_t i = 0; i < from.sources.size(); ++i) {
    const TraceId id = capture_.sources()[i].id;
    decoders_->begin_at(id, from.sources[i].first);
    skipped_.skip_to(id, from.sources[i].resume);
  }
}

Result<PartDecoder::Step> PartDecoder::drain(const Take& take, const Stop& stop) {
  while (const std::size_t count = decoders_->next(batch_)) {
    if (stop && stop()) return fail(ErrorCode::kLimit, "The request was cancelled.");
    const std::span<const Element> elements = skipped_.rest_of(std::span(batch_).first(count));
    if (!elements.empty() && !take(elements)) return Step::kStopped;
  }
  return Step::kBlock;
}

Result<PartDecoder::Step> PartDecoder::step(const Take& take, const Stop& stop) {
  if (finished_) return Step::kEnd;
  // A keyframe can be at each multiple of the alignment.
  const std::size_t alignment = std::max<std::size_t>(decoders_->alignment(), 1);
  const auto most =
      std::max<std::size_t>(in_memory(options_.keyframe_bytes / alignment), 1) * alignment;
  const auto block = blocks_.next(capture_, most);
  if (!block) {
    finished_ = true;
    decoders_->finish();
    const auto rest = drain(take, stop);
    if (!rest || *rest == Step::kStopped) return rest;
    return Step::kEnd;
  }
  if (stop && stop()) return fail(ErrorCode::kLimit, "The request was cancelled.");
  WAYMARK_TRY(decoders_->feed(block->index, block->bytes));
  const auto drained = drain(take, stop);
  if (!drained || *drained == Step::kStopped) return drained;
  if (decoders_->failed()) {
    return fail(ErrorCode::kBadData,
                fmt::format("{}: decoding cannot continue after byte {}.",
                            inputs::trace_name(capture_), block->index + decoders_->consumed()));
  }
  blocks_.passed(*block);
  return Step::kBlock;
}

void PartDecoder::observe(std::span<const Element> elements) {
  if (kinds_.all_execute()) return engine_->observe(elements);
  for (std::size_t i = 0; i < elements.size();) {
    const TraceId id = elements[i].trace_id;
    std::size_t end = i + 1;
    while (end < elements.size() && elements[end].trace_id == id) ++end;
    if (executes(id)) {
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

void PartDecoder::keep_state() {
  if (states_ == nullptr || finished_ || skipped_.counts() || states_->has(index())) return;
  states_->keep(index(), decoders_.save());
}

Keyframe PartDecoder::keyframe() {
  Keyframe frame;
  frame.index = index();
  frame.at_end = finished_;
  if (!finished_) frame.decoders = decoders_.save();
  frame.stacks = engine_->save();
  frame.recent = clock_->recent();
  for (const inputs::CaptureSource& source : capture_.sources()) {
    const AxisClock::State& state = clock_->state(source.id);
    frame.sources.push_back({.n = n(source.id), .t = state.t, .clock = state});
  }
  return frame;
}

}  // namespace waymark::view
