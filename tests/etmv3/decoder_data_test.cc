// Data trace; the README of src/etmv3 and its scripts have every form of a packet.
#include <gtest/gtest.h>

#include "support/etmv3_bench.h"

namespace waymark::etmv3 {
namespace {

class Etmv3Data : public testing::Test, protected support::Etmv3Bench {
 protected:
  // 1000 ldr r0,[r1]  1004 nop  1008 ldm r0,{r1-r3}  100c strex r0,r1,[r2]  1010 mrc p15  1014 nop
  Etmv3Data() {
    config.etmcr = 0xC;
    program({0xE5910000, kNop, 0xE890000E, 0xE1820F91, 0xEE110F10, kNop, kNop});
  }
  static std::string range(unsigned index, std::uint32_t start, std::string_view what = "E --- ") {
    return fmt::format(
        "{} INSTR_RANGE(exec range=0x{:x}:[0x{:x}] num_i(1) last_sz(4) (ISA=A32) {})\n", index,
        start, start + 4, what);
  }
};

TEST_F(Etmv3Data, a_load_with_address_and_value) {
  EXPECT_EQ(elements({0x84, 0x2E, 0x80, 0xA0, 0x80, 0x80, 0x02, 0x78, 0x56, 0x34, 0x12, 0x84}),
            range(12, 0x1000) +
                "13 DATA_ADDRESS( 0x20001000; by 0x1000 #0; LE; )\n"
                "13 DATA_VALUE( 0x12345678 sz(4); at 0x20001000; by 0x1000 #0; LE; )\n");
}

TEST_F(Etmv3Data, data_belongs_to_the_last_data_instruction) {
  EXPECT_EQ(elements({0x88, 0x06, 0x55, 0x84}),
            range(12, 0x1000) + range(12, 0x1004) + "13 DATA_VALUE( 0x55 sz(1); by 0x1000 #0; )\n");
}

TEST_F(Etmv3Data, a_failed_instruction_moves_nothing) {
  EXPECT_EQ(elements({0xC0, 0x06, 0x55, 0x84}),
            range(12, 0x1000, "N --- ") + "13 DATA_VALUE( 0x55 sz(1); by ? #0; )\n");
}

TEST_F(Etmv3Data, a_load_multiple_counts_its_transfers) {
  EXPECT_EQ(elements({0x8C, 0x26, 0x10, 0x11, 0x6A, 0x06, 0x33, 0x84}),
            range(12, 0x1000) + range(12, 0x1004) + range(12, 0x1008) +
                "13 DATA_ADDRESS( 0x10 (6:0); by 0x1008 #0; )\n"
                "13 DATA_VALUE( 0x11 sz(1); at 0x10 (6:0); by 0x1008 #0; )\n"
                "16 DATA_ADDRESS( 0x14 (6:0); by 0x1008 #1; inferred; )\n"
                "16 DATA_EVENT( not traced; by 0x1008 #1; inferred; )\n"
                "17 DATA_ADDRESS( 0x18 (6:0); by 0x1008 #2; inferred; )\n"
                "17 DATA_VALUE( 0x33 sz(1); at 0x18 (6:0); by 0x1008 #2; inferred; )\n");
}

TEST_F(Etmv3Data, out_of_order_values_find_their_place) {
  EXPECT_EQ(elements({0x84, 0x78, 0x10, 0x84, 0x84, 0x48, 0x34, 0x12, 0x84}),
            range(12, 0x1000) +
                "13 DATA_ADDRESS( 0x10 (6:0); by 0x1000 #0; )\n"
                "13 DATA_EVENT( pending; by 0x1000 #0; tag 2; )\n" +
                range(15, 0x1004) + range(16, 0x1008) +
                "17 DATA_VALUE( 0x1234 sz(2); at 0x10 (6:0); by 0x1000 #0; tag 2; )\n");
}

TEST_F(Etmv3Data, a_value_without_placeholder_has_no_owner) {
  EXPECT_EQ(elements({0x84, 0x24, 0x99, 0x84}),
            range(12, 0x1000) + "13 DATA_VALUE( 0x99 sz(1); by ? #0; tag 1; )\n");
}

TEST_F(Etmv3Data, suppression_and_a_failed_store) {
  EXPECT_EQ(elements({0x84, 0x22, 0x10, 0x62, 0x02, 0x84, 0x84, 0x84, 0x50, 0x84}),
            range(12, 0x1000) +
                "13 DATA_ADDRESS( 0x10 (6:0); by 0x1000 #0; )\n"
                "13 DATA_VALUE( 0x0 sz(0); at 0x10 (6:0); by 0x1000 #0; )\n"
                "15 DATA_EVENT( suppressed; by 0x1000 #0; )\n"
                "16 DATA_VALUE( 0x0 sz(0); by 0x1000 #1; )\n" +
                range(17, 0x1004) + range(18, 0x1008) + range(19, 0x100C) +
                "20 DATA_EVENT( store failed; by 0x100c #0; )\n");
}

TEST_F(Etmv3Data, coprocessor_transfers_have_a_value_and_no_address) {
  config.etmcr = 0xE;
  EXPECT_EQ(elements({0x94, 0x06, 0x77, 0x84}),
            range(12, 0x1000) + range(12, 0x1004) + range(12, 0x1008) + range(12, 0x100C) +
                range(12, 0x1010) + "13 DATA_VALUE( 0x77 sz(1); by 0x1010 #0; )\n");
}

TEST_F(Etmv3Data, transfers_of_a_cancelled_instruction_are_marked) {
  EXPECT_EQ(elements({0x84, 0x26, 0x10, 0x11, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C}),
            "13 DATA_ADDRESS( 0x10 (6:0); by 0x1000 #0; cancelled; )\n"
            "13 DATA_VALUE( 0x11 sz(1); at 0x10 (6:0); by 0x1000 #0; cancelled; )\n"
            "16 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Data, exception_entry_on_m_stacks) {
  config.core.profile = isa::Profile::kM;
  EXPECT_EQ(elements({0x84, 0x7E, 0x26, 0x10, 0x11, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1C, 0x76, 0x06,
                      0x22}),
            range(12, 0x1000) +
                "13 EXCEPTION(excep num (0x00) )\n"
                "14 DATA_ADDRESS( 0x10 (6:0); by exception entry #0; )\n"
                "14 DATA_VALUE( 0x11 sz(1); at 0x10 (6:0); by exception entry #0; "
                ")\n17 EXCEPTION(excep num (0x0e) )\n23 EXCEPTION_RET()\n"
                "24 DATA_VALUE( 0x22 sz(1); by exception return #0; )\n");
}

TEST_F(Etmv3Data, a_data_only_trace_counts_accesses) {
  config.etmcr = 0x10000C;
  EXPECT_EQ(
      raw_elements(joined({async(), {0x08, 0x29, 0x26, 0x10, 0x11, 0x06, 0x12, 0x26, 0x20, 0x13}}),
                   true),
      "0 NO_SYNC( [init-decoder])\n6 TRACE_ON( [begin or filter])\n"
      "6 PE_CONTEXT((ISA=Unk) N; 32-bit; )\n"
      "8 DATA_ADDRESS( 0x10 (6:0); by access 0 #0; )\n"
      "8 DATA_VALUE( 0x11 sz(1); at 0x10 (6:0); by access 0 #0; )\n"
      "11 DATA_ADDRESS( 0x14 (6:0); by access 0 #1; inferred; )\n"
      "11 DATA_VALUE( 0x12 sz(1); at 0x14 (6:0); by access 0 #1; inferred; )\n"
      "13 DATA_ADDRESS( 0x20 (6:0); by access 1 #0; )\n"
      "13 DATA_VALUE( 0x13 sz(1); at 0x20 (6:0); by access 1 #0; )\n"
      "13 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Data, addresses_alone) {
  config.etmcr = 8;
  EXPECT_EQ(elements({0x84, 0x22, 0x10, 0x02, 0x84}),
            range(12, 0x1000) +
                "13 DATA_ADDRESS( 0x10 (6:0); by 0x1000 #0; )\n"
                "15 DATA_ADDRESS( 0x14 (6:0); by 0x1000 #1; inferred; )\n");
}

TEST_F(Etmv3Data, a_big_endian_access_says_so) {
  EXPECT_NE(elements({0x84, 0x22, 0x80, 0x80, 0x80, 0x80, 0x12, 0x84}).find("BE; "),
            std::string::npos);
}

TEST_F(Etmv3Data, a_load_in_progress_owns_what_follows) {
  EXPECT_NE(
      raw_elements(
          joined({async(), {0x08, 0xA1, 0x08, 0x10, 0x00, 0x00, 0x87, 0x10, 0x06, 0x44, 0x84}}))
          .find("DATA_VALUE( 0x44 sz(1); by 0x1008 #0; )"),
      std::string::npos);
}

TEST_F(Etmv3Data, data_trace_without_data_contradicts_the_registers) {
  program(std::initializer_list<std::uint32_t>{0xE5910000, 0xEAFFFFFD}, 0x3000);  // ldr; b 0x3000
  std::vector<std::uint8_t> bytes = {0x81, 0xB0, 0x80, 0x80, 0x08};
  bytes.resize(bytes.size() + 200, 0xBC);
  EXPECT_NE(elements(bytes, true).find("ETMCR[3:2] switch data trace on, but"), std::string::npos);
}

}  // namespace
}  // namespace waymark::etmv3
