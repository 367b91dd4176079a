#include "../../src/etmv3/header_table.h"

#include <gtest/gtest.h>

namespace waymark::etmv3 {
namespace {

PacketType type_of(unsigned byte) { return kHeaders[byte].type; }

// The tests of etmv3.md 3, in its order and with its masks.
PacketType by_masks(unsigned b) {
  if ((b & 1) != 0) return PacketType::kBranchAddress;
  if ((b & 0x81) == 0x80) return PacketType::kPHeader;
  switch (b) {
    case 0x00:
      return PacketType::kASync;
    case 0x04:
      return PacketType::kCycleCount;
    case 0x08:
      return PacketType::kISync;
    case 0x0C:
      return PacketType::kTrigger;
    case 0x70:
      return PacketType::kISyncCycle;
    case 0x50:
      return PacketType::kStoreFailed;
    case 0x3C:
      return PacketType::kVmid;
    case 0x62:
      return PacketType::kDataSuppressed;
    case 0x6A:
    case 0x7A:
      return PacketType::kValueNotTraced;
    case 0x66:
      return PacketType::kIgnore;
    case 0x6E:
      return PacketType::kContextId;
    case 0x76:
      return PacketType::kExceptionExit;
    case 0x7E:
      return PacketType::kExceptionEntry;
    case 0x42:
    case 0x46:
      return PacketType::kTimestamp;
    default:
      break;
  }
  if ((b & 0x93) == 0) return PacketType::kOooData;
  if ((b & 0xD3) == 0x50) return PacketType::kOooAddress;
  if ((b & 0xD3) == 0x02) return PacketType::kNormData;
  return PacketType::kReserved;
}

TEST(Etmv3Headers, patterns_and_masks_agree) {
  for (unsigned byte = 0; byte < 256; ++byte) EXPECT_EQ(type_of(byte), by_masks(byte)) << byte;
}

TEST(Etmv3Headers, data_headers_need_their_trace) {
  Config config;
  EXPECT_FALSE(legal(kHeaders[0x02].gate, config));
  config.etmcr = 8;
  EXPECT_TRUE(legal(kHeaders[0x02].gate, config));
  EXPECT_FALSE(legal(kHeaders[0x24].gate, config));
  EXPECT_FALSE(legal(kHeaders[0x50].gate, config));
  config.etmcr = 4;
  EXPECT_TRUE(legal(kHeaders[0x24].gate, config));
  EXPECT_TRUE(legal(kHeaders[0x54].gate, config));
}

}  // namespace
}  // namespace waymark::etmv3
