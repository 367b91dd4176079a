// Where each source must begin so that everything is known at a place in the middle of the capture.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

/// Where reading begins, and where each source begins.
struct Entry {
  TraceIndex index = 0;  ///< In the capture, at the beginning of a frame or sync.
  TraceId current_id = kNoTraceId;
  bool from_start = true;  ///< The capture is read from its first byte.
  /// By ID: bytes before this index are skipped.  kNoIndex: all of them.  Without frames, [0].
  std::array<TraceIndex, kTraceIdCount> first{};
  /// State that is unknown after an entry, as whole sentences.
  std::vector<std::string> unknown;
};

struct SeekOptions {
  /// The maximum number of blocks to read for what a synchronisation point does not repeat: upper
  /// bits of the time, an overflow.  Anything further back is in Entry::unknown.
  std::uint64_t reach = 256;
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};
  /// Sources without a byte at `from` or later are left out.
  bool skip_ended = true;
  /// Whether earlier contexts and overflows count: decoding needs them, packets do not.
  bool contexts = true;
  bool overflows = true;
};

/// Where decoding must begin so that, for each of `ids`, everything from `from` on is the same as
/// in decoding the whole capture: at least one whole synchronisation point earlier.  `from` must
/// not be after Header::indexed.  With an incomplete index, more than necessary may be read.
/// Errors are those of the index.
Result<Entry> seek(Index& index, std::span<const TraceId> ids, TraceIndex from,
                   const SeekOptions& options = {});

/// Makes the capture and its tree begin at the entry.  Its sources must be new or reset.
void enter(inputs::Capture& capture, const Entry& entry);

/// The IDs of the sources of a capture.
std::vector<TraceId> source_ids(const inputs::Capture& capture);

}  // namespace waymark::index
