#include "waymark/syst/crc32c.h"

#include <gtest/gtest.h>

#include "support.h"
#include "support/random.h"
#include "waymark/syst/instrument.h"

namespace waymark::syst {
namespace {

TEST(SystCrc32c, message_of_the_sheet) {
  EXPECT_EQ(crc32c(hex("42 54 41 01 77 6F 72 64 30 00")), 0x52C779A3U);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(SystCrc32c, instruction_tables_and_encoder_agree_for_every_length) {
  support::Random random(1);
  std::vector<std::uint8_t> bytes;
  for (int size = 0; size < 100; ++size) {
    const Bytes view(bytes);
    EXPECT_EQ(crc32c(view), crc32c_portable(view)) << size;
    EXPECT_EQ(crc32c(view), instrument::crc32c_small(view)) << size;
    bytes.push_back(random.byte());
  }
}

}  // namespace
}  // namespace waymark::syst
