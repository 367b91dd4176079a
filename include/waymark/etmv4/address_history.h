// The addresses that address packets refer to.  See etmv4-ete.md 2.7.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// The newest addresses, and the one that the next is compressed against.  That is the newest,
/// except that after a loss of synchronisation no bit of it is known.
class AddressHistory {
 public:
  static constexpr unsigned kSize = 3;

  /// The i-th newest address, i < kSize.
  [[nodiscard]] const Address& match(unsigned i) const {
    return ring_[(newest_ - i) % ring_.size()];
  }
  /// The address of a packet that has its `width` low bits; the others are as they were.
  [[nodiscard]] Address shortened(std::uint64_t value, unsigned width, std::uint64_t mask,
                                  std::uint8_t is) const {
    Address address = base_;
    address.value = (base_.value & ~mask) | value;
    address.update_bits = static_cast<std::uint8_t>(width);
    address.valid_bits = std::max(base_.valid_bits, address.update_bits);
    address.is = is;
    return address;
  }
  /// That of a packet with 32 bits.  Only a 64-bit PE keeps the others.
  [[nodiscard]] Address low_half(std::uint32_t value, bool is_64bit, std::uint8_t is) const {
    Address address;
    address.value = (is_64bit ? base_.value & ~std::uint64_t{0xFFFFFFFF} : 0) | value;
    address.update_bits = 32;
    address.valid_bits = std::max<std::uint8_t>(base_.valid_bits, 32);
    address.size_bits = is_64bit ? 64 : 32;
    address.is = is;
    return address;
  }

  void push(const Address& address) {
    newest_ = (newest_ + 1) % ring_.size();
    ring_[newest_] = address;
    base_ = address;
  }
  /// At a synchronisation point: every address is 0.
  void clear() {
    base_ = Address{};
    ring_.fill(base_);
  }
  /// After a loss of synchronisation.
  void reset() { base_.valid_bits = 0; }

  friend bool operator==(const AddressHistory& a, const AddressHistory& b) {
    for (unsigned i = 0; i < kSize; ++i)
      if (a.match(i) != b.match(i)) return false;
    return a.base_ == b.base_;
  }

 private:
  std::array<Address, kSize + 1> ring_{};  ///< One more than kSize, so that `%` is cheap.
  std::size_t newest_ = 0;
  Address base_{.value = 0, .valid_bits = 0, .update_bits = 0, .size_bits = 32, .is = 0};
};

}  // namespace waymark::etmv4
