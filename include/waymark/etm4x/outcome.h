// The result of writing or reading a driver file.  See etm4x-programming.md 1.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace waymark::etm4x {

/// The error numbers that the driver uses; values are those of Linux.
enum class Errno : std::uint16_t {
  kPerm = 1,
  kNoEnt = 2,
  kAcces = 13,
  kBusy = 16,
  kInval = 22,
  kNoSpc = 28,
  kRange = 34,
  kOpNotSupp = 95,
  kNotSupp = 524,  ///< Internal to the kernel, but it reaches user space.
};

/// "-EINVAL".
std::string_view errno_name(Errno error);

/// A refused operation: the driver's answer, the rule that it follows, and what would have been
/// accepted.  The rule is a clause without the name of the file.
struct Refusal {
  Errno error = Errno::kInval;
  std::string rule;
};

using Outcome = std::expected<void, Refusal>;
using Shown = std::expected<std::string, Refusal>;

[[nodiscard]] inline std::unexpected<Refusal> refuse(Errno error, std::string rule) {
  return std::unexpected(Refusal{error, std::move(rule)});
}

}  // namespace waymark::etm4x
