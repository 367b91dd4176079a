// ETMv4 and ETE packets as values.  See etmv4-ete.md 2.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::etmv4 {

/// The value of a type is its base header byte, if it has one; etmv4-ete.md 2.1.
enum class PacketType : std::uint16_t {
  kTraceInfo = 0x01,
  kTimestamp = 0x02,
  kTraceOn = 0x04,
  kFunctionReturn = 0x05,
  kException = 0x06,
  kExceptionReturn = 0x07,
  kInstrumentation = 0x09,
  kTransactionStart = 0x0A,
  kTransactionCommit = 0x0B,
  kCycleCountF2 = 0x0C,
  kCycleCountF1 = 0x0E,
  kCycleCountF3 = 0x10,
  kNumberedDataSync = 0x20,
  kUnnumberedDataSync = 0x28,
  kCommit = 0x2D,
  kCancelF1 = 0x2E,
  kCancelF1Mispredict = 0x2F,
  kMispredict = 0x30,
  kCancelF2 = 0x34,
  kCancelF3 = 0x38,
  kCondInstrF2 = 0x40,
  kCondFlush = 0x43,
  kCondResultF4 = 0x44,
  kCondResultF2 = 0x48,
  kCondResultF3 = 0x50,
  kCondResultF1 = 0x68,
  kCondInstrF1 = 0x6C,
  kCondInstrF3 = 0x6D,
  kIgnore = 0x70,
  kEvent = 0x71,
  kContext = 0x80,
  kAddressContext32Is0 = 0x82,
  kAddressContext32Is1 = 0x83,
  kAddressContext64Is0 = 0x85,
  kAddressContext64Is1 = 0x86,
  kTimestampMarker = 0x88,
  kAddressMatch = 0x90,
  kAddressShortIs0 = 0x95,
  kAddressShortIs1 = 0x96,
  kAddress32Is0 = 0x9A,
  kAddress32Is1 = 0x9B,
  kAddress64Is0 = 0x9D,
  kAddress64Is1 = 0x9E,
  kQ = 0xA0,
  kSourceMatch = 0xB0,
  kSourceShortIs0 = 0xB4,
  kSourceShortIs1 = 0xB5,
  kSource32Is0 = 0xB6,
  kSource32Is1 = 0xB7,
  kSource64Is0 = 0xB8,
  kSource64Is1 = 0xB9,
  kAtomF6 = 0xC0,
  kAtomF5 = 0xD5,
  kAtomF2 = 0xD8,
  kAtomF4 = 0xDC,
  kAtomF1 = 0xF6,
  kAtomF3 = 0xF8,
  // Second byte of an extension (00 xx), plus 0x100.
  kAsync = 0x100,
  kDiscard = 0x103,
  kOverflow = 0x105,
  // Not packets of the protocol: states of the parser.
  kNotSync = 0x200,
  kIncompleteEot = 0x201,
  kNoErrorType = 0x202,
  kBadSequence = 0x300,
  kBadTraceMode = 0x301,
  kReserved = 0x302,
  kReservedConfig = 0x303,
  // ETE exceptions with a type of their own.
  kPeReset = 0x400,
  kTransactionFail = 0x401,
  /// Never a packet: the "type" of a lone 00 header, as an error type.
  kExtension = 0x00,
};

/// An address register: what a packet or the history says about an address.
struct Address {
  std::uint64_t value = 0;
  std::uint8_t valid_bits = 64;  ///< The number of known low bits; the rest are printed as '?'.
  std::uint8_t update_bits = 0;  ///< The number of low bits in this packet; 0: none.
  std::uint8_t size_bits = 64;   ///< 32 or 64.
  std::uint8_t is = 0;           ///< Instruction set: 0 A64 or A32, 1 T32.
  friend bool operator==(const Address&, const Address&) = default;
};

/// The PE state in context packets.  Fields that a packet does not carry keep their earlier value.
struct Context {
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  std::uint8_t el = 0;
  bool sf = false;   ///< AArch64.
  bool ns = false;   ///< Non-secure; with nse Realm.
  bool nse = false;  ///< Root or Realm.
  bool updated = false;
  bool updated_context_id = false;  ///< This packet carried a context ID.
  bool updated_vmid = false;
  friend bool operator==(const Context&, const Context&) = default;
};

/// How the address of an exception packet is interpreted: its E1:E0 bits.
enum class ExceptionAddress : std::uint8_t {
  kNone = 0,
  kReturnAddress = 1,
  kReturnIsTarget = 2,
  kReserved = 3,
};

// The payloads that share their place in a packet have no initial values of their own: Packet
// clears them all.

/// The sections of a trace info packet.
struct TraceInfo {
  std::uint32_t info;
  std::uint32_t p0_key;
  std::uint32_t spec_depth;
  std::uint32_t window;   ///< The commit window.
  std::uint8_t sections;  ///< Bits of PLCTL: which sections the packet has.
  bool initial;           ///< The first since reset.
  bool has_spec;          ///< There is a SPEC section.
};

/// A Q packet, apart from its address.
struct Q {
  std::uint32_t count;  ///< Of instructions.
  std::uint8_t type;    ///< The low nibble of the header.
  bool has_count;

  [[nodiscard]] constexpr bool has_address() const { return type != 0xC && type != 0xF; }
  [[nodiscard]] constexpr bool is_match() const { return type <= 2; }
};

/// The fields of packets of conditional instructions and results.
struct Conditional {
  std::uint32_t key;
  std::uint32_t second_key;
  std::uint16_t tokens;   ///< Result format 3.
  std::uint8_t results;   ///< Result format 1: four bits for each key.
  std::uint8_t form;      ///< Result format 1: the low bits of the header.
  std::uint8_t elements;  ///< Instruction format 3.
};

struct Instrumentation {
  std::uint64_t payload;
  std::uint8_t el;
};

/// One packet.  `type` decides which other fields are meaningful; the rest are stale.  It has many
/// because all types are one value, in two cache lines; each has one meaning, and a type has few.
struct Packet {
  TraceIndex index = 0;  ///< That of its first byte.
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;  ///< For error packets: what was being read.
  std::uint16_t length = 0;                          ///< In bytes.
  std::uint8_t atom_count = 0;
  bool monitor_only = false;  ///< Unsynchronised bytes that only a monitor gets.
  std::uint32_t atoms = 0;    ///< Bit i is the i-th oldest atom; 1 is E.

  std::uint8_t value = 0;        ///< The low bits of a header: event mask, marker, token.
  std::uint8_t match_index = 0;  ///< Exact match and Q with exact match.
  bool has_count = false;        ///< Timestamp, cycle count format 1: see `cycle_count`.
  bool has_commit = false;       ///< Cycle count packets: a commit count is present.
  bool fault_pending = false;    ///< Exception, M profile.
  ExceptionAddress exception_address = ExceptionAddress::kNone;
  std::uint16_t exception = 0;  ///< Exception number, 10 bits.

  std::uint8_t timestamp_bits = 0;  ///< Number of low bits in a timestamp packet.
  bool in_packet = false;           ///< A-sync: the packet before it took some of its zeros.

  std::uint32_t cycle_count = 0;  ///< In cycle count and timestamp packets.
  std::uint32_t commit = 0;
  std::uint32_t cancel = 0;
  std::uint32_t cc_threshold = 0;  ///< Trace info: the threshold as listings show it.

  union {
    TraceInfo trace_info{};  ///< The largest: clears the others too.
    Q q;
    Conditional conditional;
    Instrumentation instrumentation;
    std::uint64_t timestamp;  ///< The whole value after the update.
  };
  Address address;
  Context context;

  /// Sets the fields that every packet has, except for the index.
  void begin(PacketType new_type, std::size_t new_length) {
    type = new_type;
    error_type = PacketType::kNoErrorType;
    length = static_cast<std::uint16_t>(new_length);
    atom_count = 0;
    monitor_only = false;
  }
};

static_assert(std::is_trivially_copyable_v<Packet> && sizeof(Packet) <= 104);

constexpr bool is_atoms(PacketType type) {
  return type >= PacketType::kAtomF6 && type <= PacketType::kAtomF3;
}
constexpr bool is_target_address(PacketType type) {
  return type >= PacketType::kAddressMatch && type <= PacketType::kAddress64Is1;
}
constexpr bool is_address_context(PacketType type) {
  return type >= PacketType::kAddressContext32Is0 && type <= PacketType::kAddressContext64Is1;
}
constexpr bool is_source_address(PacketType type) {
  return type >= PacketType::kSourceMatch && type <= PacketType::kSource64Is1;
}
constexpr bool is_conditional(PacketType type) {
  return type >= PacketType::kCondInstrF2 && type <= PacketType::kCondInstrF3;
}

constexpr bool is_bad(PacketType type) {
  return type >= PacketType::kBadSequence && type <= PacketType::kReservedConfig;
}

/// kPeReset and kTransactionFail, which the reference also counts as bad.
constexpr bool is_ete_exception(PacketType type) { return type >= PacketType::kPeReset; }

}  // namespace waymark::etmv4
