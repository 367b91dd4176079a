// The configuration that decoding the records of an MTB needs.  See mtb.md 2 and 4.
#pragma once

#include <cstdint>
#include <optional>

#include "waymark/base/register_value.h"
#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::mtb {

/// Where the records are is in buffer.h.  An MTB has no trace ID: its trace is always a stream of
/// its own.
struct Config {
  /// The address of the vector table, which gives exceptions their numbers.
  RegisterValue vtor = RegisterValue::assumed(0);
  /// Where the core was halted; without it, the instructions after the last record are not known.
  std::optional<std::uint32_t> pc{};
  isa::Core core{.arch = isa::Arch::kV8, .profile = isa::Profile::kM};

  [[nodiscard]] static constexpr TraceId trace_id() { return 0; }
};

}  // namespace waymark::mtb
