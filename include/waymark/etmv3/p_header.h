// The most common packets in a form of their own: P-headers, which are one byte with up to sixteen
// atoms, and short branches.  See etmv3.md 4 and 5.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/etmv3/packet.h"

namespace waymark::etmv3 {

/// The whole content of a P-header.
struct PHeader {
  std::uint16_t atoms = 0;  ///< Bit i is the i-th oldest; 1 is E.
  std::uint8_t atom_count = 0;
  std::uint8_t format = 0;
  std::uint8_t cycle_count = 0;   ///< The cycles of the whole packet.
  std::uint8_t first_cycles = 0;  ///< The cycles of the first atom.
  std::uint8_t other_cycles = 0;  ///< The cycles of each later atom.
  bool valid = false;
};

/// Formats that the architecture does not number.
inline constexpr std::uint8_t kFormatOneCycle = 0;  ///< 0x80 in cycle-accurate trace: one cycle.
inline constexpr std::uint8_t kFormatStale = 0xFF;  ///< No format of its own; quirk.

constexpr bool is_p_header(std::uint8_t byte) { return (byte & 0x81) == 0x80; }

namespace detail {

consteval PHeader plain(unsigned byte, bool tolerant) {
  PHeader h;
  if ((byte & 3) == 0) {  // 1NEEEE00
    const unsigned executed = byte >> 2 & 15;
    h.atoms = static_cast<std::uint16_t>((1U << executed) - 1);
    h.atom_count = static_cast<std::uint8_t>(executed + (byte >> 6 & 1));
    h.format = 1;
    h.valid = true;
  } else if (tolerant || (byte & 0xF3) == 0x82) {  // 1000FF10
    h.atoms = static_cast<std::uint16_t>(((byte >> 3 & 1) ^ 1) | ((byte >> 2 & 1) ^ 1) << 1);
    h.atom_count = 2;
    h.format = 2;
    h.valid = true;
  }
  return h;
}

consteval PHeader cycle_accurate(unsigned byte, bool tolerant) {
  PHeader h;
  const unsigned executed = byte >> 2 & 7;
  h.valid = true;
  switch (byte & 0xA3) {
    case 0x80:  // 1N0EEE00
      h.atoms = static_cast<std::uint16_t>((1U << executed) - 1);
      h.atom_count = static_cast<std::uint8_t>(executed + (byte >> 6 & 1));
      h.cycle_count = h.atom_count;
      h.format = 1;
      h.first_cycles = h.other_cycles = 1;
      if (h.atom_count == 0) {
        h.valid = !tolerant;
        h.format = tolerant ? 1 : kFormatOneCycle;
        h.cycle_count = tolerant ? 0 : 1;
      }
      break;
    case 0x82:
      if ((byte & 0x10) == 0) {  // 1000FF10
        h.valid = tolerant || (byte & 0xF3) == 0x82;
        h.atoms = static_cast<std::uint16_t>(((byte >> 3 & 1) ^ 1) | ((byte >> 2 & 1) ^ 1) << 1);
        h.atom_count = 2;
        h.cycle_count = 1;
        h.first_cycles = 1;
        h.format = 2;
      } else {  // 10010F10
        h.valid = tolerant || (byte & 0xFB) == 0x92;
        h.atoms = (byte >> 2 & 1) ^ 1;
        h.atom_count = 1;
        h.format = 4;
      }
      break;
    case 0xA0:  // 1E1WWW00
      h.cycle_count = static_cast<std::uint8_t>((byte >> 2 & 7) + 1);
      h.atom_count = byte >> 6 & 1;
      h.atoms = h.atom_count;
      h.first_cycles = h.cycle_count;
      h.format = 3;
      break;
    default:
      h.valid = false;
      h.format = kFormatStale;
      break;
  }
  return h;
}

using PHeaderTable = std::array<PHeader, 256>;

consteval std::array<PHeaderTable, 4> make_p_headers() {
  std::array<PHeaderTable, 4> tables{};
  for (unsigned byte = 0x80; byte < 256; byte += 2) {
    tables[0][byte] = plain(byte, false);
    tables[1][byte] = plain(byte, true);
    tables[2][byte] = cycle_accurate(byte, false);
    tables[3][byte] = cycle_accurate(byte, true);
  }
  return tables;
}

inline constexpr std::array<PHeaderTable, 4> kPHeaders = make_p_headers();

}  // namespace detail

/// Indexed by header byte.  `tolerant`: bits that the architecture reserves are ignored.
constexpr const std::array<PHeader, 256>& p_headers(bool cycle_accurate, bool tolerant) {
  return detail::kPHeaders[(cycle_accurate ? 2U : 0U) + (tolerant ? 1U : 0U)];
}

/// The cycles of the last `left` atoms of a header, where nothing says what they stand for.
constexpr std::uint32_t lost_cycles(const PHeader& header, unsigned left) {
  switch (header.format) {
    case 1:
      return left;
    case 2:
      return left == 2 ? 1 : 0;
    case 4:
      return 0;
    default:
      return header.cycle_count;
  }
}

/// A branch packet with an address in the current instruction set and nothing else.
struct ShortBranch {
  std::uint32_t address = 0;
  std::uint8_t valid_bits = 0;
  std::uint8_t update_bits = 0;
  isa::Isa isa = isa::Isa::kUnknown;
  std::uint8_t length = 0;
  const Context* context = nullptr;  ///< The parser's.
};

inline void copy_atoms(const ShortBranch& from, Packet& to) {
  to.begin(PacketType::kBranchAddress, from.length);
  to.address = {from.address, from.valid_bits, from.update_bits};
  to.isa = to.previous_isa = from.isa;
  to.context = *from.context;
  to.exception = {};
}

/// Writes a P-header over the fields of `to` that a P-header has.
inline void copy_atoms(const PHeader& from, Packet& to) {
  to.begin(PacketType::kPHeader, 1);
  to.atom_count = from.atom_count;
  to.format = from.format;
  to.atoms = from.atoms;
  to.cycle_count = from.cycle_count;
}

}  // namespace waymark::etmv3
