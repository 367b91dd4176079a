#include "picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace waymark::view {
namespace {

constexpr std::size_t kMostFunctions = 8;

/// How much of a function that increases evenly between points is in a part of the axis.
class Amount {
 public:
  /// `points`: n: the amount so far.
  explicit Amount(const std::vector<AxisPoint>& points) : points_(points) {}

  [[nodiscard]] double up_to(double t) const {
    const auto after = std::ranges::upper_bound(points_, t, {}, &AxisPoint::t);
    if (after == points_.begin()) return points_.empty() ? 0 : static_cast<double>(after->n);
    const AxisPoint& from = *std::prev(after);
    const auto base = static_cast<double>(from.n);
    if (after == points_.end()) return base;
    return base + static_cast<double>(after->n - from.n) * (t - from.t) / (after->t - from.t);
  }

 private:
  const std::vector<AxisPoint>& points_;
};

}  // namespace

// ---- Spans ----------------------------------------------------------------------------------

void SpanRow::add(const Span& span, const Canvas& canvas, std::vector<Span>& out) {
  const double pixel = canvas.pixel();
  if (span.end - span.start >= pixel) {
    finish(out);
    out.push_back(span);
    return;
  }
  const double place = std::floor((span.start - canvas.from) / pixel);
  if (open_ && place != pixel_) finish(out);
  if (!open_) {
    open_ = true;
    pixel_ = place;
    group_ = span;
    shares_.assign(1, {span.function, span.end - span.start});
    return;
  }
  ++group_.count;
  group_.end = std::max(group_.end, span.end);
  group_.flags = kIsMerged;
  const auto known =
      std::ranges::find(shares_, span.function, &std::pair<FunctionNumber, double>::first);
  if (known != shares_.end()) {
    known->second += span.end - span.start;
  } else if (shares_.size() < kMostShares) {
    shares_.emplace_back(span.function, span.end - span.start);
  }
}

void SpanRow::finish(std::vector<Span>& out) {
  if (!open_) return;
  open_ = false;
  group_.function =
      std::ranges::max_element(shares_, {}, &std::pair<FunctionNumber, double>::second)->first;
  out.push_back(group_);
}

void PictureMaker::emit(Thread& to, const PieceSpan& span, bool before, bool after) {
  if (span.depth >= kMostDepth) return;
  if ((!before && span.start > canvas_.to) || (!after && span.end < canvas_.from)) return;
  Span drawn{.start = before ? canvas_.from : std::max(span.start, canvas_.from),
             .end = after ? canvas_.to : std::min(span.end, canvas_.to),
             .function = span.function,
             .depth = static_cast<std::uint16_t>(span.depth)};
  drawn.end = std::max(drawn.start, drawn.end);
  unsigned flags = 0;
  if (span.opening == stacks::Opening::kInferred) flags |= kStartUnknown;
  if (span.opening == stacks::Opening::kTailCall) flags |= kIsTailCall;
  if (span.end_unknown) flags |= kEndUnknown;
  if (span.is_exception) flags |= kIsException;
  if (before || span.start < canvas_.from) flags |= kContinuesBefore;
  if (after || span.end > canvas_.to) flags |= kContinuesAfter;
  drawn.flags = static_cast<std::uint16_t>(flags);
  to.rows[span.depth].add(drawn, canvas_, to.spans[span.depth]);
}

/// Pieces before `next` were left out.  If the source passed the window in them, its frames of now
/// have nothing to do with those that were open.  Else it stood still there, but its stack may have
/// changed: a frame stays open if it is of the same function, and all below it are.
void PictureMaker::leave_out(Thread& to, const PieceThread& next) {
  const bool is_after = to.to > canvas_.to;
  std::size_t same = 0;
  if (!is_after && next.from >= canvas_.from) {
    for (const PieceSpan& span : next.spans) {
      if (!span.began_before || span.depth != same || same >= to.open.size()) break;
      if (span.function != to.open[same].function) break;
      ++same;
    }
  }
  for (std::size_t depth = same; depth < to.open.size(); ++depth)
    emit(to, to.open[depth], to.open[depth].began_before, is_after);
  to.open.resize(std::min(same, to.open.size()));
}

void PictureMaker::add_thread(Thread& to, const PieceThread& from) {
  to.source = from.source;
  to.to = from.to;
  std::vector<PieceSpan> open;
  for (const PieceSpan& each : from.spans) {
    PieceSpan span = each;
    // Without an earlier piece, what began before began outside of the window: pieces are in the
    // order of the capture, where one source can be far ahead of another one.
    bool before = span.began_before && from.from <= canvas_.from;
    if (span.began_before && span.depth < to.open.size()) {
      const PieceSpan& earlier = to.open[span.depth];
      before = earlier.began_before;
      span.start = earlier.start;
      span.opening = earlier.opening;
    }
    span.began_before = before;
    if (!span.goes_on) {
      emit(to, span, before, false);
      continue;
    }
    if (open.size() <= span.depth) open.resize(span.depth + 1);
    open[span.depth] = span;
  }
  to.open = std::move(open);
  for (const Gap& gap : from.gaps)
    if (gap.end > gap.start && gap.end >= canvas_.from && gap.start <= canvas_.to)
      to.picture.gaps.push_back({.start = std::max(gap.start, canvas_.from),
                                 .end = std::min(gap.end, canvas_.to),
                                 .reason = gap.reason});
  to.picture.marks.insert(to.picture.marks.end(), from.marks.begin(), from.marks.end());
}

void PictureMaker::add(const Piece& piece, bool follows) {
  for (const auto& [number, thread] : piece.threads) {
    if (!canvas_.shows(number)) continue;
    Thread& to = threads_[number];
    if (!follows) leave_out(to, thread);
    add_thread(to, thread);
  }
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source& to = sources_[i];
    const PieceSource& from = piece.sources[i];
    for (const AxisPoint& point : from.points.all())
      if (to.points.empty() || point.n >= to.points.back().n) to.points.push_back(point);
    const std::uint64_t before = to.cycles.empty() ? 0 : to.cycles.back().n;
    for (const AxisPoint& point : from.cycles) to.cycles.push_back({before + point.n, point.t});
    to.messages.insert(to.messages.end(), from.messages.begin(), from.messages.end());
    to.events.insert(to.events.end(), from.events.begin(), from.events.end());
  }
}

// ---- Marks and counters ---------------------------------------------------------------------

std::vector<Mark> merged(const std::vector<Mark>& marks, const Canvas& canvas) {
  std::vector<Mark> out;
  double place = -1;
  for (const Mark& mark : marks) {
    if (mark.at < canvas.from || mark.at > canvas.to) continue;
    const double here = std::floor((mark.at - canvas.from) / canvas.pixel());
    if (!out.empty() && here == place) {
      out.back().count += mark.count;
    } else {
      out.push_back(mark);
    }
    place = here;
  }
  return out;
}

void PictureMaker::add_counters(std::size_t source, std::vector<TrackPicture>& out) const {
  const Source& of = sources_[source];
  const TrackNumber instructions = source_track(kInstructionTracks, ids_[source]);
  const TrackNumber cycles = source_track(kCycleTracks, ids_[source]);
  const bool shows_cycles = !of.cycles.empty() && canvas_.shows(cycles);
  if (of.points.empty() || (!shows_cycles && !canvas_.shows(instructions))) return;
  TrackPicture count{.track = instructions};
  TrackPicture ratio{.track = cycles};
  const Amount executed(of.points);
  const Amount counted(of.cycles);
  const std::uint32_t parts = std::max(canvas_.width / 4, std::uint32_t{1});
  const double step = (canvas_.to - canvas_.from) / parts;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const double from = canvas_.from + i * step;
    const double to = i + 1 == parts ? canvas_.to : from + step;
    const double n = executed.up_to(to) - executed.up_to(from);
    if (n <= 0) continue;
    count.points.push_back({.start = from, .end = to, .value = n});
    if (!shows_cycles) continue;
    const double c = counted.up_to(to) - counted.up_to(from);
    if (c > 0) ratio.points.push_back({.start = from, .end = to, .value = c / n});
  }
  if (canvas_.shows(instructions)) out.push_back(std::move(count));
  if (shows_cycles) out.push_back(std::move(ratio));
}

std::vector<TrackPicture> PictureMaker::finish(const std::vector<TraceId>& ended) {
  std::vector<TrackPicture> out;
  for (auto& [number, thread] : threads_) {
    // If there were more of the source in the window, there would be a piece with it.
    const bool at_end =
        thread.to < canvas_.to || std::ranges::find(ended, thread.source) != ended.end();
    for (const PieceSpan& open : thread.open) {
      PieceSpan span = open;
      span.end_unknown = at_end;
      emit(thread, span, span.began_before, !at_end);
    }
    TrackPicture& picture = thread.picture;
    picture.track = number;
    for (auto& [depth, row] : thread.rows) row.finish(thread.spans[depth]);
    for (auto& [depth, spans] : thread.spans)
      picture.spans.insert(picture.spans.end(), spans.begin(), spans.end());
    picture.marks = merged(picture.marks, canvas_);
    out.push_back(std::move(picture));
  }
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const TrackNumber messages = source_track(kMessageTracks, ids_[i]);
    const TrackNumber events = source_track(kEventTracks, ids_[i]);
    if (!sources_[i].messages.empty() && canvas_.shows(messages))
      out.push_back({.track = messages, .marks = merged(sources_[i].messages, canvas_)});
    if (!sources_[i].events.empty() && canvas_.shows(events))
      out.push_back({.track = events, .marks = merged(sources_[i].events, canvas_)});
  }
  for (std::size_t i = 0; i < sources_.size(); ++i) add_counters(i, out);
  return out;
}

void take_messages(const Overview& overview, const Canvas& canvas,
                   std::vector<TrackPicture>& tracks) {
  for (const auto& [number, track] : overview.tracks()) {
    const bool has_messages = number >= kMessageTracks && number < kEventTracks;
    if (!has_messages || !canvas.shows(number)) continue;
    if (std::ranges::any_of(track.marks, [](const Mark& mark) { return mark.count != 1; }))
      continue;
    std::vector<Mark> marks = merged(track.marks, canvas);
    auto found = std::ranges::find(tracks, number, &TrackPicture::track);
    if (found == tracks.end() && !marks.empty())
      found = tracks.insert(tracks.end(), {.track = number});
    if (found != tracks.end()) found->marks = std::move(marks);
  }
}

// ---- Summaries ------------------------------------------------------------------------------

namespace {

Bucket bucket_of(const OverviewBucket& from, double width) {
  Bucket bucket{.start = static_cast<double>(from.number) * width,
                .end = static_cast<double>(from.number + 1) * width,
                .instructions = from.instructions,
                .cycles = from.cycles,
                .depth = from.depth,
                .exceptions = from.exceptions,
                .messages = from.messages,
                .gap_share = std::min(from.gaps / width, 1.0)};
  for (const TopFunctions::Entry& each : from.functions.sorted()) {
    if (bucket.functions.size() == kMostFunctions || from.instructions == 0) break;
    const double share = static_cast<double>(each.count) / static_cast<double>(from.instructions);
    bucket.functions.emplace_back(each.function, std::min(share, 1.0));
  }
  return bucket;
}

/// The buckets in the window, joined so that there is at most one for each pixel.
std::vector<OverviewBucket> buckets_in(const OverviewTrack& track, double width,
                                       const Canvas& canvas, std::uint64_t& joined) {
  joined = 1;
  while ((canvas.to - canvas.from) / (width * static_cast<double>(joined)) > canvas.width)
    joined *= 2;
  std::vector<OverviewBucket> out;
  for (const OverviewBucket& each : track.buckets) {
    const double start = static_cast<double>(each.number) * width;
    if (start + width <= canvas.from || start >= canvas.to) continue;
    OverviewBucket bucket = each;
    bucket.number /= joined;
    if (!out.empty() && out.back().number == bucket.number) {
      out.back().add(bucket);
    } else {
      out.push_back(bucket);
    }
  }
  return out;
}

}  // namespace

std::vector<TrackPicture> summary(const Overview& overview, const Canvas& canvas) {
  std::vector<TrackPicture> out;
  for (const auto& [number, track] : overview.tracks()) {
    if (!canvas.shows(number)) continue;
    TrackPicture picture{.track = number};
    std::uint64_t joined = 1;
    const auto buckets = buckets_in(track, overview.width(), canvas, joined);
    const double width = overview.width() * static_cast<double>(joined);
    if (is_thread_track(number)) {
      for (const OverviewBucket& each : buckets) picture.buckets.push_back(bucket_of(each, width));
    } else if (number < kInstructionTracks) {
      picture.marks = merged(track.marks, canvas);
    } else {
      const auto executed = overview.tracks().find(source_track(kInstructionTracks, track.source));
      std::vector<OverviewBucket> all;
      if (executed != overview.tracks().end())
        all = buckets_in(executed->second, overview.width(), canvas, joined);
      const bool is_ratio = number >= kCycleTracks;
      for (const OverviewBucket& each : buckets) {
        auto value = static_cast<double>(is_ratio ? each.cycles : each.instructions);
        if (is_ratio) {
          const auto same = std::ranges::lower_bound(all, each.number, {}, &OverviewBucket::number);
          if (same == all.end() || same->number != each.number || same->instructions == 0) continue;
          value /= static_cast<double>(same->instructions);
        }
        if (value == 0) continue;
        picture.points.push_back({.start = static_cast<double>(each.number) * width,
                                  .end = static_cast<double>(each.number + 1) * width,
                                  .value = value});
      }
    }
    out.push_back(std::move(picture));
  }
  return out;
}

}  // namespace waymark::view
