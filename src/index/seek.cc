#include "waymark/index/seek.h"

#include <fmt/format.h>

#include <algorithm>

namespace waymark::index {
namespace {

class Planner {
 public:
  Planner(Index& index, const SeekOptions& options)
      : index_(index), options_(options), granule_(index.header().granule) {}

  Result<Entry> plan(std::span<const TraceId> ids, TraceIndex from) {
    Entry entry;
    entry.first.fill(kNoIndex);
    std::optional<TraceIndex> earliest;
    for (const TraceId id : ids) {
      const auto first = first_of(id, from, entry);
      if (!first) return std::unexpected(first.error());
      if (!*first) continue;
      entry.first[index_.header().framed() ? id : 0] = **first;
      earliest = std::min(earliest.value_or(**first), **first);
    }
    // If there is nothing to feed, reading begins at the place itself.
    const TraceIndex start = earliest.value_or(from);
    WAYMARK_TRY(place(start, entry));
    return entry;
  }

 private:
  using MaybeIndex = Result<std::optional<TraceIndex>>;
  using MaybeBlock = Result<std::optional<StreamBlock>>;

  MaybeBlock find(TraceId id, std::uint64_t block, Walk walk, const Want& want) {
    return index_.find(id, block, walk, want);
  }

  /// Where a source must begin.  Nothing: it has no more bytes.
  MaybeIndex first_of(TraceId id, TraceIndex from, Entry& entry) {
    if (options_.skip_ended && index_.header().complete) {
      const auto more = find(id, from / granule_, Walk::kForward, {});
      if (!more) return std::unexpected(more.error());
      if (!*more) return std::nullopt;
    }
    if (from == 0) return 0;
    MaybeIndex first = two_syncs_before(id, from);
    if (!first || !*first) return first;
    if (**first == 0) return first;
    for (const bool overflows : {true, false}) {
      if (!(overflows ? options_.overflows : options_.contexts)) continue;
      const auto earlier =
          overflows ? pending_overflow(id, **first, entry) : lasting_context(id, **first, entry);
      if (!earlier) return std::unexpected(earlier.error());
      if (*earlier) first = two_syncs_before(id, **earlier);
      if (!first || !*first || **first == 0) return first;
    }
    return with_whole_time(id, **first, from, entry);
  }

  /// The last synchronisation point but one.  If there are fewer than two, a place before the first
  /// one and before `from`, or the first byte of the stream.
  MaybeIndex two_syncs_before(TraceId id, TraceIndex from) {
    std::optional<TraceIndex> last;
    std::uint64_t block = from / granule_;
    while (true) {
      const auto found = find(id, block, Walk::kBackward, {.kind = LandmarkKind::kSync});
      if (!found) return std::unexpected(found.error());
      if (!*found) break;
      for (const TraceIndex at : {(*found)->last_sync, (*found)->first_sync}) {
        if (at > from || (last && at >= *last)) continue;
        if (last) return at;
        last = at;
      }
      if ((*found)->number == 0) break;
      block = (*found)->number - 1;
    }
    const Stream* stream = index_.header().stream(id);
    const TraceIndex end = last.value_or(from);
    if (end < granule_ || stream == nullptr || stream->starts_in_sync) return 0;
    // Pieces of trace without synchronisation are counted from their beginning.
    if (options_.reach == SeekOptions::kAny) return 0;
    const auto data = find(id, end / granule_ - 1, Walk::kBackward, {});
    if (!data) return std::unexpected(data.error());
    return *data ? (*data)->number * granule_ : TraceIndex{0};
  }

  /// The block of an overflow from which the trace unit had not recovered at `start`.
  MaybeIndex pending_overflow(TraceId id, TraceIndex start, Entry& entry) {
    const std::uint64_t block = start / granule_;
    const auto overflow = find(id, block, Walk::kBackward, {.kind = LandmarkKind::kOverflow});
    if (!overflow) return std::unexpected(overflow.error());
    if (!*overflow) return std::nullopt;
    const auto on = find(id, block, Walk::kBackward, {.kind = LandmarkKind::kTraceOn});
    if (!on) return std::unexpected(on.error());
    if (*on && (*on)->number > (*overflow)->number) return std::nullopt;
    if (block - (*overflow)->number > options_.reach) {
      if (*on && (*on)->number == (*overflow)->number) return std::nullopt;
      entry.unknown.push_back(
          fmt::format("Trace ID 0x{:02x}: the trace unit lost data near byte {}; it is unknown "
                      "whether it has recovered, because that is too far back to be read.",
                      id, (*overflow)->number * granule_));
      return std::nullopt;
    }
    return (*overflow)->number * granule_;
  }

  /// The block of a context that no later synchronisation point has repeated.
  MaybeIndex lasting_context(TraceId id, TraceIndex start, Entry& entry) {
    const std::uint64_t block = start / granule_;
    const auto context = find(id, block, Walk::kBackward, {.lasting_context = true});
    if (!context) return std::unexpected(context.error());
    if (!*context) return std::nullopt;
    if (block - (*context)->number > options_.reach) {
      entry.unknown.push_back(fmt::format(
          "Trace ID 0x{:02x}: the VMID is unknown at first; it was last sent near byte {}, too "
          "far back to be read.",
          id, (*context)->number * granule_));
      return std::nullopt;
    }
    return (*context)->number * granule_;
  }

  /// `start`, or an earlier place from which all bits of the time are known at `from`.
  MaybeIndex with_whole_time(TraceId id, TraceIndex start, TraceIndex from, Entry& entry) {
    // If the times there are complete, earlier ones do not matter.
    const auto next = find(id, from / granule_, Walk::kForward, {.kind = LandmarkKind::kTimestamp});
    if (!next) return std::unexpected(next.error());
    const bool whole = *next ? (*next)->whole_timestamps == (*next)->count(LandmarkKind::kTimestamp)
                             : index_.header().complete;
    if (whole) return start;
    // Looks for a whole block between the two.
    std::optional<std::uint64_t> block = from / granule_;
    while (block && *block > 0) {
      const auto found = find(id, *block - 1, Walk::kBackward, {.kind = LandmarkKind::kTimestamp});
      if (!found) return std::unexpected(found.error());
      if (!*found) return two_syncs_before(id, *block * granule_);
      block = (*found)->number;
      if (from / granule_ - *block > options_.reach) {
        entry.unknown.push_back(fmt::format(
            "Trace ID 0x{:02x}: the trace does not send the whole time near byte {}, so times may "
            "be too low at first.",
            id, from));
        return start;
      }
      if ((*found)->whole_timestamps == 0) continue;
      return *block * granule_ >= start ? start : two_syncs_before(id, *block * granule_);
    }
    return 0;
  }

  /// A place from which frames can be read, at or before `start`.
  Result<void> place(TraceIndex start, Entry& entry) {
    if (!index_.header().framed()) {
      entry.index = start;
      entry.from_start = start == 0;
      return {};
    }
    const auto framing = inputs::framing_by_name(index_.header().framing);
    const auto frames = inputs::frame_options(framing.value_or(inputs::Framing::kMemoryAligned));
    const std::uint64_t alignment = frames ? frames->alignment() : frames::kFrameSize;
    for (std::uint64_t block = start / granule_; block != 0;) {
      const auto found = index_.find_place(block);
      if (!found) return std::unexpected(found.error());
      if (!*found || (*found)->number == 0) break;
      block = (*found)->number - 1;
      const frames::Demux::Place& at = *(*found)->place;
      if (at.index > start || at.index % alignment != 0) continue;
      entry.index = at.index;
      entry.current_id = at.current_id;
      entry.from_start = false;
      return {};
    }
    entry.index = 0;
    entry.from_start = true;
    return {};
  }

  Index& index_;
  SeekOptions options_;
  std::uint64_t granule_;
};

}  // namespace

Result<Entry> seek(Index& index, std::span<const TraceId> ids, TraceIndex from,
                   const SeekOptions& options) {
  const Question question(index);
  return Planner(index, options).plan(ids, from);
}

void enter(inputs::Capture& capture, const Entry& entry) {
  capture.seek(entry.index);
  DecodeTree& tree = capture.tree();
  if (!entry.from_start) tree.go_on(entry.current_id);
  for (TraceId id = 0; id < kTraceIdCount; ++id) tree.begin_at(id, entry.first[id]);
}

std::vector<TraceId> source_ids(const inputs::Capture& capture) {
  std::vector<TraceId> ids;
  for (const inputs::CaptureSource& source : capture.sources()) ids.push_back(source.id);
  return ids;
}

}  // namespace waymark::index
