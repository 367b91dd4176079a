// Places in a trace by which a reader finds the way: what an index is made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/types.h"

namespace waymark {

enum class LandmarkKind : std::uint8_t {
  kAlign,      ///< The boundary of a packet can be told from here on (A-sync).
  kSync,       ///< State is restated whole: together with the kAlign before it a place to start.
  kTimestamp,  ///< `value`: all bits as far as the packets so far tell them.
  kContext,    ///< `value`: context ID; `vmid`, `el`.
  kEvent,      ///< `value`: number of the event.
  kTrigger,    ///< `value`: what the protocol says with it, or 0.
  kException,  ///< `value`: number, as the protocol counts them.
  kOverflow,   ///< The trace unit lost data.
  kDiscard,    ///< The trace unit dropped what it had not sent yet.
  kTraceOn,    ///< Tracing starts or goes on.
  kGap,        ///< A bad packet: the bytes there cannot be what they claim.
};
inline constexpr std::size_t kLandmarkKindCount = 11;

/// "sync", "timestamp", …: one word each, with '-' in it.
std::string_view landmark_name(LandmarkKind kind);

/// One place.
struct Landmark {
  TraceIndex index = 0;  ///< Of the packet.
  std::uint64_t value = 0;
  std::uint32_t vmid = 0;
  LandmarkKind kind = LandmarkKind::kSync;
  /// Times: all bits are known without those before.  Contexts: every sync point restates it.
  bool whole = false;
  std::uint8_t el = 0;  ///< kContext: exception level, where the protocol tells it.
  friend bool operator==(const Landmark&, const Landmark&) = default;
};

}  // namespace waymark
