// Places in a trace that help a reader find the way: an index is made of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/types.h"

namespace waymark {

enum class LandmarkKind : std::uint8_t {
  kAlign,      ///< From here on, packet boundaries are known (A-sync).
  kSync,       ///< State is restated completely: with the kAlign before it, a place to start.
  kTimestamp,  ///< `value`: all bits that the packets so far give.
  kContext,    ///< `value`: context ID; `vmid`, `el`.
  kEvent,      ///< `value`: number of the event.
  kTrigger,    ///< `value`: what the protocol gives with it, or 0.
  kException,  ///< `value`: number, in the protocol's numbering.
  kOverflow,   ///< The trace unit lost data.
  kDiscard,    ///< The trace unit dropped what it had not yet sent.
  kTraceOn,    ///< Tracing starts or continues.
  kGap,        ///< A bad packet: the bytes there break the protocol.
};
inline constexpr std::size_t kLandmarkKindCount = 11;

/// "sync", "timestamp", …: one word each, which may contain '-'.
std::string_view landmark_name(LandmarkKind kind);

/// One place.
struct Landmark {
  TraceIndex index = 0;  ///< That of the packet.
  std::uint64_t value = 0;
  std::uint32_t vmid = 0;
  LandmarkKind kind = LandmarkKind::kSync;
  /// Times: all bits are known without earlier packets.  Contexts: every sync point restates it.
  bool whole = false;
  std::uint8_t el = 0;  ///< kContext: the exception level, if the protocol gives it.
  friend bool operator==(const Landmark&, const Landmark&) = default;
};

}  // namespace waymark
