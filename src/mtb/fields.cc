#include "waymark/mtb/fields.h"

#include <fmt/format.h>

#include <array>

namespace waymark::mtb {
namespace {

template <auto Member>
constexpr Field member(std::string_view name, FieldKind kind, std::uint8_t width) {
  return member_field<Packet, Member>(name, kind, width);
}

constexpr Field kDestination = member<&Packet::destination>("destination", FieldKind::kHex, 32);
constexpr Field kStart = member<&Packet::start>("start", FieldKind::kFlag, 1);

constexpr Field kBranchFields[] = {member<&Packet::source>("source", FieldKind::kHex, 32),
                                   kDestination, kStart};
constexpr Field kExceptionFields[] = {
    member<&Packet::source>("return_address", FieldKind::kHex, 32), kDestination, kStart};
constexpr Field kReturnFields[] = {member<&Packet::source>("value", FieldKind::kHex, 32),
                                   kDestination, kStart};
constexpr Field kUnusedFields[] = {member<&Packet::ones>("ones", FieldKind::kFlag, 1)};

struct Row {
  std::string_view keyword;
  std::span<const Field> fields{};
};

/// By type.
constexpr std::array<Row, 6> kRows = {{{"branch", kBranchFields},
                                       {"exception", kExceptionFields},
                                       {"exception_return", kReturnFields},
                                       {"function_return", kReturnFields},
                                       {"unused", kUnusedFields},
                                       {"incomplete_eot"}}};

}  // namespace

std::span<const Field> fields_of(PacketType type) {
  return kRows[static_cast<std::size_t>(type)].fields;
}

std::string_view packet_keyword(PacketType type) {
  return kRows[static_cast<std::size_t>(type)].keyword;
}

Result<Packet> packet_of_keyword(std::string_view keyword) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(PacketType::kUnused); ++i) {
    if (kRows[i].keyword != keyword) continue;
    Packet packet;
    packet.type = static_cast<PacketType>(i);
    // The usual values: a return to Thread mode, and the only one.
    if (packet.type == PacketType::kExceptionReturn) packet.source = 0xFFFF'FFF9;
    if (packet.type == PacketType::kFunctionReturn) packet.source = 0xFEFF'FFFF;
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::mtb
