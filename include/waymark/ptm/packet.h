// PTM packets as values.  See ptm.md 2 to 6.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::ptm {

/// The numbers are those of the reference's enumeration.
enum class PacketType : std::uint8_t {
  kNotSync = 0,
  kIncompleteEot = 1,
  kNoErrorType = 2,
  kBranchAddress = 3,
  kAsync = 4,
  kIsync = 5,
  kTrigger = 6,
  kWaypointUpdate = 7,
  kIgnore = 8,
  kContextId = 9,
  kVmid = 10,
  kAtom = 11,
  kTimestamp = 12,
  kExceptionReturn = 13,
  kBadSequence = 16,
  kReserved = 17,
};

/// An address as far as it is known: what packets compress against.
struct Address {
  std::uint32_t value = 0;
  std::uint8_t valid_bits = 0;   ///< Low bits known; the rest are printed as '?'.
  std::uint8_t update_bits = 0;  ///< Low bits that this packet carried.
  friend bool operator==(const Address&, const Address&) = default;
};

/// The PE state that packets tell.  What a packet does not carry keeps the earlier value.
struct Context {
  std::uint32_t context_id = 0;
  std::uint8_t vmid = 0;
  bool ns = false;                  ///< Non-secure.
  bool hyp = false;                 ///< Hyp mode.
  bool alt_isa = false;             ///< As the last packet that carries the bit says.
  bool updated = false;             ///< This packet carried ns.
  bool updated_context_id = false;  ///< This packet carried a context ID.
  friend bool operator==(const Context&, const Context&) = default;
};

enum class IsyncReason : std::uint8_t {
  kPeriodic = 0,
  kTraceEnable = 1,
  kRestartOverflow = 2,
  kDebugExit = 3,
};

/// A packet that the registers do not allow: they are not those of this trace.
enum class Doubt : std::uint8_t {
  kNone,
  kCycleCountForm,     ///< What should be a cycle count is not formed like one.
  kContextIdOff,       ///< A context ID packet although its size is 0.
  kTimestampTooLong,   ///< A timestamp of more than 48 bits.
  kCycleCountsInFlow,  ///< Reserved headers where cycle counts would be.
};
inline constexpr std::size_t kDoubtCount = 5;

/// One packet.  `type` decides which other fields have meaning; the rest are stale.
struct Packet {
  TraceIndex index = 0;  ///< Of its first byte.
  // From here to `cycle_count` as in AtomPacket.
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;  ///< Of kBadSequence: what was being read.
  std::uint16_t length = 0;                          ///< Bytes.
  std::uint8_t atom_count = 0;
  bool monitor_only = false;  ///< Unsynchronised bytes that only a monitor gets.
  bool has_cycle_count = false;
  Doubt doubt = Doubt::kNone;
  std::uint32_t atoms = 0;  ///< Bit i is the i-th oldest atom; 1 is E.
  std::uint32_t cycle_count = 0;

  isa::Isa isa = isa::Isa::kUnknown;  ///< After this packet.
  bool isa_changed = false;           ///< Against the packet before.
  IsyncReason reason = IsyncReason::kPeriodic;
  /// Of a branch: bytes of exception information, 0 to 2.  Of a waypoint update: 0 or 1.
  std::uint8_t info_bytes = 0;
  std::uint16_t exception = 0;      ///< Exception number, 9 bits; with info_bytes of a branch.
  std::uint8_t timestamp_bits = 0;  ///< Low bits that a timestamp packet carried.
  /// A-sync: the packet before took its first zeros, so that something before it was misread.
  bool in_packet = false;
  bool clock_changed = false;  ///< Timestamp: it is the first of a new clock frequency.
  Address address;
  Context context;
  std::uint64_t timestamp = 0;  ///< Whole value after the update, as the unit encodes it.

  /// The fields that every packet has, but the index.
  void begin(PacketType new_type, std::size_t new_length) {
    type = new_type;
    error_type = PacketType::kNoErrorType;
    length = static_cast<std::uint16_t>(new_length);
    atom_count = 0;
    monitor_only = false;
    has_cycle_count = false;
    doubt = Doubt::kNone;
  }
};

static_assert(std::is_trivially_copyable_v<Packet>);

constexpr bool is_bad(PacketType type) { return type >= PacketType::kBadSequence; }

}  // namespace waymark::ptm
