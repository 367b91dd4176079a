// Unpacks one 16-byte frame, in 64-bit words.  See frames.md 1 and 1.2.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "waymark/base/bits.h"
#include "waymark/base/wide.h"
#include "waymark/frames/demux.h"

namespace waymark::frames {

inline void store_little(std::uint8_t* at, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(at, &value, sizeof value);
}

/// Bit 0 of the four even bytes of a word: set where the byte is an ID byte.
inline constexpr std::uint64_t kIdBits = 0x0001'0001'0001'0001;

/// The flag bits of four even bytes, spread to bit 0 of each.
inline constexpr std::array<std::uint64_t, 16> kFlagBits = [] {
  std::array<std::uint64_t, 16> table{};
  for (unsigned flags = 0; flags < 16; ++flags)
    for (unsigned i = 0; i < 4; ++i) table[flags] |= std::uint64_t{(flags >> i) & 1} << (16 * i);
  return table;
}();

/// Bit i of the result is bit 0 of even byte 2i.  The multiplication brings the four bits together,
/// in order, at bit 48; no two products fall on the same bit, so there is no carry.
constexpr unsigned gather_id_bits(std::uint64_t word) {
  return static_cast<unsigned>(((word & kIdBits) * 0x0001'0002'0004'0008) >> 48) & 0xF;
}
static_assert(gather_id_bits(0x0001'0000'0001'0001) == 0b1011);

/// Whether some even byte of the word is FF: the first byte of any sync, which a frame without
/// errors does not contain.
constexpr bool has_sync_byte(std::uint64_t word) {
  return (((word & 0x00FF'00FF'00FF'00FF) + kIdBits) & (kIdBits << 8)) != 0;
}

/// The data bytes of a frame or segment; byte 0 is the least significant.
using Data = Wide;

inline void store_data(std::uint8_t* at, Data data) {
  store_little(at, static_cast<std::uint64_t>(data));
  store_little(at + 8, static_cast<std::uint64_t>(data >> 64));
}

/// Calls `emit(offset, id, data, size)` for each segment in order.  The segment's index is that of
/// the frame plus `offset`.  Only the last segment can have size 0.  Returns the number of bytes
/// that are not trace data.
///
/// The data of a frame are its bytes in order without the ID bytes; an ID byte and its flag only
/// determine where one segment ends.  So everything is done in registers: memory would mean loads
/// across recent stores, which cost more than all the rest (bench/frames_bench, "4 sources, up to 8
/// bytes").
template <class Emit>
inline unsigned take_apart(const std::uint8_t* frame, TraceId& current_id, Emit&& emit) {
  const auto low = load_le<std::uint64_t>(frame);
  const auto high = load_le<std::uint64_t>(frame + 8);
  const unsigned flags = frame[15];
  const unsigned ids = gather_id_bits(low) | gather_id_bits(high) << 4;
  const unsigned data_flags = flags & ~ids;
  Data data = Data{high | kFlagBits[data_flags >> 4]} << 64 | (low | kFlagBits[data_flags & 0xF]);

  if (ids == 0) {
    emit(0U, current_id, data, 15U);
    return 1;
  }

  unsigned removed = 0;  // ID bytes removed from `data` so far.
  unsigned first = 0;    // The start of the current segment in `data`,
  unsigned offset = 0;   // and its offset in the frame.
  for (unsigned rest = ids & 0x7F; rest != 0; rest &= rest - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned at = 2 * place - removed;
    const Data before = (Data{1} << (8 * at)) - 1;
    data = (data & before) | ((data >> 8) & ~before);
    ++removed;
    const auto id = static_cast<TraceId>(frame[2 * place] >> 1);
    if (id == current_id) continue;
    const unsigned end = at + ((flags >> place) & 1);  // A delayed change takes one byte more.
    if (end > first) {
      emit(offset, current_id, data >> (8 * first), end - first);
      first = end;
      offset = 2 * place;
    }
    current_id = id;
  }
  const bool id_at_end = (ids & 0x80) != 0;
  const unsigned end = (id_at_end ? 14U : 15U) - removed;
  emit(offset, current_id, data >> (8 * first), end - first);
  if (id_at_end) current_id = static_cast<TraceId>(frame[14] >> 1);
  return removed + (id_at_end ? 2U : 1U);
}

}  // namespace waymark::frames
