// Where the Linux driver deviates from its own reference document or from the architecture.  By
// default the model has all quirks, because real drivers have them; without a quirk, it behaves as
// the last column says.  See etm4x-programming.md 15.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace waymark::etm4x {

enum class Quirk : std::uint32_t {
  kSingleEventBit1 = 1U << 0,
  kExternalInputs8Bits = 1U << 1,
  kResetKeepsFeatures = 1U << 2,
  kResetTracesAllLevels = 1U << 3,
  kResetSyncPeriod8 = 1U << 4,
  kSyncPeriodUnchecked = 1U << 5,
  kLevelsStayExcluded = 1U << 6,
  kTraceResetUngated = 1U << 7,
  kInstructionPriorityUngated = 1U << 8,
  kMissingSlotsAccepted = 1U << 9,
  kSelectorOfOddHalf = 1U << 10,
  kRangeMayBeEmpty = 1U << 11,
  kCycleThresholdUngated = 1U << 12,
  kPerfForgetsSecureLevels = 1U << 13,
  kPerfCyclesUngated = 1U << 14,
  kPerfSelectorWithoutPairs = 1U << 15,
  kPresetZeroRefused = 1U << 16,
};

using Quirks = std::uint32_t;
inline constexpr Quirks kNoQuirks = 0;
inline constexpr Quirks kAllQuirks = (1U << 17) - 1;

constexpr bool has(Quirks set, Quirk quirk) { return (set & static_cast<Quirks>(quirk)) != 0; }

struct QuirkRow {
  Quirk quirk;
  std::string_view name;
  std::string_view driver;  ///< What the driver does.
  std::string_view fixed;   ///< What the model does without the quirk.
};

/// All of them, in the order of their bits.
std::span<const QuirkRow> quirk_table();

}  // namespace waymark::etm4x
