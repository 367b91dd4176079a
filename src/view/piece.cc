#include "piece.h"

#include <algorithm>
#include <utility>

namespace waymark::view {
namespace {

/// Notes everything by instruction number; places come at the end.
class Recorder final : public stacks::Sink {
 public:
  Recorder(PartDecoder& decoder, FunctionTable& functions)
      : decoder_(decoder), numbers_(functions), marks_(decoder.message_reader()) {
    const auto& sources = decoder.capture().sources();
    sources_.resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i)
      places_[sources[i].id] = static_cast<std::uint8_t>(i);
  }

  void start() { started_ = true; }
  void take(std::span<const Element> elements);
  std::shared_ptr<const Piece> finish(const Keyframe& from, const Keyframe& to,
                                      const AxisChoice& axis);

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t /*thread*/) override {
    threads_[track].source = source;
  }
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t /*position*/) override {
    at(source).track = track;
  }
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override;
  void on_leave(stacks::TrackId track, std::uint64_t position) override;
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override;
  void on_gap(TraceId source, std::uint64_t position) override;
  void on_timestamp(TraceId /*source*/, std::uint64_t /*position*/,
                    std::uint64_t /*time*/) override {}
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    Source& of = at(source);
    of.counted += cycles;
    of.cycles.emplace_back(position, of.counted);
  }

 private:
  /// When something happens on a stack: time can pass without an instruction.
  struct Moment {
    std::uint64_t n = 0;
    std::size_t points = 0;  ///< How many the clock had made before it.
  };
  struct Span {
    Moment from{};
    Moment to{};
    FunctionNumber function = 0;
    std::uint32_t depth = 0;
    stacks::Opening opening = stacks::Opening::kCall;
    bool began_before = false;
    bool goes_on = true;
    bool end_unknown = false;
    bool is_exception = false;
  };
  struct Thread {
    TraceId source = 0;
    std::vector<Span> spans{};
    std::vector<std::size_t> open{};
    std::vector<std::pair<std::uint64_t, GapReason>> gaps{};
    std::vector<std::pair<Moment, stacks::Instant>> instants{};
    std::optional<std::uint64_t> leaves_at{};  ///< All frames end there, at a gap.
  };
  struct Source {
    std::optional<stacks::TrackId> track{};
    GapReason reason = GapReason::kLoss;
    std::optional<std::uint64_t> reason_at{};
    std::uint64_t counted = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cycles{};
    std::vector<std::pair<std::uint64_t, FoundMark>> marks{};
  };
  Source& at(TraceId id) { return sources_[places_[id]]; }
  void note_reason(const Element& element);
  [[nodiscard]] Moment moment(TraceId id, std::uint64_t n) const {
    return {.n = n, .points = decoder_.clock().made(id).size()};
  }

  PartDecoder& decoder_;
  FunctionNumbers numbers_;
  MarkFinder marks_;
  std::vector<FoundMark> found_;
  std::map<stacks::TrackId, Thread> threads_;
  std::vector<Source> sources_;
  std::array<std::uint8_t, 256> places_{};
  bool started_ = false;
};

/// Whether places are known from a point before the keyframe on.
bool points_before(const SourceAt& from) { return from.clock.is_set; }

std::optional<GapReason> reason_of(const Element& element) {
  switch (element.kind) {
    case ElementKind::kNoSync:
      switch (static_cast<UnsyncReason>(element.reason)) {
        case UnsyncReason::kOverflow:
          return GapReason::kOverflow;
        case UnsyncReason::kInitDecoder:
          // The trace has only begun: what comes next says why nothing is known.
          return std::nullopt;
        default:
          return GapReason::kLoss;
      }
    case ElementKind::kTraceOn:
      switch (static_cast<TraceOnReason>(element.reason)) {
        case TraceOnReason::kOverflow:
          return GapReason::kOverflow;
        case TraceOnReason::kNormal:
          return GapReason::kNotStated;
        case TraceOnReason::kDebugRestart:
          return GapReason::kLoss;
      }
      return GapReason::kLoss;
    case ElementKind::kAddrNacc:
      return GapReason::kMissingCode;
    case ElementKind::kInstrRangeNoPath:
      return GapReason::kPathless;
    case ElementKind::kAddrUnknown:
    case ElementKind::kUnknown:
      return GapReason::kLoss;
    default:
      return std::nullopt;
  }
}

/// Among several reasons without an instruction in between, the first counts; but a filter explains
/// nothing that something else does, and an overflow is what comes first where trace is lost.
void Recorder::note_reason(const Element& element) {
  const auto reason = reason_of(element);
  if (!reason) return;
  Source& of = at(element.trace_id);
  const std::uint64_t n = decoder_.n(element.trace_id);
  if (of.reason_at != n || of.reason == GapReason::kNotStated || reason == GapReason::kOverflow)
    of.reason = *reason;
  of.reason_at = n;
}

void Recorder::take(std::span<const Element> elements) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.kind == ElementKind::kInstrRange) continue;
    decoder_.observe(elements.subspan(done, i - done));
    done = i;
    note_reason(element);
    found_.clear();
    marks_.find(element, found_);
    for (FoundMark& mark : found_)
      at(element.trace_id).marks.emplace_back(decoder_.n(element.trace_id), std::move(mark));
  }
  decoder_.observe(elements.subspan(done));
}

void Recorder::on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                        stacks::Opening opening) {
  Thread& thread = threads_[track];
  const stacks::Tree& tree = decoder_.engine().tree();
  thread.leaves_at.reset();
  thread.open.push_back(thread.spans.size());
  thread.spans.push_back({.from = moment(thread.source, position),
                          .function = numbers_.number(tree, code),
                          .depth = static_cast<std::uint32_t>(thread.open.size() - 1),
                          .opening = opening,
                          .began_before = !started_,
                          .is_exception = tree.code(code).kind == stacks::CodeKind::kException});
}

void Recorder::on_leave(stacks::TrackId track, std::uint64_t position) {
  Thread& thread = threads_[track];
  if (thread.open.empty()) return;
  Span& span = thread.spans[thread.open.back()];
  thread.open.pop_back();
  span.to = moment(thread.source, position);
  span.goes_on = false;
  span.end_unknown = thread.leaves_at == position;
}

void Recorder::on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) {
  Thread& thread = threads_[track];
  if (what == stacks::Instant::kGap || what == stacks::Instant::kMissingCode) {
    thread.leaves_at = position;
  } else {
    thread.instants.emplace_back(moment(thread.source, position), what);
  }
}

void Recorder::on_gap(TraceId source, std::uint64_t position) {
  const Source& of = at(source);
  if (of.track) threads_[*of.track].gaps.emplace_back(position, of.reason);
}

std::shared_ptr<const Piece> Recorder::finish(const Keyframe& from, const Keyframe& to,
                                              const AxisChoice& axis) {
  auto piece = std::make_shared<Piece>();
  const auto& sources = decoder_.capture().sources();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TraceId id = sources[i].id;
    PieceSource& made = piece->sources.emplace_back();
    made.points = points_between(from.sources[i], to.sources[i],
                                 axis.unit == AxisUnit::kInstructions && decoder_.executes(id),
                                 decoder_.clock().take(id));
    for (const auto& [n, cycles] : sources_[i].cycles)
      made.cycles.push_back({cycles, made.points.before(n)});
    for (auto& [n, mark] : sources_[i].marks) {
      (mark.is_message ? made.messages : made.events)
          .push_back({.at = made.points.at(n),
                      .kind = std::move(mark.kind),
                      .text = std::move(mark.text)});
    }
  }
  for (auto& [track, thread] : threads_) {
    PieceThread& made = piece->threads[track];
    made.source = thread.source;
    const std::size_t place = places_[thread.source];
    made.from = from.sources[place].t;
    made.to = to.sources[place].t;
    const AxisPoints& points = piece->sources[place].points;
    const double end = points.before(to.sources[place].n);
    const SourceAt& begin = from.sources[place];
    const bool counts_itself =
        axis.unit == AxisUnit::kInstructions && decoder_.executes(thread.source);
    const std::size_t earlier = points_before(begin) ? 1 : 0;
    const auto place_of = [&](const Moment& moment) {
      return counts_itself ? static_cast<double>(moment.n)
                           : points.between(moment.n, moment.points + earlier);
    };
    made.spans.reserve(thread.spans.size());
    for (const Span& span : thread.spans) {
      const double start = place_of(span.from);
      made.spans.push_back({.start = start,
                            .end = std::max(start, span.goes_on ? end : place_of(span.to)),
                            .function = span.function,
                            .depth = span.depth,
                            .opening = span.opening,
                            .began_before = span.began_before,
                            .goes_on = span.goes_on,
                            .end_unknown = span.end_unknown,
                            .is_exception = span.is_exception});
    }
    for (const auto& [n, reason] : thread.gaps)
      made.gaps.push_back({.start = points.before(n), .end = points.at(n), .reason = reason});
    for (const auto& [moment, what] : thread.instants) {
      const bool unwind = what == stacks::Instant::kUnwind;
      made.marks.push_back({.at = place_of(moment),
                            .kind = unwind ? "unwind" : "resync",
                            .text = unwind ? "several functions were left at once"
                                           : "a return went to an unknown caller"});
    }
  }
  return piece;
}

}  // namespace

std::size_t Piece::memory() const {
  std::size_t bytes = sizeof(Piece);
  for (const auto& [number, thread] : threads) {
    bytes += 256 + thread.spans.size() * sizeof(PieceSpan) + thread.gaps.size() * sizeof(Gap) +
             thread.marks.size() * (sizeof(Mark) + 64);
  }
  for (const PieceSource& source : sources) {
    bytes += (source.points.all().size() + source.cycles.size()) * sizeof(AxisPoint) +
             (source.messages.size() + source.events.size()) * (sizeof(Mark) + 64);
  }
  return bytes;
}

AxisPoints points_between(const SourceAt& from, const SourceAt& to, bool counts_itself,
                          std::vector<AxisPoint> made) {
  if (counts_itself)
    return AxisPoints({{from.n, static_cast<double>(from.n)}, {to.n, static_cast<double>(to.n)}});
  if (points_before(from)) made.insert(made.begin(), {from.clock.n, from.clock.t});
  if (to.next && (made.empty() || to.next->n >= made.back().n)) made.push_back(*to.next);
  if (made.empty()) made.push_back({from.n, to.t});
  return AxisPoints(std::move(made));
}

Result<std::shared_ptr<const Piece>> make_piece(PartDecoder& decoder, const Keyframe& from,
                                                const Keyframe& to, const AxisChoice& axis,
                                                FunctionTable& functions, const CodeList& codes,
                                                const Stop& stop) {
  Recorder recorder(decoder, functions);
  decoder.set_sink(&recorder);
  const auto begun = decoder.begin(from, axis.unit, axis.origin,
                                   [&](stacks::CodeId code) { return codes.get(code); });
  recorder.start();
  decoder.set_limit(to.index);
  Result<std::shared_ptr<const Piece>> result;
  if (!begun) {
    result = std::unexpected(begun.error());
  } else {
    while (decoder.index() < to.index || to.at_end) {
      const auto step = decoder.step(
          [&](std::span<const Element> elements) {
            recorder.take(elements);
            return true;
          },
          stop);
      if (!step) {
        result = std::unexpected(step.error());
        break;
      }
      if (*step == PartDecoder::Step::kEnd) break;
    }
    if (result) result = recorder.finish(from, to, axis);
    if (result && decoder.index() == to.index) decoder.keep_state();
  }
  decoder.set_sink(nullptr);
  return result;
}

}  // namespace waymark::view
