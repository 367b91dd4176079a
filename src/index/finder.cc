#include "waymark/index/finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "pass.h"
#include "waymark/base/number.h"
#include "waymark/protocol/source.h"

namespace waymark::index {
namespace {

/// A search holds the hits of at most this many bytes of capture, but at least of one block.
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;

constexpr std::uint64_t kAllBlocks = ~std::uint64_t{0};

bool matches(const Query& query, const Landmark& landmark) {
  if (landmark.kind != query.kind) return false;
  if (landmark.index < query.from || landmark.index >= query.to) return false;
  if (!query.value) return true;
  return query.kind == LandmarkKind::kTimestamp ? landmark.value >= *query.value
                                                : landmark.value == *query.value;
}

/// Whether a timestamp belongs to the packets before it.
bool times_follow(const Index& index, TraceId id) {
  const Stream* const stream = index.header().stream(id);
  return stream != nullptr && stream->protocol == protocol_name(Protocol::kItm);
}

class Finder final : private PassSink {
 public:
  Finder(inputs::Capture& capture, Index& index, std::span<const TraceId> ids, const Query& query)
      : capture_(capture), index_(index), ids_(ids), query_(query) {
    want_.kind = query.kind;
    if (query.kind == LandmarkKind::kTimestamp) want_.timestamp_at_least = query.value;
    triggers_ = query.kind == LandmarkKind::kTrigger && query.formatter && index.header().framed();
    for (const TraceId id : ids) sources_[id].time_follows = times_follow(index, id);
  }

  Result<void> run(std::uint64_t block, const std::function<bool(const Hit&)>& take) {
    WAYMARK_TRY(look_for_last_blocks());
    const std::uint64_t most = std::max<std::uint64_t>(kWindowBytes / index_.header().granule, 1);
    // The first hit is often the last that is wanted.
    for (std::uint64_t window = 1; !stops(); window = std::min(window * 2, most)) {
      const Question question(index_);
      const auto next = next_block(block);
      if (!next) return std::unexpected(next.error());
      if (!*next) return {};
      const std::uint64_t end = std::min(**next + window, index_.header().blocks());
      WAYMARK_TRY(look(**next, end));
      std::ranges::sort(hits_, {}, [](const Held& held) {
        const Hit& hit = held.hit;
        return std::tuple(held.block, hit.landmark.index, hit.id, hit.landmark.value);
      });
      for (const Held& held : hits_)
        if (!take(held.hit)) return {};
      hits_.clear();
      block = end;
    }
    return {};
  }

 private:
  struct Held {
    std::uint64_t block = 0;
    Hit hit;
  };
  /// The first block from `from` on that has what is wanted; kAllBlocks: there is none.
  struct Answer {
    std::uint64_t from = kAllBlocks;
    std::uint64_t number = 0;
  };
  struct Source {
    std::uint64_t last_block = kAllBlocks;  ///< Hits are in no later one.
    Answer answer{};
    bool time_follows = false;
    std::optional<std::uint64_t> time{};
    std::vector<std::size_t> waiting{};  ///< Hits without their time yet.
  };
  using MaybeNumber = Result<std::optional<std::uint64_t>>;

  /// A packet that begins before Query::to ends no later than in the next block that has bytes of
  /// its source.
  Result<void> look_for_last_blocks() {
    if (query_.to == kNoIndex) return {};
    const std::uint64_t last = query_.to == 0 ? 0 : (query_.to - 1) / index_.header().granule;
    sources_[kTriggerId].last_block = last;
    for (const TraceId id : ids_) {
      const auto next = index_.find(id, last + 1, Walk::kForward, {});
      if (!next) return std::unexpected(next.error());
      sources_[id].last_block = *next ? (*next)->number : last;
    }
    return {};
  }

  MaybeNumber next_of(TraceId id, std::uint64_t from) {
    // The answer to the previous question is often the answer to this one.
    Answer& last = sources_[id].answer;
    if (last.from > from || from > last.number) {
      const auto found = index_.find(id, from, Walk::kForward, want_);
      if (!found) return std::unexpected(found.error());
      last = {.from = from, .number = *found ? (*found)->number : kAllBlocks};
    }
    if (last.number == kAllBlocks || last.number > sources_[id].last_block) return std::nullopt;
    return last.number;
  }

  MaybeNumber next_triggers(std::uint64_t from) {
    if (!triggers_) return std::nullopt;
    const auto found = index_.find_triggers(from);
    if (!found) return std::unexpected(found.error());
    if (!*found || (*found)->number > sources_[kTriggerId].last_block) return std::nullopt;
    return (*found)->number;
  }

  /// The first block from `from` on in which any source may have something.
  MaybeNumber next_block(std::uint64_t from) {
    MaybeNumber first = next_triggers(from);
    for (const TraceId id : ids_) {
      const auto found = next_of(id, from);
      if (!first || !found) return first ? found : first;
      if (*found) first = std::min(first->value_or(**found), **found);
    }
    return first;
  }

  Result<void> look(std::uint64_t begin, std::uint64_t end) {
    const bool full = index_.header().form == Form::kFull;
    std::vector<TraceId> read;
    std::uint64_t last = begin;
    for (const TraceId id : ids_) {
      std::uint64_t block = begin;
      while (block < end) {
        const auto found = next_of(id, block);
        if (!found) return std::unexpected(found.error());
        if (!*found || **found >= end) break;
        last = std::max(last, **found);
        if (full) {
          WAYMARK_TRY(look_up(id, **found));
        } else if (read.empty() || read.back() != id) {
          read.push_back(id);
        }
        block = **found + 1;
      }
    }
    bool formatter = false;
    for (std::uint64_t block = begin; block < end;) {
      const auto found = next_triggers(block);
      if (!found) return std::unexpected(found.error());
      if (!*found || **found >= end) break;
      formatter = true;
      last = std::max(last, **found);
      block = **found + 1;
    }
    if (read.empty() && !formatter) return {};
    wanted_.reset();
    for (const TraceId id : read) wanted_.set(id);
    if (formatter) wanted_.set(kTriggerId);
    for (const TraceId id : read) WAYMARK_TRY(start_time(id, begin));
    return pass(read, begin, last + 1);
  }

  /// Begins early enough to know all bits of the time and the context: a wrong or missing hit would
  /// be worse than a slow search.  Does not read anything twice.
  Result<void> pass(std::span<const TraceId> read, std::uint64_t begin, std::uint64_t end) {
    const auto entry = seek(index_, read, begin * index_.header().granule,
                            {.reach = SeekOptions::kAny,
                             .skip_ended = false,
                             .contexts = query_.kind == LandmarkKind::kContext,
                             .overflows = false});
    if (!entry) return std::unexpected(entry.error());
    placed_ = hits_.size();
    const bool goes_on = pass_ && entry->index <= pass_->position() &&
                         std::ranges::all_of(read, [&](TraceId id) { return reading_[id]; });
    Result<bool> done = true;
    if (goes_on) {
      done = pass_->go_on(begin, end);
    } else {
      reading_.reset();
      for (const TraceId id : read) reading_.set(id);
      pass_.emplace(capture_, index_.header().granule, static_cast<PassSink&>(*this));
      done = pass_->run(*entry, begin, end);
    }
    if (!done) return std::unexpected(done.error());
    for (const TraceId id : read) WAYMARK_TRY(settle_times(id, end));
    return {};
  }

  /// Gives the hits of a source that wait for a timestamp the first one from `block` on.
  Result<void> settle_times(TraceId id, std::uint64_t block) {
    if (sources_[id].waiting.empty()) return {};
    const auto next = index_.find(id, block, Walk::kForward, {.kind = LandmarkKind::kTimestamp});
    if (!next) return std::unexpected(next.error());
    const auto lost = index_.find(id, block, Walk::kForward, {.kind = LandmarkKind::kOverflow});
    if (!lost) return std::unexpected(lost.error());
    // A sparse index does not say which of two in one block came first.
    if (*next && (!*lost || (*next)->number < (*lost)->number)) {
      give_time(id, (*next)->first_timestamp);
    }
    sources_[id].waiting.clear();
    return {};
  }

  /// The time of a source when a block begins.
  Result<void> start_time(TraceId id, std::uint64_t block) {
    sources_[id].time.reset();
    if (block == 0) return {};
    const auto found =
        index_.find(id, block - 1, Walk::kBackward, {.kind = LandmarkKind::kTimestamp});
    if (!found) return std::unexpected(found.error());
    if (*found) sources_[id].time = (*found)->last_timestamp;
    return {};
  }

  Result<void> look_up(TraceId id, std::uint64_t block) {
    const auto landmarks = index_.landmarks(id, block);
    if (!landmarks) return std::unexpected(landmarks.error());
    WAYMARK_TRY(start_time(id, block));
    placed_ = hits_.size();
    for (const Landmark& landmark : *landmarks) add(id, landmark);
    place(block);
    return settle_times(id, block + 1);
  }

  void add(TraceId id, const Landmark& landmark) {
    if (landmark.kind == LandmarkKind::kTimestamp) {
      sources_[id].time = landmark.value;
      give_time(id, landmark.value);
    }
    if (landmark.kind == LandmarkKind::kOverflow) sources_[id].waiting.clear();
    if (!matches(query_, landmark)) return;
    const bool waits = sources_[id].time_follows && landmark.kind != LandmarkKind::kTimestamp;
    if (waits) sources_[id].waiting.push_back(hits_.size());
    hits_.push_back({.block = 0, .hit = {id, landmark, waits ? std::nullopt : sources_[id].time}});
  }

  void give_time(TraceId id, std::uint64_t time) {
    for (const std::size_t at : sources_[id].waiting) hits_[at].hit.time = time;
    sources_[id].waiting.clear();
  }

  /// Notes that the hits since the last call are in `block`.
  void place(std::uint64_t block) {
    for (; placed_ < hits_.size(); ++placed_) hits_[placed_].block = block;
  }

  void on_landmark(TraceId id, const Landmark& landmark) override {
    if (wanted_[id]) add(id, landmark);
  }
  Result<bool> on_block(const SourceBlock& block,
                        std::span<const StreamCounts> /*streams*/) override {
    place(block.number);
    return !stops();
  }
  [[nodiscard]] bool stops() const override { return query_.stop && query_.stop(); }

  inputs::Capture& capture_;
  Index& index_;
  std::span<const TraceId> ids_;
  Query query_;
  Want want_;
  bool triggers_ = false;
  std::array<Source, kTraceIdCount> sources_{};
  std::optional<Pass> pass_;
  frames::IdSet reading_;  ///< IDs that the pass feeds.
  frames::IdSet wanted_;   ///< IDs whose landmarks count at present.
  std::vector<Held> hits_;
  std::size_t placed_ = 0;  ///< Hits whose block is known.
};

Result<TraceIndex> resolve_timestamp(inputs::Capture& capture, Index& index,
                                     std::span<const TraceId> ids, std::uint64_t value, bool last,
                                     const std::function<bool()>& stop) {
  std::optional<TraceIndex> place;
  std::optional<std::uint64_t> highest;
  for (const TraceId id : ids) {
    std::optional<TraceIndex> own;
    WAYMARK_TRY(find(capture, index, {&id, 1},
                     {.kind = LandmarkKind::kTimestamp, .value = value, .stop = stop},
                     [&](const Hit& hit) {
                       own = hit.landmark.index;
                       return false;
                     }));
    if (!own && !index.header().complete)
      return fail(ErrorCode::kNotFound, "The index does not reach that time yet.");
    if (own && times_follow(index, id)) {
      const auto before = last_timestamp_before(capture, index, id, *own, stop);
      if (!before) return std::unexpected(before.error());
      own = *before ? (*before)->landmark.index + 1 : 0;
    }
    if (own) place = !place ? *own : last ? std::max(*place, *own) : std::min(*place, *own);
    const auto end =
        index.find(id, ~std::uint64_t{0}, Walk::kBackward, {.kind = LandmarkKind::kTimestamp});
    if (!end) return std::unexpected(end.error());
    if (*end) highest = std::max(highest.value_or(0), (*end)->last_timestamp);
  }
  if (place) return *place;
  if (!highest) return fail(ErrorCode::kInvalidArgument, "The trace has no timestamps.");
  return fail(ErrorCode::kNotFound,
              fmt::format("No timestamp is {} or later; the last one is {}.", value, *highest));
}

Result<TraceIndex> resolve_sync(inputs::Capture& capture, Index& index,
                                std::span<const TraceId> ids, std::uint64_t number,
                                const std::function<bool()>& stop) {
  if (ids.size() != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "Synchronisation points are counted for one source; choose it with --id.");
  }
  const TraceId id = ids.front();
  const Stream* stream = index.header().stream(id);
  const std::uint64_t count =
      stream == nullptr ? 0 : stream->counts[static_cast<std::size_t>(LandmarkKind::kSync)];
  if (number == 0 || number > count) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("Trace ID 0x{:02x} has {} synchronisation points, counted from 1.", id, count));
  }
  // The counts lead to the block, so that only this block is read.
  const Question question(index);
  std::uint64_t before = 0;
  std::uint64_t block = 0;
  while (true) {
    const auto found = index.find(id, block, Walk::kForward, {.kind = LandmarkKind::kSync});
    if (!found) return std::unexpected(found.error());
    if (!*found) break;
    const std::uint64_t here = (*found)->count(LandmarkKind::kSync);
    if (before + here < number) {
      before += here;
      block = (*found)->number + 1;
      continue;
    }
    if (number == before + 1) return (*found)->first_sync;
    if (number == before + here) return (*found)->last_sync;
    std::optional<TraceIndex> place;
    std::uint64_t passed = 0;
    const TraceIndex first = (*found)->first_sync;
    WAYMARK_TRY(Finder(capture, index, ids, {.kind = LandmarkKind::kSync, .stop = stop})
                    .run((*found)->number, [&](const Hit& hit) {
                      if (hit.landmark.index < first) return true;
                      if (++passed + before < number) return true;
                      place = hit.landmark.index;
                      return false;
                    }));
    if (place) return *place;
    break;
  }
  return fail(ErrorCode::kBadData, "The index contradicts the capture; rebuild it.");
}

}  // namespace

Result<std::optional<Hit>> last_timestamp_before(inputs::Capture& capture, Index& index, TraceId id,
                                                 TraceIndex place,
                                                 const std::function<bool()>& stop) {
  const Question question(index);
  // A packet that begins before the place may end in a later block.
  const auto later = index.find(id, place / index.header().granule + 1, Walk::kForward, {});
  if (!later) return std::unexpected(later.error());
  std::uint64_t block = *later ? (*later)->number : kAllBlocks;
  while (true) {
    const auto found = index.find(id, block, Walk::kBackward, {.kind = LandmarkKind::kTimestamp});
    if (!found) return std::unexpected(found.error());
    if (!*found) return std::nullopt;
    std::optional<Hit> last;
    const std::uint64_t number = (*found)->number;
    WAYMARK_TRY(Finder(capture, index, {&id, 1},
                       {.kind = LandmarkKind::kTimestamp, .to = place, .stop = stop})
                    .run(number, [&](const Hit& hit) {
                      last = hit;
                      return true;
                    }));
    if (last) return last;
    if (number == 0 || (stop && stop())) return std::nullopt;
    block = number - 1;
  }
}

Result<void> find(inputs::Capture& capture, Index& index, std::span<const TraceId> ids,
                  const Query& query, const std::function<bool(const Hit&)>& take) {
  return Finder(capture, index, ids, query).run(query.from / index.header().granule, take);
}

Result<Position> parse_position(std::string_view text) {
  Position position;
  std::optional<std::uint64_t> value;
  if (text.starts_with("t:")) {
    position.kind = Position::Kind::kTimestamp;
    value = parse_time(text);
  } else if (text.starts_with("s:")) {
    position.kind = Position::Kind::kSync;
    value = parse_number(text.substr(2));
  } else {
    value = parse_size(text);
  }
  if (!value) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a place in the trace; a place is a byte (4096, 0x1000, "
                            "4MiB), a timestamp (t:123456) or a synchronisation point (s:17).",
                            text));
  }
  position.value = *value;
  return position;
}

Result<TraceIndex> resolve(inputs::Capture& capture, Index& index, std::span<const TraceId> ids,
                           const Position& position, bool last, const std::function<bool()>& stop) {
  switch (position.kind) {
    case Position::Kind::kTimestamp:
      return resolve_timestamp(capture, index, ids, position.value, last, stop);
    case Position::Kind::kSync:
      return resolve_sync(capture, index, ids, position.value, stop);
    case Position::Kind::kOffset:
      break;
  }
  return position.value;
}

}  // namespace waymark::index
