// Finds landmarks by kind and value, and the places that a user names.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

/// The object of the search.
struct Query {
  LandmarkKind kind = LandmarkKind::kSync;
  std::optional<std::uint64_t> value{};  ///< Only this value; for kTimestamp, this or a later one.
  bool formatter = true;                 ///< kTrigger: also those of the formatter.
  TraceIndex from = 0;                   ///< Only landmarks that begin here or later,
  TraceIndex to = kNoIndex;              ///< and before here.
  /// Called between blocks.  True: the search ends.
  std::function<bool()> stop{};
};

struct Hit {
  TraceId id = 0;  ///< kTriggerId for a trigger of the formatter.
  Landmark landmark;
  /// The last timestamp of its source, up to and including this landmark.  ITM timestamps come
  /// after the packets to which they belong, so there it is the next one, unless data was lost in
  /// between.
  std::optional<std::uint64_t> time{};
};

/// Calls `take` for each hit of the sources `ids`, and for kTrigger also of the formatter, until it
/// returns false.  Hits come in the order of the blocks in which their packets end, and within a
/// block in the order of their index.
///
/// If the index is sparse, the blocks that may contain a hit are read again, and the trace before
/// them as far back as their times need; nothing is read twice.  `capture` must have been opened
/// with SourceOptions::decode false and belong to this index (check()); its tree cannot be used
/// afterwards. Errors are those of the index.
Result<void> find(inputs::Capture& capture, Index& index, std::span<const TraceId> ids,
                  const Query& query, const std::function<bool(const Hit&)>& take);

/// A place as a user writes it.
struct Position {
  enum class Kind : std::uint8_t {
    kOffset,     ///< "4096", "0x1000", "4MiB": a byte of the capture.
    kTimestamp,  ///< "t:123456": the first timestamp of this value or a later one.
    kSync,       ///< "s:17": the 17th synchronisation point of the only source.
  };
  Kind kind = Kind::kOffset;
  std::uint64_t value = 0;
};

/// kInvalidArgument: the text has none of the forms.
Result<Position> parse_position(std::string_view text);

/// The last timestamp of a source that begins before `place`; nothing: there is none.
Result<std::optional<Hit>> last_timestamp_before(inputs::Capture& capture, Index& index, TraceId id,
                                                 TraceIndex place,
                                                 const std::function<bool()>& stop = {});

/// The place of a position in the capture.  With several sources, a timestamp is at the place of
/// the first source that has it or, with `last`, of the last one.  In ITM, the place of a timestamp
/// is that of the first packet to which it belongs.
///
/// kNotFound: a timestamp or a synchronisation point after the last one, whose number is in
/// `detail`; or the position is not known yet, as the index is not complete.  kInvalidArgument:
/// kSync with more than one of `ids`, or kTimestamp without times in the trace.  Otherwise the
/// errors of find().  `stop` is called as Query::stop; after it asked to stop, the result has no
/// meaning.
Result<TraceIndex> resolve(inputs::Capture& capture, Index& index, std::span<const TraceId> ids,
                           const Position& position, bool last = false,
                           const std::function<bool()>& stop = {});

}  // namespace waymark::index
