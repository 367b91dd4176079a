#include <vector>

#include "expect.h"

namespace waymark::isa {
namespace {

struct Case {
  const char* text;
  std::uint32_t op;  ///< First halfword on top; zero below it for a 16-bit instruction.
  std::uint8_t size;
  InstrType type;
  InstrSubtype subtype = kNone;
};

TEST(T32, exception_returns_are_marked_on_demand) {
  Options options = kAll;
  options.aarch32_exception_returns = true;
  // Memory order: the first halfword is the low one.
  for (const std::uint32_t opcode : {0x8f04f3deU, 0x8f00f3deU, 0xc000e810U, 0xc000e990U}) {
    EXPECT_EQ(classify_one(Isa::kT32, opcode, options).subtype, kV8ExceptionReturn) << opcode;
    EXPECT_EQ(classify_one(Isa::kT32, opcode).subtype, kNone) << opcode;
  }
  EXPECT_EQ(classify_one(Isa::kT32, 0x8010e8bd, options).subtype, kV7ImpliedReturn) << "pop.w";
  EXPECT_EQ(classify_one(Isa::kT32, 0x8f00f3c3, options).subtype, kNone) << "bxj r3";
}

TEST(T32, each_row_without_a_target) {
  const Case cases[] = {
      {"bx r3", 0x47180000, 2, kIndirectBranch},
      {"bx lr", 0x47700000, 2, kIndirectBranch, kV7ImpliedReturn},
      {"bxns lr", 0x47740000, 2, kIndirectBranch, kV7ImpliedReturn},
      {"blx r3", 0x47980000, 2, kIndirectBranch, kBranchLink},
      {"blx lr", 0x47f00000, 2, kIndirectBranch, kBranchLink},
      {"blxns r3", 0x479c0000, 2, kIndirectBranch, kBranchLink},
      {"bxj r3", 0xf3c38f00, 4, kIndirectBranch},
      {"pop {r4, pc}", 0xbd100000, 2, kIndirectBranch, kV7ImpliedReturn},
      {"add pc, r3", 0x449f0000, 2, kIndirectBranch},
      {"mov pc, r3", 0x469f0000, 2, kIndirectBranch},
      {"mov pc, lr", 0x46f70000, 2, kIndirectBranch, kV7ImpliedReturn},
      {"tbb [pc, r0]", 0xe8dff000, 4, kIndirectBranch},
      {"tbh [pc, r0, lsl #1]", 0xe8dff010, 4, kIndirectBranch},
      {"rfedb r0", 0xe810c000, 4, kIndirectBranch},
      {"rfeia r0", 0xe990c000, 4, kIndirectBranch},
      {"subs pc, lr, #4", 0xf3de8f04, 4, kIndirectBranch},
      {"eret", 0xf3de8f00, 4, kIndirectBranch},
      {"ldr.w pc, [r1, #16]", 0xf8d1f010, 4, kIndirectBranch},
      {"ldr.w pc, [pc, #-16]", 0xf85ff010, 4, kIndirectBranch},
      {"ldr.w pc, [pc, #16]", 0xf8dff010, 4, kIndirectBranch},
      {"ldr pc, [r1], #4", 0xf851fb04, 4, kIndirectBranch},
      {"ldr pc, [sp], #4", 0xf85dfb04, 4, kIndirectBranch, kV7ImpliedReturn},
      {"ldr.w pc, [r1, r2, lsl #2]", 0xf851f022, 4, kIndirectBranch},
      {"ldm.w r0, {r1, pc}", 0xe8908002, 4, kIndirectBranch},
      {"ldmdb r0, {r1, pc}", 0xe9108002, 4, kIndirectBranch},
      {"pop.w {r4, pc}", 0xe8bd8010, 4, kIndirectBranch, kV7ImpliedReturn},
      {"clrm {apsr}, taken for ldm", 0xe89f8000, 4, kIndirectBranch},
      {"dsb sy", 0xf3bf8f4f, 4, kDsbDmb},
      {"dmb sy", 0xf3bf8f5f, 4, kDsbDmb},
      {"isb sy", 0xf3bf8f6f, 4, kIsb},
      {"mcr p15, 0, r1, c7, c10, 4 (DSB)", 0xee071f9a, 4, kDsbDmb},
      {"mcr p15, 0, r1, c7, c10, 5 (DMB)", 0xee071fba, 4, kDsbDmb},
      {"mcr p15, 0, r1, c7, c5, 4 (ISB)", 0xee071f95, 4, kIsb},
      {"wfe.w", 0xf3af8002, 4, kWfiWfe},
      {"wfi.w", 0xf3af8003, 4, kWfiWfe},
      {"wfe", 0xbf200000, 2, kWfiWfe},
      {"wfi", 0xbf300000, 2, kWfiWfe},
      {"svc #0", 0xdf000000, 2, kOther},
      {"udf #0", 0xde000000, 2, kOther},
      {"bkpt #0", 0xbe000000, 2, kOther},
      {"nop", 0xbf000000, 2, kOther},
      {"nop.w", 0xf3af8000, 4, kOther},
      {"sb", 0xf3bf8f70, 4, kOther},
      {"msr cpsr_f, r0", 0xf3808800, 4, kOther},
      {"mrs r0, cpsr", 0xf3ef8000, 4, kOther},
      {"hvc #0", 0xf7e08000, 4, kOther},
      {"dls lr, r0", 0xf040e001, 4, kOther},
      {"lctp", 0xf00fe001, 4, kOther},
      {"mov r3, lr", 0x46730000, 2, kOther},
      {"pop {r4}", 0xbc100000, 2, kOther},
      {"ldm.w r0, {r1, r2}", 0xe8900006, 4, kOther},
  };
  for (const Case& each : cases) {
    const Instruction expected{.type = each.type,
                               .subtype = each.subtype,
                               .size = each.size,
                               .next_isa = Isa::kT32,
                               .link = each.subtype == kBranchLink};
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(each.op)), expected) << each.text;
  }
}

struct Direct {
  const char* text;
  std::uint32_t op;
  std::uint8_t size;
  std::uint64_t target;
  bool conditional = false;
};

TEST(T32, each_direct_branch_with_its_target) {
  const Direct cases[] = {
      {"beq .+4", 0xd0000000, 2, kPc + 4, true},
      {"bne .", 0xd1fe0000, 2, kPc, true},
      {"ble .-252", 0xdd800000, 2, kPc - 252, true},
      {"b .", 0xe7fe0000, 2, kPc},
      {"b .+2050", 0xe3ff0000, 2, kPc + 4 + 2046},
      {"cbz r0, .+4", 0xb1000000, 2, kPc + 4, true},
      {"cbnz r1, .+126+4", 0xbbf90000, 2, kPc + 4 + 126, true},
      {"beq.w .+4", 0xf0008000, 4, kPc + 4, true},
      {"bne.w .", 0xf47faffe, 4, kPc, true},
      {"beq.w, only J1", 0xf000a000, 4, kPc + 4 + 0x40000, true},
      {"beq.w, only J2", 0xf0008800, 4, kPc + 4 + 0x80000, true},
      {"beq.w, imm6", 0xf03f8000, 4, kPc + 4 + 0x3f000, true},
      {"b.w .+4", 0xf000b800, 4, kPc + 4},
      {"b.w .", 0xf7ffbffe, 4, kPc},
      {"b.w, I1", 0xf0009800, 4, kPc + 4 + 0x800000},
      {"b.w, I2", 0xf000b000, 4, kPc + 4 + 0x400000},
      {"le lr, .+4-4", 0xf00fc003, 4, kPc + 4 - 4},
      {"le lr, a halfword further", 0xf00fc803, 4, kPc + 4 - 6},
      {"le", 0xf02fc001, 4, kPc + 4},
      {"le, furthest", 0xf02fcfff, 4, kPc + 4 - 4094},
      {"letp lr", 0xf01fc005, 4, kPc + 4 - 8},
      {"wls lr, r3", 0xf043c803, 4, kPc + 4 + 6},
      {"wlstp.8 lr, r3", 0xf003c003, 4, kPc + 4 + 4},
      {"wlstp.64 lr, r3", 0xf033cfff, 4, kPc + 4 + 4094},
  };
  for (const Direct& each : cases) {
    const Instruction expected{.target = each.target,
                               .type = kBranch,
                               .size = each.size,
                               .next_isa = Isa::kT32,
                               .conditional = each.conditional};
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(each.op)), expected) << each.text;
  }
}

TEST(T32, bl_links_and_stays) {
  Instruction expected{
      .target = kPc, .type = kBranch, .subtype = kBranchLink, .next_isa = Isa::kT32, .link = true};
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf7fffffe)), expected);
  expected.target = kPc + 4 + 0x1000;
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf001f800)), expected);
}

TEST(T32, blx_label_aligns_and_goes_on_in_a32) {
  Instruction expected{.target = kPc + 4 + 8,
                       .type = kBranch,
                       .subtype = kBranchLink,
                       .next_isa = Isa::kA32,
                       .link = true};
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf000e804)), expected);
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf000e804), kAll, kPc + 2), expected);
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf000e805)).type, kOther);
}

TEST(T32, targets_wrap_at_32_bits) {
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xe0000000), kAll, 0xfffffffe).target, 2U);
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xe7fc0000), kAll, 0).target, 0xfffffffcU);
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf02fc007), kAll, 0).target, 0xfffffff8U);
}

TEST(T32, the_halfword_after_a_16_bit_instruction_does_not_matter) {
  for (const std::uint32_t next : {0x0000U, 0xffffU, 0x8f00U, 0x1234U}) {
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(0x47700000 | next)).subtype, kV7ImpliedReturn);
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xbf000000 | next)).type, kOther);
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xe7fe0000 | next)).target, kPc);
  }
}

TEST(T32, size_follows_from_the_first_five_bits) {
  for (std::uint32_t top = 0; top < 32; ++top)
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(top << 27)).size, top >= 0b11101 ? 4 : 2) << top;
}

TEST(T32, barriers_and_waits_are_waypoints_only_on_demand) {
  for (const std::uint32_t op : {0xf3bf8f4fU, 0xf3bf8f5fU, 0xee071f9aU, 0xee071fbaU, 0xf3af8002U,
                                 0xf3af8003U, 0xbf200000U, 0xbf300000U})
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(op), Options{}).type, kOther) << std::hex << op;
  for (const std::uint32_t op : {0xf3bf8f6fU, 0xee071f95U})
    EXPECT_EQ(classify_one(Isa::kT32, t32_word(op), Options{}).type, kIsb) << std::hex << op;
}

/// The conditional flags of the instructions of a sequence, and the count after each.
struct Step {
  std::uint32_t op;
  bool conditional;
  std::uint8_t it_remaining;
};

void expect_steps(const Options& options, const std::vector<Step>& steps) {
  std::uint8_t it_remaining = 0;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    Instruction out;
    ASSERT_EQ(classify(options, Isa::kT32, kPc, t32_word(steps[n].op), it_remaining, out),
              Outcome::kOk);
    EXPECT_EQ(out.conditional, steps[n].conditional) << "step " << n;
    EXPECT_EQ(it_remaining, steps[n].it_remaining) << "step " << n;
  }
}

constexpr std::uint32_t kNop = 0xbf000000;
constexpr std::uint32_t kBxLr = 0x47700000;

TEST(T32, it_blocks_of_every_length_make_their_instructions_conditional) {
  for (std::uint32_t length = 1; length <= 4; ++length) {
    const auto left = static_cast<std::uint8_t>(length);
    const std::uint32_t mask = 0x10U >> length;
    std::vector<Step> steps = {{0xbf000000 | mask << 16, false, left}};
    for (std::uint32_t n = 1; n <= length; ++n)
      steps.push_back({kNop, true, static_cast<std::uint8_t>(length - n)});
    steps.push_back({kNop, false, 0});
    expect_steps(kAll, steps);
  }
}

TEST(T32, the_last_instruction_of_an_it_block_may_return) {
  expect_steps(kAll, {{0xbf080000, false, 1}, {kBxLr, true, 0}, {kBxLr, false, 0}});
}

TEST(T32, the_condition_field_of_it_does_not_open_a_block) {
  expect_steps(kAll, {{0xbf100000, false, 0}, {0xbff00000, false, 0}, {kNop, false, 0}});
}

TEST(T32, it_blocks_are_ignored_without_tracking) {
  Options options = kAll;
  options.track_it_block = false;
  expect_steps(options, {{0xbf080000, false, 0}, {kBxLr, false, 0}});
  std::uint8_t it_remaining = 3;
  Instruction out;
  ASSERT_EQ(classify(options, Isa::kT32, kPc, t32_word(kNop), it_remaining, out), Outcome::kOk);
  EXPECT_EQ(it_remaining, 3);
  EXPECT_FALSE(out.conditional);
}

TEST(T32, other_instruction_sets_leave_the_it_count_alone) {
  for (const Isa isa : {Isa::kA32, Isa::kA64}) {
    std::uint8_t it_remaining = 2;
    Instruction out;
    ASSERT_EQ(classify(kAll, isa, kPc, 0xe1a00000, it_remaining, out), Outcome::kOk);
    EXPECT_EQ(it_remaining, 2);
  }
}

}  // namespace
}  // namespace waymark::isa
