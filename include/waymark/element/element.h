// The generic trace element, which the decoders of all protocols give.  Field meanings follow the
// guide to generic elements; see opencsd-c-api.md (generic element), etmv4-ete.md 3.8.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark {

enum class ElementKind : std::uint8_t {
  kUnknown = 0,
  kNoSync = 1,
  kTraceOn = 2,
  kEndOfTrace = 3,
  kPeContext = 4,
  kInstrRange = 5,
  kInstrRangeNoPath = 6,
  kAddrNacc = 7,
  kAddrUnknown = 8,
  kException = 9,
  kExceptionReturn = 10,
  kTimestamp = 11,
  kCycleCount = 12,
  kEvent = 13,
  kSwTrace = 14,
  kSyncMarker = 15,
  kMemTrans = 16,
  kInstrumentation = 17,
  kItmTrace = 18,
  kCustom = 19,
  // Elements that only Waymark gives: data trace, which the reference announces but never delivers.
  kDataAddress = 20,
  kDataValue = 21,
  kDataEvent = 22,
};
inline constexpr std::size_t kElementKindCount = 23;

enum class UnsyncReason : std::uint8_t {
  kUndefined = 0,
  kInitDecoder = 1,
  kResetDecoder = 2,
  kOverflow = 3,
  kDiscard = 4,
  kBadPacket = 5,
  kBadImage = 6,
  kEndOfTrace = 7,
};

enum class TraceOnReason : std::uint8_t { kNormal = 0, kOverflow = 1, kDebugRestart = 2 };
enum class EventType : std::uint8_t { kUnknown = 0, kTrigger = 1, kNumbered = 2 };
/// The subject of a kSyncMarker: a place that timestamps refer to, or one that the data stream of
/// the same ETMv4 has too.
enum class MarkerType : std::uint8_t { kTimestamp = 0, kDataNumbered = 1, kDataUnnumbered = 2 };
enum class MemTransType : std::uint8_t { kInit = 0, kStart = 1, kCommit = 2, kFail = 3 };
enum class Security : std::uint8_t { kSecure = 0, kNonSecure = 1, kRoot = 2, kRealm = 3 };

/// Bits of Element::flags.
enum ElementFlag : std::uint16_t {
  kElementExecuted = 1 << 0,         ///< Range: the last instruction was taken (atom E).
  kElementConditional = 1 << 1,      ///< Range: the last instruction is conditional.
  kElementHasCycleCount = 1 << 2,    ///< cycle_count is valid.
  kElementHasTimestamp = 1 << 3,     ///< timestamp is valid.
  kElementReturnAddress = 1 << 4,    ///< Exception: `end` is the preferred return address.
  kElementReturnIsTarget = 1 << 5,   ///< Exception: `end` is also the target of the last branch.
  kElementTailChain = 1 << 6,        ///< Exception: M-profile tail chain.
  kElementFrequencyChange = 1 << 7,  ///< Timestamp: the clock frequency changed.
  kElementContextIdValid = 1 << 8,   ///< context_id has been seen.
  kElementVmidValid = 1 << 9,        ///< vmid has been seen.
  kElementElValid = 1 << 10,         ///< exception_level has been seen.
  kElement64Bit = 1 << 11,           ///< The PE executes in AArch64 state.
  /// The time is at least `timestamp`: its upper bits were lost or never sent, or, for the local
  /// time of an ITM, packets were lost and no global timestamp has come since.
  kElementTimeIsPartial = 1 << 13,
  kElementDataMarker = 1 << 12,  ///< Exception: only transfers of its entry follow.
};

/// Bits of Element::extra for kSwTrace: what the packet carries besides its data.
enum SwTraceFlag : std::uint8_t {
  kSwMarker = 1 << 0,
  kSwTimestamp = 1 << 1,
  kSwMasterError = 1 << 3,
  kSwGlobalError = 1 << 4,
  kSwTrigger = 1 << 5,
  kSwFrequency = 1 << 6,
  kSwIdValid = 1 << 7,
};

/// Element::reason for kSwTrace: the kind of payload.
enum class SwTraceKind : std::uint8_t {
  kData = 0,          ///< By the flags: software's data, a trigger, a frequency, an error code.
  kUser = 1,          ///< A USER packet of STPv2.
  kCrossSync = 2,     ///< An XSYNC packet: the number of an event that several streams carry.
  kChannelError = 3,  ///< A CERR packet: its code.
};

/// Low bits of Element::extra for kItmTrace; kItmOverflow may be set as well.
enum class ItmKind : std::uint8_t {
  kSoftware = 0,       ///< Stimulus port write.
  kHardware = 1,       ///< DWT packet; the source is its discriminator.
  kTimestampSync = 2,  ///< Local timestamps; the value is the delta.
  kTimestampDelay = 3,
  kPacketDelay = 4,
  kBothDelay = 5,
  kGlobalTimestamp = 6,
};
inline constexpr std::uint8_t kItmKindMask = 0x0F;
inline constexpr std::uint8_t kItmOverflow = 0x80;  ///< Packets were lost before this one.

/// Element::reason of a data trace element of the DWT: the number of known low bytes of the PC and
/// of the address of its access, which are in `end`: [31:0] PC, [63:32] address.
constexpr std::uint8_t itm_known_bytes(unsigned pc, unsigned address) {
  return static_cast<std::uint8_t>(pc | address << 4);
}
constexpr unsigned itm_pc_bytes(std::uint8_t known) { return known & 0xFU; }
constexpr unsigned itm_address_bytes(std::uint8_t known) { return known >> 4U; }
/// The fact that a kDataEvent states about a transfer.
enum class DataEvent : std::uint8_t {
  kPending = 0,      ///< Its value comes later, in a kDataValue with the same tag.
  kNotTraced = 1,    ///< It took place, but its value was not traced.
  kSuppressed = 2,   ///< Data trace is lost from here on, and doubtful from the owner on.
  kStoreFailed = 3,  ///< The exclusive store did not happen.
};

/// Bits of Element::extra for the data kinds.
enum DataFlag : std::uint8_t {
  kDataOwned = 1 << 0,        ///< `end` is the address of the instruction that did it.
  kDataInferred = 1 << 1,     ///< The address is not traced: it follows from the previous transfer.
  kDataEndianKnown = 1 << 2,  ///< kDataBigEndian is valid.
  kDataBigEndian = 1 << 3,
  kDataCancelled = 1 << 4,   ///< The instruction was cancelled: the transfer may not have happened.
  kDataStacking = 1 << 5,    ///< By the entry of an exception.
  kDataUnstacking = 1 << 6,  ///< By the return from an exception.
  kDataAccess = 1 << 7,      ///< No instruction is traced: `end` counts the accesses.
};

/// Element::extra_value of the data kinds: the position among the transfers of its owner, the
/// number of known low bits of `start`, and the tag of out-of-order data (0: in order).
struct DataPlace {
  std::uint16_t number = 0;
  std::uint8_t known_bits = 0;
  std::uint8_t tag = 0;

  [[nodiscard]] constexpr std::uint32_t packed() const {
    return number | std::uint32_t{known_bits} << 16 | std::uint32_t{tag} << 24;
  }
  static constexpr DataPlace unpack(std::uint32_t value) {
    return {static_cast<std::uint16_t>(value), static_cast<std::uint8_t>(value >> 16 & 0xFF),
            static_cast<std::uint8_t>(value >> 24)};
  }
};

/// One element; trivially copyable, 64 bytes.  In every element, the context fields (context_id,
/// vmid, exception_level, security and their flags) are those of the last kPeContext of its source.
///
/// | kind | fields |
/// |---|---|
/// | kNoSync, kEndOfTrace | reason: UnsyncReason |
/// | kTraceOn | reason: TraceOnReason |
/// | kInstrRange | start, end (exclusive), count: instructions, isa, last_* |
/// | kInstrRangeNoPath | start, end: where execution continued, count |
/// | kAddrNacc | start: the address, number: the memory space |
/// | kException | number, end: preferred return address (see flags) |
/// | kTimestamp | timestamp, possibly cycle_count |
/// | kCycleCount | cycle_count; 0 is unknown |
/// | kEvent | reason: EventType, number: kNumbered: a bit for each event |
/// | kSyncMarker | reason: MarkerType, number: marker value |
/// | kMemTrans | reason: MemTransType |
/// | kInstrumentation | exception_level, value |
/// | kSwTrace | sw_id, extra: SwTraceFlag, start: payload, extra_value: its bits or 0, timestamp, |
/// | | reason: SwTraceKind |
/// | kItmTrace | extra: ItmKind and kItmOverflow, number: source, start: payload or delta, |
/// | | extra_value: payload bytes, timestamp: sum of the deltas or global time, |
/// | | reason: itm_known_bytes(), end: PC and address of data trace |
/// | kDataAddress | start: data address, end: owner, extra: DataFlag, extra_value: DataPlace |
/// | kDataValue | as kDataAddress, and value, count: the number of its bytes that were sent |
/// | kDataEvent | as kDataAddress, and reason: DataEvent |
struct Element {
  TraceIndex index = 0;
  std::uint64_t start = 0;  ///< Also the payload of kSwTrace and kItmTrace, as `value` is taken.
  std::uint64_t end = 0;
  union {
    std::uint64_t timestamp = 0;  ///< Not for the kinds that carry `value`.
    std::uint64_t value;
  };
  union {
    std::uint32_t count = 0;
    std::uint32_t number;
    struct {
      std::uint16_t master;
      std::uint16_t channel;
    } sw_id;
  };
  std::uint32_t cycle_count = 0;
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  ElementKind kind = ElementKind::kUnknown;
  TraceId trace_id = 0;
  std::uint16_t flags = 0;
  isa::Isa isa = isa::Isa::kUnknown;
  isa::InstrType last_type = isa::InstrType::kOther;
  isa::InstrSubtype last_subtype = isa::InstrSubtype::kNone;
  std::uint8_t last_size = 0;  ///< The size of the last instruction, in bytes.
  std::uint8_t exception_level = 0;
  Security security = Security::kSecure;
  std::uint8_t reason = 0;
  std::uint8_t extra = 0;         ///< kSwTrace, data kinds: flag bits.  kItmTrace: ItmKind.
  std::uint32_t extra_value = 0;  ///< kSwTrace: payload bits.  kItmTrace: payload bytes.

  /// All bytes are the same, including those without a meaning for this kind.
  friend bool operator==(const Element& a, const Element& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

/// That of the source after this element.
constexpr ExecutionContext execution_context(const Element& element) {
  return {std::uint64_t{element.vmid} << 32 | element.context_id,
          (element.flags & kElementElValid) != 0 ? element.exception_level
                                                 : ExecutionContext::kNoLevel};
}

/// Whether it states the local time of an ITM, which stamps the elements since the last one.
constexpr bool is_local_timestamp(const Element& element) {
  const auto kind = static_cast<ItmKind>(element.extra & kItmKindMask);
  return element.kind == ElementKind::kItmTrace && kind >= ItmKind::kTimestampSync &&
         kind <= ItmKind::kBothDelay;
}

static_assert(sizeof(Element) <= 64);
static_assert(std::is_trivially_copyable_v<Element>);

}  // namespace waymark
