// The registers to try for each protocol, and what packets state about them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/doctor/stream_judge.h"

namespace waymark::doctor {

/// A field of a register.
struct FieldPart {
  std::string_view field;
  std::uint32_t mask = 0;
  /// Its value is only stated if such packets occur; nothing: it can be stated without any.
  std::optional<Witness> witness{};
};

/// Fields of a register whose values change how packets are read.  They are tried together, as one
/// alone may fit worse although it is right.
struct Axis {
  std::string_view register_name;
  std::span<const FieldPart> parts{};
  std::span<const std::uint32_t> values{};  ///< In their place; the most usual one first.
  std::string_view why;                     ///< Empty: the value is tried, but not stated.

  [[nodiscard]] std::uint32_t mask() const {
    std::uint32_t all = 0;
    for (const FieldPart& part : parts) all |= part.mask;
    return all;
  }
};

struct ProtocolTrial {
  std::string_view protocol;  ///< As --source takes it.
  std::string_view type;      ///< The device type.
  std::span<const std::pair<std::string_view, std::uint32_t>> registers{};  ///< To begin with.
  std::span<const Axis> axes{};
  std::span<const OpenField> open{};
};

std::span<const ProtocolTrial> protocol_trials();
const ProtocolTrial* protocol_trial(std::string_view protocol);

/// The version of a trace unit, apart from that of its protocol.
struct VersionField {
  std::string_view register_name;
  std::string_view field;
};
inline constexpr VersionField kMinorVersion{"TRCIDR1", "TRCARCHMIN"};
inline constexpr VersionField kEteVersion{"TRCDEVARCH", "REVISION"};

/// The lowest version that has the packets that occur.  It is never more than a bound: a later unit
/// need not send what only it can send.
std::vector<LeastField> least_fields(std::string_view protocol, const Trial& trial);

/// The evidence of atoms for branch broadcast (TRCCONFIGR.BB), as UnknownField::why.
std::string broadcast_words(const TakenAtoms& taken);

/// The fields that the occurrence of packets shows.
std::vector<KnownField> witnessed_fields(std::string_view protocol, const Trial& trial);

}  // namespace waymark::doctor
