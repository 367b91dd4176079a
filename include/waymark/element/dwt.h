// The content of a hardware source packet of the ITM: the events of the DWT (and, in Armv8.1-M, of
// the PMU).  See stm-itm.md 11.1, live-sources.md 8.
#pragma once

#include <cstdint>

namespace waymark {

enum class DwtKind : std::uint8_t {
  kEventCounters,  ///< value: DwtCounter bits, one per counter that wrapped.
  kException,      ///< exception, action.
  kPcSample,       ///< value: the address.
  kSleeping,       ///< A sample while the core was asleep.
  kNoSample,       ///< A sample while the core must not be observed.
  kPmuOverflow,    ///< value: bit n is PMU counter n.
  kDataPc,         ///< comparator; value: low bytes of the address of the accessing instruction.
  kDataMatch,      ///< comparator: it matched; the packet says no more.
  kDataAddress,    ///< comparator; value: low bytes of the address of the access.
  kDataRead,       ///< comparator; value.
  kDataWrite,      ///< comparator; value.
  kReserved,       ///< A discriminator without a meaning.
};

enum DwtCounter : std::uint8_t {
  kDwtCpi = 1 << 0,
  kDwtException = 1 << 1,
  kDwtSleep = 1 << 2,
  kDwtLsu = 1 << 3,
  kDwtFold = 1 << 4,
  kDwtCycle = 1 << 5,
};

enum class DwtExceptionAction : std::uint8_t {
  kReserved = 0,
  kEntered = 1,
  kExited = 2,
  kReturnedTo = 3,
};

struct DwtEvent {
  DwtKind kind = DwtKind::kReserved;
  std::uint8_t comparator = 0;
  DwtExceptionAction action = DwtExceptionAction::kReserved;
  std::uint16_t exception = 0;
  std::uint32_t value = 0;
  friend bool operator==(const DwtEvent&, const DwtEvent&) = default;
};

/// The event of a discriminator with a payload of `size` bytes.
constexpr DwtEvent dwt_event(std::uint32_t discriminator, unsigned size, std::uint32_t value) {
  DwtEvent event;
  event.value = value;
  if (discriminator >= 8 && discriminator < 24) {
    const bool odd = (discriminator & 1) != 0;
    event.comparator = static_cast<std::uint8_t>(discriminator >> 1 & 3);
    if (discriminator >= 16) {
      event.kind = odd ? DwtKind::kDataWrite : DwtKind::kDataRead;
    } else if (odd) {
      event.kind = DwtKind::kDataAddress;
    } else {
      // No instruction has an odd address, so this is the match packet of Armv8-M.
      event.kind = size == 1 && value == 1 ? DwtKind::kDataMatch : DwtKind::kDataPc;
    }
    return event;
  }
  switch (discriminator) {
    case 0:
      event.kind = DwtKind::kEventCounters;
      break;
    case 1:
      event.kind = DwtKind::kException;
      event.exception = static_cast<std::uint16_t>(value & 0x1FF);
      event.action = static_cast<DwtExceptionAction>(value >> 12 & 3);
      break;
    case 2:
      if (size != 1) {
        event.kind = DwtKind::kPcSample;
      } else if (value == 0) {
        event.kind = DwtKind::kSleeping;
      } else if (value == 0xFF) {
        event.kind = DwtKind::kNoSample;
      }
      break;
    case 3:
      if (size == 1) event.kind = DwtKind::kPmuOverflow;
      break;
    default:
      break;
  }
  return event;
}

}  // namespace waymark
