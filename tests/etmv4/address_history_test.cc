#include "waymark/etmv4/address_history.h"

#include <gtest/gtest.h>

namespace waymark::etmv4 {
namespace {

Address at(std::uint64_t value) { return {.value = value}; }

TEST(Etmv4AddressHistory, the_newest_three_can_be_named) {
  AddressHistory history;
  for (const std::uint64_t value : {1U, 2U, 3U, 4U, 5U}) history.push(at(value));
  EXPECT_EQ(history.match(0).value, 5U);
  EXPECT_EQ(history.match(1).value, 4U);
  EXPECT_EQ(history.match(2).value, 3U);
}

TEST(Etmv4AddressHistory, short_forms_keep_the_upper_bits_of_the_newest) {
  AddressHistory history;
  history.push(at(0xFFFF'0000'1234'5678));
  const Address address = history.shortened(0x1C, 9, 0x1FF, 1);
  EXPECT_EQ(address.value, 0xFFFF'0000'1234'561C);
  EXPECT_EQ(address.update_bits, 9);
  EXPECT_EQ(address.valid_bits, 64);
  EXPECT_EQ(address.is, 1);
}

TEST(Etmv4AddressHistory, only_a_64_bit_pe_keeps_the_upper_half) {
  AddressHistory history;
  history.push(at(0xFFFF'0000'1234'5678));
  EXPECT_EQ(history.low_half(0x1000, true, 0).value, 0xFFFF'0000'0000'1000);
  EXPECT_EQ(history.low_half(0x1000, false, 0).value, 0x1000U);
  EXPECT_EQ(history.low_half(0x1000, false, 0).size_bits, 32);
}

TEST(Etmv4AddressHistory, after_a_loss_only_the_bits_of_packets_are_known) {
  AddressHistory history;
  history.push(at(0x1234'5678));
  history.reset();
  EXPECT_EQ(history.shortened(0x1C, 9, 0x1FF, 0).valid_bits, 9);
  EXPECT_EQ(history.low_half(0, false, 0).valid_bits, 32);
  // Addresses that were sent before can still be named.
  EXPECT_EQ(history.match(0).valid_bits, 64);
}

TEST(Etmv4AddressHistory, clear_makes_every_address_zero) {
  AddressHistory history;
  history.push(at(7));
  history.clear();
  EXPECT_EQ(history.match(0).value, 0U);
  EXPECT_EQ(history.shortened(0, 9, 0x1FF, 0).valid_bits, 64);
}

TEST(Etmv4AddressHistory, older_addresses_do_not_count) {
  AddressHistory a;
  AddressHistory b;
  a.push(at(9));
  for (const std::uint64_t value : {1U, 2U, 3U}) a.push(at(value));
  for (const std::uint64_t value : {1U, 2U, 3U}) b.push(at(value));
  EXPECT_TRUE(a == b);
  b.push(at(3));
  EXPECT_FALSE(a == b);
}

}  // namespace
}  // namespace waymark::etmv4
