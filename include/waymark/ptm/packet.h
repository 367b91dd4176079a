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

/// As much of an address as is known; packets compress addresses against it.
struct Address {
  std::uint32_t value = 0;
  std::uint8_t valid_bits = 0;   ///< The number of known low bits; the rest are printed as '?'.
  std::uint8_t update_bits = 0;  ///< The number of low bits that this packet carried.
  friend bool operator==(const Address&, const Address&) = default;
};

/// The PE state that packets report.  What a packet does not carry keeps its earlier value.
struct Context {
  std::uint32_t context_id = 0;
  std::uint8_t vmid = 0;
  bool ns = false;                  ///< Non-secure.
  bool hyp = false;                 ///< Hyp mode.
  bool alt_isa = false;             ///< From the last packet that carries the bit.
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

/// A packet that the registers do not allow: the registers belong to another trace.
enum class RegisterConflict : std::uint8_t {
  kNone,
  kCycleCountForm,     ///< A cycle count is expected, but the bytes do not have its form.
  kContextIdOff,       ///< A context ID packet although the size of context IDs is 0.
  kTimestampTooLong,   ///< A timestamp of more than 48 bits.
  kCycleCountsInFlow,  ///< Reserved headers where cycle counts are expected.
};
inline constexpr std::size_t kRegisterConflictCount = 5;

/// One packet.  `type` decides which other fields are meaningful; the rest are stale.  It has many
/// because all types are one value; each has one meaning, and a type has few.
struct Packet {
  TraceIndex index = 0;  ///< That of its first byte.
  // The fields from here to `cycle_count` are as in AtomPacket.
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;  ///< For kBadSequence: what was being read.
  std::uint16_t length = 0;                          ///< In bytes.
  std::uint8_t atom_count = 0;
  bool monitor_only = false;  ///< Unsynchronised bytes that only a monitor gets.
  bool has_cycle_count = false;
  RegisterConflict conflict = RegisterConflict::kNone;
  std::uint32_t atoms = 0;  ///< Bit i is the i-th oldest atom; 1 is E.
  std::uint32_t cycle_count = 0;

  isa::Isa isa = isa::Isa::kUnknown;  ///< After this packet.
  bool isa_changed = false;           ///< Compared with the previous packet.
  IsyncReason reason = IsyncReason::kPeriodic;
  /// Bytes of exception information: 0 to 2 for a branch, 0 or 1 for a waypoint update.
  std::uint8_t info_bytes = 0;
  std::uint16_t exception = 0;      ///< Exception number, 9 bits; if a branch has info_bytes.
  std::uint8_t timestamp_bits = 0;  ///< The number of low bits that a timestamp packet carried.
  /// A-sync: its first zeros are in the packet before it, so something before it was misread.
  bool in_packet = false;
  bool clock_changed = false;  ///< Timestamp: the first after a change of the clock frequency.
  Address address;
  Context context;
  std::uint64_t timestamp = 0;  ///< The whole value after the update, as the unit encodes it.

  /// Sets the fields that every packet has, except for the index.
  void begin(PacketType new_type, std::size_t new_length) {
    type = new_type;
    error_type = PacketType::kNoErrorType;
    length = static_cast<std::uint16_t>(new_length);
    atom_count = 0;
    monitor_only = false;
    has_cycle_count = false;
    conflict = RegisterConflict::kNone;
  }
};

static_assert(std::is_trivially_copyable_v<Packet>);

constexpr bool is_bad(PacketType type) { return type >= PacketType::kBadSequence; }

}  // namespace waymark::ptm
