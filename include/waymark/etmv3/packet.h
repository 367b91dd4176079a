// ETMv3 packets as values.  See etmv3.md 2.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"
#include "waymark/isa/instruction.h"

namespace waymark::etmv3 {

/// The values are those of the reference's interface.
enum class PacketType : std::uint8_t {
  kNoErrorType = 0,
  kNotSync = 1,
  kIncompleteEot = 2,
  kBranchAddress = 3,
  kASync = 4,
  kCycleCount = 5,
  kISync = 6,
  kISyncCycle = 7,
  kTrigger = 8,
  kPHeader = 9,
  kStoreFailed = 10,
  kOooData = 11,     ///< The value of a transfer that a placeholder announced.
  kOooAddress = 12,  ///< The placeholder.
  kNormData = 13,
  kDataSuppressed = 14,
  kValueNotTraced = 15,
  kIgnore = 16,
  kContextId = 17,
  kVmid = 18,
  kExceptionEntry = 19,
  kExceptionExit = 20,
  kTimestamp = 21,
  kBadSequence = 23,
  kBadTraceMode = 24,
  kReserved = 25,
};
inline constexpr std::size_t kPacketTypeCount = 26;

/// Packets of data trace.
constexpr bool is_data(PacketType type) {
  return type >= PacketType::kStoreFailed && type <= PacketType::kValueNotTraced;
}

/// The number of low address bits of an instruction that branch packets leave out; etmv3.md 5.1.
constexpr unsigned address_shift(isa::Isa isa) {
  switch (isa) {
    case isa::Isa::kT32:
    case isa::Isa::kThumbEE:
      return 1;
    case isa::Isa::kJazelle:
      return 0;
    default:
      return 2;
  }
}

/// The reason for an I-sync packet.
enum class SyncReason : std::uint8_t {
  kPeriodic = 0,
  kTraceEnable = 1,
  kOverflow = 2,
  kDebugExit = 3,
};

/// A 32-bit address whose low `valid_bits` bits are known.
struct Address {
  std::uint32_t value = 0;  ///< The unknown bits are 0.
  std::uint8_t valid_bits = 0;
  std::uint8_t update_bits = 0;  ///< Low bits that this packet carried; 0: none, or (I-sync) all.
  friend bool operator==(const Address&, const Address&) = default;
};

/// The PE state that packets report.
struct Context {
  std::uint32_t context_id = 0;
  std::uint8_t vmid = 0;
  bool ns = false;
  bool hyp = false;
  bool alt_isa = false;             ///< Thumb code is ThumbEE.
  bool updated_context_id = false;  ///< This packet carried a context ID.
  friend bool operator==(const Context&, const Context&) = default;
};

/// The exception information bytes of a branch packet; etmv3.md 5.4.
struct Exception {
  std::uint16_t number = 0;  ///< v7-A and v7-R: 4 bits.  v7-M: 9 bits.
  std::uint8_t resume = 0;   ///< v7-M: where an interrupted LDM or STM continues.
  bool present = false;
  bool cancel = false;      ///< The last traced instruction was not executed.
  bool has_hyp = false;     ///< The second information byte is present.
  bool deprecated = false;  ///< In the fifth address byte, without information bytes.
  friend bool operator==(const Exception&, const Exception&) = default;
};

/// The fact that a data packet states about a transfer.
struct Transfer {
  Address address;
  std::uint32_t value = 0;
  std::uint8_t size = 0;  ///< The number of bytes of the value that were sent: 0, 1, 2 or 4.
  std::uint8_t tag = 0;   ///< Out-of-order packets: 1 to 3.
  bool first = false;     ///< The A bit: the first packet of an instruction.
  bool has_address = false;
  bool has_value = false;
  bool has_endianness = false;  ///< The fifth address byte is present.
  bool big_endian = false;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// One packet.  `type` decides which other fields are meaningful; the rest are stale.
struct Packet {
  TraceIndex index = 0;  ///< That of its first byte.
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;  ///< Of error packets: what was being read.
  std::uint16_t length = 0;                          ///< In bytes.
  std::uint8_t atom_count = 0;
  std::uint8_t header = 0;  ///< Of bad packets: the first byte.
  std::uint8_t format = 0;  ///< The format of a P-header.
  std::uint16_t atoms = 0;  ///< Bit i is the i-th oldest atom; 1 is E.
  bool extra_zero = false;  ///< Bad sequence: one zero too many before an A-sync.
  /// A-sync: its first zeros are in the packet before it, which is cut; `length` counts the rest.
  bool in_packet = false;
  std::uint32_t cycle_count = 0;
  bool has_cycle_count = false;   ///< I-sync.
  bool lsip = false;              ///< I-sync: `data_instruction` is in progress.
  bool no_address = false;        ///< I-sync of a data-only trace.
  bool frequency_change = false;  ///< Timestamp: the R bit.
  SyncReason reason = SyncReason::kPeriodic;
  isa::Isa isa = isa::Isa::kUnknown;  ///< Branch, I-sync: of the code at `address`.
  isa::Isa previous_isa = isa::Isa::kUnknown;
  isa::Isa data_isa = isa::Isa::kUnknown;  ///< I-sync with `lsip`: of `data_instruction`.
  std::uint8_t timestamp_bits = 0;         ///< Low bits that a timestamp packet carried.
  Address address;
  std::uint32_t data_instruction = 0;
  std::uint64_t timestamp = 0;  ///< The whole value after the update.
  Context context;
  Exception exception;
  Transfer transfer;

  /// Sets the fields that every packet has, except for the index.
  void begin(PacketType new_type, std::size_t new_length) {
    type = new_type;
    error_type = PacketType::kNoErrorType;
    length = static_cast<std::uint16_t>(new_length);
    atom_count = 0;
  }
};

static_assert(std::is_trivially_copyable_v<Packet>);

/// True for the types that the protocol counts as bad.
constexpr bool is_bad(PacketType type) { return type >= PacketType::kBadSequence; }

}  // namespace waymark::etmv3
