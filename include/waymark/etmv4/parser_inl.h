// The loops of the parser.
#pragma once

#include <algorithm>
#include <type_traits>

#include "waymark/base/bits.h"
#include "waymark/etmv4/parser.h"

namespace waymark::etmv4 {

// Reads a short target address whose two bytes can be read; does not branch on their number.
template <unsigned kIs>
[[gnu::always_inline]] inline unsigned Parser::read_short_address(const std::uint8_t* at,
                                                                  Packet& packet) {
  constexpr unsigned kFirst = 9 - kIs;
  const unsigned second = at[1] >> 7;
  const unsigned width = kFirst + 8 * second;
  const std::uint64_t mask = second != 0 ? (1U << (kFirst + 8)) - 1 : (1U << kFirst) - 1;
  const std::uint64_t value =
      std::uint64_t{at[1] & 0x7FU} << (2 - kIs) | std::uint64_t{at[2] & (0U - second)} << kFirst;
  packet.begin(static_cast<PacketType>(at[0]), 2 + second);
  packet.match_index = 0;
  packet.address = addresses_.shortened(value, width, mask, kIs);
  addresses_.push(packet.address);
  return 2 + second;
}

// Reads a 32-bit A64 or A32 target address whose bytes can all be read.
inline unsigned Parser::read_address32(const std::uint8_t* at, Packet& packet) {
  const std::uint32_t value = (at[1] & 0x7FU) << 2 | (at[2] & 0x7FU) << 9 |
                              std::uint32_t{at[3]} << 16 | std::uint32_t{at[4]} << 24;
  packet.begin(PacketType::kAddress32Is0, kAddress32Size);
  packet.match_index = 0;
  packet.address = addresses_.low_half(value, context_.is_64bit(), 0);
  addresses_.push(packet.address);
  return kAddress32Size;
}

inline unsigned Parser::read_match(const std::uint8_t* at, Packet& packet) {
  packet.begin(PacketType::kAddressMatch, 1);
  packet.match_index = *at & 3;
  packet.address = addresses_.match(packet.match_index);
  addresses_.push(packet.address);
  return 1;
}

// In synchronisation, with no unfinished packet, and with bytes left.
inline bool Parser::next_synced(Packet& packet) {
  packet.index = index_at(position_);
  const std::uint8_t header = data_[position_];
  if (header < kFirstAtomHeader) [[likely]]
    return read_rare(position_, packet);
  copy_atoms(atom_packet(header), packet);
  took(position_, 1);
  return true;
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  while (true) {
    if (synced_ && !carry_.active) [[likely]] {
      bool stopped = false;
      if constexpr (std::remove_cvref_t<Visitor>::takes().atom_rows) {
        stopped = parse_rows(visitor);
      } else {
        stopped = parse_in_sync(visitor);
      }
      if (stopped || synced_) return stopped;
      continue;
    }
    if (!next(rare_)) return false;
    if (!visitor.on_packet(rare_)) return true;
  }
}

// The row of atoms at `position`, before `end`.  0: the visitor does not take it.
template <class Visitor>
[[gnu::always_inline]] inline unsigned Parser::give_short_row(Visitor& visitor,
                                                              const frames::Indexer& index,
                                                              std::size_t position,
                                                              std::size_t end) {
  if (end - position < kShortRow || !visitor.wants_short_row()) return 0;
  const auto word = load_le<std::uint32_t>(data_ + position);
  const auto packets = static_cast<unsigned>(
      std::min<std::size_t>(leading_atoms(word), index.followed_by(position)));
  return visitor.on_short_row(index(position),
                              word & static_cast<std::uint32_t>(low_mask(8 * packets)), packets);
}

// Each iteration of the outer loop handles one run.  The header alone decides: a table look-up
// before the branch would add its latency to every misprediction.
template <class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  static_assert(protocol::has_what_it_takes<Visitor>());
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  Packet packet;
  while (position < size) {
    while (position >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = std::min(size, run_end_);
    do {
      const std::uint8_t* const at = data + position;
      if (*at >= kFirstAtomHeader) {
        if constexpr (Visitor::takes().short_rows) {
          if (const unsigned taken = give_short_row(visitor, index, position, end)) [[likely]] {
            position += taken;
            if (visitor.goes_on()) [[likely]]
              continue;
            took(position - 1, 1);
            return true;
          }
        }
        if (!visitor.on_atoms(index(position), atom_packet(*at))) {
          took(position, 1);
          return true;
        }
        ++position;
        continue;
      }
      // The most common addresses.  They write the same fields; fields that the visitor does not
      // read need not be written.
      if (*at >= 0x90 && *at <= 0x9A && size - position >= kAddress32Size) {
        unsigned length = 0;
        if (*at == 0x95) {
          length = read_short_address<0>(at, packet);
        } else if (*at <= 0x92) {
          length = read_match(at, packet);
        } else if (*at == 0x9A) {
          length = read_address32(at, packet);
        } else if (*at == 0x96) {
          length = read_short_address<1>(at, packet);
        }
        if (length != 0) [[likely]] {
          packet.index = index(position);
          if (!visitor.on_packet(packet)) {
            took(position, length);
            return true;
          }
          position += length;
          continue;
        }
      }
      rare_.index = index(position);
      if (!read_rare(position, rare_)) return false;
      position = position_;
      if (!visitor.on_packet(rare_)) return true;
      if (!synced_) [[unlikely]]
        return false;
    } while (position < end);
  }
  position_ = position;
  return false;
}

// Each iteration handles one of the common packets and the atoms after it.  Most time is spent on
// the way from one header to the next, so the words that may hold the atoms are read before the
// length of a short address is known.  Runs do not matter, because no index is needed.
template <class Visitor>
bool Parser::parse_rows(Visitor& visitor) {
  static_assert(protocol::has_what_it_takes<Visitor>());
  constexpr std::size_t kReach = kAddress32Size + kAtomRow;
  constexpr bool kPlaces = Visitor::takes().places;
  const auto word = [](const std::uint8_t* at) { return load_le<std::uint64_t>(at); };
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  Packet packet;
  while (position < size) {
    if (size - position >= kReach) [[likely]] {
      const std::uint8_t* const at = data + position;
      unsigned length = 0;
      std::uint64_t row = 0;
      bool common = true;
      if (*at == 0x95) {
        row = at[1] < 0x80 ? word(at + 2) : word(at + 3);
        length = read_short_address<0>(at, packet);
      } else if (*at == 0x96) {
        row = at[1] < 0x80 ? word(at + 2) : word(at + 3);
        length = read_short_address<1>(at, packet);
      } else if (*at == 0x9A) {
        row = word(at + kAddress32Size);
        length = read_address32(at, packet);
      } else if (*at >= 0x90 && *at <= 0x92) {
        row = word(at + 1);
        length = read_match(at, packet);
      } else if (*at >= kFirstAtomHeader) {
        row = word(at);
      } else {
        common = false;
      }
      if (common) [[likely]] {
        if constexpr (kPlaces) visitor.on_place(at);
        if (length != 0 && !visitor.on_packet(packet)) {
          took(position, length);
          return true;
        }
        const unsigned atoms = leading_atoms(row);
        if (!visitor.on_atom_row({at + length, atoms})) {
          took(position, length + atoms);
          return true;
        }
        position += length + atoms;
        continue;
      }
    }
    position_ = position;
    if (!next_synced(rare_)) return false;
    position = position_;
    if constexpr (kPlaces) visitor.on_place(nullptr);
    if (!visitor.on_packet(rare_)) return true;
    if (!synced_) [[unlikely]]
      return false;
  }
  position_ = position;
  return false;
}

}  // namespace waymark::etmv4
