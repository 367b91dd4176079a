#include "expect.h"

namespace waymark::isa {
namespace {

struct Case {
  const char* text;
  std::uint32_t opcode;
  InstrType type;
  InstrSubtype subtype = kNone;
};

TEST(A32, each_row_without_a_target) {
  const Case cases[] = {
      {"rfeia sp!", 0xf8bd0a00, kIndirectBranch},
      {"rfedb r0", 0xf9100a00, kIndirectBranch},
      {"bx r3", 0xe12fff13, kIndirectBranch},
      {"bx lr", 0xe12fff1e, kIndirectBranch, kV7ImpliedReturn},
      {"blx r3", 0xe12fff33, kIndirectBranch, kBranchLink},
      {"blx lr", 0xe12fff3e, kIndirectBranch, kBranchLink},
      {"bxj r3", 0xe12fff23, kIndirectBranch},
      {"pop {r4, pc}", 0xe8bd8010, kIndirectBranch, kV7ImpliedReturn},
      {"ldm sp!, {sp, pc}", 0xe8bda000, kIndirectBranch},
      {"ldm sp, {r4, pc}", 0xe89d8010, kIndirectBranch},
      {"ldmib r0, {r4, pc}^", 0xe9d08010, kIndirectBranch},
      {"ldr pc, [sp], #4", 0xe49df004, kIndirectBranch, kV7ImpliedReturn},
      {"ldr pc, [r1, #4]", 0xe591f004, kIndirectBranch},
      {"ldr pc, [r1, r2]", 0xe791f002, kIndirectBranch},
      {"mov pc, lr", 0xe1a0f00e, kIndirectBranch, kV7ImpliedReturn},
      {"movs pc, lr", 0xe1b0f00e, kIndirectBranch},
      {"mov pc, r3, lsl #2", 0xe1a0f103, kIndirectBranch},
      {"add pc, pc, #4", 0xe28ff004, kIndirectBranch},
      {"mov pc, #0", 0xe3a0f000, kIndirectBranch},
      {"subs pc, lr, #4", 0xe25ef004, kIndirectBranch},
      {"add pc, pc, r3, lsl #2", 0xe08ff103, kIndirectBranch},
      {"dsb sy", 0xf57ff04f, kDsbDmb},
      {"dmb sy", 0xf57ff05f, kDsbDmb},
      {"isb sy", 0xf57ff06f, kIsb},
      {"mcr p15, 0, r0, c7, c10, 4 (DSB)", 0xee070f9a, kDsbDmb},
      {"mcr p15, 0, r0, c7, c10, 5 (DMB)", 0xee070fba, kDsbDmb},
      {"mcr p15, 0, r0, c7, c5, 4 (ISB)", 0xee070f95, kIsb},
      {"the same with condition 15 (DSB)", 0xfe070f9a, kDsbDmb},
      {"the same with condition 15 (DMB)", 0xfe070fba, kDsbDmb},
      {"the same with condition 15 (ISB)", 0xfe070f95, kIsb},
      {"wfe", 0xe320f002, kWfiWfe},
      {"wfi", 0xe320f003, kWfiWfe},
      // Not branches, although bits [15:12] are 15 or the neighbour is one.
      {"eret, not recognised", 0xe160006e, kOther},
      {"tst pc form: cmp r1, #2 with [15:12] = 15", 0xe351f002, kOther},
      {"strexb-like", 0xe1c0f090, kOther},
      {"nop", 0xe320f000, kOther},
      {"msr cpsr_f, #0", 0xe328f000, kOther},
      {"add r0, pc, #4", 0xe28f0004, kOther},
      {"sb", 0xf57ff070, kOther},
      {"rfe space, condition 14: ldm without pc", 0xe8bd0a00, kOther},
      {"svc #0", 0xef000000, kOther},
      {"bkpt #0", 0xe1200070, kOther},
      {"vmrs apsr_nzcv, fpscr", 0xeef1fa10, kOther},
      {"pld, condition 15 data space", 0xf5d1f000, kOther},
  };
  for (const Case& each : cases) {
    const Instruction expected{.type = each.type,
                               .subtype = each.subtype,
                               .next_isa = Isa::kA32,
                               .link = each.subtype == kBranchLink};
    EXPECT_EQ(classify_one(Isa::kA32, each.opcode), expected) << each.text;
  }
}

TEST(A32, exception_returns_are_marked_on_demand) {
  Options plain = kAll;
  plain.quirks = {};
  Options options = plain;
  options.aarch32_exception_returns = true;
  const std::pair<std::uint32_t, const char*> returns[] = {{0xe25ef004, "subs pc, lr, #4"},
                                                           {0xe1b0f00e, "movs pc, lr"},
                                                           {0xe160006e, "eret"},
                                                           {0xf8900a00, "rfeia r0"},
                                                           {0xf8bd0a00, "rfeia sp!"},
                                                           {0xe8fd8003, "ldm sp!, {r0, r1, pc}^"},
                                                           {0x025ef004, "subseq pc, lr, #4"},
                                                           {0xe05ef001, "subs pc, lr, r1"}};
  for (const auto& [opcode, text] : returns) {
    EXPECT_EQ(classify_one(Isa::kA32, opcode, options).subtype, kV8ExceptionReturn) << text;
    EXPECT_EQ(classify_one(Isa::kA32, opcode, options).type, kIndirectBranch) << text;
    EXPECT_EQ(classify_one(Isa::kA32, opcode, plain).subtype, kNone) << text;
  }
  const std::pair<std::uint32_t, const char*> others[] = {{0xe24ef004, "sub pc, lr, #4"},
                                                          {0xe1a0f00e, "mov pc, lr"},
                                                          {0xe12fff1e, "bx lr"},
                                                          {0xe12fff11, "bx r1"},
                                                          {0xe8bd8003, "pop {r0, r1, pc}"},
                                                          {0xe49df004, "pop {pc}"},
                                                          {0xe35ef004, "cmpp lr, #4"},
                                                          {0xe59ff000, "ldr pc, [pc]"},
                                                          {0xe8908002, "ldm r0, {r1, pc}"}};
  for (const auto& [opcode, text] : others)
    EXPECT_NE(classify_one(Isa::kA32, opcode, options).subtype, kV8ExceptionReturn) << text;
}

TEST(A32, conditions_below_14_make_any_instruction_conditional) {
  for (std::uint32_t condition = 0; condition < 16; ++condition) {
    const std::uint32_t field = condition << 28;
    EXPECT_EQ(classify_one(Isa::kA32, field | 0x01a00001).conditional, condition < 14);
    EXPECT_EQ(classify_one(Isa::kA32, field | 0x0a000000).conditional, condition < 14);
  }
  EXPECT_EQ(classify_one(Isa::kA32, 0x012fff1e).subtype, kV7ImpliedReturn);
  EXPECT_EQ(classify_one(Isa::kA32, 0xf12fff1e).type, kOther);
}

TEST(A32, direct_branches_with_their_targets) {
  Instruction expected{.target = kPc + 8, .type = kBranch, .next_isa = Isa::kA32};
  EXPECT_EQ(classify_one(Isa::kA32, 0xea000000), expected) << "b .+8";
  expected.target = kPc - 0x2000000 + 8;
  expected.target &= 0xffffffff;
  EXPECT_EQ(classify_one(Isa::kA32, 0xea800000), expected) << "b, furthest back";
  expected = {.target = kPc, .type = kBranch, .subtype = kBranchLink, .next_isa = Isa::kA32};
  expected.link = true;
  EXPECT_EQ(classify_one(Isa::kA32, 0xebfffffe), expected) << "bl .";
  expected.conditional = true;
  EXPECT_EQ(classify_one(Isa::kA32, 0x0bfffffe), expected) << "bleq .";
}

TEST(A32, blx_label_goes_on_in_t32_at_a_halfword) {
  Instruction expected{.target = kPc + 8 + 0x801020,
                       .type = kBranch,
                       .subtype = kBranchLink,
                       .next_isa = Isa::kT32,
                       .link = true};
  EXPECT_EQ(classify_one(Isa::kA32, 0xfa200408), expected);
  expected.target += 2;
  EXPECT_EQ(classify_one(Isa::kA32, 0xfb200408), expected);
}

TEST(A32, targets_wrap_at_32_bits) {
  EXPECT_EQ(classify_one(Isa::kA32, 0xea000000, kAll, 0xfffffffc).target, 4U);
  EXPECT_EQ(classify_one(Isa::kA32, 0xeafffffd, kAll, 0).target, 0xfffffffcU);
  EXPECT_EQ(classify_one(Isa::kA32, 0xfbfffffd, kAll, 0).target, 0xfffffffeU);
  EXPECT_EQ(classify_one(Isa::kA32, 0xea000000, kAll, 0xffff'ffff'0000'0000).target, 8U);
}

TEST(A32, barriers_and_waits_are_waypoints_only_on_demand) {
  for (const std::uint32_t opcode :
       {0xf57ff04fU, 0xf57ff05fU, 0xee070f9aU, 0xee070fbaU, 0xe320f002U, 0xe320f003U})
    EXPECT_EQ(classify_one(Isa::kA32, opcode, Options{}).type, kOther) << std::hex << opcode;
  for (const std::uint32_t opcode : {0xf57ff06fU, 0xee070f95U, 0xfe070f95U})
    EXPECT_EQ(classify_one(Isa::kA32, opcode, Options{}).type, kIsb) << std::hex << opcode;
}

TEST(A32, unused_forms_with_pc_in_the_destination_field_count_as_branches) {
  for (const std::uint32_t opcode : {
           0xe002f190U,  // mul with its zero field at 15
           0xe151f002U,  // cmp r1, r2 with Rd = 15
           0xe1c2f0b4U,  // strh pc
           0xe300f123U,  // movw pc
       })
    EXPECT_EQ(classify_one(Isa::kA32, opcode).type, kIndirectBranch) << std::hex << opcode;
}

}  // namespace
}  // namespace waymark::isa
