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

/// All of a table but those whose bit is set in `except`: bit i is row i.
template <class Flags, std::size_t kCount>
constexpr Flags all_but(const std::array<NamedQuirk<Flags>, kCount>& table,
                        std::uint64_t except = 0) {
  static_assert(kCount <= 64);
  Flags flags;
  for (std::size_t i = 0; i < kCount; ++i) flags.*table[i].flag = (except >> i & 1) == 0;
  return flags;
}

/// The first bit of the quirks that only older versions of the reference have.
inline constexpr unsigned kOlderQuirkBit = 48;

/// As all_but(), and the rows of `older` whose bit from kOlderQuirkBit on is set.
template <class Flags, std::size_t kCount, std::size_t kOlder>
constexpr Flags all_but(const std::array<NamedQuirk<Flags>, kCount>& table,
                        const std::array<NamedQuirk<Flags>, kOlder>& older, std::uint64_t except) {
  static_assert(kCount <= kOlderQuirkBit && kOlder <= 64 - kOlderQuirkBit);
  Flags flags = all_but(table, except);
  for (std::size_t i = 0; i < kOlder; ++i)
    flags.*older[i].flag = (except >> (kOlderQuirkBit + i) & 1) != 0;
  return flags;
}

}  // namespace waymark
