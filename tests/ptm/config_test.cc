#include "waymark/ptm/config.h"

#include <gtest/gtest.h>

namespace waymark::ptm {
namespace {

// The registers of the captures in ptm.md 12.
TEST(PtmConfig, cortex_a15_with_return_stack) {
  const Config config{.etmidr = 0x411CF312,
                      .etmcr = 0x20000400,
                      .etmccer = 0x34C01AC2,
                      .etmtraceidr = 0x82,
                      .core = {}};
  EXPECT_EQ(config.trace_id(), 2);
  EXPECT_EQ(config.minor_version(), 1U);
  EXPECT_TRUE(config.return_stack());
  EXPECT_FALSE(config.cycle_accurate());
  EXPECT_EQ(config.timestamp_bits(), 64U);
  EXPECT_FALSE(config.gray_timestamps());
  EXPECT_FALSE(config.barrier_waypoints());
}

TEST(PtmConfig, cortex_a9_of_version_1_0_has_short_timestamps_in_gray_code) {
  const Config config{.etmidr = 0x411CF300,
                      .etmcr = 0x10001000,
                      .etmccer = 0x300008EA,
                      .etmtraceidr = 0x10,
                      .core = {}};
  EXPECT_EQ(config.minor_version(), 0U);
  EXPECT_TRUE(config.cycle_accurate());
  EXPECT_EQ(config.timestamp_bits(), 48U);
  EXPECT_TRUE(config.gray_timestamps());
}

TEST(PtmConfig, the_return_stack_must_be_there_and_on) {
  EXPECT_FALSE((Config{.etmcr = 1U << 29, .core = {}}.return_stack()));
  EXPECT_FALSE((Config{.etmccer = 1U << 23, .core = {}}.return_stack()));
  EXPECT_TRUE((Config{.etmcr = 1U << 29, .etmccer = 1U << 23, .core = {}}.return_stack()));
}

TEST(PtmConfig, context_ids_have_none_one_two_or_four_bytes) {
  constexpr unsigned kBytes[] = {0, 1, 2, 4};
  for (std::uint32_t size = 0; size < 4; ++size)
    EXPECT_EQ((Config{.etmcr = size << 14, .core = {}}.context_id_bytes()), kBytes[size]);
}

}  // namespace
}  // namespace waymark::ptm
