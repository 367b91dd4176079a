#include "waymark/etmv4data/text.h"

#include <algorithm>

namespace waymark::etmv4data {
namespace {

struct Row {
  PacketType type;
  std::string_view name;
  std::string_view description;
};

constexpr Row kRows[] = {
    {PacketType::kUnnumberedMarker, "D_UNNUM_DS_MKR", "Data Synchronisation Marker - Unnumbered."},
    {PacketType::kTimestamp, "D_TIMESTAMP", "Timestamp."},
    {PacketType::kSuppression, "D_SUPPRESSION", "Data Suppressed."},
    {PacketType::kEvent, "D_EVENT", "Trace Event."},
    {PacketType::kValueF1, "D_P2_F1", "Data Value, format 1."},
    {PacketType::kValueF2, "D_P2_F2", "Data Value, format 2."},
    {PacketType::kValueF3, "D_P2_F3", "Data Value, format 3."},
    {PacketType::kValueF4, "D_P2_F4", "Data Value, format 4."},
    {PacketType::kValueF5, "D_P2_F5", "Data Value, format 5."},
    {PacketType::kValueF6, "D_P2_F6", "Data Value, format 6."},
    {PacketType::kAddressF1, "D_P1_F1", "Data Address, format 1."},
    {PacketType::kAddressF2, "D_P1_F2", "Data Address, format 2."},
    {PacketType::kAddressF3, "D_P1_F3", "Data Address, format 3."},
    {PacketType::kAddressF4, "D_P1_F4", "Data Address, format 4."},
    {PacketType::kAddressF5, "D_P1_F5", "Data Address, format 5."},
    {PacketType::kAddressF6, "D_P1_F6", "Data Address, format 6."},
    {PacketType::kAddressF7, "D_P1_F7", "Data Address, format 7."},
    {PacketType::kAsync, "D_ASYNC", "Alignment Synchronisation."},
    {PacketType::kTraceInfo, "D_TRACE_INFO", "Trace Info."},
    {PacketType::kDiscard, "D_DISCARD", "Discard."},
    {PacketType::kOverflow, "D_OVERFLOW", "Overflow."},
    {PacketType::kNumberedMarker, "D_NUM_DS_MKR", "Data Synchronisation Marker - Numbered."},
    {PacketType::kNotSync, "D_NOT_SYNC", "D Stream not synchronised"},
    {PacketType::kBadSequence, "D_BAD_SEQUENCE", "Invalid Sequence in packet."},
    {PacketType::kReserved, "D_RESERVED", "Reserved Packet Header"},
    {PacketType::kIncompleteEot, "D_INCOMPLETE_EOT", "Incomplete packet at end of trace."},
    {PacketType::kNoErrorType, "D_NO_ERR_TYPE", "No Error Type."},
    {PacketType::kUnknown, "D_UNKNOWN", "Packets of unknown layout."},
};
constexpr Row kOther = {PacketType::kNoErrorType, "D_OTHER", "Unknown Packet Header"};

const Row& row_of(PacketType type) {
  const auto* row = std::ranges::find(kRows, type, &Row::type);
  return row == std::end(kRows) ? kOther : *row;
}

}  // namespace

std::string_view packet_name(PacketType type) { return row_of(type).name; }

std::optional<PacketType> packet_of_name(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows)) return std::nullopt;
  return row->type;
}

void write_packet(TextBuffer& out, const Packet& packet) {
  const Row& row = row_of(packet.type);
  out.put(row.name);
  out.put(" : ");
  out.put(row.description);
  if (packet.error_type != PacketType::kNoErrorType) {
    out.put('[');
    out.put(packet_name(packet.error_type));
    out.put(']');
  }
  if (packet.type == PacketType::kUnknown) {
    out.put(packet.continues ? "; continued, " : "; ");
    out.dec(packet.length);
    out.put(packet.length == 1 ? " byte" : " bytes");
  } else if (packet.type == PacketType::kNumberedMarker) {
    out.put("; ");
    out.dec(packet.marker);
  } else if (packet.type == PacketType::kTimestamp) {
    out.put("; Updated val = 0x");
    out.hex(packet.timestamp);
  }
}

}  // namespace waymark::etmv4data
