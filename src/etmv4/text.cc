#include "waymark/etmv4/text.h"

#include <algorithm>
#include <array>
#include <bit>

#include "type_slots.h"

namespace waymark::etmv4 {
namespace {

/// The text after the description of a packet; etmv4-ete.md 3.3.
enum class Tail : std::uint8_t {
  kNone,
  kAtoms,
  kErrorType,
  kTraceInfo,
  kTimestamp,
  kException,
  kInstrumentation,
  kCycleCount,
  kCommit,
  kCancel,
  kContext,
  kAddressContext,
  kMatch,
  kShortAddress,
  kLongAddress,
  kQ,
};

struct Row {
  PacketType type;
  Tail tail;
  std::string_view text;  ///< "NAME : DESCRIPTION", as in the listing.
};

constexpr Row kRows[] = {
    {PacketType::kExtension, Tail::kNone, "I_EXTENSION : Extension packet header."},
    {PacketType::kTraceInfo, Tail::kTraceInfo, "I_TRACE_INFO : Trace Info."},
    {PacketType::kTimestamp, Tail::kTimestamp, "I_TIMESTAMP : Timestamp."},
    {PacketType::kTraceOn, Tail::kNone, "I_TRACE_ON : Trace On."},
    {PacketType::kFunctionReturn, Tail::kNone, "I_FUNC_RET : V8M - function return."},
    {PacketType::kException, Tail::kException, "I_EXCEPT : Exception."},
    {PacketType::kExceptionReturn, Tail::kNone, "I_EXCEPT_RTN : Exception Return."},
    {PacketType::kInstrumentation, Tail::kInstrumentation, "I_ITE : Instrumentation"},
    {PacketType::kTransactionStart, Tail::kNone, "I_TRANS_ST : Transaction Start."},
    {PacketType::kTransactionCommit, Tail::kNone, "I_TRANS_COMMIT : Transaction Commit."},
    {PacketType::kCycleCountF2, Tail::kCycleCount, "I_CCNT_F2 : Cycle Count format 2."},
    {PacketType::kCycleCountF1, Tail::kCycleCount, "I_CCNT_F1 : Cycle Count format 1."},
    {PacketType::kCycleCountF3, Tail::kCycleCount, "I_CCNT_F3 : Cycle Count format 3."},
    {PacketType::kNumberedDataSync, Tail::kNone,
     "I_NUM_DS_MKR : Data Synchronisation Marker - Numbered."},
    {PacketType::kUnnumberedDataSync, Tail::kNone,
     "I_UNNUM_DS_MKR : Data Synchronisation Marker - Unnumbered."},
    {PacketType::kCommit, Tail::kCommit, "I_COMMIT : Commit"},
    {PacketType::kCancelF1, Tail::kCancel, "I_CANCEL_F1 : Cancel Format 1."},
    {PacketType::kCancelF1Mispredict, Tail::kCancel,
     "I_CANCEL_F1_MISPRED : Cancel Format 1 + Mispredict."},
    {PacketType::kMispredict, Tail::kCancel, "I_MISPREDICT : Mispredict."},
    {PacketType::kCancelF2, Tail::kCancel, "I_CANCEL_F2 : Cancel Format 2."},
    {PacketType::kCancelF3, Tail::kCancel, "I_CANCEL_F3 : Cancel Format 3."},
    {PacketType::kCondInstrF2, Tail::kNone, "I_COND_I_F2 : Conditional Instruction, format 2."},
    {PacketType::kCondFlush, Tail::kNone, "I_COND_FLUSH : Conditional Flush."},
    {PacketType::kCondResultF4, Tail::kNone, "I_COND_RES_F4 : Conditional Result, format 4."},
    {PacketType::kCondResultF2, Tail::kNone, "I_COND_RES_F2 : Conditional Result, format 2."},
    {PacketType::kCondResultF3, Tail::kNone, "I_COND_RES_F3 : Conditional Result, format 3."},
    {PacketType::kCondResultF1, Tail::kNone, "I_COND_RES_F1 : Conditional Result, format 1."},
    {PacketType::kCondInstrF1, Tail::kNone, "I_COND_I_F1 : Conditional Instruction, format 1."},
    {PacketType::kCondInstrF3, Tail::kNone, "I_COND_I_F3 : Conditional Instruction, format 3."},
    {PacketType::kIgnore, Tail::kNone, "I_IGNORE : Ignore."},
    {PacketType::kEvent, Tail::kNone, "I_EVENT : Trace Event."},
    {PacketType::kContext, Tail::kContext, "I_CTXT : Context Packet."},
    {PacketType::kAddressContext32Is0, Tail::kAddressContext,
     "I_ADDR_CTXT_L_32IS0 : Address & Context, Long, 32 bit, IS0."},
    {PacketType::kAddressContext32Is1, Tail::kAddressContext,
     "I_ADDR_CTXT_L_32IS1 : Address & Context, Long, 32 bit, IS1."},
    {PacketType::kAddressContext64Is0, Tail::kAddressContext,
     "I_ADDR_CTXT_L_64IS0 : Address & Context, Long, 64 bit, IS0."},
    {PacketType::kAddressContext64Is1, Tail::kAddressContext,
     "I_ADDR_CTXT_L_64IS1 : Address & Context, Long, 64 bit, IS1."},
    {PacketType::kTimestampMarker, Tail::kNone, "I_TS_MARKER : Timestamp Marker"},
    {PacketType::kAddressMatch, Tail::kMatch, "I_ADDR_MATCH : Exact Address Match."},
    {PacketType::kAddressShortIs0, Tail::kShortAddress, "I_ADDR_S_IS0 : Address, Short, IS0."},
    {PacketType::kAddressShortIs1, Tail::kShortAddress, "I_ADDR_S_IS1 : Address, Short, IS1."},
    {PacketType::kAddress32Is0, Tail::kLongAddress, "I_ADDR_L_32IS0 : Address, Long, 32 bit, IS0."},
    {PacketType::kAddress32Is1, Tail::kLongAddress, "I_ADDR_L_32IS1 : Address, Long, 32 bit, IS1."},
    {PacketType::kAddress64Is0, Tail::kLongAddress, "I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0."},
    {PacketType::kAddress64Is1, Tail::kLongAddress, "I_ADDR_L_64IS1 : Address, Long, 64 bit, IS1."},
    {PacketType::kQ, Tail::kQ, "I_Q : Q Packet."},
    {PacketType::kSourceMatch, Tail::kMatch, "I_SRC_ADDR_MATCH : Exact Source Address Match."},
    {PacketType::kSourceShortIs0, Tail::kShortAddress,
     "I_SRC_ADDR_S_IS0 : Source Address, Short, IS0."},
    {PacketType::kSourceShortIs1, Tail::kShortAddress,
     "I_SRC_ADDR_S_IS1 : Source Address, Short, IS1."},
    {PacketType::kSource32Is0, Tail::kLongAddress,
     "I_SRC_ADDR_L_32IS0 : Source Address, Long, 32 bit, IS0."},
    {PacketType::kSource32Is1, Tail::kLongAddress,
     "I_SRC_ADDR_L_32IS1 : Source Address, Long, 32 bit, IS1."},
    {PacketType::kSource64Is0, Tail::kLongAddress,
     "I_SRC_ADDR_L_64IS0 : Source Address, Long, 64 bit, IS0."},
    {PacketType::kSource64Is1, Tail::kLongAddress,
     "I_SRC_ADDR_L_64IS1 : Source Address, Long, 64 bit, IS1."},
    {PacketType::kAtomF6, Tail::kAtoms, "I_ATOM_F6 : Atom format 6."},
    {PacketType::kAtomF5, Tail::kAtoms, "I_ATOM_F5 : Atom format 5."},
    {PacketType::kAtomF2, Tail::kAtoms, "I_ATOM_F2 : Atom format 2."},
    {PacketType::kAtomF4, Tail::kAtoms, "I_ATOM_F4 : Atom format 4."},
    {PacketType::kAtomF1, Tail::kAtoms, "I_ATOM_F1 : Atom format 1."},
    {PacketType::kAtomF3, Tail::kAtoms, "I_ATOM_F3 : Atom format 3."},
    {PacketType::kAsync, Tail::kNone, "I_ASYNC : Alignment Synchronisation."},
    {PacketType::kDiscard, Tail::kNone, "I_DISCARD : Discard."},
    {PacketType::kOverflow, Tail::kNone, "I_OVERFLOW : Overflow."},
    {PacketType::kNotSync, Tail::kNone, "I_NOT_SYNC : I Stream not synchronised"},
    {PacketType::kIncompleteEot, Tail::kErrorType,
     "I_INCOMPLETE_EOT : Incomplete packet at end of trace."},
    {PacketType::kNoErrorType, Tail::kNone, "I_NO_ERR_TYPE : No Error Type."},
    {PacketType::kBadSequence, Tail::kErrorType, "I_BAD_SEQUENCE : Invalid Sequence in packet."},
    {PacketType::kBadTraceMode, Tail::kNone, "I_BAD_TRACEMODE : Invalid Packet for trace mode."},
    {PacketType::kReserved, Tail::kNone, "I_RESERVED : Reserved Packet Header"},
    {PacketType::kReservedConfig, Tail::kErrorType,
     "I_RESERVED_CFG : Reserved header for current configuration."},
    {PacketType::kPeReset, Tail::kNone, "I_PE_RESET : PE Reset."},
    {PacketType::kTransactionFail, Tail::kNone, "I_TRANS_FAIL : Transaction Fail."},
};
constexpr std::size_t kRowCount = std::size(kRows);
constexpr Row kUnknownRow = {PacketType::kNoErrorType, Tail::kNone,
                             "I_UNKNOWN : Unknown Packet Header"};

constexpr auto kSlots = row_slots(kRows);
static_assert(kSlots[kSlotCount] == kRowCount, "a packet type has no slot");

const Row& row_of(PacketType type) {
  const std::size_t row = kSlots[slot_of(type)];
  return row < kRowCount ? kRows[row] : kUnknownRow;
}

constexpr std::string_view name_of(const Row& row) {
  return row.text.substr(0, row.text.find(" : "));
}

/// The longest "NAME : DESCRIPTION" plus "; " plus 32 atoms: one check of the space covers an atom
/// packet.
constexpr std::size_t kAtomRoom = 64;
constexpr std::size_t kMaxAtoms = 32;

char* write_atoms(char* at, std::uint32_t atoms, unsigned count) {
  for (unsigned i = 0; i < count; ++i) *at++ = (atoms >> i & 1) != 0 ? 'E' : 'N';
  return at;
}

void write_atom_packet(TextBuffer& out, std::string_view text, const Packet& packet) {
  char* const begin = out.grow(kAtomRoom + kMaxAtoms);
  char* at = write_text(begin, text);
  at = write_text(at, "; ");
  at = write_atoms(at, packet.atoms, std::min<unsigned>(packet.atom_count, kMaxAtoms));
  out.advance(static_cast<std::size_t>(at - begin));
}

/// "0x???02EBC (16:0) ~[0x2EBC]"; etmv4-ete.md 3.2.  After a reset the register keeps bits above
/// those that count as known: up to 32 bits of them are written after the '?' digits.
void write_address(TextBuffer& out, const Address& address, unsigned update_bits) {
  const unsigned valid = std::min<unsigned>(address.valid_bits, 64);
  const unsigned digits = (valid + 3) / 4;
  const unsigned width = address.size_bits / 4U;
  out.put("0x");
  for (unsigned i = digits; i < width; ++i) out.put('?');
  if (digits != 0)
    out.hex_upper(valid <= 32 ? address.value & low_mask(32) : address.value, digits);
  if (valid != 0 && valid < address.size_bits) {
    out.put(" (");
    out.dec(valid - 1);
    out.put(":0)");
  }
  if (update_bits != 0) {
    out.put(" ~[0x");
    out.hex_upper(address.value & low_mask(update_bits));
    out.put(']');
  }
}

/// See etmv4-ete.md 3.4.
void write_context(TextBuffer& out, const Context& context) {
  if (!context.updated) {
    out.put("Ctxt: Same");
    return;
  }
  out.put(context.sf ? "Ctxt: AArch64,EL" : "Ctxt: AArch32, EL");
  out.put(static_cast<char>('0' + (context.el & 3)));
  if (context.nse) {
    out.put(context.ns ? ", Realm; " : ", Root; ");
  } else {
    out.put(context.ns ? ", NS; " : ", S; ");
  }
  if (context.updated_context_id) {
    out.put("CID=0x");
    out.hex(context.context_id, 8);
    out.put("; ");
  }
  if (context.updated_vmid) {
    out.put("VMID=0x");
    out.hex(context.vmid, 4);
    out.put("; ");
  }
}

constexpr std::array<std::string_view, 16> kExceptionNames = {
    "PE Reset",   "Debug Halt", "Call",     "Trap",     "System Error", "Reserved",
    "Inst Debug", "Data Debug", "Reserved", "Reserved", "Alignment",    "Inst Fault",
    "Data Fault", "Reserved",   "IRQ",      "FIQ"};
constexpr std::array<std::string_view, 32> kMExceptionNames = {
    "Reserved", "PE Reset", "NMI",      "HardFault", "MemManage",   "BusFault",     "UsageFault",
    "Reserved", "Reserved", "Reserved", "Reserved",  "SVC",         "DebugMonitor", "Reserved",
    "PendSV",   "SysTick",  "IRQ0",     "IRQ1",      "IRQ2",        "IRQ3",         "IRQ4",
    "IRQ5",     "IRQ6",     "IRQ7",     "DebugHalt", "LazyFP Push", "Lockup",       "Reserved",
    "Reserved", "Reserved", "Reserved", "Reserved"};
constexpr unsigned kFirstMInterrupt = 0x208;
constexpr unsigned kLastMInterrupt = 0x3EF;

/// See etmv4-ete.md 3.6.
void write_exception(TextBuffer& out, const Packet& packet, const Config& config) {
  out.put(";  ");
  write_exception_name(out, packet.exception, config.core.profile);
  out.put(';');
  if (config.core.profile == isa::Profile::kM && packet.fault_pending) out.put(" Fault Pending;");
  if (packet.exception_address == ExceptionAddress::kReturnAddress) out.put(" Ret Addr Follows;");
  if (packet.exception_address == ExceptionAddress::kReturnIsTarget)
    out.put(" Ret Addr Follows, Match Prev;");
}

/// See etmv4-ete.md 3.5.
void write_trace_info(TextBuffer& out, const Packet& packet, const Config& config) {
  const std::uint32_t info = packet.trace_info.info & 0xFF;
  out.put("; INFO=0x");
  out.hex(info);
  out.put(bit<0>(info) ? " { CC.1" : " { CC.0");
  if ((config.version() & 0xF0) == 0x50) out.put(bit<6>(info) ? ", TSTATE.1" : ", TSTATE.0");
  out.put(" }");
  if (bit<0>(info)) {
    out.put("; CC_THRESHOLD=0x");
    out.hex(packet.cc_threshold);
  }
  if (!packet.trace_info.initial) return;
  if (packet.trace_info.has_spec) {
    out.put("; INIT SPEC DEPTH=");
    out.dec(packet.trace_info.spec_depth);
  }
  out.put("; Decoder Sync point TINFO");
}

void write_number(TextBuffer& out, std::string_view before, std::uint64_t value) {
  out.put(before);
  out.dec(value);
  out.put(')');
}

void write_hex(TextBuffer& out, std::string_view before, std::uint64_t value) {
  out.put(before);
  out.hex(value);
}

/// See etmv4-ete.md 3.7.
void write_q(TextBuffer& out, const Packet& packet) {
  if (packet.q.has_count) {
    write_number(out, "; Count(", packet.q.count);
  } else {
    out.put("; Count(Unknown)");
  }
  if (packet.q.is_match()) {
    out.put("; [");
    out.dec(packet.match_index);
    out.put(']');
  }
  if (!packet.q.has_address()) return;
  out.put("; Addr=");
  write_address(out, packet.address,
                packet.address.update_bits < 64 ? packet.address.update_bits : 0);
}

/// The atoms and the cancel count of a packet that has either, and that it is a misprediction.
void write_cancel(TextBuffer& out, const Packet& packet) {
  const bool format1 =
      packet.type == PacketType::kCancelF1 || packet.type == PacketType::kCancelF1Mispredict;
  out.put("; ");
  if (packet.atom_count != 0 && !format1) {
    out.put("Atom: ");
    const unsigned count = std::min<unsigned>(packet.atom_count, kMaxAtoms);
    write_atoms(out.grow(kMaxAtoms), packet.atoms, count);
    out.advance(count);
    out.put(", ");
  }
  if (packet.type != PacketType::kMispredict) {
    write_number(out, "Cancel(", packet.cancel);
    if (packet.type == PacketType::kCancelF1) return;
    out.put(", ");
  }
  out.put("Mispredict");
}

void write_packet_address(TextBuffer& out, const Packet& packet, Tail tail) {
  if (tail == Tail::kMatch) {
    out.put(", [");
    out.dec(packet.match_index);
    out.put(']');
  }
  out.put("; Addr=");
  const bool is_short = tail == Tail::kShortAddress;
  write_address(out, packet.address, is_short ? packet.address.update_bits : 0);
  if (!is_short) out.put("; ");
  if (tail == Tail::kAddressContext) write_context(out, packet.context);
}

void write_tail(TextBuffer& out, Tail tail, const Packet& packet, const Config& config) {
  switch (tail) {
    case Tail::kNone:
    case Tail::kAtoms:
      break;
    case Tail::kErrorType:
      out.put('[');
      out.put(packet_name(packet.error_type));
      out.put(']');
      break;
    case Tail::kTraceInfo:
      write_trace_info(out, packet, config);
      break;
    case Tail::kTimestamp:
      write_hex(out, "; Updated val = 0x", packet.timestamp);
      if (packet.has_count) write_hex(out, "; CC=0x", packet.cycle_count);
      break;
    case Tail::kException:
      write_exception(out, packet, config);
      break;
    case Tail::kInstrumentation:
      out.put("; EL");
      out.dec(packet.instrumentation.el);
      write_hex(out, "; Payload=0x", packet.instrumentation.payload);
      break;
    case Tail::kCycleCount:
      write_hex(out, "; Count=0x", packet.cycle_count);
      if (packet.has_commit) write_number(out, "; Commit(", packet.commit);
      break;
    case Tail::kCommit:
      write_number(out, "; Commit(", packet.commit);
      break;
    case Tail::kCancel:
      write_cancel(out, packet);
      break;
    case Tail::kContext:
      out.put("; ");
      write_context(out, packet.context);
      break;
    case Tail::kMatch:
    case Tail::kShortAddress:
    case Tail::kLongAddress:
    case Tail::kAddressContext:
      write_packet_address(out, packet, tail);
      break;
    case Tail::kQ:
      write_q(out, packet);
      break;
  }
}

}  // namespace

void write_packet(TextBuffer& out, const Packet& packet, const Config& config) {
  const Row& row = row_of(packet.type);
  if (row.tail == Tail::kAtoms) [[likely]] {
    write_atom_packet(out, row.text, packet);
    return;
  }
  out.put(row.text);
  write_tail(out, row.tail, packet, config);
}

void write_exception_name(TextBuffer& out, std::uint32_t number, isa::Profile profile) {
  if (profile != isa::Profile::kM) {
    out.put(number < kExceptionNames.size() ? kExceptionNames[number] : "Reserved");
  } else if (number >= kFirstMInterrupt && number <= kLastMInterrupt) {
    out.put("IRQ");
    out.dec(number - 0x200);
  } else {
    out.put(number < kMExceptionNames.size() ? kMExceptionNames[number] : "Reserved");
  }
}

std::string_view packet_name(PacketType type) { return name_of(row_of(type)); }

}  // namespace waymark::etmv4
