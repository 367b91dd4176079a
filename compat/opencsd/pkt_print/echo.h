// A custom decoder that only echoes its input.
#pragma once

#include <cstdint>

#include "opencsd/c_api/opencsd_c_api.h"

namespace pkt_print {

inline constexpr char kEchoName[] = "ext_echo";

struct EchoConfig {
  std::uint32_t trace_id;
};

/// Each block of bytes is a packet.
struct EchoPacket {
  std::uint32_t size;
  std::uint8_t first;
};

/// Registers it under kEchoName.
ocsd_err_t register_echo(ocsd_trace_protocol_t& protocol);

}  // namespace pkt_print
