// The configuration that decoding an ETMv4 data stream needs.  See etmv4-data.md 1.
#pragma once

#include "waymark/base/types.h"
#include "waymark/etmv4data/layouts.h"

namespace waymark::etmv4data {

struct Config {
  TraceId id = 0;   ///< That of the instruction stream plus 1.
  Layouts layouts;  ///< Supplied by the user.

  [[nodiscard]] constexpr TraceId trace_id() const { return id; }
};

}  // namespace waymark::etmv4data
