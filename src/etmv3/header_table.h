// The header bytes of ETMv3 as data.  See etmv3.md 3.
#pragma once

#include <array>

#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"
#include "waymark/protocol/header_pattern.h"

namespace waymark::etmv3 {

/// When a header is legal.
enum class Gate : std::uint8_t {
  kAlways,
  kData,        ///< Data addresses or values are traced.
  kDataValues,  ///< Data values are traced.
};

struct HeaderRow {
  protocol::HeaderPattern pattern;
  PacketType type;
  Gate gate = Gate::kAlways;
};

inline constexpr HeaderRow kHeaderRows[] = {
    {"xxxx xxx1", PacketType::kBranchAddress},
    {"1xxx xxx0", PacketType::kPHeader},
    {"0000 0000", PacketType::kASync},
    {"0000 0100", PacketType::kCycleCount},
    {"0000 1000", PacketType::kISync},
    {"0000 1100", PacketType::kTrigger},
    {"0010 xx00", PacketType::kOooData, Gate::kDataValues},
    {"0100 xx00", PacketType::kOooData, Gate::kDataValues},
    {"0110 xx00", PacketType::kOooData, Gate::kDataValues},
    {"0111 0000", PacketType::kISyncCycle},
    {"0101 0000", PacketType::kStoreFailed, Gate::kDataValues},
    {"01x1 xx00", PacketType::kOooAddress, Gate::kData},
    {"0011 1100", PacketType::kVmid},
    {"00x0 xx10", PacketType::kNormData, Gate::kData},
    {"0110 0010", PacketType::kDataSuppressed, Gate::kData},
    {"011x 1010", PacketType::kValueNotTraced, Gate::kData},
    {"0110 0110", PacketType::kIgnore},
    {"0110 1110", PacketType::kContextId},
    {"0111 0110", PacketType::kExceptionExit},
    {"0111 1110", PacketType::kExceptionEntry},
    {"0100 0x10", PacketType::kTimestamp},
};

inline constexpr protocol::HeaderPattern kReservedHeaders[] = {
    "0001 xxx0", "0011 0xx0", "0011 10x0", "0011 1110", "010x 1x10", "0101 0x10", "0111 0010"};

struct HeaderEntry {
  PacketType type = PacketType::kReserved;
  Gate gate = Gate::kAlways;
};

inline constexpr std::array<HeaderEntry, 256> kHeaders =
    protocol::map_headers(kHeaderRows, kReservedHeaders, HeaderEntry{},
                          [](const HeaderRow& row) { return HeaderEntry{row.type, row.gate}; });

/// The deprecated exception numbers as those of v7-A and v7-R; etmv3.md 5.2.
inline constexpr std::array<std::uint8_t, 8> kDeprecatedExceptions = {8, 14, 6, 7, 5, 15, 4, 1};

constexpr bool legal(Gate gate, const Config& config) {
  switch (gate) {
    case Gate::kAlways:
      return true;
    case Gate::kData:
      return config.data_trace();
    case Gate::kDataValues:
      return config.data_values();
  }
  return false;
}

}  // namespace waymark::etmv3
