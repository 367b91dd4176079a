// The driver's copy of the registers: sysfs writes change it, and the next enable writes it to the
// unit.  See etm4x-programming.md 3 and 5.
#pragma once

#include <array>
#include <cstdint>

namespace waymark::etm4x {

inline constexpr unsigned kAddressComparators = 16;
inline constexpr unsigned kSelectors = 32;
inline constexpr unsigned kCounters = 4;
inline constexpr unsigned kSingleShots = 8;
inline constexpr unsigned kContextComparators = 8;
inline constexpr unsigned kSequencerEvents = 3;

/// The use of an address comparator.
enum class Tag : std::uint8_t { kNone, kSingle, kRange, kStart, kStop };

/// Invariants for all writes: indexes select a slot of their array; either both halves of a pair
/// are kRange or neither is; a field is never wider than the driver allows.
struct State {
  std::uint32_t mode = 0;
  std::uint32_t pe = 0;
  std::uint32_t configr = 0;
  std::uint32_t eventctl0r = 0;
  std::uint32_t eventctl1r = 0;
  std::uint32_t stallctlr = 0;
  std::uint32_t tsctlr = 0;
  std::uint32_t syncpr = 0;
  std::uint32_t ccctlr = 0;
  std::uint32_t bbctlr = 0;
  std::uint32_t victlr = 0;
  std::uint32_t viiectlr = 0;
  std::uint32_t vissctlr = 0;
  std::uint32_t vipcssctlr = 0;
  std::array<std::uint32_t, kSequencerEvents> seqevr{};
  std::uint32_t seqrstevr = 0;
  std::uint32_t seqstr = 0;
  std::uint32_t extinselr = 0;
  std::array<std::uint32_t, kCounters> cntrldvr{};
  std::array<std::uint32_t, kCounters> cntctlr{};
  std::array<std::uint32_t, kCounters> cntvr{};
  std::array<std::uint32_t, kSelectors> rsctlr{};
  std::array<std::uint32_t, kSingleShots> sscr{};
  std::array<std::uint32_t, kSingleShots> sscsr{};
  std::array<std::uint32_t, kSingleShots> sspcicr{};
  std::array<std::uint64_t, kAddressComparators> acvr{};
  std::array<std::uint64_t, kAddressComparators> acatr{};
  std::array<Tag, kAddressComparators> tag{};
  std::array<std::uint64_t, kContextComparators> cidcvr{};
  std::array<std::uint64_t, kContextComparators> vmidcvr{};
  std::array<std::uint32_t, 2> cidcctlr{};
  std::array<std::uint32_t, 2> vmidcctlr{};
  std::uint32_t s_ex_level = 0;  ///< From TRCIDR3; it is in State because a perf session clears it.

  std::uint8_t addr_idx = 0;
  std::uint8_t sshot_idx = 0;
  std::uint8_t cntr_idx = 0;
  std::uint8_t res_idx = 0;
  std::uint8_t seq_idx = 0;
  std::uint8_t ctxid_idx = 0;
  std::uint8_t vmid_idx = 0;

  friend bool operator==(const State&, const State&) = default;
};

// TRCVICTLR
inline constexpr std::uint32_t kVictlrEvent = 0xFF;
inline constexpr std::uint32_t kVictlrStarted = 1U << 9;  ///< SSSTATUS
inline constexpr std::uint32_t kVictlrTraceReset = 1U << 10;
inline constexpr std::uint32_t kVictlrTraceError = 1U << 11;
inline constexpr unsigned kVictlrLevelShift = 16;
inline constexpr std::uint32_t kVictlrLevels = 0x7FU << kVictlrLevelShift;

// TRCCONFIGR
inline constexpr std::uint32_t kConfigP0 = 3U << 1;
inline constexpr std::uint32_t kConfigBranchBroadcast = 1U << 3;
inline constexpr std::uint32_t kConfigCycles = 1U << 4;
inline constexpr std::uint32_t kConfigContextId = 1U << 6;
inline constexpr std::uint32_t kConfigVmid = 1U << 7;
inline constexpr std::uint32_t kConfigConditional = 7U << 8;
inline constexpr std::uint32_t kConfigTimestamps = 1U << 11;
inline constexpr std::uint32_t kConfigReturnStack = 1U << 12;
inline constexpr std::uint32_t kConfigQ = 3U << 13;
inline constexpr std::uint32_t kConfigVmidOption = 1U << 15;
inline constexpr std::uint32_t kConfigData = 3U << 16;

// TRCEVENTCTL1R, TRCSTALLCTLR
inline constexpr std::uint32_t kEventAtbTrigger = 1U << 11;
inline constexpr std::uint32_t kEventLowPower = 1U << 12;
inline constexpr std::uint32_t kStallInstructions = 1U << 8;
inline constexpr std::uint32_t kStallPriority = 1U << 10;
inline constexpr std::uint32_t kStallNoOverflow = 1U << 13;

inline constexpr std::uint32_t kPeriodAfterProbe = 12;  ///< TRCSYNCPR

inline constexpr std::uint32_t kShotDone = 1U << 31;          ///< TRCSSCSRn.STATUS
inline constexpr std::uint32_t kShotHasPeInputs = 1U << 3;    ///< TRCSSCSRn.PC
inline constexpr std::uint32_t kBroadcastInside = 1U << 8;    ///< TRCBBCTLR.MODE
inline constexpr std::uint32_t kPairInverted = 1U << 21;      ///< TRCRSCTLRn.PAIRINV
inline constexpr std::uint32_t kSelectorInverted = 1U << 20;  ///< TRCRSCTLRn.INV
inline constexpr std::uint64_t kComparatorLevels = 0x7F00;    ///< TRCACATRn

}  // namespace waymark::etm4x
