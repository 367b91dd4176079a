// Unsigned numbers of 128 bits, for products of two numbers of 64 bits.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace waymark {

/// The type Wide where the compiler has no such type: on 32-bit machines. It has only the operators
/// that Waymark needs.
class PortableWide {
 public:
  constexpr PortableWide() = default;
  // Numbers become wide without a word, as they do with the type of the compiler.
  constexpr PortableWide(std::uint64_t low) : low_(low) {}  // NOLINT(google-explicit-constructor)

  /// The lowest bits.
  template <std::integral Number>
  constexpr explicit operator Number() const {
    return static_cast<Number>(low_);
  }

  friend constexpr bool operator==(const PortableWide&, const PortableWide&) = default;
  friend constexpr auto operator<=>(const PortableWide&, const PortableWide&) = default;

  friend constexpr PortableWide operator&(PortableWide a, PortableWide b) {
    return {a.high_ & b.high_, a.low_ & b.low_};
  }
  friend constexpr PortableWide operator|(PortableWide a, PortableWide b) {
    return {a.high_ | b.high_, a.low_ | b.low_};
  }
  constexpr PortableWide operator~() const { return {~high_, ~low_}; }

  /// `bits` is less than 128.
  constexpr PortableWide operator<<(unsigned bits) const {
    if (bits == 0) return *this;
    if (bits >= 64) return {low_ << (bits - 64), 0};
    return {high_ << bits | low_ >> (64 - bits), low_ << bits};
  }
  constexpr PortableWide operator>>(unsigned bits) const {
    if (bits == 0) return *this;
    if (bits >= 64) return {0, high_ >> (bits - 64)};
    return {high_ >> bits, low_ >> bits | high_ << (64 - bits)};
  }

  friend constexpr PortableWide operator+(PortableWide a, PortableWide b) {
    const std::uint64_t low = a.low_ + b.low_;
    return {a.high_ + b.high_ + (low < a.low_ ? 1 : 0), low};
  }
  friend constexpr PortableWide operator-(PortableWide a, PortableWide b) {
    return {a.high_ - b.high_ - (a.low_ < b.low_ ? 1 : 0), a.low_ - b.low_};
  }
  friend constexpr PortableWide operator*(PortableWide a, PortableWide b) {
    PortableWide product = product_of(a.low_, b.low_);
    product.high_ += a.high_ * b.low_ + a.low_ * b.high_;
    return product;
  }
  /// `b` is not 0.
  friend constexpr PortableWide operator/(PortableWide a, PortableWide b) {
    PortableWide quotient;
    PortableWide rest;
    for (unsigned bit = 128; bit-- > 0;) {
      const bool carries = rest.high_ >> 63 != 0;
      rest = rest << 1 | (a >> bit & 1);
      if (!carries && rest < b) continue;
      rest = rest - b;
      quotient = quotient | PortableWide(1) << bit;
    }
    return quotient;
  }

  constexpr PortableWide& operator|=(PortableWide other) { return *this = *this | other; }
  constexpr PortableWide& operator>>=(unsigned bits) { return *this = *this >> bits; }

 private:
  constexpr PortableWide(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

  static constexpr PortableWide product_of(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kHalf = 0xFFFF'FFFF;
    const std::uint64_t low = (a & kHalf) * (b & kHalf);
    // Neither sum is more than 64 bits: (2^32 - 1)^2 + 2 * (2^32 - 1) is the largest.
    const std::uint64_t first = (a >> 32) * (b & kHalf) + (low >> 32);
    const std::uint64_t second = (a & kHalf) * (b >> 32) + (first & kHalf);
    return {(a >> 32) * (b >> 32) + (first >> 32) + (second >> 32), second << 32 | (low & kHalf)};
  }

  // In the order in which numbers are compared.
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

#ifdef __SIZEOF_INT128__
__extension__ using Wide = unsigned __int128;
#else
using Wide = PortableWide;
#endif

}  // namespace waymark
