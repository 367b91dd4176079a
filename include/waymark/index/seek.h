// Starting in the middle: from a place in the capture to where each source must begin so that all
// is known there.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

/// Where reading begins, and where each source does.
struct Entry {
  TraceIndex index = 0;  ///< In the capture; a frame or a sync begins there.
  TraceId current_id = kNoTraceId;
  bool from_start = true;  ///< The capture is read from its first byte.
  /// By ID: its bytes before are passed over.  kNoIndex: all of them.  Without frames, [0] counts.
  std::array<TraceIndex, kTraceIdCount> first{};
  /// What is not known behind an entry, as whole sentences.
  std::vector<std::string> unknown;
};

struct SeekOptions {
  /// Most blocks to go back for what a synchronisation point does not restate: upper bits of the
  /// time, an overflow.  Beyond it stands in Entry::unknown.
  std::uint64_t reach = 256;
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};
  /// Sources without a byte at `from` or behind it are left out.
  bool skip_ended = true;
  /// Whether contexts and overflows of long ago count: for decoding, not for the packets' sake.
  bool contexts = true;
  bool overflows = true;
};

/// From where decoding gives, for each of `ids`, everything from `from` on as a decoder gives it
/// that read the whole capture: at least one whole synchronisation point earlier.  `from` must not
/// be beyond Header::indexed; of an index that is not complete, more may be read than need be.
/// Errors as those of the index; kBadData: the index contradicts itself.
Result<Entry> seek(Index& index, std::span<const TraceId> ids, TraceIndex from,
                   const SeekOptions& options = {});

/// Makes the capture and its tree, whose sources are new or reset, begin there.
void enter(inputs::Capture& capture, const Entry& entry);

/// The IDs of the sources of a capture, as an index names them.
std::vector<TraceId> source_ids(const inputs::Capture& capture);

}  // namespace waymark::index
