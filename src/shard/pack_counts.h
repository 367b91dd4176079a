// The encoding of counts in the content of parts.
#pragma once

#include <cstdint>
#include <string>

#include "pack.h"
#include "waymark/count/counts.h"

namespace waymark::shard {

/// kNoAddress is the shortest.
inline void put_address(std::string& out, std::uint64_t address) {
  put_number(out, address - kNoAddress);
}
inline std::uint64_t take_address(Cursor& cursor) { return take_number(cursor) + kNoAddress; }

/// A number that is at most `last`; else overrun().
inline std::uint64_t take_most(Cursor& cursor, std::uint64_t last) {
  const std::uint64_t value = take_number(cursor);
  if (value <= last) return value;
  overrun(cursor);
  return 0;
}
inline bool take_flag(Cursor& cursor) { return take_most(cursor, 1) != 0; }

inline isa::Isa take_isa(Cursor& cursor) {
  return static_cast<isa::Isa>(take_most(cursor, static_cast<std::uint64_t>(isa::Isa::kUnknown)));
}
inline isa::InstrSubtype take_subtype(Cursor& cursor) {
  return static_cast<isa::InstrSubtype>(
      take_most(cursor, static_cast<std::uint64_t>(isa::InstrSubtype::kV7ImpliedReturn)));
}

/// `previous` is where the range before it starts.
inline void put_range(std::string& out, const count::Range& range, std::uint64_t& previous) {
  put_number(out, range.start - previous);
  previous = range.start;
  put_number(out, range.end - range.start);
  put_number(out, range.count);
  put_number(out, static_cast<std::uint64_t>(range.isa));
  put_number(out, static_cast<std::uint64_t>(range.last_type));
  put_number(out, static_cast<std::uint64_t>(range.last_subtype));
  put_number(out, range.last_size);
  put_number(out, range.conditional ? 1 : 0);
}

inline count::Range take_range(Cursor& cursor, std::uint64_t& previous) {
  count::Range range;
  range.start = previous += take_number(cursor);
  range.end = range.start + take_number(cursor);
  range.count = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  range.isa = take_isa(cursor);
  range.last_type = static_cast<isa::InstrType>(
      take_most(cursor, static_cast<std::uint64_t>(isa::InstrType::kTstart)));
  range.last_subtype = take_subtype(cursor);
  range.last_size = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  range.conditional = take_flag(cursor);
  return range;
}

}  // namespace waymark::shard
