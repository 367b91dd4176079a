// The architecture of a core, by its name.  See isa-waypoints.md 2.1.
#include "waymark/isa/core_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "waymark/base/nearest.h"
#include "waymark/isa/instruction.h"

namespace waymark::isa {
namespace {

struct NamedCore {
  std::string_view name;
  Core core;
};

constexpr Core kAA64A{Arch::kAA64, Profile::kA};
constexpr Core kV8r3A{Arch::kV8r3, Profile::kA};
constexpr Core kV8A{Arch::kV8, Profile::kA};
constexpr Core kV7A{Arch::kV7, Profile::kA};
constexpr Core kAA64R{Arch::kAA64, Profile::kR};
constexpr Core kV8R{Arch::kV8, Profile::kR};
constexpr Core kV7R{Arch::kV7, Profile::kR};
constexpr Core kV8M{Arch::kV8, Profile::kM};
constexpr Core kV7M{Arch::kV7, Profile::kM};

// Architectures older than ARMv7 count as ARMv7: the branches that they have are the same.
constexpr auto kCores = std::to_array<NamedCore>({
    // Armv8.0-M and Armv8.1-M.
    {"Cortex-M23", kV8M},
    {"Cortex-M33", kV8M},
    {"Cortex-M35P", kV8M},
    {"Cortex-M52", kV8M},
    {"Cortex-M55", kV8M},
    {"Cortex-M85", kV8M},
    {"STAR-MC1", kV8M},
    {"STAR-MC2", kV8M},
    // Armv6-M and Armv7-M.
    {"Cortex-M0", kV7M},
    {"Cortex-M0+", kV7M},
    {"Cortex-M1", kV7M},
    {"Cortex-M3", kV7M},
    {"Cortex-M4", kV7M},
    {"Cortex-M4F", kV7M},
    {"Cortex-M7", kV7M},
    {"SC000", kV7M},
    {"SC300", kV7M},
    // Armv8-R.
    {"Cortex-R52", kV8R},
    {"Cortex-R52+", kV8R},
    // Armv8-R with AArch64.
    {"Cortex-R82", kAA64R},
    {"Cortex-R82AE", kAA64R},
    // Armv7-R, and Armv6 cores of its kind.
    {"Cortex-R4", kV7R},
    {"Cortex-R4F", kV7R},
    {"Cortex-R5", kV7R},
    {"Cortex-R5F", kV7R},
    {"Cortex-R7", kV7R},
    {"Cortex-R8", kV7R},
    {"ARM1156T2-S", kV7R},
    {"ARM1156T2F-S", kV7R},
    // Armv4T to Armv6, with an ETM.
    {"ARM7TDMI", kV7A},
    {"ARM7TDMI-S", kV7A},
    {"ARM7EJ-S", kV7A},
    {"ARM720T", kV7A},
    {"ARM740T", kV7A},
    {"ARM9TDMI", kV7A},
    {"ARM920T", kV7A},
    {"ARM922T", kV7A},
    {"ARM926EJ-S", kV7A},
    {"ARM940T", kV7A},
    {"ARM946E-S", kV7A},
    {"ARM966E-S", kV7A},
    {"ARM968E-S", kV7A},
    {"ARM1020E", kV7A},
    {"ARM1022E", kV7A},
    {"ARM1026EJ-S", kV7A},
    {"ARM1136J-S", kV7A},
    {"ARM1136JF-S", kV7A},
    {"ARM1176JZ-S", kV7A},
    {"ARM1176JZF-S", kV7A},
    {"ARM11MPCore", kV7A},
    {"SC100", kV7A},
    {"SC110", kV7A},
    {"SC200", kV7A},
    {"SC210", kV7A},
    // Armv7-A.
    {"Cortex-A5", kV7A},
    {"Cortex-A7", kV7A},
    {"Cortex-A8", kV7A},
    {"Cortex-A9", kV7A},
    {"Cortex-A12", kV7A},
    {"Cortex-A15", kV7A},
    {"Cortex-A17", kV7A},
    // Armv8.0-A.
    {"Cortex-A32", kV8A},
    {"Cortex-A34", kV8A},
    {"Cortex-A35", kV8A},
    {"Cortex-A53", kV8A},
    {"Cortex-A57", kV8A},
    {"Cortex-A72", kV8A},
    {"Cortex-A73", kV8A},
    // Armv8.2-A, some with parts of Armv8.3-A.
    {"Cortex-A55", kV8r3A},
    {"Cortex-A65", kV8r3A},
    {"Cortex-A65AE", kV8r3A},
    {"Cortex-A75", kV8r3A},
    {"Cortex-A76", kV8r3A},
    {"Cortex-A76AE", kV8r3A},
    {"Cortex-A77", kV8r3A},
    {"Cortex-A78", kV8r3A},
    {"Cortex-A78AE", kV8r3A},
    {"Cortex-A78C", kV8r3A},
    {"Cortex-X1", kV8r3A},
    {"Cortex-X1C", kV8r3A},
    {"Neoverse-E1", kV8r3A},
    {"Neoverse-N1", kV8r3A},
    // Armv8.4-A and Armv9-A.
    {"Cortex-A320", kAA64A},
    {"Cortex-A510", kAA64A},
    {"Cortex-A520", kAA64A},
    {"Cortex-A520AE", kAA64A},
    {"Cortex-A710", kAA64A},
    {"Cortex-A715", kAA64A},
    {"Cortex-A720", kAA64A},
    {"Cortex-A720AE", kAA64A},
    {"Cortex-A725", kAA64A},
    {"Cortex-X2", kAA64A},
    {"Cortex-X3", kAA64A},
    {"Cortex-X4", kAA64A},
    {"Cortex-X925", kAA64A},
    {"Neoverse-N2", kAA64A},
    {"Neoverse-N3", kAA64A},
    {"Neoverse-V1", kAA64A},
    {"Neoverse-V2", kAA64A},
    {"Neoverse-V3", kAA64A},
    {"Neoverse-V3AE", kAA64A},
    {"C1-Nano", kAA64A},
    {"C1-Pro", kAA64A},
    {"C1-Premium", kAA64A},
    {"C1-Ultra", kAA64A},
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

/// The names of a family begin alike, and its architectures are those of its cores.
struct Family {
  std::string_view prefix;
  std::string_view architectures;
};

constexpr auto kFamilies = std::to_array<Family>({
    {"Cortex-M", "ARMv7-M or ARMv8.1-M"},
    {"SC", "ARMv7-M"},
    {"STAR-MC", "ARMv8.1-M"},
    {"Cortex-R", "ARMv7-R, ARMv8-R or ARM-aa64-R"},
    {"Cortex-A", "ARMv7-A, ARMv8.2-A or ARMv9-A"},
    {"Cortex-X", "ARMv8.2-A or ARMv9-A"},
    {"Neoverse", "ARMv8.2-A or ARMv9-A"},
    {"C1", "ARMv9-A"},
    {"ARM", "ARMv7-A, ARMv8.2-A or ARMv8.1-M"},
});

/// In any capitals.
bool equal_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

std::string_view architectures_like(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (equal_letters(name.substr(0, family.prefix.size()), family.prefix))
      return family.architectures;
  }
  return "ARMv8-A, ARMv8-R or ARMv8-M";
}

std::string_view nearest_core(std::string_view name) {
  std::array<std::string_view, kCores.size()> names;
  std::ranges::transform(kCores, names.begin(), &NamedCore::name);
  return nearest(name, names).value_or("");
}

}  // namespace

Result<Core> core_by_name(std::string_view name) {
  const auto* known = std::ranges::find(kCores, name, &NamedCore::name);
  if (known != kCores.end()) return known->core;
  if (const auto core = parse_versioned(name)) return *core;
  if (const auto core = parse_aa64(name)) return *core;
  const std::string_view meant = nearest_core(name);
  return fail(ErrorCode::kNotFound,
              fmt::format("The core '{}' is not known{} Its architecture can be given instead: {}.",
                          name, meant.empty() ? "." : fmt::format("; did you mean {}?", meant),
                          architectures_like(name)));
}

std::string_view core_spelling(std::string_view name) {
  const auto* const known = std::ranges::find_if(
      kCores, [&](const NamedCore& core) { return equal_letters(core.name, name); });
  return known == kCores.end() ? name : known->name;
}

}  // namespace waymark::isa
