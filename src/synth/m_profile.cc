#include "waymark/synth/m_profile.h"

#include <algorithm>
#include <array>

namespace waymark::synth {
namespace {

// ETMv3.5 with the alternative encoding of branches.
constexpr std::uint32_t kEtm35 = 0x4114'F250;
// TRCIDR1 of ETMv4.0, 4.2 and 4.5.
constexpr std::uint32_t kEtm40 = 0x4100'F403;
constexpr std::uint32_t kEtm42 = 0x4100'F421;
constexpr std::uint32_t kEtm45 = 0x4100'F454;

constexpr auto kCores = std::to_array<MCore>({
    {"Cortex-M3", MCode::kV7, Protocol::kEtmV3, kEtm35},
    {"Cortex-M4", MCode::kV7, Protocol::kEtmV3, kEtm35},
    {"Cortex-M4F", MCode::kV7, Protocol::kEtmV3, kEtm35},
    {"SC300", MCode::kV7, Protocol::kEtmV3, kEtm35},
    {"Cortex-M7", MCode::kV7, Protocol::kEtmV4, kEtm40},
    {"Cortex-M33", MCode::kV8, Protocol::kEtmV4, kEtm42},
    {"Cortex-M35P", MCode::kV8, Protocol::kEtmV4, kEtm42},
    {"STAR-MC1", MCode::kV8, Protocol::kEtmV4, kEtm42},
    {"Cortex-M52", MCode::kV8_1, Protocol::kEtmV4, kEtm45},
    {"Cortex-M55", MCode::kV8_1, Protocol::kEtmV4, kEtm45},
    {"Cortex-M85", MCode::kV8_1, Protocol::kEtmV4, kEtm45},
    {"STAR-MC2", MCode::kV8_1, Protocol::kEtmV4, kEtm45},
    {"ARMv7-M", MCode::kV7, Protocol::kEtmV4, kEtm40},
    {"ARMv7-M", MCode::kV7, Protocol::kEtmV3, kEtm35},
    {"ARMv8-M", MCode::kV8, Protocol::kEtmV4, kEtm42},
    {"ARMv8.1-M", MCode::kV8_1, Protocol::kEtmV4, kEtm45},
});

}  // namespace

const MCore* m_core(std::string_view name) {
  const auto* const known = std::ranges::find(kCores, name, &MCore::name);
  return known == kCores.end() ? nullptr : known;
}

const MCore* m_core(std::string_view name, Protocol protocol) {
  const auto* const known = std::ranges::find_if(
      kCores, [&](const MCore& core) { return core.name == name && core.protocol == protocol; });
  return known == kCores.end() ? nullptr : known;
}

}  // namespace waymark::synth
