#include "waymark/etmv3/config.h"

#include <gtest/gtest.h>

namespace waymark::etmv3 {
namespace {

TEST(Etmv3Config, the_registers_of_a_cortex_a7) {
  const Config config{.etmcr = 0x10001860,
                      .etmidr = 0x410CF250,
                      .etmccer = 0x344008F2,
                      .etmtraceidr = 0x10,
                      .core = {}};
  EXPECT_EQ(config.trace_id(), 0x10);
  EXPECT_EQ(config.minor_version(), 5U);
  EXPECT_FALSE(config.alternative_branches());
  EXPECT_TRUE(config.has_virtualization());
  EXPECT_EQ(config.timestamp_bytes(), 9U);
  EXPECT_TRUE(config.cycle_accurate());
  EXPECT_FALSE(config.data_trace());
  EXPECT_FALSE(config.data_only());
  EXPECT_EQ(config.context_id_bytes(), 0U);
}

TEST(Etmv3Config, the_alternative_encoding_needs_version_3_4) {
  EXPECT_FALSE((Config{.etmcr = 0, .etmidr = 0x41100230, .etmccer = 0, .etmtraceidr = 0, .core = {}}
                    .alternative_branches()));
  EXPECT_TRUE((Config{.etmcr = 0, .etmidr = 0x41100240, .etmccer = 0, .etmtraceidr = 0, .core = {}}
                   .alternative_branches()));
}

TEST(Etmv3Config, context_ids_have_0_1_2_or_4_bytes) {
  for (const auto& [field, bytes] : {std::pair{0U, 0U}, {1U, 1U}, {2U, 2U}, {3U, 4U}}) {
    Config config;
    config.etmcr = field << 14;
    EXPECT_EQ(config.context_id_bytes(), bytes);
  }
}

TEST(Etmv3Config, only_v7_m_has_the_exceptions_of_m) {
  Config config;
  EXPECT_FALSE(config.v7m());
  config.core.profile = isa::Profile::kM;
  EXPECT_TRUE(config.v7m());
  config.core.arch = isa::Arch::kV8;
  EXPECT_FALSE(config.v7m());
}

TEST(Etmv3Config, timestamps_are_in_gray_code_if_the_register_says_so) {
  EXPECT_FALSE(Config{}.gray_timestamps()) << "The register is not known.";
  Config config;
  config.etmccer = 0x344008F2;
  EXPECT_FALSE(config.gray_timestamps());
  config.etmccer = 0x244008F2;
  EXPECT_TRUE(config.gray_timestamps());
}

TEST(Etmv3Config, timestamps_have_48_or_64_bits) {
  Config config;
  EXPECT_EQ(config.timestamp_bytes(), 7U);
  config.etmccer = 1U << 29;
  EXPECT_EQ(config.timestamp_bytes(), 9U);
}

}  // namespace
}  // namespace waymark::etmv3
