#include "waymark/etm4x/capabilities.h"

#include <gtest/gtest.h>

#include "etm4x/units.h"

namespace waymark::etm4x {
namespace {

TEST(Capabilities, real_unit) {
  const Capabilities caps = read_capabilities(
      {{0x08000CA1, 0x4200F410, 0x20001088, 0x007B0004, 0x11170004, 0x28070804}, 0x47714A13}, {});
  EXPECT_TRUE(caps.trcbb);
  EXPECT_TRUE(caps.trccci);
  EXPECT_FALSE(caps.retstack);
  EXPECT_EQ(caps.nr_event, 3);
  EXPECT_EQ(caps.ts_size, 8);
  EXPECT_EQ(caps.ctxid_size, 4);
  EXPECT_EQ(caps.vmid_size, 4);
  EXPECT_EQ(caps.ccitmin, 4);
  EXPECT_EQ(caps.s_ex_level, 0xB);
  EXPECT_EQ(caps.ns_ex_level, 7);
  EXPECT_FALSE(caps.stallctl);
  EXPECT_FALSE(caps.trc_error);
  EXPECT_EQ(caps.nr_addr_cmp, 4);
  EXPECT_EQ(caps.nr_resource, 8);
  EXPECT_EQ(caps.nr_ss_cmp, 1);
  EXPECT_EQ(caps.numcidc, 1);
  EXPECT_EQ(caps.numvmidc, 1);
  EXPECT_EQ(caps.nr_ext_inp, 4);
  EXPECT_EQ(caps.numextinsel, 4);
  EXPECT_EQ(caps.nrseqstate, 4);
  EXPECT_EQ(caps.nr_cntr, 2);
  EXPECT_EQ(caps.version, 0x41);
}

TEST(Capabilities, selector_pairs_depend_on_the_version) {
  IdRegisters id = bare_unit();
  EXPECT_EQ(read_capabilities(id, {}).nr_resource, 1);
  id.devarch = 0x47734A13;
  EXPECT_EQ(read_capabilities(id, {}).nr_resource, 0);
  id.idr[4] = 0x00010000;
  EXPECT_EQ(read_capabilities(id, {}).nr_resource, 2);
}

TEST(Capabilities, external_inputs_lose_bit_8_in_the_driver) {
  IdRegisters id = ete_unit();
  id.idr[5] = 0x1FF;
  EXPECT_EQ(read_capabilities(id, {}).nr_ext_inp, 0xFF);
  EXPECT_EQ(read_capabilities(id, {}, kNoQuirks).nr_ext_inp, 0x1FF);
  id.idr[5] = 0x100;
  EXPECT_EQ(read_capabilities(id, {}).nr_ext_inp, 0);
}

TEST(Capabilities, threshold_erratum) {
  IdRegisters id = middle_unit();
  id.idr[3] = 0x100;
  Environment environment;
  EXPECT_EQ(read_capabilities(id, environment).ccitmin, 256);
  environment.threshold_erratum = true;
  EXPECT_EQ(read_capabilities(id, environment).ccitmin, 4);
  id.idr[3] = 0xFF;
  EXPECT_EQ(read_capabilities(id, environment).ccitmin, 0xFF);
}

TEST(Capabilities, low_power_override_needs_power_up) {
  Environment environment;
  EXPECT_TRUE(read_capabilities(middle_unit(), environment).lpoverride);
  environment.skip_power_up = true;
  EXPECT_FALSE(read_capabilities(middle_unit(), environment).lpoverride);
  environment.skip_power_up = false;
  environment.access = RegisterAccess::kSystemRegisters;
  EXPECT_FALSE(read_capabilities(middle_unit(), environment).lpoverride);
}

TEST(Capabilities, impossible_counts_are_bounded) {
  const Capabilities caps = read_capabilities({{~0U, ~0U, ~0U, ~0U, ~0U, ~0U}, 0x47704A13}, {});
  EXPECT_EQ(caps.nr_addr_cmp, 8);
  EXPECT_EQ(caps.nr_ss_cmp, 8);
  EXPECT_EQ(caps.numcidc, 8);
  EXPECT_EQ(caps.numvmidc, 8);
  EXPECT_EQ(caps.nr_cntr, 4);
  EXPECT_EQ(caps.nr_resource, 16);
}

TEST(Accepted, kinds_of_unit) {
  EXPECT_TRUE(check_accepted(middle_unit(), RegisterAccess::kMemoryMapped));
  EXPECT_TRUE(check_accepted(full_unit(), RegisterAccess::kSystemRegisters));
  EXPECT_TRUE(check_accepted(ete_unit(), RegisterAccess::kSystemRegisters));
  EXPECT_FALSE(check_accepted(ete_unit(), RegisterAccess::kMemoryMapped));
  IdRegisters other = middle_unit();
  other.devarch = 0x47702A15;
  EXPECT_FALSE(check_accepted(other, RegisterAccess::kMemoryMapped));
}

TEST(CapabilityText, lists_the_resources_of_the_unit) {
  const std::string text = capability_text(middle_unit(), read_capabilities(middle_unit(), {}));
  EXPECT_NE(text.find("address comparators      4 pairs\n"), std::string::npos);
  EXPECT_NE(text.find("secure levels            s-el0 s-el1 s-el3\n"), std::string::npos);
}

}  // namespace
}  // namespace waymark::etm4x
