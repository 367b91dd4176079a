#include "waymark/itm/text.h"

#include <algorithm>
#include <array>

#include "waymark/base/bits.h"
#include "waymark/element/dwt.h"

namespace waymark::itm {
namespace {

struct Row {
  std::string_view name;
  std::string_view description;
};

constexpr std::array<Row, kPacketTypeCount> kRows = {{
    {"ITM_NOTSYNC", "ITM data stream not synchronised"},
    {"ITM_INCOMPLETE_EOT", "Incomplete packet flushed at end of trace"},
    {"ITM_NO_ERR_TYPE", "No error type"},
    {"ITM_ASYNC", "Alignment synchronisation packet"},
    {"ITM_OVERFLOW", "ITM overflow packet"},
    {"ITM_SWIT", "Software Stimulus write packet"},
    {"ITM_DWT", "DWT hardware stimulus write"},
    {"ITM_TS_LOCAL", "Local Timestamp"},
    {"ITM_GTS_1", "Global Timestamp [25:0]"},
    {"ITM_GTS_2", "Global Timestamp [{63|42}:26]"},
    {"ITM_EXTENSION", "Extension packet"},
    {"ITM_BAD_SEQUENCE", "Invalid sequence in packet"},
    {"ITM_RESERVED", "Reserved Packet Header"},
}};

constexpr std::array<std::string_view, 4> kDelays = {" { TS Sync }", " { TS Delayed }",
                                                     " { TS Sync, Packet Delayed }",
                                                     " { TS Delayed, Packet Delayed }"};
constexpr std::array<std::string_view, 5> kLowerBits = {"6", "6", "13", "20", "25"};
constexpr std::array<std::string_view, 6> kCounters = {"CPI", "EXC", "Sleep", "LSU", "Fold", "CYC"};
constexpr std::array<std::string_view, 4> kActions = {"reserved", "entered", "exited",
                                                      "returned to"};

void write_value(TextBuffer& out, std::uint64_t value, unsigned bytes) {
  out.put("0x");
  out.hex(value, 2 * bytes);
}

void write_data_trace(TextBuffer& out, const Packet& packet, const DwtEvent& event) {
  out.put("[Data Trc: comp=");
  out.dec(event.comparator);
  switch (event.kind) {
    case DwtKind::kDataAddress:
      out.put("; Address=");
      break;
    case DwtKind::kDataRead:
      out.put("; Val read: ");
      break;
    case DwtKind::kDataWrite:
      out.put("; Val write: ");
      break;
    default:
      out.put("; PC Value=");
      break;
  }
  write_value(out, event.value, packet.size);
  // See stm-itm.md 13: values lack the blank.
  out.put(event.kind == DwtKind::kDataRead || event.kind == DwtKind::kDataWrite ? "] " : " ] ");
}

void write_hardware(TextBuffer& out, const Packet& packet, const Quirks& quirks) {
  out.put("{desc: 0x");
  out.hex(packet.source, 2);
  out.put("} ");
  const DwtEvent event =
      dwt_event(packet.source, packet.size, static_cast<std::uint32_t>(packet.value));
  switch (event.kind) {
    case DwtKind::kEventCounters:
      out.put("[Event Counter: 0x");
      out.hex(event.value, 2);
      out.put("; Flags: ");
      for (std::size_t i = 0; i < kCounters.size(); ++i) {
        out.put(' ');
        out.put((event.value >> i & 1) != 0 ? kCounters[i] : std::string_view("---"));
        out.put(' ');
      }
      out.put("] ");
      return;
    case DwtKind::kException:
      out.put("[Exception Num:  0x");
      out.hex(event.exception, 4);
      out.put('(');
      out.put(kActions[static_cast<std::size_t>(event.action)]);
      out.put(") ]");
      return;
    case DwtKind::kPcSample:
    case DwtKind::kSleeping:
    case DwtKind::kNoSample:
      out.put("[PC Sample: ");
      write_value(out, event.value, packet.size);
      out.put("] ");
      return;
    case DwtKind::kDataPc:
    case DwtKind::kDataMatch:
    case DwtKind::kDataAddress:
    case DwtKind::kDataRead:
    case DwtKind::kDataWrite:
      write_data_trace(out, packet, event);
      return;
    case DwtKind::kPmuOverflow:
      if (quirks.pmu_overflow_reserved) break;
      out.put("[PMU Overflow: 0x");
      out.hex(event.value, 2);
      out.put("] ");
      return;
    case DwtKind::kReserved:
      if (packet.source != 2) break;
      // A sample without a meaning is still listed as a sample.
      out.put("[PC Sample: ");
      write_value(out, event.value, packet.size);
      out.put("] ");
      return;
  }
  out.put("[Reserved discriminator value] ");
}

void write_global_low(TextBuffer& out, const Packet& packet) {
  out.put("{ TS bits [");
  out.put(kLowerBits[std::min<std::size_t>(packet.size, 4)]);
  out.put(":0]");
  if ((packet.source & kClockChange) != 0) out.put(", Clk change");
  if ((packet.source & kClockWrap) != 0) out.put(", Clk wrap");
  out.put("} ");
  write_value(out, packet.value, packet.size);
}

void write_global_high(TextBuffer& out, const Packet& packet) {
  out.put(packet.size >= 5 ? "{ TS bits [63:26]} " : "{ TS bits [47:26]} ");
  write_value(out, packet.value & low_mask(40), std::min<unsigned>(packet.size, 5));
}

void write_extension(TextBuffer& out, const Packet& packet) {
  if (is_page(packet)) {
    out.put("{stim port page} 0x");
    out.hex(packet.value, 2);
    return;
  }
  const unsigned bits = (packet.source & kExtensionTopBit) + 1U;
  out.put("{unknown extension type, ");
  out.dec(bits);
  out.put(" bits } 0x");
  out.hex(packet.value, bits / 4 + 1);
}

void write_extra(TextBuffer& out, const Packet& packet, const Quirks& quirks) {
  switch (packet.type) {
    case PacketType::kIncompleteEot:
    case PacketType::kBadSequence:
      out.put("[Init type: ");
      out.put(packet_name(packet.error_type));
      out.put("] ");
      return;
    case PacketType::kSoftware:
      out.put("{src id: 0x");
      out.hex(packet.source, 2);
      out.put("}  ");
      write_value(out, packet.value, packet.size);
      return;
    case PacketType::kHardware:
      write_hardware(out, packet, quirks);
      return;
    case PacketType::kLocalTimestamp:
      write_value(out, packet.value, std::max<unsigned>(packet.size, 1));
      out.put(kDelays[packet.source & 3]);
      return;
    case PacketType::kGlobalTimestamp1:
      write_global_low(out, packet);
      return;
    case PacketType::kGlobalTimestamp2:
      write_global_high(out, packet);
      return;
    case PacketType::kExtension:
      write_extension(out, packet);
      return;
    case PacketType::kNotSync:
    case PacketType::kNoErrorType:
    case PacketType::kAsync:
    case PacketType::kOverflow:
    case PacketType::kReserved:
      return;
  }
}

}  // namespace

std::string_view packet_name(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kRows.size() ? kRows[number].name : std::string_view("ITM_UNKNOWN");
}

void write_packet(TextBuffer& out, const Packet& packet, const Quirks& quirks) {
  out.put(packet_name(packet.type));
  out.put(": ");
  write_extra(out, packet, quirks);
  out.put("; '");
  const auto number = static_cast<std::size_t>(packet.type);
  if (number < kRows.size()) out.put(kRows[number].description);
  out.put('\'');
}

}  // namespace waymark::itm
