#include "../../src/itm/header_table.h"

#include <gtest/gtest.h>

namespace waymark::itm {
namespace {

// The tests of stm-itm.md 11, in its order and with its masks.
PacketType by_masks(unsigned header) {
  if ((header & 3) != 0) return (header & 4) != 0 ? PacketType::kHardware : PacketType::kSoftware;
  if ((header & 0x0F) == 0) {
    if (header == 0x00) return PacketType::kAsync;
    if (header == 0x70) return PacketType::kOverflow;
    return PacketType::kLocalTimestamp;
  }
  if ((header & 0x0B) == 0x08) return PacketType::kExtension;
  if (header == 0x94) return PacketType::kGlobalTimestamp1;
  if (header == 0xB4) return PacketType::kGlobalTimestamp2;
  return PacketType::kReserved;
}

TEST(ItmHeaders, patterns_and_masks_agree) {
  for (unsigned header = 0; header < 256; ++header)
    EXPECT_EQ(kHeaderTypes[header], by_masks(header)) << header;
}

}  // namespace
}  // namespace waymark::itm
