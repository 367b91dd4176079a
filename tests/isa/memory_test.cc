#include "waymark/isa/memory.h"

#include <gtest/gtest.h>

namespace waymark::isa {
namespace {

DataAccess a32(std::uint32_t opcode) { return data_access(Isa::kA32, opcode); }
/// Halfwords in the order in which they are written: t32(0xf8d1, 0x0004).
DataAccess t32(std::uint32_t first, std::uint32_t second = 0xBF00) {
  return data_access(Isa::kT32, first | second << 16);
}
using enum DataAccess;

TEST(DataAccess, a32_loads_and_stores) {
  EXPECT_EQ(a32(0xE5910000), kMemory);  // ldr r0, [r1]
  EXPECT_EQ(a32(0xE7C10002), kMemory);  // strb r0, [r1, r2]
  EXPECT_EQ(a32(0xE1D100B0), kMemory);  // ldrh r0, [r1]
  EXPECT_EQ(a32(0xE1C100F0), kMemory);  // strd r0, [r1]
  EXPECT_EQ(a32(0xE890000E), kMemory);  // ldm r0, {r1-r3}
  EXPECT_EQ(a32(0xE92D4010), kMemory);  // push {r4, lr}
  EXPECT_EQ(a32(0xE1020091), kMemory);  // swp r0, r1, [r2]
  EXPECT_EQ(a32(0xE1820F91), kMemory);  // strex r0, r1, [r2]
  EXPECT_EQ(a32(0xED9F0B00), kMemory);  // vldr d0, [pc]
  EXPECT_EQ(a32(0xF421070F), kMemory);  // vld1.8
  EXPECT_EQ(a32(0xF8BD0A00), kMemory);  // rfeia sp!
}

TEST(DataAccess, a32_coprocessor_moves) {
  EXPECT_EQ(a32(0xEE110F10), kCoprocessor);  // mrc p15, 0, r0, c1, c0, 0
  EXPECT_EQ(a32(0xEE010F10), kCoprocessor);  // mcr
  EXPECT_EQ(a32(0xEC510F00), kCoprocessor);  // mrrc
  EXPECT_EQ(a32(0xEE300A00), kNone);         // vadd.f32
}

TEST(DataAccess, a32_others) {
  EXPECT_EQ(a32(0xE1A00000), kNone);  // nop
  EXPECT_EQ(a32(0xE0010392), kNone);  // mul
  EXPECT_EQ(a32(0xE12FFF1E), kNone);  // bx lr
  EXPECT_EQ(a32(0xEAFFFFFE), kNone);  // b
  EXPECT_EQ(a32(0xF5D1F000), kNone);  // pld [r1]
  EXPECT_EQ(a32(0xE6BF0071), kNone);  // sxth
  EXPECT_EQ(a32(0xEF000000), kNone);  // svc
}

TEST(DataAccess, t32_short) {
  EXPECT_EQ(t32(0x4801), kMemory);  // ldr r0, [pc, #4]
  EXPECT_EQ(t32(0x5088), kMemory);  // str r0, [r1, r2]
  EXPECT_EQ(t32(0x6808), kMemory);  // ldr r0, [r1]
  EXPECT_EQ(t32(0x7808), kMemory);  // ldrb
  EXPECT_EQ(t32(0x8808), kMemory);  // ldrh
  EXPECT_EQ(t32(0x9801), kMemory);  // ldr r0, [sp, #4]
  EXPECT_EQ(t32(0xB510), kMemory);  // push {r4, lr}
  EXPECT_EQ(t32(0xBD10), kMemory);  // pop {r4, pc}
  EXPECT_EQ(t32(0xC807), kMemory);  // ldm r0, {r0-r2}
  EXPECT_EQ(t32(0xB082), kNone);    // sub sp, #8
  EXPECT_EQ(t32(0xBF00), kNone);    // nop
  EXPECT_EQ(t32(0xA001), kNone);    // adr
  EXPECT_EQ(t32(0x4770), kNone);    // bx lr
  EXPECT_EQ(t32(0xB100), kNone);    // cbz
  EXPECT_EQ(t32(0xD0FE), kNone);    // beq
  EXPECT_EQ(t32(0x4408), kNone);    // add
}

TEST(DataAccess, t32_long) {
  EXPECT_EQ(t32(0xF8D1, 0x0004), kMemory);       // ldr.w r0, [r1, #4]
  EXPECT_EQ(t32(0xE9D1, 0x0100), kMemory);       // ldrd
  EXPECT_EQ(t32(0xE8BD, 0x8010), kMemory);       // pop.w
  EXPECT_EQ(t32(0xE842, 0x1000), kMemory);       // strex
  EXPECT_EQ(t32(0xED9F, 0x0B00), kMemory);       // vldr
  EXPECT_EQ(t32(0xF921, 0x070F), kMemory);       // vld1
  EXPECT_EQ(t32(0xF891, 0xF000), kNone);         // pld [r1]
  EXPECT_EQ(t32(0xEE11, 0x0F10), kCoprocessor);  // mrc
  EXPECT_EQ(t32(0xEC51, 0x0F00), kCoprocessor);  // mrrc
  EXPECT_EQ(t32(0xF000, 0xF800), kNone);         // bl
  EXPECT_EQ(t32(0xFB00, 0xF001), kNone);         // mul
  EXPECT_EQ(t32(0xEF00, 0x0840), kNone);         // vadd
}

TEST(DataAccess, no_other_instruction_set_is_known) {
  EXPECT_EQ(data_access(Isa::kA64, 0xF9400000), kNone);
  EXPECT_EQ(data_access(Isa::kJazelle, 0xE5910000), kNone);
}

}  // namespace
}  // namespace waymark::isa
