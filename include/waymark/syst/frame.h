// A message as its transport delivers it, not yet parsed.  See mipi-syst.md 4, 12.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/types.h"

namespace waymark::syst {

/// How a frame ended.
enum class FrameEnd : std::uint8_t {
  kWhole,
  kRestarted,   ///< The next message of the channel began before this one's end.
  kLost,        ///< The transport lost data or its synchronisation.
  kEndOfInput,  ///< The capture ended first.
  kTooLong,     ///< Longer than any message; the rest is dropped.
  kBadText,     ///< Text: an odd number of digits.
  kGuessed,     ///< Plain bytes: no length field; it ends where the next message seems to begin.
  kNoMessage,   ///< Plain bytes: no message starts here.
};

/// "restarted", "lost", …; "whole".
std::string_view frame_end_name(FrameEnd end);
/// The event, in words; "" for kWhole.
std::string_view frame_end_sentence(FrameEnd end);

/// The master, channel or port is not known.
inline constexpr std::uint32_t kNoChannel = ~std::uint32_t{0};

struct Frame {
  Bytes bytes;             ///< Valid until the next call of the function that gave it.
  TraceIndex index = 0;    ///< The index of its first byte, or of the packet or tag before it.
  std::uint64_t time = 0;  ///< The transport's timestamp of its first packet.
  std::uint32_t channel = kNoChannel;  ///< The STP channel or the ITM stimulus port.
  std::uint16_t master = 0;
  TraceId trace_id = 0;
  FrameEnd end = FrameEnd::kWhole;
  bool has_time = false;
  bool time_is_partial = false;  ///< The upper bits of `time` are not known.
  bool has_master = false;
};

}  // namespace waymark::syst
