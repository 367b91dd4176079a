// The value of a register that may not be known.
#pragma once

#include <cstdint>

#include "waymark/base/bits.h"

namespace waymark {

/// A register of a trace unit: a given value, or an assumed one.  Both read as a number.  Trace
/// cannot contradict an assumed value.
class RegisterValue {
 public:
  // Implicit, as a number is what users give.
  constexpr RegisterValue(std::uint32_t value)  // NOLINT(google-explicit-constructor)
      : value_(value) {}

  static constexpr RegisterValue assumed(std::uint32_t value) {
    RegisterValue result(value);
    result.given_ = false;
    return result;
  }

  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr bool given() const { return given_; }

  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator std::uint32_t() const { return value_; }

  constexpr RegisterValue& operator|=(std::uint32_t bits) { return *this = value_ | bits; }
  constexpr RegisterValue& operator&=(std::uint32_t bits) { return *this = value_ & bits; }

 private:
  std::uint32_t value_;
  bool given_ = true;
};

template <unsigned High, unsigned Low>
constexpr std::uint32_t bits(const RegisterValue& value) {
  return bits<High, Low>(value.value());
}

template <unsigned Position>
constexpr bool bit(const RegisterValue& value) {
  return bit<Position>(value.value());
}

}  // namespace waymark
