// The readers of the common packets, and the loop of the parser.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "waymark/ptm/parser.h"

namespace waymark::ptm {

template <bool kChecked>
Parser::AddressField Parser::read_address(const std::uint8_t* at, std::size_t available) {
  AddressField field;
  std::uint8_t byte = at[0];
  field.bits = byte & 0x7EU;
  unsigned i = 1;
  while ((byte & 0x80) != 0 && i < 5) {
    if (kChecked && available <= i) return {};
    byte = at[i];
    if (i == 4) {
      // The instruction set determines how many bits of this byte are address bits.
      field.bits |= std::uint64_t{byte} << 28;
      ++i;
      break;
    }
    const bool last = (byte & 0x80) == 0;
    field.bits |= std::uint64_t{byte & (last ? 0x3FU : 0x7FU)} << (7 * i);
    ++i;
  }
  field.count = i;
  field.last = byte;
  return field;
}

template <bool kChecked>
Parser::CycleCount Parser::read_cycle_count(const std::uint8_t* at, std::size_t available) {
  if (kChecked && available == 0) return {};
  std::uint32_t value = at[0] >> 2 & 0xFU;
  if ((at[0] & 0x40) == 0) [[likely]]
    return {value, 1};
  for (unsigned i = 1; i < 5; ++i) {
    if (kChecked && available <= i) return {};
    value |= std::uint32_t{at[i] & 0x7FU} << (7 * i - 3);
    if ((at[i] & 0x80) == 0) return {value, i + 1};
  }
  return {value, 5};
}

inline void Parser::apply_address(const AddressField& field, Packet& packet) {
  using isa::Isa;
  Isa isa = isa_;
  std::uint64_t value = field.bits;
  unsigned width = 7 * field.count - (field.count == 1 ? 0 : 1);
  if (field.count == 5) {
    // The last byte is at [35:28].  It has five address bits in Jazelle, four in Thumb and three in
    // ARM.
    const unsigned kind = field.last >> 4 & 3U;
    unsigned bits = 31;
    isa = Isa::kA32;
    if (kind >= 2) {
      isa = Isa::kJazelle;
      bits = 33;
    } else if (kind == 1) {
      isa = Isa::kT32;
      bits = 32;
    }
    value &= (std::uint64_t{1} << bits) - 1;
    width = 32;
  }
  if (isa == Isa::kA32) {
    value <<= 1;
    if (width < 32) ++width;
  } else if (isa == Isa::kJazelle) {
    value >>= 1;
    if (width < 32) --width;
  } else if (isa != Isa::kUnknown) {
    isa = alt_isa_ ? Isa::kThumbEE : Isa::kT32;
  }
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  set_address((address_.value & ~mask) | (static_cast<std::uint32_t>(value) & mask), width, packet);
  packet.isa_changed = isa != isa_;
  isa_ = isa;
  packet.isa = isa;
}

template <bool kChecked, bool kCycles>
std::size_t Parser::read_branch(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const AddressField field = read_address<kChecked>(at, available);
  if (kChecked && field.count == 0) return 0;
  std::size_t length = field.count;
  unsigned info_bytes = 0;
  // A single address byte has address bits where longer ones have the flag.
  if (field.count > 1 && (field.last & 0x40) != 0) {
    if (kChecked && available <= length) return 0;
    info_bytes = (at[length] & 0x80) != 0 ? 2 : 1;
    length += info_bytes;
    if (kChecked && available < length) return 0;
  }
  CycleCount cycles;
  if constexpr (kCycles) {
    cycles = read_cycle_count<kChecked>(at + length, available - length);
    if (kChecked && cycles.length == 0) return 0;
  }
  packet.begin(PacketType::kBranchAddress, length + cycles.length);
  packet.info_bytes = static_cast<std::uint8_t>(info_bytes);
  if (info_bytes != 0) [[unlikely]] {
    const std::uint8_t* const info = at + field.count;
    packet.exception = static_cast<std::uint16_t>(info[0] >> 1 & 0xF);
    alt_isa_ = (info[0] & 0x40) != 0;
    context_.alt_isa = alt_isa_;
    context_.ns = (info[0] & 1) != 0;
    if (info_bytes == 2) {
      packet.exception = static_cast<std::uint16_t>(packet.exception | (info[1] & 0x1F) << 4);
      context_.hyp = (info[1] & 0x20) != 0;
    }
    packet.context = context_;
    packet.context.updated = true;
  }
  apply_address(field, packet);
  if constexpr (kCycles) {
    packet.has_cycle_count = true;
    packet.cycle_count = cycles.value;
    if ((at[length] & 0x83) != 0) [[unlikely]]
      conflict(packet, RegisterConflict::kCycleCountForm);
  }
  return length + cycles.length;
}

template <bool kCycles>
std::size_t Parser::read_short_branch(const std::uint8_t* at, Packet& packet) {
  std::uint32_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = std::byteswap(bytes);
  const std::uint32_t ends = ~bytes & 0x80808080U;
  // The lowest byte without a continuation bit is the last.  Its bit 6 is a flag, unless it is also
  // the first byte.
  const std::uint32_t end = ends & (0U - ends);
  const bool a32 = isa_ == isa::Isa::kA32;
  const bool plain_isa = a32 || (isa_ == isa::Isa::kT32 && !alt_isa_);
  if (ends == 0 || !plain_isa || (bytes & (end >> 1) & ~0x40U) != 0) return 0;
  const auto count = static_cast<unsigned>(std::countr_zero(end)) / 8 + 1;
  const std::uint32_t bits = (bytes & 0x7EU) | (bytes >> 8 & 0x7FU) << 7 |
                             (bytes >> 16 & 0x7FU) << 14 | (bytes >> 24 & 0x7FU) << 21;
  const unsigned width = 7 * count - (count > 1 ? 1U : 0U) + (a32 ? 1U : 0U);
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  std::size_t length = count;
  CycleCount cycles;
  if constexpr (kCycles) {
    cycles = read_cycle_count<false>(at + count, kMaxBranch);
    length += cycles.length;
  }
  packet.begin(PacketType::kBranchAddress, length);
  packet.isa = isa_;
  packet.isa_changed = false;
  packet.info_bytes = 0;
  set_address((address_.value & ~mask) | ((bits << (a32 ? 1 : 0)) & mask), width, packet);
  if constexpr (kCycles) {
    packet.has_cycle_count = true;
    packet.cycle_count = cycles.value;
    if ((at[count] & 0x83) != 0) [[unlikely]]
      conflict(packet, RegisterConflict::kCycleCountForm);
  }
  return length;
}

template <class Visitor>
bool Parser::parse(Visitor&& visitor) {
  while (true) {
    if (synced_ && carry_.empty()) [[likely]] {
      if (cycle_accurate_ ? parse_in_sync<true>(visitor) : parse_in_sync<false>(visitor))
        return true;
      if (synced_) return false;
    }
    if (!next(packet_)) return false;
    if (!visitor.on_packet(packet_)) return true;
  }
}

// Each iteration of the outer loop handles one run.
template <bool kCycles, class Visitor>
bool Parser::parse_in_sync(Visitor& visitor) {
  const std::uint8_t* const data = data_;
  const std::size_t size = size_;
  std::size_t position = position_;
  while (position < size) {
    while (position >= run_end_) next_run();
    const frames::Indexer index(runs_[run_]);
    const std::size_t end = std::min(size, run_end_);
    do {
      const std::uint8_t* const at = data + position;
      if (size - position >= kMaxBranch) [[likely]] {
        std::size_t length = 0;
        bool go_on = true;
        if ((*at & 1) != 0) {
          length = read_short_branch<kCycles>(at, packet_);
          if (length == 0) length = read_branch<false, kCycles>(at, kMaxBranch, packet_);
          packet_.index = index(position);
          go_on = visitor.on_packet(packet_);
        } else if ((*at & 0x80) != 0) {
          length = 1;
          if constexpr (kCycles) {
            const CycleCount cycles = read_cycle_count<false>(at, kMaxBranch);
            AtomPacket atom;
            atom.length = static_cast<std::uint16_t>(cycles.length);
            atom.atom_count = 1;
            atom.atoms = (*at & 2) == 0 ? 1 : 0;
            atom.has_cycle_count = true;
            atom.cycle_count = cycles.value;
            length = cycles.length;
            go_on = visitor.on_atoms(index(position), atom);
          } else if (*at != kAsyncEnd) [[likely]] {
            go_on = visitor.on_atoms(index(position), atom_packet(*at));
          } else {
            length = 0;
          }
        }
        if (length != 0) [[likely]] {
          if (!go_on) {
            took(position, length);
            return true;
          }
          position += length;
          continue;
        }
      }
      position_ = position;
      if (!next_in_sync(packet_)) return false;
      position = position_;
      if (!visitor.on_packet(packet_)) return true;
      if (!synced_) [[unlikely]]
        return false;
    } while (position < end);
  }
  position_ = position;
  return false;
}

}  // namespace waymark::ptm
