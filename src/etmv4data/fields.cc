#include "waymark/etmv4data/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace waymark::etmv4data {
namespace {

constexpr bool always(const Packet& /*packet*/) { return true; }

constexpr Field kMarkerFields[] = {
    member_field<Packet, &Packet::marker>("marker", FieldKind::kDecimal, 3)};
constexpr Field kTimestampFields[] = {
    member_field<Packet, &Packet::timestamp>("timestamp", FieldKind::kHex, 64),
    {"bits", FieldKind::kDecimal, 7,
     [](const Packet& p) { return std::uint64_t{p.timestamp_bits}; },
     [](Packet& p, std::uint64_t v) { p.timestamp_bits = static_cast<std::uint8_t>(v); },
     [](const Packet& p) { return p.timestamp_bits != 0; }}};
constexpr Field kErrorFields[] = {
    {"error_type", FieldKind::kWord, 16,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.error_type); }, nullptr, always,
     [](std::uint64_t v) { return packet_keyword(static_cast<PacketType>(v)); }}};

struct Row {
  PacketType type;
  std::string_view keyword;
  std::span<const Field> fields;
};

constexpr std::size_t kEncoded = 7;
/// The first rows can be encoded.
constexpr Row kRows[] = {
    {PacketType::kAsync, "async", {}},
    {PacketType::kDiscard, "discard", {}},
    {PacketType::kOverflow, "overflow", {}},
    {PacketType::kUnnumberedMarker, "marker_unnumbered", {}},
    {PacketType::kNumberedMarker, "marker_numbered", kMarkerFields},
    {PacketType::kSuppression, "suppression", {}},
    {PacketType::kTimestamp, "timestamp", kTimestampFields},
    {PacketType::kTraceInfo, "trace_info", {}},
    {PacketType::kEvent, "event", {}},
    {PacketType::kAddressF1, "address_f1", {}},
    {PacketType::kAddressF2, "address_f2", {}},
    {PacketType::kAddressF3, "address_f3", {}},
    {PacketType::kAddressF4, "address_f4", {}},
    {PacketType::kAddressF5, "address_f5", {}},
    {PacketType::kAddressF6, "address_f6", {}},
    {PacketType::kAddressF7, "address_f7", {}},
    {PacketType::kValueF1, "value_f1", {}},
    {PacketType::kValueF2, "value_f2", {}},
    {PacketType::kValueF3, "value_f3", {}},
    {PacketType::kValueF4, "value_f4", {}},
    {PacketType::kValueF5, "value_f5", {}},
    {PacketType::kValueF6, "value_f6", {}},
    {PacketType::kNotSync, "not_sync", {}},
    {PacketType::kIncompleteEot, "incomplete_eot", kErrorFields},
    {PacketType::kBadSequence, "bad_sequence", kErrorFields},
    {PacketType::kReserved, "reserved", {}},
    {PacketType::kUnknown, "unknown", kErrorFields},
};

const Row* row_of(PacketType type) {
  const auto* row = std::ranges::find(kRows, type, &Row::type);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::span<const Field> fields_of(PacketType type) {
  const Row* row = row_of(type);
  return row != nullptr ? row->fields : std::span<const Field>{};
}

std::string_view packet_keyword(PacketType type) {
  const Row* row = row_of(type);
  return row != nullptr ? row->keyword : "none";
}

Result<Packet> packet_of_keyword(std::string_view keyword) {
  for (const Row& row : std::span(kRows).first(kEncoded)) {
    if (row.keyword != keyword) continue;
    Packet packet;
    packet.type = row.type;
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::etmv4data
