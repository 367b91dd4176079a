#include "waymark/etm4x/assumed_unit.h"

#include <gtest/gtest.h>

namespace waymark::etm4x {
namespace {

TEST(AssumedUnit, has_everything_that_the_registers_do_not_deny) {
  const AssumedUnit unit = assumed_unit({}, false);
  EXPECT_FALSE(unit.known);
  const Capabilities caps = read_capabilities(unit.id, unit.environment);
  EXPECT_EQ(caps.nr_addr_cmp, 8U);
  EXPECT_EQ(caps.nr_cntr, 4U);
  EXPECT_EQ(caps.nr_ss_cmp, 8U);
  EXPECT_EQ(caps.nr_resource, 16U);
  EXPECT_EQ(caps.numcidc, 8U);
  EXPECT_EQ(caps.numvmidc, 8U);
  EXPECT_EQ(caps.nrseqstate, 4U);
  EXPECT_TRUE(caps.stallctl);
  EXPECT_TRUE(caps.nooverflow);
  EXPECT_TRUE(caps.trc_error);
  EXPECT_EQ(unit.environment.unknown_sscsr, 0xFF);
}

TEST(AssumedUnit, takes_id_registers_as_they_are) {
  RegisterImage image;
  image.set("TRCIDR3", 0x00000004);
  image.set("TRCIDR4", 0x00001001);
  image.set("TRCIDR5", 0x10000000);
  image.set("TRCSSCSR0", 8);
  const AssumedUnit unit = assumed_unit(image, false);
  EXPECT_TRUE(unit.known);
  EXPECT_EQ(unit.id.idr[3], 0x4U);
  EXPECT_EQ(unit.id.idr[4], 0x1001U);
  EXPECT_EQ(unit.id.idr[5], 0x10000000U);
  EXPECT_EQ(unit.environment.sscsr[0], 8U);
  EXPECT_EQ(unit.environment.unknown_sscsr, 0xFE);
}

TEST(AssumedUnit, has_the_secure_levels_that_it_excludes) {
  RegisterImage image;
  image.set("TRCVICTLR", 0x50201);
  EXPECT_EQ(assumed_unit(image, false).id.idr[3] >> 16 & 0xF, 5U);
  image.set("TRCVICTLR", 0x201);
  EXPECT_EQ(assumed_unit(image, false).id.idr[3] >> 16 & 0xF, 0xFU);
}

TEST(AssumedUnit, architecture) {
  RegisterImage image;
  EXPECT_EQ(assumed_unit(image, true).id.devarch, 0x47705A13U);
  EXPECT_EQ(assumed_unit(image, true).environment.access, RegisterAccess::kSystemRegisters);
  EXPECT_EQ(assumed_unit(image, false).environment.access, RegisterAccess::kMemoryMapped);
  image.set("TRCIDR1", 0x4100F424);
  EXPECT_EQ(assumed_unit(image, false).id.devarch, 0x47724A13U);
  image.set("TRCDEVARCH", 0x47735A13);
  EXPECT_EQ(assumed_unit(image, false).id.devarch, 0x47735A13U);
  EXPECT_EQ(assumed_unit(image, false).environment.access, RegisterAccess::kSystemRegisters);
}

}  // namespace
}  // namespace waymark::etm4x
