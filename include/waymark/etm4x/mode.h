// The bits of the file `mode`.  See etm4x-programming.md 6.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "waymark/etm4x/unit.h"

namespace waymark::etm4x {

namespace mode {
inline constexpr std::uint32_t kExclude = 1U << 0;
inline constexpr std::uint32_t kLoadStoreShift = 1;
inline constexpr std::uint32_t kBranchBroadcast = 1U << 4;
inline constexpr std::uint32_t kCycles = 1U << 5;
inline constexpr std::uint32_t kContextId = 1U << 6;
inline constexpr std::uint32_t kVmid = 1U << 7;
inline constexpr std::uint32_t kConditionalShift = 8;
inline constexpr std::uint32_t kTimestamps = 1U << 11;
inline constexpr std::uint32_t kReturnStack = 1U << 12;
inline constexpr std::uint32_t kQShift = 13;
inline constexpr std::uint32_t kAtbTrigger = 1U << 19;
inline constexpr std::uint32_t kLowPowerOverride = 1U << 20;
inline constexpr std::uint32_t kStallInstructions = 1U << 21;
inline constexpr std::uint32_t kInstructionPriority = 1U << 23;
inline constexpr std::uint32_t kNoOverflow = 1U << 24;
inline constexpr std::uint32_t kTraceReset = 1U << 25;
inline constexpr std::uint32_t kTraceError = 1U << 26;
inline constexpr std::uint32_t kStartStop = 1U << 27;
inline constexpr std::uint32_t kExcludeKernel = 1U << 30;
inline constexpr std::uint32_t kExcludeUser = 1U << 31;
inline constexpr std::uint32_t kStored = 0xCFFFFFFF;
}  // namespace mode

struct ModeRow {
  std::string_view name;
  std::uint8_t high;
  std::uint8_t low;
  std::string_view effect;  ///< For people: the register field.
  /// Puts the field's value into the registers; null: the mode takes effect later.
  void (*apply)(Unit&, std::uint32_t field);
};

std::span<const ModeRow> mode_table();

/// Stores the word and applies every row.
void store_mode(Unit& unit, std::uint64_t value);

}  // namespace waymark::etm4x
