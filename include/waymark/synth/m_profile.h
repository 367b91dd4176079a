// Cores of the M profile with an ETM: the trace unit of each, and what its programs may contain.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/protocol/source.h"
#include "waymark/synth/program.h"

namespace waymark::synth {

struct MCore {
  std::string_view name;  ///< As in snapshots; also architectures, such as "ARMv8-M".
  MCode code;
  Protocol protocol;      ///< kEtmV3 or kEtmV4.
  std::uint32_t version;  ///< ETMIDR or TRCIDR1.
};

/// nullptr: no core with an ETM that can be modelled has this name.
const MCore* m_core(std::string_view name);
/// The same, if the core has a trace unit of this protocol.
const MCore* m_core(std::string_view name, Protocol protocol);

}  // namespace waymark::synth
