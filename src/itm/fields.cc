#include "waymark/itm/fields.h"

#include <fmt/format.h>

#include <array>

namespace waymark::itm {
namespace {

constexpr bool always(const Packet& /*packet*/) { return true; }

template <auto Member>
constexpr Field member(std::string_view name, FieldKind kind, std::uint8_t width) {
  return member_field<Packet, Member>(name, kind, width);
}

template <std::uint8_t Bit>
constexpr Field source_flag(std::string_view name) {
  return {name,
          FieldKind::kFlag,
          1,
          [](const Packet& p) { return std::uint64_t{(p.source & Bit) != 0}; },
          [](Packet& p, std::uint64_t v) {
            p.source = static_cast<std::uint8_t>((p.source & ~Bit) | (v != 0 ? Bit : 0));
          },
          always};
}

constexpr Field kValue = member<&Packet::value>("value", FieldKind::kHex, 42);
constexpr Field kData = member<&Packet::value>("value", FieldKind::kHex, 32);
constexpr Field kSize = member<&Packet::size>("size", FieldKind::kDecimal, 3);
constexpr Field kAsyncFields[] = {
    {"zeros", FieldKind::kDecimal, 16,
     [](const Packet& p) { return std::uint64_t{p.length == 0 ? 5 : p.length - 1}; },
     [](Packet& p, std::uint64_t v) { p.length = static_cast<std::uint32_t>(v + 1); },
     [](const Packet& p) { return p.length > 6; }}};
constexpr Field kSoftwareFields[] = {member<&Packet::source>("port", FieldKind::kDecimal, 5), kData,
                                     kSize};
constexpr Field kHardwareFields[] = {
    member<&Packet::source>("discriminator", FieldKind::kDecimal, 5), kData, kSize};
constexpr Field kLocalFields[] = {member<&Packet::value>("value", FieldKind::kHex, 28),
                                  member<&Packet::source>("tc", FieldKind::kDecimal, 2), kSize};
constexpr Field kGlobal1Fields[] = {kValue, source_flag<kClockChange>("clock_change"),
                                    source_flag<kClockWrap>("wrap"), kSize};
constexpr Field kGlobal2Fields[] = {kValue, kSize};
constexpr Field kExtensionFields[] = {kValue, source_flag<kExtensionHardware>("hardware"), kSize};
constexpr Field kErrorFields[] = {
    {"error_type", FieldKind::kWord, 8,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.error_type); }, nullptr, always,
     [](std::uint64_t v) { return packet_keyword(static_cast<PacketType>(v)); }}};

struct Row {
  std::string_view keyword;
  std::span<const Field> fields;
};

/// Indexed by the number of the type.
constexpr std::array<Row, kPacketTypeCount> kRows = {{
    {"not_sync", {}},
    {"incomplete_eot", kErrorFields},
    {"none", {}},
    {"async", kAsyncFields},
    {"overflow", {}},
    {"software", kSoftwareFields},
    {"hardware", kHardwareFields},
    {"local_timestamp", kLocalFields},
    {"global_timestamp1", kGlobal1Fields},
    {"global_timestamp2", kGlobal2Fields},
    {"extension", kExtensionFields},
    {"bad_sequence", kErrorFields},
    {"reserved", {}},
}};
constexpr auto kFirstPacket = static_cast<std::size_t>(PacketType::kAsync);
constexpr std::size_t kPacketCount =
    static_cast<std::size_t>(PacketType::kExtension) - kFirstPacket + 1;

constexpr auto kKeywords = [] {
  std::array<std::string_view, kPacketCount> keywords{};
  for (std::size_t i = 0; i < kPacketCount; ++i) keywords[i] = kRows[kFirstPacket + i].keyword;
  return keywords;
}();

}  // namespace

std::span<const Field> fields_of(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kRows.size() ? kRows[number].fields : std::span<const Field>{};
}

std::string_view packet_keyword(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kRows.size() ? kRows[number].keyword : "unknown";
}

std::span<const std::string_view> packet_keywords() { return kKeywords; }

Result<Packet> packet_of_keyword(std::string_view keyword) {
  for (std::size_t i = 0; i < kPacketCount; ++i) {
    if (kKeywords[i] != keyword) continue;
    Packet packet;
    packet.type = static_cast<PacketType>(kFirstPacket + i);
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::itm
