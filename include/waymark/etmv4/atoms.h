// Atom packets: one header byte each, the same for every configuration.
// See etmv4-ete.md 2.10.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "waymark/base/bits.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// All headers from here on are atom packets; lower ones are not.
inline constexpr std::uint8_t kFirstAtomHeader = 0xC0;

/// The whole content of a packet that is one atom header, laid out as the fields of Packet from its
/// type on, so that two moves copy it.
struct AtomPacket {
  PacketType type = PacketType::kNotSync;
  PacketType error_type = PacketType::kNoErrorType;
  std::uint16_t length = 1;
  std::uint8_t atom_count = 0;
  bool monitor_only = false;
  std::uint32_t atoms = 0;  ///< Bit i is the i-th oldest; 1 is E.
};

namespace detail {

consteval AtomPacket make_atom_packet(unsigned header) {
  constexpr std::uint32_t kF4[] = {0b1110, 0b0000, 0b1010, 0b0101};
  constexpr std::uint32_t kF5[] = {0b00000, 0b01010, 0b10101};
  AtomPacket packet;
  const auto set = [&](PacketType type, std::uint32_t atoms, unsigned count) {
    packet.type = type;
    packet.atoms = atoms;
    packet.atom_count = static_cast<std::uint8_t>(count);
  };
  if (header >= 0xF8) {
    set(PacketType::kAtomF3, header & 7, 3);
  } else if (header >= 0xF6) {
    set(PacketType::kAtomF1, header & 1, 1);
  } else if (header == 0xF5) {
    set(PacketType::kAtomF5, 0b11110, 5);
  } else if (header >= 0xDC && header < 0xE0) {
    set(PacketType::kAtomF4, kF4[header & 3], 4);
  } else if (header >= 0xD8 && header < 0xDC) {
    set(PacketType::kAtomF2, header & 3, 2);
  } else if (header >= 0xD5 && header < 0xD8) {
    set(PacketType::kAtomF5, kF5[header - 0xD5], 5);
  } else {
    const unsigned leading = (header & 0x1F) + 3;
    const std::uint32_t last = (header & 0x20) == 0 ? std::uint32_t{1} << leading : 0;
    set(PacketType::kAtomF6, ((std::uint32_t{1} << leading) - 1) | last, leading + 1);
  }
  return packet;
}

consteval std::array<AtomPacket, 64> make_atom_packets() {
  std::array<AtomPacket, 64> table{};
  for (unsigned i = 0; i < 64; ++i) table[i] = make_atom_packet(kFirstAtomHeader + i);
  return table;
}

inline constexpr std::array<AtomPacket, 64> kAtomPackets = make_atom_packets();

}  // namespace detail

inline constexpr unsigned kAtomRow = 8;
static_assert(kFirstAtomHeader == 0xC0, "atom headers have both upper bits set, and no other has");

/// The number of atom headers, of the kAtomRow bytes of a word from the lowest on, before the first
/// byte of another kind.
constexpr unsigned leading_atoms(std::uint64_t bytes) {
  const std::uint64_t others = ~(bytes & bytes << 1) & 0x8080808080808080;
  return static_cast<unsigned>(std::countr_zero(others)) / 8;
}

/// `header` >= kFirstAtomHeader.
constexpr const AtomPacket& atom_packet(std::uint8_t header) {
  return detail::kAtomPackets[header - kFirstAtomHeader];
}

/// The atoms of a few consecutive packets, oldest in bit 0.
struct AtomRow {
  std::uint32_t atoms = 0;
  std::uint32_t ends = 0;   ///< A bit for the last atom of each packet.
  std::uint32_t count = 0;  ///< Of atoms; beyond kMostInRow, the words have no meaning.
};
inline constexpr std::uint32_t kMostInRow = 32;

namespace detail {

/// By any byte, what it adds to a row: its atoms, and in the upper half the bit of the last one.
/// Nothing for a byte that is not an atom header.
inline constexpr std::array<std::uint64_t, 256> kRowBits = [] {
  std::array<std::uint64_t, 256> bits{};
  for (unsigned header = kFirstAtomHeader; header < 256; ++header) {
    const AtomPacket& packet = atom_packet(static_cast<std::uint8_t>(header));
    bits[header] = packet.atoms | std::uint64_t{1} << (32 + packet.atom_count - 1);
  }
  return bits;
}();
inline constexpr std::array<std::uint8_t, 256> kRowCounts = [] {
  std::array<std::uint8_t, 256> counts{};
  for (unsigned header = kFirstAtomHeader; header < 256; ++header)
    counts[header] = atom_packet(static_cast<std::uint8_t>(header)).atom_count;
  return counts;
}();

}  // namespace detail

/// The most packets of a short row: one in each byte of its word.
inline constexpr unsigned kShortRow = 4;

/// The row of the headers in the lowest bytes of `headers`; the other bytes are 0.  Has no branch:
/// the number of packets could not be predicted.
[[gnu::always_inline]] inline AtomRow short_row(std::uint32_t headers) {
  std::uint64_t bits = 0;
  std::uint32_t count = 0;
  for (unsigned i = 0; i != kShortRow; ++i) {
    const std::uint32_t header = headers >> 8 * i & 0xFF;
    bits |= detail::kRowBits[header] << (count & 63);
    count += detail::kRowCounts[header];
  }
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), count};
}

/// Writes an atom packet over the fields of `to` that an atom packet has.
inline void copy_atoms(const AtomPacket& from, Packet& to) {
  static_assert(
      offsetof(Packet, error_type) - offsetof(Packet, type) == offsetof(AtomPacket, error_type) &&
      offsetof(Packet, length) - offsetof(Packet, type) == offsetof(AtomPacket, length) &&
      offsetof(Packet, atom_count) - offsetof(Packet, type) == offsetof(AtomPacket, atom_count) &&
      offsetof(Packet, monitor_only) - offsetof(Packet, type) ==
          offsetof(AtomPacket, monitor_only) &&
      offsetof(Packet, atoms) - offsetof(Packet, type) == offsetof(AtomPacket, atoms));
  std::memcpy(reinterpret_cast<std::uint8_t*>(&to) + offsetof(Packet, type), &from, sizeof from);
}

}  // namespace waymark::etmv4
