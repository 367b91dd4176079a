#include "waymark/ptm/text.h"

#include <array>

#include "waymark/base/bits.h"

namespace waymark::ptm {
namespace {

struct Wording {
  PacketType type;
  std::string_view name;
  std::string_view description;
};

// See ptm.md 6.4.
constexpr Wording kWordings[] = {
    {PacketType::kNotSync, "NOTSYNC", "PTM Not Synchronised"},
    {PacketType::kIncompleteEot, "INCOMPLETE_EOT", "Incomplete packet flushed at end of trace"},
    {PacketType::kBranchAddress, "BRANCH_ADDRESS", "Branch address packet"},
    {PacketType::kAsync, "ASYNC", "Alignment Synchronisation Packet"},
    {PacketType::kIsync, "ISYNC", "Instruction Synchronisation packet"},
    {PacketType::kTrigger, "TRIGGER", "Trigger Event packet"},
    {PacketType::kWaypointUpdate, "WP_UPDATE", "Waypoint update packet"},
    {PacketType::kIgnore, "IGNORE", "Ignore packet"},
    {PacketType::kContextId, "CTXTID", "Context ID packet"},
    {PacketType::kVmid, "VMID", "VM ID packet"},
    {PacketType::kAtom, "ATOM", "Atom packet"},
    {PacketType::kTimestamp, "TIMESTAMP", "Timestamp packet"},
    {PacketType::kExceptionReturn, "ERET", "Exception return packet"},
    {PacketType::kBadSequence, "BAD_SEQUENCE", "Invalid sequence in packet"},
    {PacketType::kReserved, "RESERVED", "Reserved Packet Header"},
};

const Wording* wording_of(PacketType type) {
  for (const Wording& wording : kWordings)
    if (wording.type == type) return &wording;
  return nullptr;
}

// See ptm.md 5.4.
constexpr std::array<std::string_view, 16> kExceptions = {
    "No Exception",     "Debug Halt",      "SMC",      "Hyp",
    "Async Data Abort", "Jazelle",         "Reserved", "Reserved",
    "PE Reset",         "Undefined Instr", "SVC",      "Prefetch Abort",
    "Data Fault",       "Generic",         "IRQ",      "FIQ"};

constexpr std::array<std::string_view, 7> kIsas = {"ARM(32)", "Thumb2",  "AArch64", "ThumbEE",
                                                   "Jazelle", "Unknown", "Unknown"};

constexpr std::array<std::string_view, 4> kReasons = {"Periodic", "Trace Enable",
                                                      "Restart Overflow", "Debug Exit"};

// '?' for every digit that is completely unknown, then the others.  See etmv3.md 5.5.
void write_address(TextBuffer& out, const Address& address) {
  out.put("Addr=0x");
  const unsigned digits = (address.valid_bits + 3U) / 4;
  for (unsigned i = digits; i < 8; ++i) out.put('?');
  if (digits != 0) out.hex_upper(address.value & low_mask(digits * 4), digits);
  if (address.valid_bits < 32) {
    out.put(" (");
    out.dec(address.valid_bits == 0 ? 0U : address.valid_bits - 1U);
    out.put(":0)");
  }
  if (address.update_bits != 0) {
    out.put(" ~[0x");
    out.hex_upper(address.value & low_mask(address.update_bits));
    out.put(']');
  }
  out.put("; ");
}

void write_cycles(TextBuffer& out, const Packet& packet) {
  if (!packet.has_cycle_count) return;
  out.put("Cycles=");
  out.dec(packet.cycle_count);
  out.put("; ");
}

void write_flow(TextBuffer& out, const Packet& packet) {
  write_address(out, packet.address);
  if (packet.isa_changed) {
    out.put("ISA=");
    out.put(isa_text(packet.isa));
    out.put("; ");
  }
}

void write_branch(TextBuffer& out, const Packet& packet) {
  write_flow(out, packet);
  if (packet.info_bytes != 0) {
    out.put(packet.context.ns ? "NS; " : "S; ");
    if (packet.context.hyp) out.put("Hyp; ");
    out.put("Excep=");
    out.put(exception_name(packet.exception));
    out.put(" [");
    out.hex(packet.exception, 2);
    out.put("]; ");
  }
  write_cycles(out, packet);
}

void write_isync(TextBuffer& out, const Packet& packet) {
  out.put('(');
  out.put(reason_text(packet.reason));
  out.put("); Addr=0x");
  out.hex(packet.address.value, 8);
  out.put(packet.context.ns ? "; NS; " : "; S; ");
  out.put(packet.context.hyp ? "Hyp; " : " ");
  if (packet.context.updated_context_id) {
    out.put("CtxtID=");
    out.hex(packet.context.context_id, 8);
    out.put("; ");
  }
  out.put("ISA=");
  out.put(isa_text(packet.isa));
  out.put("; ");
  write_cycles(out, packet);
}

void write_timestamp(TextBuffer& out, const Packet& packet) {
  out.put("TS=0x");
  out.hex_upper(packet.timestamp, 16);
  out.put(" ~[0x");
  out.hex_upper(packet.timestamp & low_mask(packet.timestamp_bits));
  out.put("](");
  out.dec(packet.timestamp);
  out.put("); ");
  write_cycles(out, packet);
}

}  // namespace

std::string_view packet_name(PacketType type) {
  const Wording* wording = wording_of(type);
  return wording != nullptr ? wording->name : "UNKNOWN";
}

std::string_view exception_name(std::uint32_t number) {
  return number < kExceptions.size() ? kExceptions[number] : "Unknown";
}

std::string_view isa_text(isa::Isa isa) {
  const auto number = static_cast<std::size_t>(isa);
  return number < kIsas.size() ? kIsas[number] : kIsas.back();
}

std::string_view reason_text(IsyncReason reason) {
  return kReasons[static_cast<std::size_t>(reason) & 3];
}

void write_packet(TextBuffer& out, const Packet& packet, const Quirks& quirks) {
  const Wording* wording = wording_of(packet.type);
  if (wording == nullptr) {
    out.put("UNKNOWN : Unknown packet type; ");
    return;
  }
  out.put(wording->name);
  out.put(" : ");
  out.put(wording->description);
  out.put("; ");
  switch (packet.type) {
    case PacketType::kBranchAddress:
      write_branch(out, packet);
      break;
    case PacketType::kWaypointUpdate:
      write_flow(out, packet);
      break;
    case PacketType::kIsync:
      write_isync(out, packet);
      break;
    case PacketType::kContextId:
      out.put("CtxtID=0x");
      out.hex(packet.context.context_id, 8);
      out.put("; ");
      break;
    case PacketType::kVmid:
      out.put("VMID=0x");
      if (quirks.vmid_as_character) {
        out.put('0');
        out.put(static_cast<char>(packet.context.vmid));
      } else {
        out.hex(packet.context.vmid, 2);
      }
      out.put("; ");
      break;
    case PacketType::kAtom:
      for (unsigned i = 0; i < packet.atom_count; ++i)
        out.put((packet.atoms >> i & 1) != 0 ? 'E' : 'N');
      out.put("; ");
      write_cycles(out, packet);
      break;
    case PacketType::kTimestamp:
      write_timestamp(out, packet);
      break;
    case PacketType::kBadSequence:
      out.put('[');
      out.put(packet_name(packet.error_type));
      out.put("]; ");
      break;
    default:
      break;
  }
}

}  // namespace waymark::ptm
