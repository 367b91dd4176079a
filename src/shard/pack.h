// Numbers and texts in the content of parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "waymark/base/cursor.h"

namespace waymark::shard {

/// 7 bits a byte, least significant first.
inline void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

inline void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

inline std::uint64_t take_number(Cursor& cursor) { return cursor.continued(10); }

/// A difference in either direction.
inline void put_signed(std::string& out, std::uint64_t difference) {
  put_number(out, difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0));
}
inline std::uint64_t take_signed(Cursor& cursor) {
  const std::uint64_t value = take_number(cursor);
  return value >> 1 ^ ((value & 1) != 0 ? ~std::uint64_t{0} : 0);
}

/// Marks the bytes that were taken as impossible: Cursor::overrun() reports it from now on.
inline void overrun(Cursor& cursor) { (void)cursor.take(cursor.remaining() + 1); }

/// A number of things, each of which has at least one byte.  More than there can be: overrun().
inline std::size_t take_count(Cursor& cursor) {
  const std::uint64_t count = take_number(cursor);
  if (count <= cursor.remaining()) return static_cast<std::size_t>(count);
  overrun(cursor);
  return 0;
}

/// The place of something in a list.  More than a size can be: overrun().
inline std::size_t take_place(Cursor& cursor) {
  const std::uint64_t place = take_number(cursor);
  if (std::in_range<std::size_t>(place)) return static_cast<std::size_t>(place);
  overrun(cursor);
  return 0;
}

inline std::string take_text(Cursor& cursor) {
  const Bytes bytes = cursor.take(take_count(cursor));
  return {bytes.begin(), bytes.end()};
}

}  // namespace waymark::shard
