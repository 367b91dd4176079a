#include "../../src/etmv4data/header_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::etmv4data {
namespace {

// The value of a type is the header with which its range begins (etmv4-data.md 2).
TEST(Etmv4DataHeaders, begin_the_ranges_of_their_types) {
  PacketType last = PacketType::kReserved;
  for (unsigned header = 1; header < 256; ++header) {
    const PacketType type = kTypeOfHeader[header];
    if (type != last && type != PacketType::kReserved) {
      EXPECT_EQ(static_cast<unsigned>(type), header);
    }
    last = type;
  }
}

TEST(Etmv4DataHeaders, have_ranges_of_powers_of_two) {
  const auto count = [](PacketType type) { return std::ranges::count(kTypeOfHeader, type); };
  EXPECT_EQ(count(PacketType::kTimestamp), 1);
  EXPECT_EQ(count(PacketType::kValueF4), 4);
  EXPECT_EQ(count(PacketType::kValueF3), 32);
  EXPECT_EQ(count(PacketType::kAddressF2), 64);
  EXPECT_EQ(count(PacketType::kAddressF6), 2);
  EXPECT_EQ(kTypeOfHeader[0x00], PacketType::kReserved);
}

}  // namespace
}  // namespace waymark::etmv4data
