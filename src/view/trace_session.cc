#include "trace_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "picture.h"
#include "shelf.h"
#include "waymark/inputs/detect.h"

namespace waymark::view {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenPublications = std::chrono::milliseconds(200);
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
    : options_(std::move(options)), pool_(options_, options_.decoders), spare_(options_, 1) {}

TraceSession::~TraceSession() {
  ending_ = true;
  if (worker_.joinable()) worker_.join();
}

Result<std::unique_ptr<Session>> TraceSession::make(SessionOptions options) {
  std::unique_ptr<TraceSession> session(new TraceSession(std::move(options)));
  WAYMARK_TRY(session->open());
  return session;
}

Result<void> TraceSession::open() {
  auto reader = PartDecoder::open(options_);
  if (!reader) return std::unexpected(std::move(reader).error());
  reader_ = std::move(*reader);
  const inputs::Capture& capture = reader_->capture();
  std::optional<Stored> stored = read_stored();
  if (stored) {
    axis_ = stored->axis;
    codes_.take(std::move(stored->codes));
    known_ = std::make_shared<const Known>(std::move(stored->known));
  } else {
    const auto axis = choose_axis(*reader_, {});
    if (!axis) return std::unexpected(axis.error());
    axis_ = *axis;
  }
  facts_ = {.name = options_.name,
            .path = options_.path,
            .kind = std::string(kind_of(capture)),
            .bytes = capture.trace_bytes(),
            .axis = {.unit = axis_.unit, .origin = axis_.origin},
            .span_bytes = options_.span_bytes,
            .has_timestamps = axis_.has_timestamps,
            .has_cycles = axis_.has_cycles};
  for (const inputs::CaptureSource& source : capture.sources()) {
    ids_.push_back(source.id);
    facts_.sources.push_back({.id = source.id,
                              .name = source.device,
                              .protocol = std::string(protocol_name(source.source->protocol())),
                              .core = source.core,
                              .executes = reader_->executes(source.id)});
  }
  WAYMARK_TRY(make_knowledge());
  if (known_) return {};
  builder_ =
      std::make_unique<Builder>(*reader_, functions_, codes_, axis_, options_.keyframe_bytes);
  worker_ = std::thread([this] { work(); });
  return {};
}

// ---- Reading --------------------------------------------------------------------------------

void TraceSession::work() {
  auto published = Clock::now() - kBetweenPublications;
  const Stop stop = [this] { return ending_.load(); };
  while (!ending_) {
    const auto more = builder_->step(stop);
    if (!more) {
      if (ending_) return;
      {
        const std::scoped_lock lock(mutex_);
        failure_ = more.error().detail;
      }
      publish(true);
      return;
    }
    if (!*more) break;
    if (Clock::now() - published < kBetweenPublications) continue;
    publish(false);
    published = Clock::now();
  }
  if (ending_) return;
  publish(true);
  builder_.reset();
  store();
}

/// What an earlier session stored.
std::optional<Stored> TraceSession::read_stored() {
  const inputs::Capture& capture = reader_->capture();
  const auto records = read_shelf(options_.index, capture, {});
  if (!records) return std::nullopt;
  auto stored = from_records(*records,
                             {.sources = capture.sources().size(),
                              .bytes = capture.trace_bytes(),
                              .alignment = reader_->decoders().alignment()},
                             functions_);
  if (!stored) return std::nullopt;
  return std::move(*stored);
}

/// It is not an error if nothing can be stored: the next session reads the capture again.
void TraceSession::store() {
  const inputs::Capture& capture = reader_->capture();
  const std::uint64_t limit = stored_limit(capture.trace_bytes());
  if (options_.index.looked_for.empty() || limit == 0 || !reader_->can_begin_early()) return;
  const Stop stop = [this] { return ending_.load(); };
  std::shared_ptr<Known> lighter;
  const auto make =
      [&](index::Index& index) -> Result<std::optional<std::vector<index::ViewRecord>>> {
    auto known = std::make_shared<Known>(*this->known());
    auto keyframes = with_entries(known->keyframes, index, ids_, stop);
    if (!keyframes) return std::unexpected(keyframes.error());
    known->keyframes = std::move(*keyframes);
    lighter = known;
    return to_records(
        {.known = *known, .axis = axis_, .codes = codes_, .functions = functions_, .limit = limit});
  };
  (void)write_shelf(options_.index, capture, make, stop);
  if (lighter == nullptr) return;
  // States of decoders are large, and no longer needed.
  const std::scoped_lock lock(mutex_);
  known_ = std::move(lighter);
}

void TraceSession::publish(bool tree) {
  const std::uint64_t bytes = reader_->index();
  const bool with_tree = tree || bytes >= 2 * tree_bytes_;
  auto next = std::make_shared<Known>(builder_->known(with_tree));
  if (with_tree) tree_bytes_ = std::max<std::uint64_t>(bytes, 1);
  const std::scoped_lock lock(mutex_);
  if (!with_tree && known_) next->tree = known_->tree;
  known_ = std::move(next);
}

std::shared_ptr<const Known> TraceSession::known() const {
  const std::scoped_lock lock(mutex_);
  if (known_) return known_;
  static const auto nothing = std::make_shared<const Known>();
  return nothing;
}

// ---- Facts ----------------------------------------------------------------------------------

CaptureFacts TraceSession::facts() const {
  CaptureFacts facts = facts_;
  const auto known = this->known();
  facts.axis.length = known->overview.length();
  facts.done = known->bytes;
  facts.stage = known->complete ? Stage::kReady : Stage::kReading;
  for (std::size_t i = 0; i < known->n.size(); ++i)
    if (facts.sources[i].executes) facts.sources[i].instructions = known->n[i];
  return facts;
}

std::vector<Track> TraceSession::tracks() const {
  std::vector<Track> tracks;
  const auto known = this->known();
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
        track.thread = options_.thread_name(reader_->capture(), from.source, from.thread);
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
  auto made = make_piece(**loan, *from, *to, axis_, functions_, codes_, stop);
  if (made) cache_.keep(from, to, *made);
  return made;
}

Result<Timeline> TraceSession::timeline(const Window& window, std::uint32_t width,
                                        const Stop& stop) {
  if (!(window.from < window.to) || !std::isfinite(window.from) || !std::isfinite(window.to))
    return fail(ErrorCode::kInvalidArgument, "The window ends before it begins.");
  if (width == 0 || width > kMostPixels)
    return fail(ErrorCode::kInvalidArgument, fmt::format("The width is 1 to {}.", kMostPixels));
  const auto known = this->known();
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
  if (bytes() > options_.span_bytes) std::erase_if(parts, &Interval::is_still);
  answer.summary = bytes() > options_.span_bytes;
  if (answer.summary || parts.empty()) {
    answer.tracks = summary(known->overview, canvas);
  } else {
    PictureMaker maker(canvas, ids_);
    std::optional<DecoderPool::Loan> loan;
    std::size_t next = parts.front().first;
    for (const Interval& part : parts) {
      const auto made = piece(pool_, *known, part, loan, stop);
      if (!made) return std::unexpected(made.error());
      maker.add(**made, part.first == next);
      next = part.first + 1;
    }
    answer.tracks = maker.finish(ended_sources(*known, parts.back(), ids_));
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
