// The architecture of a core, by its name.  See isa-waypoints.md 2.1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "waymark/isa/instruction.h"

namespace waymark::isa {
namespace {

struct NamedCore {
  std::string_view name;
  Core core;
};

constexpr Core kV8r3A{Arch::kV8r3, Profile::kA};
constexpr Core kV8A{Arch::kV8, Profile::kA};
constexpr Core kV7A{Arch::kV7, Profile::kA};
constexpr Core kV8R{Arch::kV8, Profile::kR};
constexpr Core kV7R{Arch::kV7, Profile::kR};
constexpr Core kV8M{Arch::kV8, Profile::kM};
constexpr Core kV7M{Arch::kV7, Profile::kM};

constexpr auto kCores = std::to_array<NamedCore>({
    {"Cortex-A77", kV8r3A}, {"Cortex-A76", kV8r3A}, {"Cortex-A75", kV8r3A}, {"Cortex-A65", kV8r3A},
    {"Cortex-A55", kV8r3A}, {"Cortex-A73", kV8A},   {"Cortex-A72", kV8A},   {"Cortex-A57", kV8A},
    {"Cortex-A53", kV8A},   {"Cortex-A35", kV8A},   {"Cortex-A32", kV8A},   {"Cortex-A17", kV7A},
    {"Cortex-A15", kV7A},   {"Cortex-A12", kV7A},   {"Cortex-A9", kV7A},    {"Cortex-A8", kV7A},
    {"Cortex-A7", kV7A},    {"Cortex-A5", kV7A},    {"Cortex-R52", kV8R},   {"Cortex-R8", kV7R},
    {"Cortex-R7", kV7R},    {"Cortex-R5", kV7R},    {"Cortex-R4", kV7R},    {"Cortex-M33", kV8M},
    {"Cortex-M55", kV8M},   {"Cortex-M23", kV8M},   {"Cortex-M0", kV7M},    {"Cortex-M0+", kV7M},
    {"Cortex-M3", kV7M},    {"Cortex-M4", kV7M},
});

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<int> take_digit(std::string_view& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const int digit = text.front() - '0';
  text.remove_prefix(1);
  return digit;
}

std::optional<Profile> profile_of(char letter) {
  switch (letter) {
    case 'A':
      return Profile::kA;
    case 'R':
      return Profile::kR;
    case 'M':
      return Profile::kM;
    default:
      return std::nullopt;
  }
}

std::optional<Arch> arch_of(int major, int minor) {
  if (major == 7) return Arch::kV7;
  if (major == 9) return Arch::kAA64;
  if (major != 8) return std::nullopt;
  if (minor < 3) return Arch::kV8;
  return minor == 3 ? Arch::kV8r3 : Arch::kAA64;
}

/// ARMv<major>[.<minor>]-<profile>: one digit each; what follows the profile letter does not
/// matter, except that there may be no other point.
std::optional<Core> parse_versioned(std::string_view name) {
  constexpr std::size_t kPointPosition = 5;
  const std::size_t point = name.find('.');
  if (point != std::string_view::npos && point != kPointPosition) return std::nullopt;
  std::string_view rest = name;
  if (!take(rest, "ARMv")) return std::nullopt;
  const auto major = take_digit(rest);
  if (!major) return std::nullopt;
  int minor = 0;
  if (take(rest, ".")) {
    const auto digit = take_digit(rest);
    if (!digit) return std::nullopt;
    minor = *digit;
  }
  if (!take(rest, "-") || rest.empty()) return std::nullopt;
  const auto arch = arch_of(*major, minor);
  const auto profile = profile_of(rest.front());
  if (!arch || !profile) return std::nullopt;
  return Core{*arch, *profile};
}

/// ARM-aa64, directly followed by -R or -M; with anything else it is profile A.
std::optional<Core> parse_aa64(std::string_view name) {
  if (!take(name, "ARM-aa64") && !take(name, "ARM-AA64")) return std::nullopt;
  if (name.starts_with("-R")) return Core{Arch::kAA64, Profile::kR};
  if (name.starts_with("-M")) return Core{Arch::kAA64, Profile::kM};
  return Core{Arch::kAA64, Profile::kA};
}

}  // namespace

Result<Core> core_by_name(std::string_view name) {
  const auto* known = std::ranges::find(kCores, name, &NamedCore::name);
  if (known != kCores.end()) return known->core;
  if (const auto core = parse_versioned(name)) return *core;
  if (const auto core = parse_aa64(name)) return *core;
  return fail(ErrorCode::kNotFound,
              fmt::format("The core name '{}' is not known, so its architecture and profile are "
                          "not either; give a name such as Cortex-A53, ARMv8.2-A or ARM-aa64.",
                          name));
}

}  // namespace waymark::isa
