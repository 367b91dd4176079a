// The facts that decoding the toy protocol needs.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"

namespace waymark::toy {

/// The registers, by their names.
struct Config {
  std::uint32_t toycr = 0;  ///< [6:0] trace ID.

  [[nodiscard]] constexpr TraceId trace_id() const { return static_cast<TraceId>(toycr & 0x7F); }
};

}  // namespace waymark::toy
