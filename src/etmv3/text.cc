#include "waymark/etmv3/text.h"

#include <algorithm>
#include <array>

namespace waymark::etmv3 {
namespace {

using isa::Isa;

struct Words {
  std::string_view name;
  std::string_view description;
};

// Indexed by packet type.
constexpr std::array<Words, kPacketTypeCount> kWords = {{
    {"I_RESERVED", "Reserved Packet Header"},
    {"NOTSYNC", "Trace Stream not synchronised"},
    {"INCOMPLETE_EOT", "Incomplete packet at end of trace."},
    {"BRANCH_ADDRESS", "Branch address."},
    {"A_SYNC", "Alignment Synchronisation."},
    {"CYCLE_COUNT", "Cycle Count."},
    {"I_SYNC", "Instruction Packet synchronisation."},
    {"I_SYNC_CYCLE", "Instruction Packet synchronisation with cycle count."},
    {"TRIGGER", "Trace Trigger Event."},
    {"P_HDR", "Atom P-header."},
    {"STORE_FAIL", "Data Store Failed."},
    {"OOO_DATA", "Out of Order data value packet."},
    {"OOO_ADDR_PLC", "Out of Order data address placeholder."},
    {"NORM_DATA", "Data trace packet."},
    {"DATA_SUPPRESSED", "Data trace suppressed."},
    {"VAL_NOT_TRACED", "Data trace value not traced."},
    {"IGNORE", "Packet ignored."},
    {"CONTEXT_ID", "Context ID change."},
    {"VMID", "VMID change."},
    {"EXCEPTION_ENTRY", "Exception entry data marker."},
    {"EXCEPTION_EXIT", "Exception return."},
    {"TIMESTAMP", "Timestamp Value."},
    {"BRANCH_OR_BYPASS_EOT", ""},
    {"BAD_SEQUENCE", "Invalid sequence for packet type."},
    {"BAD_TRACEMODE", "Invalid packet type for this trace mode."},
    {"I_RESERVED", "Reserved Packet Header"},
}};

constexpr std::string_view kExceptions[] = {
    "No Exception",     "Debug Halt",      "SMC",      "Hyp",
    "Async Data Abort", "Jazelle",         "Reserved", "Reserved",
    "PE Reset",         "Undefined Instr", "SVC",      "Prefetch Abort",
    "Data Fault",       "Generic",         "IRQ",      "FIQ"};

// Those of v7-M; empty for the interrupts.
constexpr std::string_view kExceptionsM[] = {"No Exception",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "usage Fault",
                                             "NMI",
                                             "SVC",
                                             "DebugMonitor",
                                             "Mem Manage",
                                             "PendSV",
                                             "SysTick",
                                             "Reserved",
                                             "PE Reset",
                                             "Reserved",
                                             "HardFault",
                                             "Reserved",
                                             "BusFault",
                                             "Reserved",
                                             "Reserved"};

constexpr std::string_view kReasons[] = {"Periodic", "Trace Enable", "Restart Overflow",
                                         "Debug Exit"};

std::string_view isa_words(Isa isa) {
  switch (isa) {
    case Isa::kA32:
      return "ARM(32)";
    case Isa::kT32:
      return "Thumb2";
    case Isa::kA64:
      return "AArch64";
    case Isa::kThumbEE:
      return "ThumbEE";
    case Isa::kJazelle:
      return "Jazelle";
    default:
      return "Unknown";
  }
}

/// Unknown digits are '?'; etmv3.md 5.5.
void write_address(TextBuffer& out, const Address& address) {
  const unsigned digits = (address.valid_bits + 3U) / 4;
  out.put("0x");
  for (unsigned i = digits; i < 8; ++i) out.put('?');
  out.hex_upper(address.value, std::max(digits, 1U));
  if (address.valid_bits < 32) {
    out.put(" (");
    if (address.valid_bits == 0) {
      out.put("-1");
    } else {
      out.dec(address.valid_bits - 1U);
    }
    out.put(":0)");
  }
  if (address.update_bits != 0) {
    out.put(" ~[0x");
    out.hex_upper(address.value & low_mask(address.update_bits));
    out.put(']');
  }
}

void write_isa(TextBuffer& out, Isa isa) {
  out.put("ISA=");
  out.put(isa_words(isa));
  out.put("; ");
}

void write_branch(TextBuffer& out, const Packet& packet, const Config& config) {
  const Exception& exception = packet.exception;
  out.put("; Addr=");
  write_address(out, packet.address);
  out.put("; ");
  if (packet.isa != packet.previous_isa) write_isa(out, packet.isa);
  if (!exception.present) return;
  if (!exception.deprecated) {
    out.put(packet.context.ns ? "NS; " : "S; ");
    if (packet.context.hyp) out.put("Hyp; ");
  }
  out.put("Exception=");
  write_exception_name(out, exception.number, config.v7m() ? isa::Profile::kM : isa::Profile::kA);
  if (!config.v7m()) {
    out.put("; ");
  } else if (exception.resume != 0) {
    out.put("; Resume=");
    out.dec(exception.resume);
  }
  if (exception.cancel) out.put("; Cancel prev instr");
}

void write_isync(TextBuffer& out, const Packet& packet) {
  out.put("; (");
  out.put(kReasons[static_cast<std::size_t>(packet.reason) & 3]);
  out.put("); ");
  if (!packet.no_address) {
    if (packet.lsip) {
      out.put("Data Instr Addr=0x");
      out.hex(packet.data_instruction, 8);
      out.put("; Curr Instr ");
    }
    out.put("Addr=0x");
    out.hex(packet.address.value, 8);
    out.put("; ");
  }
  out.put(packet.context.ns ? "NS; " : "S; ");
  out.put(packet.context.hyp ? "Hyp; " : " ");
  if (packet.context.updated_context_id) {
    out.put("CtxtID=");
    out.hex(packet.context.context_id);
    out.put("; ");
  }
  if (packet.no_address) return;
  write_isa(out, packet.isa);
  if (packet.has_cycle_count) {
    out.put("Cycles=");
    out.dec(packet.cycle_count);
    out.put("; ");
  }
}

void write_p_header(TextBuffer& out, const Packet& packet) {
  out.put("; ");
  const auto atom = [&](unsigned i) { out.put((packet.atoms >> i & 1) != 0 ? 'E' : 'N'); };
  const bool boundaries = packet.cycle_count != 0 && packet.format != 1 && packet.format != 2;
  if (boundaries) {
    for (std::uint32_t i = 0; i < packet.cycle_count; ++i) out.put('W');
  }
  for (unsigned i = 0; i < packet.atom_count; ++i) {
    const bool boundary = packet.cycle_count != 0 && !boundaries && (packet.format == 1 || i == 0);
    if (boundary) out.put('W');
    atom(i);
  }
  if (packet.cycle_count == 0) return;
  out.put("; Cycles=");
  out.dec(packet.cycle_count);
}

void write_value(TextBuffer& out, const Transfer& transfer) {
  out.put("; Val=0x");
  out.hex(transfer.value);
}

void write_transfer(TextBuffer& out, const Packet& packet) {
  const Transfer& transfer = packet.transfer;
  if (transfer.has_address) {
    out.put("; Addr=");
    write_address(out, transfer.address);
  }
  switch (packet.type) {
    case PacketType::kNormData:
      if (transfer.has_value) write_value(out, transfer);
      return;
    case PacketType::kOooData:
      write_value(out, transfer);
      [[fallthrough]];
    case PacketType::kOooAddress:
      out.put("; OO_Tag=0x");
      out.hex(transfer.tag);
      return;
    default:
      return;
  }
}

}  // namespace

std::string_view packet_name(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kWords.size() ? kWords[number].name : kWords[0].name;
}

void write_exception_name(TextBuffer& out, std::uint32_t number, isa::Profile profile) {
  if (profile != isa::Profile::kM) {
    out.put(kExceptions[number & 15]);
    return;
  }
  if (number < std::size(kExceptionsM) && !kExceptionsM[number].empty()) {
    out.put(kExceptionsM[number]);
    return;
  }
  out.put("IRQ");
  out.dec(number == 8 ? 0 : number < 8 ? number : number - 16);
}

void write_packet(TextBuffer& out, const Packet& packet, const Config& config,
                  const ParserQuirks& quirks) {
  const auto number = static_cast<std::size_t>(packet.type);
  const Words& words = kWords[number < kWords.size() ? number : 0];
  out.put(words.name);
  out.put(" : ");
  out.put(words.description);
  switch (packet.type) {
    case PacketType::kBranchAddress:
      write_branch(out, packet, config);
      break;
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      write_isync(out, packet);
      break;
    case PacketType::kPHeader:
      write_p_header(out, packet);
      break;
    case PacketType::kCycleCount:
      out.put("; Cycles=");
      out.dec(packet.cycle_count);
      break;
    case PacketType::kContextId:
      out.put("; CtxtID=0x");
      out.hex(packet.context.context_id);
      break;
    case PacketType::kVmid:
      out.put("; VMID=0x");
      if (quirks.vmid_is_character) {
        out.put(static_cast<char>(packet.context.vmid));
      } else {
        out.hex(packet.context.vmid);
      }
      break;
    case PacketType::kTimestamp:
      out.put("; TS=0x");
      out.hex(packet.timestamp);
      out.put(" (");
      out.dec(packet.timestamp);
      out.put(") ");
      break;
    case PacketType::kOooData:
    case PacketType::kOooAddress:
    case PacketType::kNormData:
    case PacketType::kValueNotTraced:
      write_transfer(out, packet);
      break;
    case PacketType::kBadSequence:
    case PacketType::kBadTraceMode:
    case PacketType::kIncompleteEot:
      out.put('[');
      out.put(packet_name(packet.error_type));
      out.put(']');
      break;
    default:
      break;
  }
}

}  // namespace waymark::etmv3
