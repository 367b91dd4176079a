// The names of quirks, so that each can be switched by its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace waymark {

template <class Flags>
struct NamedQuirk {
  std::string_view name;
  bool Flags::* flag;
};

/// Quirks that are on, by their row in a table: bit i is row i.
using QuirkSet = std::uint64_t;

/// The first bit of the quirks that only older versions of the reference have.
inline constexpr unsigned kOlderQuirkBit = 48;
/// All that 1.8.0 has.
inline constexpr QuirkSet kReferenceQuirks = (QuirkSet{1} << kOlderQuirkBit) - 1;

/// The quirks of a table that are in the set.
template <class Flags, std::size_t kCount>
constexpr Flags chosen(const std::array<NamedQuirk<Flags>, kCount>& table, QuirkSet set) {
  static_assert(kCount <= kOlderQuirkBit);
  Flags flags;
  for (std::size_t i = 0; i < kCount; ++i) flags.*table[i].flag = (set >> i & 1) != 0;
  return flags;
}

/// The same, and the rows of `older` by their bits from kOlderQuirkBit on.
template <class Flags, std::size_t kCount, std::size_t kOlder>
constexpr Flags chosen(const std::array<NamedQuirk<Flags>, kCount>& table,
                       const std::array<NamedQuirk<Flags>, kOlder>& older, QuirkSet set) {
  static_assert(kOlder <= 64 - kOlderQuirkBit);
  Flags flags = chosen(table, set);
  for (std::size_t i = 0; i < kOlder; ++i)
    flags.*older[i].flag = (set >> (kOlderQuirkBit + i) & 1) != 0;
  return flags;
}

}  // namespace waymark
