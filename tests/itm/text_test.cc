// The wording of each packet, from the examples of stm-itm.md 13 and 14.
#include "waymark/itm/text.h"

#include <gtest/gtest.h>

#include "support/itm_bench.h"

namespace waymark::itm {
namespace {

using support::ItmBench;

TEST(ItmText, of_stimulus_ports) {
  EXPECT_EQ(ItmBench{}.after_async({0x19, 0xBB, 0x0A, 0x45, 0x23, 0x0B, 0x23, 0x01, 0x89, 0x67}),
            "ITM_SWIT: {src id: 0x03}  0xbb; 'Software Stimulus write packet'\n"
            "ITM_SWIT: {src id: 0x01}  0x2345; 'Software Stimulus write packet'\n"
            "ITM_SWIT: {src id: 0x01}  0x67890123; 'Software Stimulus write packet'\n");
}

TEST(ItmText, of_event_counters) {
  EXPECT_EQ(ItmBench{}.after_async({0x05, 0x15}),
            "ITM_DWT: {desc: 0x00} [Event Counter: 0x15; Flags:  CPI  ---  Sleep  ---  Fold  --- ] "
            "; 'DWT hardware stimulus write'\n");
  EXPECT_EQ(ItmBench{}.after_async({0x05, 0x2A}),
            "ITM_DWT: {desc: 0x00} [Event Counter: 0x2a; Flags:  ---  EXC  ---  LSU  ---  CYC ] "
            "; 'DWT hardware stimulus write'\n");
}

TEST(ItmText, of_exceptions) {
  EXPECT_EQ(ItmBench{}.after_async(
                {0x0E, 0x04, 0x10, 0x0E, 0x23, 0x21, 0x0E, 0x03, 0x30, 0x0E, 0x0F, 0x00}),
            "ITM_DWT: {desc: 0x01} [Exception Num:  0x0004(entered) ]; 'DWT hardware stimulus "
            "write'\n"
            "ITM_DWT: {desc: 0x01} [Exception Num:  0x0123(exited) ]; 'DWT hardware stimulus "
            "write'\n"
            "ITM_DWT: {desc: 0x01} [Exception Num:  0x0003(returned to) ]; 'DWT hardware stimulus "
            "write'\n"
            "ITM_DWT: {desc: 0x01} [Exception Num:  0x000f(reserved) ]; 'DWT hardware stimulus "
            "write'\n");
}

TEST(ItmText, of_samples) {
  EXPECT_EQ(ItmBench{}.after_async({0x17, 0x80, 0x10, 0x00, 0x00, 0x15, 0x00}),
            "ITM_DWT: {desc: 0x02} [PC Sample: 0x00001080] ; 'DWT hardware stimulus write'\n"
            "ITM_DWT: {desc: 0x02} [PC Sample: 0x00] ; 'DWT hardware stimulus write'\n");
}

TEST(ItmText, of_data_trace) {
  EXPECT_EQ(
      ItmBench{}.after_async({0x47, 0x34, 0x12, 0x00, 0x08, 0x5E, 0x10, 0x20, 0x95, 0x44, 0xAF,
                              0x77, 0x66, 0x55, 0x44}),
      "ITM_DWT: {desc: 0x08} [Data Trc: comp=0; PC Value=0x08001234 ] ; 'DWT hardware stimulus "
      "write'\n"
      "ITM_DWT: {desc: 0x0b} [Data Trc: comp=1; Address=0x2010 ] ; 'DWT hardware stimulus write'\n"
      "ITM_DWT: {desc: 0x12} [Data Trc: comp=1; Val read: 0x44] ; 'DWT hardware stimulus write'\n"
      "ITM_DWT: {desc: 0x15} [Data Trc: comp=2; Val write: 0x44556677] ; 'DWT hardware stimulus "
      "write'\n");
}

TEST(ItmText, of_a_pmu_overflow) {
  ItmBench bench;
  EXPECT_EQ(bench.after_async({0x1D, 0x05}),
            "ITM_DWT: {desc: 0x03} [PMU Overflow: 0x05] ; 'DWT hardware stimulus write'\n");
  bench.config.quirks.pmu_overflow_reserved = true;
  EXPECT_EQ(bench.after_async({0x1D, 0x05}),
            "ITM_DWT: {desc: 0x03} [Reserved discriminator value] ; 'DWT hardware stimulus "
            "write'\n");
}

TEST(ItmText, of_local_timestamps) {
  EXPECT_EQ(ItmBench{}.after_async({0x20, 0xC0, 0x82, 0xC8, 0x04, 0xD0, 0x0D, 0xE0, 0xC2, 0x26,
                                    0xF0, 0xDE, 0xFE, 0xD0, 0x3A}),
            "ITM_TS_LOCAL: 0x02 { TS Sync }; 'Local Timestamp'\n"
            "ITM_TS_LOCAL: 0x012402 { TS Sync }; 'Local Timestamp'\n"
            "ITM_TS_LOCAL: 0x0d { TS Delayed }; 'Local Timestamp'\n"
            "ITM_TS_LOCAL: 0x1342 { TS Sync, Packet Delayed }; 'Local Timestamp'\n"
            "ITM_TS_LOCAL: 0x07543f5e { TS Delayed, Packet Delayed }; 'Local Timestamp'\n");
}

TEST(ItmText, of_reserved_local_timestamps_in_the_reference) {
  ItmBench bench;
  bench.config.quirks.reserved_local_timestamps = true;
  EXPECT_EQ(bench.after_async({0x90, 0x01}),
            "ITM_TS_LOCAL: 0x01 { TS Delayed }; 'Local Timestamp'\n");
}

TEST(ItmText, of_global_timestamps) {
  EXPECT_EQ(ItmBench{}.after_async({0x94, 0x7A, 0x94, 0x92, 0x4E, 0x94, 0xD3, 0xC6, 0x10, 0x94,
                                    0xD6, 0xE8, 0xC8, 0x27}),
            "ITM_GTS_1: { TS bits [6:0]} 0x7a; 'Global Timestamp [25:0]'\n"
            "ITM_GTS_1: { TS bits [13:0]} 0x2712; 'Global Timestamp [25:0]'\n"
            "ITM_GTS_1: { TS bits [20:0]} 0x042353; 'Global Timestamp [25:0]'\n"
            "ITM_GTS_1: { TS bits [25:0], Clk change} 0x00f23456; 'Global Timestamp [25:0]'\n");
  EXPECT_EQ(ItmBench{}.after_async(
                {0xB4, 0x96, 0x9A, 0x92, 0x00, 0xB4, 0x93, 0x98, 0xA0, 0xA0, 0x80, 0x00}),
            "ITM_GTS_2: { TS bits [47:26]} 0x00048d16; 'Global Timestamp [{63|42}:26]'\n"
            "ITM_GTS_2: { TS bits [63:26]} 0x0004080c13; 'Global Timestamp [{63|42}:26]'\n");
}

TEST(ItmText, of_extensions) {
  EXPECT_EQ(ItmBench{}.after_async({0x28, 0x2C, 0x88, 0x01, 0x88, 0xFF, 0xFF, 0xFF, 0x7F}),
            "ITM_EXTENSION: {stim port page} 0x02; 'Extension packet'\n"
            "ITM_EXTENSION: {unknown extension type, 3 bits } 0x2; 'Extension packet'\n"
            "ITM_EXTENSION: {unknown extension type, 10 bits } 0x008; 'Extension packet'\n"
            "ITM_EXTENSION: {unknown extension type, 32 bits } 0x07ffffff8; 'Extension packet'\n");
}

}  // namespace
}  // namespace waymark::itm
