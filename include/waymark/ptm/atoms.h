// Atom packets.  See ptm.md 4.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "waymark/ptm/packet.h"

namespace waymark::ptm {

/// The whole content of an atom packet, laid out as the fields of Packet from its type on.
struct AtomPacket {
  PacketType type = PacketType::kAtom;
  PacketType error_type = PacketType::kNoErrorType;
  std::uint16_t length = 1;
  std::uint8_t atom_count = 0;
  bool monitor_only = false;
  bool has_cycle_count = false;
  RegisterConflict conflict = RegisterConflict::kNone;
  std::uint32_t atoms = 0;  ///< Bit i is the i-th oldest; 1 is E.
  std::uint32_t cycle_count = 0;
};

namespace detail {

// The newest atom is at [1], the oldest at [count]; 0 is E.
consteval AtomPacket make_atom_packet(unsigned header) {
  // The position of the highest 1 in [6:2] gives the count; [6:3] = 0 is one atom, whatever [2] is.
  const auto count = static_cast<unsigned>(std::bit_width((header & 0x7CU) | 4U)) - 2U;
  AtomPacket packet;
  packet.atom_count = static_cast<std::uint8_t>(count);
  for (unsigned i = 0; i < count; ++i)
    if ((header >> (count - i) & 1) == 0) packet.atoms |= 1U << i;
  return packet;
}

consteval std::array<AtomPacket, 64> make_atom_packets() {
  std::array<AtomPacket, 64> table{};
  for (unsigned i = 0; i < 64; ++i) table[i] = make_atom_packet(0x80 | i << 1);
  return table;
}

inline constexpr std::array<AtomPacket, 64> kAtomPackets = make_atom_packets();

}  // namespace detail

/// The atoms of a header in a trace that is not cycle-accurate: 1xxxxxx0.
constexpr const AtomPacket& atom_packet(std::uint8_t header) {
  return detail::kAtomPackets[header >> 1 & 0x3F];
}

/// Writes an atom packet over the fields of `to` that an atom packet has.
inline void copy_atoms(const AtomPacket& from, Packet& to) {
  static_assert(
      offsetof(Packet, length) - offsetof(Packet, type) == offsetof(AtomPacket, length) &&
      offsetof(Packet, atom_count) - offsetof(Packet, type) == offsetof(AtomPacket, atom_count) &&
      offsetof(Packet, has_cycle_count) - offsetof(Packet, type) ==
          offsetof(AtomPacket, has_cycle_count) &&
      offsetof(Packet, conflict) - offsetof(Packet, type) == offsetof(AtomPacket, conflict) &&
      offsetof(Packet, atoms) - offsetof(Packet, type) == offsetof(AtomPacket, atoms) &&
      offsetof(Packet, cycle_count) - offsetof(Packet, type) == offsetof(AtomPacket, cycle_count));
  std::memcpy(reinterpret_cast<std::uint8_t*>(&to) + offsetof(Packet, type), &from, sizeof from);
}

}  // namespace waymark::ptm
