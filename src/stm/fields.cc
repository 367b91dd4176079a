#include "waymark/stm/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "opcodes.h"
#include "waymark/stm/encoder.h"
#include "waymark/stm/text.h"

namespace waymark::stm {
namespace {

constexpr bool always(const Packet& /*packet*/) { return true; }
constexpr bool timed(const Packet& packet) { return packet.has_timestamp && !lacks_time(packet); }

constexpr Field kTimestamp = {"timestamp",
                              FieldKind::kHex,
                              64,
                              [](const Packet& p) { return p.timestamp; },
                              [](Packet& p, std::uint64_t v) {
                                p.timestamp = v;
                                if (p.timestamp_bits == 0) p.timestamp_bits = Encoder::kFewestBits;
                              },
                              timed};
constexpr Field kTimestampNibbles = {
    "timestamp_nibbles",
    FieldKind::kDecimal,
    5,
    [](const Packet& p) { return std::uint64_t{p.timestamp_bits} / 4; },
    [](Packet& p, std::uint64_t v) { p.timestamp_bits = static_cast<std::uint8_t>(4 * v); },
    timed};
constexpr Field kMaster = {"master", FieldKind::kDecimal,
                           16,       [](const Packet& p) { return std::uint64_t{p.master}; },
                           nullptr,  always};
constexpr Field kChannel = {"channel", FieldKind::kDecimal,
                            16,        [](const Packet& p) { return std::uint64_t{p.channel}; },
                            nullptr,   always};

constexpr Field payload(std::string_view name, FieldKind kind, std::uint8_t bits) {
  return {name,
          kind,
          bits,
          [](const Packet& p) { return p.payload; },
          [](Packet& p, std::uint64_t v) { p.payload = v; },
          always};
}

/// Set as a master or channel packet sends it; read as the value that applies after the packet.
template <auto Member>
constexpr Field id(std::string_view name, std::uint8_t bits) {
  return {name,
          FieldKind::kDecimal,
          bits,
          [](const Packet& p) { return std::uint64_t{p.*Member}; },
          [](Packet& p, std::uint64_t v) {
            p.payload = v;
            p.*Member = static_cast<std::uint16_t>(v);
          },
          always};
}

// -- VERSION: a nibble, or 12 bits whose highest is 1 (stm-itm.md 4). -----------------------------

constexpr std::uint64_t version_nibble(const Packet& p) {
  return p.payload_bits == 12 ? p.payload >> 8 : p.payload;
}
constexpr void extend(Packet& p, std::uint64_t byte) {
  if (p.payload_bits != 12) p.payload = (p.payload | 8) << 8;
  p.payload_bits = 12;
  p.payload |= byte;
}
constexpr bool extended(const Packet& packet) { return packet.payload_bits == 12; }

constexpr Field kVersionFields[] = {
    {"version", FieldKind::kDecimal, 4, version_nibble,
     [](Packet& p, std::uint64_t v) {
       p.payload = extended(p) ? (v | 8) << 8 | (p.payload & 0xFF) : v;
     },
     always},
    {"minor", FieldKind::kDecimal, 3, [](const Packet& p) { return p.payload & 7; },
     [](Packet& p, std::uint64_t v) { extend(p, v); }, extended},
    {"little_endian", FieldKind::kFlag, 1, [](const Packet& p) { return p.payload >> 7 & 1; },
     [](Packet& p, std::uint64_t v) { extend(p, v << 7); }, extended},
};

// -- The rest. ------------------------------------------------------------------------------------

template <std::uint8_t kBits>
constexpr Field kDataFields[] = {payload("value", FieldKind::kHex, kBits), kTimestamp,
                                 kTimestampNibbles, kMaster, kChannel};
constexpr Field kUserFields[] = {
    {"value", FieldKind::kHex, 64, [](const Packet& p) { return p.payload; },
     [](Packet& p, std::uint64_t v) {
       p.payload = v;
       while (p.payload_bits < 64 && (p.payload_bits == 0 || v >> p.payload_bits != 0))
         p.payload_bits = static_cast<std::uint8_t>(p.payload_bits + 4);
     },
     always},
    {"nibbles", FieldKind::kDecimal, 5,
     [](const Packet& p) { return std::uint64_t{p.payload_bits} / 4; },
     [](Packet& p, std::uint64_t v) { p.payload_bits = static_cast<std::uint8_t>(4 * v); }, always},
    kTimestamp,
    kTimestampNibbles,
    kMaster,
    kChannel};
constexpr Field kFlagFields[] = {kTimestamp, kTimestampNibbles, kMaster, kChannel};
constexpr Field kNullFields[] = {kTimestamp, kTimestampNibbles};
constexpr Field kTriggerFields[] = {payload("trigger", FieldKind::kHex, 8), kTimestamp,
                                    kTimestampNibbles, kMaster, kChannel};
constexpr Field kCrossSyncFields[] = {payload("event", FieldKind::kHex, 8), kTimestamp,
                                      kTimestampNibbles};
constexpr Field kFrequencyFields[] = {payload("hz", FieldKind::kDecimal, 32), kTimestamp,
                                      kTimestampNibbles};
constexpr Field kFrequency40Fields[] = {payload("hz", FieldKind::kDecimal, 40), kTimestamp,
                                        kTimestampNibbles};
constexpr Field kCodeFields[] = {payload("code", FieldKind::kHex, 8), kMaster, kChannel};
constexpr Field kMaster8Fields[] = {id<&Packet::master>("master", 8)};
constexpr Field kMaster16Fields[] = {id<&Packet::master>("master", 16)};
constexpr Field kChannel8Fields[] = {id<&Packet::channel>("channel", 8)};
constexpr Field kChannel16Fields[] = {id<&Packet::channel>("channel", 16)};

constexpr std::string_view keyword_of(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kNotSync:
      return "not_sync";
    case PacketType::kIncompleteEot:
      return "incomplete_eot";
    case PacketType::kBadSequence:
      return "bad_sequence";
    case PacketType::kReserved:
      return "reserved";
    case PacketType::kNoErrorType:
      return "none";
    case PacketType::kAsync:
      return "async";
    case PacketType::kPdid:
      return "pdid";
    default:
      break;
  }
  for (const Opcode& opcode : kOpcodes)
    if (opcode.type == packet.type && opcode.marker == packet.marker &&
        opcode.timestamp == packet.has_timestamp)
      return opcode.keyword;
  return "unknown";
}

constexpr Field kErrorFields[] = {
    {"error_type", FieldKind::kWord, 8,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.error_type); }, nullptr, always,
     [](std::uint64_t v) {
       Packet packet;
       packet.type = static_cast<PacketType>(v);
       return keyword_of(packet);
     }}};

constexpr bool has_encoding(const Opcode& opcode) {
  return opcode.layout != Layout::kReserved && opcode.layout != Layout::kUnknownLayout;
}

constexpr std::size_t kKeywordCount =
    static_cast<std::size_t>(std::ranges::count_if(kOpcodes, has_encoding)) + 1;
constexpr auto kKeywords = [] {
  std::array<std::string_view, kKeywordCount> keywords{};
  std::size_t count = 0;
  for (const Opcode& opcode : kOpcodes)
    if (has_encoding(opcode)) keywords[count++] = opcode.keyword;
  keywords[count] = "async";
  return keywords;
}();

}  // namespace

std::span<const Field> fields_of(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kVersion:
      return kVersionFields;
    case PacketType::kFreq:
      return kFrequencyFields;
    case PacketType::kFreq40:
      return kFrequency40Fields;
    case PacketType::kNull:
      return kNullFields;
    case PacketType::kTrig:
      return kTriggerFields;
    case PacketType::kXsync:
      return kCrossSyncFields;
    case PacketType::kGerr:
    case PacketType::kMerr:
    case PacketType::kCerr:
      return kCodeFields;
    case PacketType::kM8:
      return kMaster8Fields;
    case PacketType::kM16:
      return kMaster16Fields;
    case PacketType::kC8:
      return kChannel8Fields;
    case PacketType::kC16:
      return kChannel16Fields;
    case PacketType::kFlag:
      return kFlagFields;
    case PacketType::kD4:
      return kDataFields<4>;
    case PacketType::kD8:
      return kDataFields<8>;
    case PacketType::kD16:
      return kDataFields<16>;
    case PacketType::kD32:
      return kDataFields<32>;
    case PacketType::kD64:
      return kDataFields<64>;
    case PacketType::kUser:
      return kUserFields;
    case PacketType::kIncompleteEot:
    case PacketType::kBadSequence:
      return kErrorFields;
    case PacketType::kNotSync:
    case PacketType::kNoErrorType:
    case PacketType::kAsync:
    case PacketType::kReserved:
    case PacketType::kDip:
    case PacketType::kTime:
    case PacketType::kPdid:
      break;
  }
  return {};
}

std::string_view packet_keyword(const Packet& packet) { return keyword_of(packet); }

std::span<const std::string_view> packet_keywords() { return kKeywords; }

Result<Packet> packet_of_keyword(std::string_view keyword) {
  Packet packet;
  if (keyword == "async") {
    packet.type = PacketType::kAsync;
    return packet;
  }
  for (const Opcode& opcode : kOpcodes) {
    if (!has_encoding(opcode) || opcode.keyword != keyword) continue;
    packet.type = opcode.type;
    packet.marker = opcode.marker;
    packet.has_timestamp = opcode.timestamp;
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::stm
