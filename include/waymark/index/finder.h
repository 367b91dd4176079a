// Landmarks by kind and value, and the positions that a user names.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

/// What is looked for.
struct Query {
  LandmarkKind kind = LandmarkKind::kSync;
  std::optional<std::uint64_t> value{};  ///< Only this one; of kTimestamp: this one or above.
  bool formatter = true;                 ///< kTrigger: those of the formatter, too.
  TraceIndex from = 0;                   ///< Only those that begin here or behind,
  TraceIndex to = kNoIndex;              ///< and before here.
};

struct Hit {
  TraceId id = 0;  ///< kTriggerId for a trigger of the formatter.
  Landmark landmark;
  std::optional<std::uint64_t> time{};  ///< The last timestamp of its source, up to here.
};

/// Calls `take` for each hit of the sources `ids`, and for kTrigger of the formatter, until it
/// returns false; in the order of the blocks in which their packets end, and there of their index.
///
/// Blocks that may hold one are read again where the index is sparse, and the trace before as far
/// back as their times need, none of it twice: `capture` was opened with
/// SourceOptions::decode false and is of this index (check()); its tree has no use afterwards.
/// Errors as those of the index.
Result<void> find(inputs::Capture& capture, Index& index, std::span<const TraceId> ids,
                  const Query& query, const std::function<bool(const Hit&)>& take);

/// A place as a user names it.
struct Position {
  enum class Kind : std::uint8_t {
    kOffset,     ///< "4096", "0x1000", "4MiB": a byte of the capture.
    kTimestamp,  ///< "t:123456": the first timestamp of this value or above.
    kSync,       ///< "s:17": the 17th synchronisation point of the one source, from 1.
  };
  Kind kind = Kind::kOffset;
  std::uint64_t value = 0;
};

/// kInvalidArgument: none of the forms.
Result<Position> parse_position(std::string_view text);

/// Where that is in the capture.  Of several sources' timestamps the first counts, or the last with
/// `last`.  kNotFound: a timestamp or a synchronisation point behind the last one, whose number is
/// in `detail`, or not known yet where the index is not complete; kInvalidArgument: kSync with more
/// than one of `ids`, kTimestamp where there are no times; else as find().
Result<TraceIndex> resolve(inputs::Capture& capture, Index& index, std::span<const TraceId> ids,
                           const Position& position, bool last = false);

}  // namespace waymark::index
