#include <vector>

#include "expect.h"

namespace waymark::isa {
namespace {

struct Case {
  const char* text;
  std::uint32_t opcode;
  InstrType type;
  InstrSubtype subtype = kNone;
  Arch since = Arch::kUnknown;
};

const std::vector<Case> kIndirect = {
    {"br x3", 0xd61f0060, kIndirectBranch},
    {"br x30", 0xd61f03c0, kIndirectBranch},
    {"blr x3", 0xd63f0060, kIndirectBranch, kBranchLink},
    {"ret", 0xd65f03c0, kIndirectBranch, kV8Return},
    {"ret x5", 0xd65f00a0, kIndirectBranch, kV8Return},
    {"eret", 0xd69f03e0, kIndirectBranch, kV8ExceptionReturn},
    {"braa x1, x2", 0xd71f0822, kIndirectBranch, kNone, Arch::kV8r3},
    {"brab x1, x2", 0xd71f0c22, kIndirectBranch, kNone, Arch::kV8r3},
    {"blraa x1, x2", 0xd73f0822, kIndirectBranch, kBranchLink, Arch::kV8r3},
    {"blrab x1, sp", 0xd73f0c3f, kIndirectBranch, kBranchLink, Arch::kV8r3},
    {"braaz x1", 0xd61f083f, kIndirectBranch, kNone, Arch::kV8r3},
    {"brabz x1", 0xd61f0c3f, kIndirectBranch, kNone, Arch::kV8r3},
    {"blraaz x1", 0xd63f083f, kIndirectBranch, kBranchLink, Arch::kV8r3},
    {"blrabz x1", 0xd63f0c3f, kIndirectBranch, kBranchLink, Arch::kV8r3},
    {"eretaa", 0xd69f0bff, kIndirectBranch, kV8ExceptionReturn, Arch::kV8r3},
    {"eretab", 0xd69f0fff, kIndirectBranch, kV8ExceptionReturn, Arch::kV8r3},
    {"retaa", 0xd65f0bff, kIndirectBranch, kV8Return, Arch::kV8r3},
    {"retab", 0xd65f0fff, kIndirectBranch, kV8Return, Arch::kV8r3},
    {"retaasppc", 0x5500001f, kIndirectBranch, kV8Return, Arch::kV8r3},
    {"retabsppc", 0x5520007f, kIndirectBranch, kV8Return, Arch::kV8r3},
    {"retaasppcr x2", 0xd65f0be2, kIndirectBranch, kV8Return, Arch::kV8r3},
    {"retabsppcr x2", 0xd65f0fe2, kIndirectBranch, kV8Return, Arch::kV8r3},
    {"texit", 0xd6ff03e0, kIndirectBranch, kV8ExceptionReturn, Arch::kV8r3},
    {"texit nb", 0xd6ff07e0, kIndirectBranch, kV8ExceptionReturn, Arch::kV8r3},
    {"wfet x1", 0xd5031001, kWfiWfe, kNone, Arch::kAA64},
    {"wfit x1", 0xd5031021, kWfiWfe, kNone, Arch::kAA64},
    {"tstart x1", 0xd5233061, kTstart, kNone, Arch::kAA64},
    {"isb", 0xd5033fdf, kIsb},
    {"dsb sy", 0xd5033f9f, kDsbDmb},
    {"ssbb", 0xd503309f, kDsbDmb},
    {"dmb ish", 0xd5033bbf, kDsbDmb},
    {"wfe", 0xd503205f, kWfiWfe},
    {"wfi", 0xd503207f, kWfiWfe},
};

TEST(A64, each_row_without_a_target) {
  for (const Case& each : kIndirect) {
    const Instruction expected{.type = each.type,
                               .subtype = each.subtype,
                               .next_isa = Isa::kA64,
                               .link = each.subtype == kBranchLink};
    EXPECT_EQ(classify_one(Isa::kA64, each.opcode), expected) << each.text;
  }
}

TEST(A64, an_instruction_is_other_below_its_architecture_level) {
  constexpr Arch kLevels[] = {Arch::kUnknown, Arch::kCustom, Arch::kV7,
                              Arch::kV8,      Arch::kV8r3,   Arch::kAA64};
  for (const Case& each : kIndirect) {
    for (const Arch arch : kLevels) {
      Options options = kAll;
      options.arch = arch;
      const InstrType expected = arch >= each.since ? each.type : kOther;
      EXPECT_EQ(classify_one(Isa::kA64, each.opcode, options).type, expected) << each.text;
    }
  }
}

TEST(A64, barriers_and_waits_are_waypoints_only_on_demand) {
  const Options off{.arch = Arch::kAA64};
  for (const std::uint32_t opcode :
       {0xd5033f9fU, 0xd5033bbfU, 0xd503205fU, 0xd503207fU, 0xd5031001U, 0xd5031021U})
    EXPECT_EQ(classify_one(Isa::kA64, opcode, off), (Instruction{.next_isa = Isa::kA64}));
  EXPECT_EQ(classify_one(Isa::kA64, 0xd5033fdf, off).type, kIsb);
}

struct Direct {
  const char* text;
  std::uint32_t opcode;
  std::uint64_t target;
  bool conditional = false;
  bool link = false;
};

TEST(A64, each_direct_branch_with_its_target) {
  const Direct cases[] = {
      {"b .+4", 0x14000001, kPc + 4},
      {"b .-4", 0x17ffffff, kPc - 4},
      {"b .+max", 0x15ffffff, kPc + 0x7fffffc},
      {"bl .-max", 0x96000000, kPc - 0x8000000, false, true},
      {"b.eq .+0x40", 0x54000200, kPc + 0x40, true},
      {"b.al .+0x40", 0x5400020e, kPc + 0x40, true},
      {"bc.ne .-4", 0x54fffff1, kPc - 4, true},
      {"cbz w0, .+8", 0x34000040, kPc + 8, true},
      {"cbnz x1, .-8", 0xb5ffffc1, kPc - 8, true},
      {"tbz w2, #3, .+12", 0x36180062, kPc + 12, true},
      {"tbnz x2, #35, .-0x8000", 0xb71c0002, kPc - 0x8000, true},
      // Compare and branch: really conditional, but not flagged as such.
      {"cbgt w1, w2, .+8", 0x74020041, kPc + 8},
      {"cbbgt w1, w2, .+8", 0x74028041, kPc + 8},
      {"cbhgt w1, w2, .-4", 0x7402ffe1, kPc - 4},
      {"cbne x1, x2, .+0x3fc", 0xf4e21fe1, kPc + 0x3fc},
      {"cbgt w1, #2, .+8", 0x75010041, kPc + 8},
      {"cblt x1, #2, .-0x400", 0xf5212001, kPc - 0x400},
  };
  for (const Direct& each : cases) {
    const Instruction expected{.target = each.target,
                               .type = kBranch,
                               .subtype = each.link ? kBranchLink : kNone,
                               .next_isa = Isa::kA64,
                               .conditional = each.conditional,
                               .link = each.link};
    EXPECT_EQ(classify_one(Isa::kA64, each.opcode), expected) << each.text;
  }
}

TEST(A64, targets_wrap_around_the_64_bit_address_space) {
  EXPECT_EQ(classify_one(Isa::kA64, 0x17ffffff, kAll, 0).target, ~std::uint64_t{3});
  EXPECT_EQ(classify_one(Isa::kA64, 0x14000001, kAll, ~std::uint64_t{3}).target, 0U);
  EXPECT_EQ(classify_one(Isa::kA64, 0x14000001, kAll, 0xffff'8000'1234'0000).target,
            0xffff'8000'1234'0004U);
}

TEST(A64, neighbours_of_waypoints_are_other) {
  const std::pair<const char*, std::uint32_t> cases[] = {
      {"nop", 0xd503201f},
      {"sev", 0xd503209f},
      {"sb", 0xd50330ff},
      {"dsb oshnxs, not recognised", 0xd503323f},
      {"svc #0", 0xd4000001},
      {"hvc #0", 0xd4000002},
      {"smc #0", 0xd4000003},
      {"brk #0", 0xd4200000},
      {"hlt #0", 0xd4400000},
      {"ttest x0", 0xd5233160},
      {"tcommit", 0xd503307f},
      {"tcancel #0", 0xd4600000},
      {"mrs x0, currentel", 0xd5384240},
      {"udf #0", 0x00000000},
      {"compare and branch, reserved [15:14] = 01", 0x74024041},
      {"compare and branch X, reserved [15:14] = 10", 0xf4028041},
      {"compare and branch with immediate, [14] = 1", 0x75014041},
      {"drps", 0xd6bf03e0},
  };
  for (const auto& [text, opcode] : cases)
    EXPECT_EQ(classify_one(Isa::kA64, opcode), (Instruction{.next_isa = Isa::kA64})) << text;
}

TEST(A64, opcode_check_refuses_words_with_zero_upper_halves_when_asked) {
  Options options = kAll;
  std::uint8_t it_remaining = 0;
  Instruction out;
  EXPECT_EQ(classify(options, Isa::kA64, kPc, 0x0000ffff, it_remaining, out), Outcome::kOk);
  options.a64_opcode_check = true;
  EXPECT_EQ(classify(options, Isa::kA64, kPc, 0x0000ffff, it_remaining, out),
            Outcome::kInvalidOpcode);
  EXPECT_EQ(out.type, kOther);
  EXPECT_EQ(classify(options, Isa::kA64, kPc, 0x00000000, it_remaining, out),
            Outcome::kInvalidOpcode);
  EXPECT_EQ(classify(options, Isa::kA64, kPc, 0x00010000, it_remaining, out), Outcome::kOk);
  EXPECT_EQ(classify(options, Isa::kA32, kPc, 0x00000000, it_remaining, out), Outcome::kOk);
}

}  // namespace
}  // namespace waymark::isa
