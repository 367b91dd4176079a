#include "waymark/etmv4/config.h"

#include <gtest/gtest.h>

namespace waymark::etmv4 {
namespace {

Config etm(std::uint32_t minor) {
  Config config;
  config.trcidr1 = 0x4100F403 | minor << 4;
  return config;
}

Config ete(std::uint32_t devarch) {
  Config config = Config::ete_default();
  config.trcdevarch = devarch;
  return config;
}

TEST(Etmv4Config, etmv4_takes_its_version_from_trcidr1) {
  EXPECT_EQ(Config{}.version(), 0x40U);
  EXPECT_EQ(etm(6).version(), 0x46U);
  EXPECT_EQ(etm(6).major_version(), 4U);
  EXPECT_EQ(etm(6).minor_version(), 6U);
}

TEST(Etmv4Config, ete_takes_its_version_from_trcdevarch) {
  EXPECT_EQ(ete(0x47705A13).version(), 0x50U);
  EXPECT_EQ(ete(0x47715A13).version(), 0x51U);
  EXPECT_EQ(ete(0x47735A13).version(), 0x53U);
}

TEST(Etmv4Config, the_trace_id_has_seven_bits) {
  Config config;
  config.trctraceidr = 0xFFFFFF92;
  EXPECT_EQ(config.trace_id(), 0x12);
}

TEST(Etmv4Config, commit_mode_1_needs_cycle_counting) {
  Config config;
  config.trcidr0 = 1U << 29;
  EXPECT_FALSE(config.commit_mode_1());
  config.trcidr0 |= 1U << 7;
  EXPECT_TRUE(config.commit_mode_1());
}

TEST(Etmv4Config, wide_vmids_need_version_4_1) {
  for (const auto& [size, bytes] : {std::pair{1U, 1U}, {2U, 2U}, {4U, 4U}, {3U, 0U}, {0U, 0U}}) {
    Config config = etm(1);
    config.trcidr2 = size << 10;
    EXPECT_EQ(config.vmid_bytes(), bytes) << size;
    config.trcidr1 = etm(0).trcidr1;
    EXPECT_EQ(config.vmid_bytes(), size == 1 ? 1U : 0U) << size;
  }
}

TEST(Etmv4Config, a_context_id_has_four_bytes_or_none) {
  Config config;
  config.trcidr2 = 4U << 5;
  EXPECT_EQ(config.context_id_bytes(), 4U);
  config.trcidr2 = 2U << 5;
  EXPECT_EQ(config.context_id_bytes(), 0U);
}

TEST(Etmv4Config, the_cycle_counter_has_twelve_bits_and_more) {
  Config config;
  config.trcidr2 = 8U << 25;
  EXPECT_EQ(config.cycle_count_bits(), 20U);
}

TEST(Etmv4Config, wfi_is_a_waypoint_from_version_4_3_on) {
  Config config = etm(2);
  config.trcidr2 = 1U << 31;
  EXPECT_FALSE(config.wfx_waypoints());
  config.trcidr1 = etm(3).trcidr1;
  EXPECT_TRUE(config.wfx_waypoints());
}

TEST(Etmv4Config, timestamp_markers_hold_timestamps_back_where_the_unit_has_them) {
  Config config = ete(0x47705A13);
  EXPECT_FALSE(config.timestamp_markers());
  config.trcidr0 |= 1U << 23;
  EXPECT_TRUE(config.timestamp_markers());
  config = etm(6);
  config.trcidr0 |= 1U << 23;
  EXPECT_TRUE(config.timestamp_markers());
  // The bit is reserved before version 4.6.
  config.trcidr1 = etm(5).trcidr1;
  EXPECT_FALSE(config.timestamp_markers());
}

TEST(Etmv4Config, conditional_trace_needs_a_mode_that_exists) {
  Config config;
  config.trcidr0 = 1U << 6;
  for (std::uint32_t mode = 0; mode < 8; ++mode) {
    config.trcconfigr = mode << 8;
    const bool exists = mode == 1 || mode == 2 || mode == 3 || mode == 7;
    EXPECT_EQ(config.conditional_trace(), exists) << mode;
  }
}

TEST(Etmv4Config, data_trace_needs_the_unit_loads_or_stores_and_an_enable) {
  Config config;
  config.trcidr0 = 3U << 3;
  config.trcconfigr = 1U << 16 | 1U << 1;
  EXPECT_TRUE(config.data_trace());
  config.trcconfigr = 1U << 16;
  EXPECT_FALSE(config.data_trace());
  config.trcconfigr = 1U << 1;
  EXPECT_FALSE(config.data_trace());
  config.trcidr0 = 1U << 3;
  config.trcconfigr = 1U << 17 | 1U << 1;
  EXPECT_FALSE(config.data_trace());
}

}  // namespace
}  // namespace waymark::etmv4
