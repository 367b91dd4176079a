// Trace units for the tests.
#pragma once

#include <string>
#include <string_view>

#include "waymark/etm4x/unit.h"

namespace waymark::etm4x {

/// A typical unit: 4 pairs, 2 counters, a sequencer, 1 single-shot control, complete stall control.
inline IdRegisters middle_unit() {
  return {{0x28000EA1, 0x4100F403, 0x00000488, 0x0D7B0004, 0x11170004, 0x28C7081E}, 0x47704A13};
}
/// Everything that the architecture has, an ETMv4.5.
inline IdRegisters full_unit() {
  return {{0x0801CEE7, 0x4100F450, 0x00001088, 0xBD7F0004, 0x888F4008, 0x48C70820}, 0x47754A13};
}
/// The minimum: no comparators, counters, sequencer or timestamps; a fixed synchronisation period.
inline IdRegisters bare_unit() {
  return {{0x00000001, 0x4100F400, 0x00000004, 0x02700000, 0x00000000, 0x00070000}, 0x47704A13};
}
/// An ETE 1.1 with the resources of the middle unit.
inline IdRegisters ete_unit() {
  IdRegisters id = middle_unit();
  id.devarch = 0x47715A13;
  return id;
}

/// "ok" or "-EINVAL".
inline std::string write(Unit& unit, std::string_view file, std::string_view bytes) {
  const auto outcome = unit.write(file, bytes);
  return outcome ? "ok" : std::string(errno_name(outcome.error().error));
}
/// The text without its newline, or the error.
inline std::string read(Unit& unit, std::string_view file) {
  const auto text = unit.read(file);
  if (!text) return std::string(errno_name(text.error().error));
  return text->substr(0, text->find('\n'));
}

}  // namespace waymark::etm4x
