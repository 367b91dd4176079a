#include "waymark/stm/text.h"

#include <array>

#include "waymark/base/bits.h"

namespace waymark::stm {
namespace {

/// The text after the description of a packet.
enum class Tail : std::uint8_t {
  kNone,
  kErrorType,
  kVersion,
  kFrequency,
  kTrigger,
  kMaster,
  kChannel,
  kData,
  kId,
  kError,
};

struct Row {
  PacketType type;
  std::string_view name;
  std::string_view description;
  Tail tail = Tail::kNone;
  bool suffixes = false;  ///< The name has the suffixes M for a marker and TS for a timestamp.
};

constexpr Row kRows[] = {
    {PacketType::kNotSync, "NOTSYNC", "STM not synchronised"},
    {PacketType::kIncompleteEot, "INCOMPLETE_EOT", "Incomplete packet flushed at end of trace",
     Tail::kErrorType},
    {PacketType::kNoErrorType, "NO_ERR_TYPE", "No error in error packet marker"},
    {PacketType::kAsync, "ASYNC", "Alignment synchronisation packet"},
    {PacketType::kVersion, "VERSION", "Version packet", Tail::kVersion},
    {PacketType::kFreq, "FREQ", "Frequency packet", Tail::kFrequency, true},
    {PacketType::kNull, "NULL", "Null packet"},
    {PacketType::kTrig, "TRIG", "Trigger packet", Tail::kTrigger, true},
    {PacketType::kGerr, "GERR", "Global Error"},
    {PacketType::kMerr, "MERR", "Master Error"},
    {PacketType::kM8, "M8", "Set current master", Tail::kMaster},
    {PacketType::kC8, "C8", "Set current channel", Tail::kChannel},
    {PacketType::kC16, "C16", "Set current channel", Tail::kChannel},
    {PacketType::kFlag, "FLAG", "Flag packet", Tail::kNone, true},
    {PacketType::kD4, "D4", "4 bit data", Tail::kData, true},
    {PacketType::kD8, "D8", "8 bit data", Tail::kData, true},
    {PacketType::kD16, "D16", "16 bit data", Tail::kData, true},
    {PacketType::kD32, "D32", "32 bit data", Tail::kData, true},
    {PacketType::kD64, "D64", "64 bit data", Tail::kData, true},
    {PacketType::kBadSequence, "BAD_SEQUENCE", "Invalid sequence in packet", Tail::kErrorType},
    {PacketType::kReserved, "RESERVED", "Reserved Packet Header"},
    {PacketType::kM16, "M16", "Set current master", Tail::kMaster},
    {PacketType::kFreq40, "FREQ_40", "Frequency packet", Tail::kFrequency, true},
    {PacketType::kUser, "USER", "User data", Tail::kData, true},
    {PacketType::kXsync, "XSYNC", "Cross synchronisation packet", Tail::kId, true},
    {PacketType::kDip, "DIP", "DIP packet"},
    {PacketType::kCerr, "CERR", "Channel Error", Tail::kError},
    {PacketType::kTime, "TIME", "Time packet of unknown layout"},
    {PacketType::kPdid, "PDID", "Packet of unknown layout"},
};
static_assert(std::size(kRows) == kPacketTypeCount);
static_assert([] {
  for (std::size_t i = 0; i < kPacketTypeCount; ++i)
    if (kRows[i].type != static_cast<PacketType>(i)) return false;
  return true;
}());

const Row& row_of(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return kRows[number < kPacketTypeCount ? number : 0];
}

void write_name(TextBuffer& out, const Row& row, bool marker, bool timestamp) {
  out.put(row.name);
  if (!row.suffixes) return;
  if (marker) out.put('M');
  if (timestamp) out.put("TS");
}

void write_version(TextBuffer& out, const Packet& packet) {
  out.put("; Ver=");
  if (packet.payload_bits <= 4) {
    out.dec(packet.payload);
    return;
  }
  const auto byte = static_cast<unsigned>(packet.payload & 0xFF);
  out.dec(packet.payload >> 8);
  out.put("; STPv2.");
  out.dec((byte & 7) + 1);
  out.put((byte & 0x80) != 0 ? "; little endian" : "; big endian");
}

void write_tail(TextBuffer& out, const Packet& packet, Tail tail) {
  switch (tail) {
    case Tail::kNone:
      break;
    case Tail::kErrorType:
      if (packet.error_type == PacketType::kNoErrorType) break;
      out.put('[');
      write_name(out, row_of(packet.error_type), packet.marker, packet.has_timestamp);
      out.put(']');
      break;
    case Tail::kVersion:
      write_version(out, packet);
      break;
    case Tail::kFrequency:
      out.put("; Freq=");
      out.dec(packet.payload);
      out.put("Hz");
      break;
    case Tail::kTrigger:
      out.put("; TrigData=0x");
      out.hex(packet.payload, 2);
      break;
    case Tail::kMaster:
      out.put("; Master=0x");
      out.hex(packet.master, packet.type == PacketType::kM8 ? 2 : 4);
      break;
    case Tail::kChannel:
      out.put("; Chan=0x");
      out.hex(packet.channel, 4);
      break;
    case Tail::kData:
      out.put("; Data=0x");
      out.hex(packet.payload, packet.payload_bits / 4U);
      break;
    case Tail::kId:
      out.put("; Id=0x");
      out.hex(packet.payload, 2);
      break;
    case Tail::kError:
      out.put("; Code=0x");
      out.hex(packet.payload, 2);
      break;
  }
}

}  // namespace

std::string_view packet_name(PacketType type) { return row_of(type).name; }

void write_packet(TextBuffer& out, const Packet& packet) {
  const Row& row = row_of(packet.type);
  write_name(out, row, packet.marker, packet.has_timestamp);
  out.put(':');
  out.put(row.description);
  if (row.suffixes) {
    if (packet.marker) out.put(" + marker");
    if (packet.has_timestamp) out.put(" + timestamp");
  }
  write_tail(out, packet, row.tail);
  if (!packet.has_timestamp) return;
  if (lacks_time(packet)) {
    out.put("; TS=unknown");
    return;
  }
  out.put("; TS=0x");
  out.hex_upper(packet.timestamp, 16);
  if (packet.timestamp_bits == 0) return;
  out.put(" ~[0x");
  out.hex_upper(packet.timestamp & low_mask(packet.timestamp_bits));
  out.put(']');
}

}  // namespace waymark::stm
