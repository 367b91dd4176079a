// Payloads of software trace in the structures of the C API.
#pragma once

#include <bit>
#include <cstdint>

namespace waymark::compat {

constexpr unsigned payload_bytes(unsigned bits) { return (bits + 7) / 8; }

/// How far a payload of this many bits is above the low end of the 64-bit word that holds it.
/// Clients read it as an integer of its own size at the address of the word, which is the low end
/// only if the machine is little endian.
constexpr unsigned payload_shift(unsigned bits) {
  if (std::endian::native == std::endian::little || bits == 0 || bits >= 64) return 0;
  return 64 - 8 * payload_bytes(bits);
}

}  // namespace waymark::compat
