#include "fields.h"

#include <algorithm>

namespace waymark::toy {
namespace {

constexpr Field kTimeFields[] = {
    member_field<Packet, &Packet::value>("time", FieldKind::kDecimal, 14)};
constexpr Field kEventFields[] = {
    member_field<Packet, &Packet::number>("number", FieldKind::kDecimal, 4)};
constexpr Field kValueFields[] = {
    member_field<Packet, &Packet::number>("channel", FieldKind::kDecimal, 5),
    member_field<Packet, &Packet::value>("value", FieldKind::kHex, 14)};

struct Row {
  PacketType type;
  std::string_view name;
  std::span<const Field> fields{};
};

constexpr Row kRows[] = {
    {PacketType::kNotSync, "TOY_NOTSYNC"},
    {PacketType::kIncompleteEot, "TOY_INCOMPLETE_EOT"},
    {PacketType::kBadSequence, "TOY_BAD_SEQUENCE"},
    {PacketType::kReserved, "TOY_RESERVED"},
    {PacketType::kSync, "TOY_SYNC"},
    {PacketType::kTime, "TOY_TIME", kTimeFields},
    {PacketType::kEvent, "TOY_EVENT", kEventFields},
    {PacketType::kValue, "TOY_VALUE", kValueFields},
};

const Row& row_of(PacketType type) { return *std::ranges::find(kRows, type, &Row::type); }

}  // namespace

std::span<const Field> fields_of(PacketType type) { return row_of(type).fields; }

std::string_view packet_name(PacketType type) { return row_of(type).name; }

void write_packet(TextBuffer& out, const Packet& packet) {
  out.put(packet_name(packet.type));
  char before = ':';
  for_each_field<Packet>(fields_of(packet.type), packet, [&](const FieldValue& field) {
    if (before == ':') out.put(" :");
    before = ' ';
    out.put(' ');
    out.put(field.name);
    out.put('=');
    write_field(out, field);
  });
}

}  // namespace waymark::toy
