// The opcodes of STPv2, declared once for the parser and the encoder.  See stm-itm.md
// 2; the payload of USER agrees in public decoders, but no capture shows it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "waymark/stm/packet.h"

namespace waymark::stm {

/// How the bytes after the opcode are read.
enum class Layout : std::uint8_t {
  kExtension,  ///< Not yet an opcode: FF, F0, F0F and what they begin.
  kPayload,    ///< `payload` nibbles, then a timestamp if there is one.
  kEmpty,      ///< No payload, but perhaps a timestamp.
  kMaster,
  kChannel8,
  kChannel16,
  kMasterError,
  kGlobalError,
  kVersion,
  kUser,  ///< A nibble n, then n + 1 nibbles, then a timestamp if there is one.
  kUnknownLayout,
  kReserved,
};

struct Opcode {
  std::string_view text;     ///< Its nibbles in stream order, upper case.
  std::string_view keyword;  ///< Its name in trace scripts and JSON.
  PacketType type = PacketType::kReserved;
  Layout layout = Layout::kReserved;
  std::uint8_t payload = 0;  ///< Nibbles.
  bool marker = false;
  bool timestamp = false;
  bool coresight = true;  ///< CoreSight hardware sends it.
};

inline constexpr Opcode kOpcodes[] = {
    {"0", "null", PacketType::kNull, Layout::kEmpty},
    {"1", "m8", PacketType::kM8, Layout::kMaster, 2},
    {"2", "merr", PacketType::kMerr, Layout::kMasterError, 2},
    {"3", "c8", PacketType::kC8, Layout::kChannel8, 2},
    {"4", "d8", PacketType::kD8, Layout::kPayload, 2},
    {"5", "d16", PacketType::kD16, Layout::kPayload, 4},
    {"6", "d32", PacketType::kD32, Layout::kPayload, 8},
    {"7", "d64", PacketType::kD64, Layout::kPayload, 16},
    {"8", "d8mts", PacketType::kD8, Layout::kPayload, 2, true, true},
    {"9", "d16mts", PacketType::kD16, Layout::kPayload, 4, true, true},
    {"A", "d32mts", PacketType::kD32, Layout::kPayload, 8, true, true},
    {"B", "d64mts", PacketType::kD64, Layout::kPayload, 16, true, true},
    {"C", "d4", PacketType::kD4, Layout::kPayload, 1},
    {"D", "d4mts", PacketType::kD4, Layout::kPayload, 1, true, true},
    {"E", "flag_ts", PacketType::kFlag, Layout::kEmpty, 0, false, true},
    {"F1", "m16", PacketType::kM16, Layout::kMaster, 4, false, false, false},
    {"F2", "gerr", PacketType::kGerr, Layout::kGlobalError, 2},
    {"F3", "c16", PacketType::kC16, Layout::kChannel16, 4},
    {"F4", "d8ts", PacketType::kD8, Layout::kPayload, 2, false, true},
    {"F5", "d16ts", PacketType::kD16, Layout::kPayload, 4, false, true},
    {"F6", "d32ts", PacketType::kD32, Layout::kPayload, 8, false, true},
    {"F7", "d64ts", PacketType::kD64, Layout::kPayload, 16, false, true},
    {"F8", "d8m", PacketType::kD8, Layout::kPayload, 2, true, false},
    {"F9", "d16m", PacketType::kD16, Layout::kPayload, 4, true, false},
    {"FA", "d32m", PacketType::kD32, Layout::kPayload, 8, true, false},
    {"FB", "d64m", PacketType::kD64, Layout::kPayload, 16, true, false},
    {"FC", "d4ts", PacketType::kD4, Layout::kPayload, 1, false, true},
    {"FD", "d4m", PacketType::kD4, Layout::kPayload, 1, true, false},
    {"FE", "flag", PacketType::kFlag, Layout::kEmpty},
    {"F00", "version", PacketType::kVersion, Layout::kVersion, 1},
    {"F01", "null_ts", PacketType::kNull, Layout::kEmpty, 0, false, true},
    {"F02", "user", PacketType::kUser, Layout::kUser, 0, false, false, false},
    {"F03", "user_ts", PacketType::kUser, Layout::kUser, 0, false, true, false},
    {"F04", "time", PacketType::kTime, Layout::kUnknownLayout, 0, false, false, false},
    {"F05", "time_ts", PacketType::kTime, Layout::kUnknownLayout, 0, false, false, false},
    {"F06", "trig", PacketType::kTrig, Layout::kPayload, 2},
    {"F07", "trig_ts", PacketType::kTrig, Layout::kPayload, 2, false, true},
    {"F08", "freq", PacketType::kFreq, Layout::kPayload, 8},
    {"F09", "freq_ts", PacketType::kFreq, Layout::kPayload, 8, false, true, false},
    {"F0A", "xsync", PacketType::kXsync, Layout::kPayload, 2, false, false, false},
    {"F0B", "xsync_ts", PacketType::kXsync, Layout::kPayload, 2, false, true, false},
    {"F0C", "", PacketType::kReserved, Layout::kReserved, 0, false, false, false},
    {"F0D", "", PacketType::kReserved, Layout::kReserved, 0, false, false, false},
    {"F0E", "", PacketType::kReserved, Layout::kReserved, 0, false, false, false},
    {"F0F0", "freq40", PacketType::kFreq40, Layout::kPayload, 10, false, false, false},
    {"F0F1", "freq40_ts", PacketType::kFreq40, Layout::kPayload, 10, false, true, false},
    {"F0F2", "dip", PacketType::kDip, Layout::kEmpty, 0, false, false, false},
    {"F0F3", "cerr", PacketType::kCerr, Layout::kPayload, 2, false, false, false},
};
inline constexpr std::size_t kOpcodeCount = std::size(kOpcodes);

constexpr unsigned nibble_of(char digit) {
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'A' + 10);
}

/// A row of the parser's tables.
struct Header {
  PacketType type = PacketType::kNull;
  Layout layout = Layout::kExtension;
  std::uint8_t opcode = 1;  ///< Nibbles.
  std::uint8_t payload = 0;
  bool marker = false;
  bool timestamp = false;
};

/// By the first two nibbles, the first in bits [3:0]; by the third after F0; by the fourth after
/// F0F.
struct HeaderTables {
  std::array<Header, 256> first;
  std::array<Header, 16> third;
  std::array<Header, 16> fourth;
};

/// `coresight_only`: everything else is a reserved header, which ends as soon as its nibbles can no
/// longer begin another opcode.
consteval HeaderTables make_header_tables(bool coresight_only) {
  HeaderTables tables;
  for (Header& header : tables.fourth)
    header = {PacketType::kReserved, Layout::kReserved, 4, 0, false, false};
  if (coresight_only)
    tables.third[0xF] = {PacketType::kReserved, Layout::kReserved, 3, 0, false, false};
  for (const Opcode& opcode : kOpcodes) {
    const auto length = static_cast<std::uint8_t>(opcode.text.size());
    Header header{opcode.type,    opcode.layout, length,
                  opcode.payload, opcode.marker, opcode.timestamp};
    if (coresight_only && !opcode.coresight) {
      if (length == 4) continue;
      header = {PacketType::kReserved, Layout::kReserved, length, 0, false, false};
    }
    const unsigned last = nibble_of(opcode.text.back());
    if (length == 1) {
      for (unsigned second = 0; second < 16; ++second) tables.first[last | second << 4] = header;
    } else if (length == 2) {
      tables.first[0xF | last << 4] = header;
    } else {
      (length == 3 ? tables.third : tables.fourth)[last] = header;
    }
  }
  return tables;
}

inline constexpr HeaderTables kAllHeaders = make_header_tables(false);
inline constexpr HeaderTables kCoresightHeaders = make_header_tables(true);

// Only F0 and FF are incomplete opcodes after two nibbles, and only F0F after three.
static_assert([] {
  for (unsigned i = 0; i < 256; ++i)
    if ((kAllHeaders.first[i].layout == Layout::kExtension) != (i == 0x0F || i == 0xFF))
      return false;
  for (unsigned i = 0; i < 16; ++i)
    if ((kAllHeaders.third[i].layout == Layout::kExtension) != (i == 0xF)) return false;
  return true;
}());

}  // namespace waymark::stm
