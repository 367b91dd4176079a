// Maps packet types to the rows of a table with one row per type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// Packet types fill 0x000..0x0FF sparsely, and then a few numbers at each multiple of 0x100.
inline constexpr std::size_t kSlotCount = 0x100 + 5 * 8;
constexpr std::size_t slot_of(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  if (number < 0x100) return number;
  return number < 0x500 && (number & 0xF8) == 0 ? 0x100 + (number >> 8) * 8 + (number & 7)
                                                : kSlotCount;
}

/// The number of the row whose member `type` has this slot; `N` if there is none, as for
/// kSlotCount.
template <class Row, std::size_t N>
constexpr std::array<std::uint8_t, kSlotCount + 1> row_slots(const Row (&rows)[N]) {
  static_assert(N < 256);
  std::array<std::uint8_t, kSlotCount + 1> slots{};
  slots.fill(N);
  for (std::size_t i = 0; i < N; ++i) slots[slot_of(rows[i].type)] = static_cast<std::uint8_t>(i);
  return slots;
}

}  // namespace waymark::etmv4
