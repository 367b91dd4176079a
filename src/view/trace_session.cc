#include "trace_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <system_error>

#include "picture.h"
#include "waymark/inputs/detect.h"

namespace waymark::view {
namespace {

constexpr std::uint32_t kMostPixels = 8192;

std::string_view kind_of(const inputs::Capture& capture) {
  if (capture.snapshot() != nullptr) return "snapshot";
  if (capture.recording() != nullptr) return "recording";
  return capture.kind() == inputs::InputKind::kTraceScript ? "script" : "raw";
}

/// The sources of which nothing comes after this part.
std::vector<TraceId> ended_sources(const Known& known, const Interval& part,
                                   const std::vector<TraceId>& ids) {
  const Keyframe& end = *known.keyframes[part.first + 1];
  const Keyframe& last = *known.keyframes.back();
  std::vector<TraceId> ended;
  for (std::size_t i = 0; known.complete && i < ids.size(); ++i)
    if (end.sources[i].n == last.sources[i].n) ended.push_back(ids[i]);
  return ended;
}

}  // namespace

Result<std::unique_ptr<Session>> make_session(SessionOptions options) {
  return TraceSession::make(std::move(options));
}

TraceSession::TraceSession(SessionOptions options)
    : options_(std::move(options)),
      pools_{.questions{options_, states_, options_.decoders},
             .pictures{options_, states_, options_.decoders},
             .messages{options_, states_, 1}},
      reading_(options_, states_, functions_, codes_) {}

Result<std::unique_ptr<Session>> TraceSession::make(SessionOptions options) {
  std::unique_ptr<TraceSession> session(new TraceSession(std::move(options)));
  WAYMARK_TRY(session->open());
  return session;
}

Result<void> TraceSession::open() {
  WAYMARK_TRY(reading_.open());
  const inputs::Capture& capture = reading_.capture();
  const AxisChoice& axis = reading_.axis();
  facts_ = {.name = options_.name,
            .path = options_.path,
            .kind = std::string(kind_of(capture)),
            .bytes = capture.trace_bytes(),
            .axis = {.unit = axis.unit, .origin = axis.origin},
            .span_bytes = options_.span_bytes,
            .has_timestamps = axis.has_timestamps,
            .has_cycles = axis.has_cycles};
  for (const inputs::CaptureSource& source : capture.sources()) {
    ids_.push_back(source.id);
    facts_.sources.push_back({.id = source.id,
                              .name = source.device,
                              .protocol = std::string(protocol_name(source.source->protocol())),
                              .core = source.core,
                              .executes = reading_.executes(source.id)});
  }
  WAYMARK_TRY(make_knowledge());
  reading_.start();
  return {};
}

// ---- Facts ----------------------------------------------------------------------------------

CaptureFacts TraceSession::facts() const {
  CaptureFacts facts = facts_;
  const auto known = reading_.known();
  facts.axis.length = known->overview.length();
  facts.done = known->bytes;
  facts.stage = known->complete ? Stage::kReady : Stage::kReading;
  facts.failure = reading_.failure();
  for (std::size_t i = 0; i < known->n.size(); ++i)
    if (facts.sources[i].executes) facts.sources[i].instructions = known->n[i];
  return facts;
}

std::vector<Track> TraceSession::tracks() const {
  std::vector<Track> tracks;
  const auto known = reading_.known();
  for (const auto& [number, from] : known->overview.tracks()) {
    Track track{.number = number,
                .source = from.source,
                .first = from.first,
                .last = from.last,
                .depth = from.depth};
    const auto source = std::ranges::find(facts_.sources, from.source, &SourceFacts::id);
    if (source != facts_.sources.end())
      track.group = source->core.empty() ? source->name : source->core;
    if (is_thread_track(number)) {
      track.kind = TrackKind::kThread;
      if (options_.thread_name)
        track.thread = options_.thread_name(reading_.capture(), from.source, from.thread);
      track.name = track.thread.empty() ? track.group : track.thread;
    } else if (number < kEventTracks) {
      track.kind = TrackKind::kMessages;
      track.name = "messages";
    } else if (number < kInstructionTracks) {
      track.kind = TrackKind::kEvents;
      track.name = "events";
    } else {
      track.kind = TrackKind::kCounter;
      track.name = number < kCycleTracks ? "instructions" : "cycles per instruction";
    }
    tracks.push_back(std::move(track));
  }
  return tracks;
}

// ---- Pictures -------------------------------------------------------------------------------

std::vector<Interval> TraceSession::intervals(const Known& known, double from, double to) const {
  std::vector<Interval> found;
  std::size_t nearest = 0;
  for (std::size_t i = 0; i + 1 < known.keyframes.size(); ++i) {
    const Keyframe& begin = *known.keyframes[i];
    const Keyframe& end = *known.keyframes[i + 1];
    bool overlaps = false;
    bool is_still = true;
    bool is_before = true;
    for (std::size_t s = 0; s < begin.sources.size(); ++s) {
      const SourceAt& a = begin.sources[s];
      const SourceAt& b = end.sources[s];
      is_before = is_before && a.t <= from;
      if (a.resume == b.resume || a.t > to || b.t < from) continue;
      overlaps = true;
      is_still = is_still && a.n == b.n && a.t == b.t;
    }
    if (is_before) nearest = i;
    if (overlaps)
      found.push_back({.first = i, .bytes = end.index - begin.index, .is_still = is_still});
  }
  if (found.empty() && known.keyframes.size() > 1) {
    found.push_back(
        {.first = nearest,
         .bytes = known.keyframes[nearest + 1]->index - known.keyframes[nearest]->index});
  }
  return found;
}

Result<std::shared_ptr<const Piece>> TraceSession::piece(DecoderPool& pool, const Known& known,
                                                         const Interval& interval,
                                                         std::optional<DecoderPool::Loan>& loan,
                                                         const Stop& stop) {
  const KeyframePointer& from = known.keyframes[interval.first];
  const KeyframePointer& to = known.keyframes[interval.first + 1];
  if (auto cached = cache_.find(from, to)) return cached;
  if (!loan) {
    auto lent = pool.lend(stop);
    if (!lent) return std::unexpected(lent.error());
    loan.emplace(std::move(*lent));
  }
  auto made = make_piece(**loan, *from, *to, reading_.axis(), functions_, codes_, stop);
  if (made) cache_.keep(from, to, *made);
  return made;
}

Result<std::vector<std::shared_ptr<const Piece>>> TraceSession::pieces(
    DecoderPool& pool, const Known& known, std::span<const Interval> intervals, const Stop& stop) {
  std::vector<std::shared_ptr<const Piece>> made(intervals.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&](std::optional<DecoderPool::Loan> loan) -> Result<void> {
    for (std::size_t i = 0; (i = next++) < intervals.size();) {
      auto one = piece(pool, known, intervals[i], loan, stop);
      if (!one) {
        next = intervals.size();
        return std::unexpected(std::move(one).error());
      }
      made[i] = std::move(*one);
    }
    return {};
  };
  const auto is_missing = [&](const Interval& interval) {
    return !cache_.find(known.keyframes[interval.first], known.keyframes[interval.first + 1]);
  };
  const auto missing = static_cast<std::size_t>(std::ranges::count_if(intervals, is_missing));
  std::optional<DecoderPool::Loan> loan;
  if (missing != 0) {
    auto lent = pool.lend(stop);
    if (!lent) return std::unexpected(std::move(lent).error());
    loan.emplace(std::move(*lent));
  }
  const auto help = [&]() -> Result<void> {
    auto own = pool.lend_if_free();
    return own ? work(std::move(own)) : Result<void>{};
  };
  std::vector<std::future<Result<void>>> others;
  try {
    while (others.size() + 1 < std::min(missing, pool.most()))
      others.push_back(std::async(std::launch::async, help));
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // The system has no more threads: those that exist do all of it.
  }
  Result<void> result = work(std::move(loan));
  for (auto& other : others) {
    if (Result<void> theirs = other.get(); result && !theirs) result = std::move(theirs);
  }
  if (!result) return std::unexpected(std::move(result).error());
  return made;
}

Result<Timeline> TraceSession::timeline(const Window& window, std::uint32_t width,
                                        const Stop& stop) {
  if (!(window.from < window.to) || !std::isfinite(window.from) || !std::isfinite(window.to))
    return fail(ErrorCode::kInvalidArgument, "The window ends before it begins.");
  if (width == 0 || width > kMostPixels)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The width must be from 1 to {}.", kMostPixels));
  const auto known = reading_.known();
  const Canvas canvas{.from = window.from,
                      .to = window.to,
                      .width = width,
                      .tracks = {window.tracks.begin(), window.tracks.end()}};
  Timeline answer{.from = window.from, .to = window.to};
  answer.complete = known->complete || window.to <= known->overview.length();
  std::vector<Interval> parts = intervals(*known, window.from, window.to);
  const auto bytes = [&parts] {
    std::uint64_t sum = 0;
    for (const Interval& part : parts) sum += part.bytes;
    return sum;
  };
  // A source can stand still for long where code is missing.
  if (bytes() > options_.span_bytes)
    std::erase_if(parts, [](const Interval& part) { return part.is_still; });
  answer.summary = bytes() > options_.span_bytes;
  if (answer.summary || parts.empty()) {
    answer.tracks = summary(known->overview, canvas);
  } else {
    PictureMaker maker(canvas, ids_);
    const auto made = pieces(pools_.pictures, *known, parts, stop);
    if (!made) return std::unexpected(made.error());
    std::size_t next = parts.front().first;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      maker.add(*(*made)[i], parts[i].first == next);
      next = parts[i].first + 1;
    }
    answer.tracks = maker.finish(ended_sources(*known, parts.back(), ids_));
    if (known->complete) take_messages(known->overview, canvas, answer.tracks);
  }
  std::set<FunctionNumber> used;
  for (const TrackPicture& track : answer.tracks) {
    for (const Span& span : track.spans) used.insert(span.function);
    for (const Bucket& bucket : track.buckets)
      for (const auto& [function, share] : bucket.functions) used.insert(function);
  }
  for (const FunctionNumber function : used) answer.functions.push_back(functions_.name(function));
  return answer;
}

}  // namespace waymark::view
