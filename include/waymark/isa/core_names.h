// The names of cores; see isa-waypoints.md 2.1.  core_by_name() is in instruction.h.
#pragma once

#include <string_view>

namespace waymark::isa {

/// The name of a core in the spelling of snapshots, whatever capitals `name` has; `name` itself if
/// no core has it.
std::string_view core_spelling(std::string_view name);

}  // namespace waymark::isa
