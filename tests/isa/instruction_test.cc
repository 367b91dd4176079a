#include <random>

#include "expect.h"
#include "invariants.h"
#include "sheet_model.h"

namespace waymark::isa {
namespace {

constexpr Arch kLevels[] = {Arch::kUnknown, Arch::kV7, Arch::kV8, Arch::kV8r3, Arch::kAA64};

Options options_from(std::uint32_t seed) {
  return {.arch = kLevels[(seed >> 4) % std::size(kLevels)],
          .dsb_dmb_waypoints = (seed & 1) != 0,
          .wfi_wfe_waypoints = (seed & 2) != 0,
          .track_it_block = (seed & 4) != 0,
          .a64_opcode_check = (seed & 8) != 0};
}

/// Opcodes near the interesting ones, with equal chances: random bits, a known opcode with a few
/// bits flipped, or a known opcode with a random field.
class Opcodes {
 public:
  explicit Opcodes(Isa isa) : isa_(isa) {}

  std::uint32_t next() {
    constexpr std::uint32_t kA64[] = {0xd61f0060, 0xd65f03c0, 0xd69f03e0, 0xd71f0822, 0xd65f0bff,
                                      0x5500001f, 0xd6ff03e0, 0x54000200, 0x94000001, 0x34000040,
                                      0x36180062, 0x74020041, 0xf4e21fe1, 0x75010041, 0xd5033fdf,
                                      0xd503205f, 0xd5031001, 0xd5233061};
    constexpr std::uint32_t kA32[] = {0xf8bd0a00, 0xe12fff1e, 0xe12fff33, 0xe8bd8010, 0xe49df004,
                                      0xe791f002, 0xe1a0f00e, 0xe28ff004, 0xe08ff103, 0xf57ff04f,
                                      0xee070f9a, 0xe320f002, 0xea000000, 0xfa200408, 0xe351f002,
                                      0xe1c0f090, 0xe160006e, 0xee070f95};
    constexpr std::uint32_t kT32[] = {
        0x47700000, 0xf3c38f00, 0xbd100000, 0x46f70000, 0xe8dff000, 0xe810c000, 0xe990c000,
        0xf3de8f00, 0xf8d1f010, 0xf85ff010, 0xf85dfb04, 0xf851f022, 0xe8bd8010, 0xf3bf8f4f,
        0xee071f9a, 0xf3af8002, 0xbf200000, 0xd0000000, 0xb1000000, 0xf0008000, 0xf000b800,
        0xf000e804, 0xf00fc003, 0xf043c803, 0xf003c003, 0xbf080000, 0xdf000000, 0xf3808800};
    const std::uint32_t noise = draw();
    const std::uint32_t choice = draw();
    std::uint32_t base = kA64[choice % std::size(kA64)];
    if (isa_ == Isa::kA32) base = kA32[choice % std::size(kA32)];
    if (isa_ == Isa::kT32) base = t32_word(kT32[choice % std::size(kT32)]);
    switch ((choice >> 16) % 3) {
      case 0:
        return noise;
      case 1:
        return base ^ (1U << (noise & 31)) ^ (1U << (noise >> 5 & 31)) ^ (1U << (noise >> 10 & 31));
      default: {
        const std::uint32_t mask = draw() & draw();
        return (base & ~mask) | (noise & mask);
      }
    }
  }

 private:
  std::uint32_t draw() { return static_cast<std::uint32_t>(random_()); }

  Isa isa_;
  std::mt19937 random_{20240611};  // A fixed seed: a failure must be repeatable.
};

TEST(Classify, agrees_with_a_plain_reading_of_the_sheet) {
  std::mt19937_64 random(7);
  for (const Isa isa : {Isa::kA64, Isa::kA32, Isa::kT32}) {
    Opcodes opcodes(isa);
    for (int n = 0; n < 1'000'000; ++n) {
      const std::uint32_t opcode = opcodes.next();
      const std::uint64_t noise = random();
      Options options = options_from(static_cast<std::uint32_t>(noise));
      options.a64_opcode_check = false;
      options.quirks = Quirks::reference();
      const std::uint64_t pc = (noise >> 8) & ~std::uint64_t{isa == Isa::kT32 ? 1U : 3U};
      const auto it = static_cast<std::uint8_t>(isa == Isa::kT32 ? (noise >> 7 & 7) % 5 : 0);

      sheet::Model model{options, pc, opcode, it};
      if (isa == Isa::kA64) model.a64();
      if (isa == Isa::kA32) model.a32();
      if (isa == Isa::kT32) model.t32();
      std::uint8_t it_remaining = it;
      Instruction out;
      ASSERT_EQ(classify(options, isa, pc, opcode, it_remaining, out), Outcome::kOk);
      ASSERT_EQ(out, model.out) << "ISA " << int(isa) << " opcode " << std::hex << opcode;
      ASSERT_EQ(it_remaining, model.it) << "ISA " << int(isa) << " opcode " << std::hex << opcode;
    }
  }
}

TEST(Classify, keeps_its_invariants_for_any_opcode_and_options) {
  std::mt19937_64 random(11);
  for (const Isa isa : {Isa::kA64, Isa::kA32, Isa::kT32}) {
    Opcodes opcodes(isa);
    for (int n = 0; n < 1'000'000; ++n) {
      const std::uint32_t opcode = opcodes.next();
      const std::uint64_t noise = random();
      const auto it = static_cast<std::uint8_t>((noise >> 32) % 5);
      const char* broken =
          broken_invariant(options_from(static_cast<std::uint32_t>(noise)), isa, noise, opcode, it);
      ASSERT_EQ(broken, nullptr) << broken << ": ISA " << int(isa) << " opcode " << std::hex
                                 << opcode;
    }
  }
}

TEST(Classify, plain_a64_opcodes_are_other_under_every_combination_of_options) {
  Opcodes opcodes(Isa::kA64);
  for (int n = 0; n < 50'000; ++n) {
    const std::uint32_t opcode = opcodes.next();
    if (!is_plain_a64(opcode)) continue;
    for (std::uint32_t seed = 0; seed < 16 * std::size(kLevels); ++seed) {
      std::uint8_t it_remaining = 0;
      Instruction out;
      (void)classify(options_from(seed), Isa::kA64, kPc, opcode, it_remaining, out);
      ASSERT_EQ(out, (Instruction{.next_isa = Isa::kA64})) << std::hex << opcode;
    }
  }
}

TEST(Classify, refuses_instruction_sets_that_it_does_not_know) {
  for (const Isa isa : {Isa::kThumbEE, Isa::kJazelle, Isa::kCustom, Isa::kUnknown}) {
    std::uint8_t it_remaining = 3;
    Instruction out;
    EXPECT_EQ(classify(kAll, isa, kPc, 0x47704770, it_remaining, out), Outcome::kUnsupportedIsa);
    EXPECT_EQ(out, (Instruction{.next_isa = isa}));
    EXPECT_EQ(it_remaining, 3);
  }
}

TEST(Classify, follows_the_architecture_where_the_reference_departs) {
  Options native = kAll;
  native.quirks = {};
  const auto classified = [&](Isa isa, std::uint32_t word) {
    return classify_one(isa, word, native);
  };
  for (const std::uint32_t compare : {0x74010040U, 0x74020041U, 0xf4e21fe1U, 0x75010041U}) {
    EXPECT_TRUE(classified(Isa::kA64, compare).conditional) << std::hex << compare;
    EXPECT_FALSE(classify_one(Isa::kA64, compare).conditional) << std::hex << compare;
  }
  // LE LR, LE, LETP, WLS, WLSTP.
  for (const std::uint32_t loop : {0xf00fc003U, 0xf02fc001U, 0xf01fc005U, 0xf043c803U, 0xf003c003U})
    EXPECT_TRUE(classified(Isa::kT32, t32_word(loop)).conditional) << std::hex << loop;
  EXPECT_EQ(classified(Isa::kA32, 0xe160006e).type, kIndirectBranch);
  EXPECT_EQ(classified(Isa::kT32, t32_word(0xe89f8000)).type, kOther);  // CLRM {APSR}
}

TEST(Classify, each_quirk_changes_only_its_own_instructions) {
  constexpr std::uint32_t kCompare = 0x74010040;
  constexpr std::uint32_t kEret = 0xe160006e;
  const std::uint32_t loop = t32_word(0xf00fc003);
  const std::uint32_t clrm = t32_word(0xe89f8000);
  const auto classified = [&](Isa isa, std::uint32_t word, const Quirks& quirks) {
    Options options = kAll;
    options.quirks = quirks;
    return classify_one(isa, word, options);
  };
  for (bool Quirks::* const flag :
       {&Quirks::a32_eret_is_not_a_branch, &Quirks::newer_branches_unconditional,
        &Quirks::clrm_is_a_branch}) {
    Quirks one;
    one.*flag = true;
    const bool eret = !one.a32_eret_is_not_a_branch;
    const bool conditional = !one.newer_branches_unconditional;
    EXPECT_EQ(classified(Isa::kA32, kEret, one).type, eret ? kIndirectBranch : kOther);
    EXPECT_EQ(classified(Isa::kA64, kCompare, one).conditional, conditional);
    EXPECT_EQ(classified(Isa::kT32, loop, one).conditional, conditional);
    EXPECT_EQ(classified(Isa::kT32, clrm, one).type,
              one.clrm_is_a_branch ? kIndirectBranch : kOther);
  }
}

TEST(Classify, an_older_reference_knows_fewer_branches) {
  Options older = kAll;
  older.quirks.newer_branches_unknown = true;
  // TEXIT, CB, CBB, CBH, CB with an immediate.
  for (const std::uint32_t word :
       {0xd6ff03e0U, 0x74010040U, 0x74008041U, 0x7400c041U, 0xf4e21fe1U, 0x75010041U}) {
    EXPECT_EQ(classify_one(Isa::kA64, word, older).type, kOther) << std::hex << word;
    EXPECT_NE(classify_one(Isa::kA64, word).type, kOther) << std::hex << word;
  }
  // RETAA, RETAB, RET, B; RETAASPPC.
  for (const std::uint32_t word : {0xd65f0bffU, 0xd65f0fffU, 0xd65f03c0U, 0x14000000U, 0x5500003fU})
    EXPECT_EQ(classify_one(Isa::kA64, word, older), classify_one(Isa::kA64, word))
        << std::hex << word;
  // LE LR, WLS; B.
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf00fc003), older).type, kOther);
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf043c803), older).type, kOther);
  EXPECT_EQ(classify_one(Isa::kT32, t32_word(0xf000b800), older).type, kBranch);
}

TEST(Classify, a_reference_before_1_5_5_does_not_know_pauth_lr) {
  Options older = kAll;
  older.quirks.pauth_lr_unknown = true;
  // RETAASPPC, RETABSPPC, RETAASPPCR.
  for (const std::uint32_t word : {0x5500003fU, 0x5520001fU, 0xd65f0be2U}) {
    EXPECT_EQ(classify_one(Isa::kA64, word, older).type, kOther) << std::hex << word;
    EXPECT_NE(classify_one(Isa::kA64, word).type, kOther) << std::hex << word;
  }
  // RETAA, RETAB, TEXIT, CB.
  for (const std::uint32_t word : {0xd65f0bffU, 0xd65f0fffU, 0xd6ff03e0U, 0x74010040U})
    EXPECT_EQ(classify_one(Isa::kA64, word, older), classify_one(Isa::kA64, word))
        << std::hex << word;
}

struct Sample {
  Isa isa;
  std::uint32_t word;
  std::uint64_t pc;
  InstrType type;
  InstrSubtype subtype;
  std::uint64_t target;
};

TEST(Classify, samples_of_the_sheet_as_memory_words) {
  const Sample samples[] = {
      {Isa::kA64, 0x94000001, 0x1000, kBranch, kBranchLink, 0x1004},
      {Isa::kA64, 0xd65f03c0, 0x1000, kIndirectBranch, kV8Return, 0},
      {Isa::kA64, 0xd65f0bff, 0x1000, kIndirectBranch, kV8Return, 0},
      {Isa::kA64, 0x5500001f, 0x1000, kIndirectBranch, kV8Return, 0},
      {Isa::kA64, 0xd6ff03e0, 0x1000, kIndirectBranch, kV8ExceptionReturn, 0},
      {Isa::kA64, 0x54ffffe1, 0x1000, kBranch, kNone, 0xffc},
      {Isa::kA64, 0x36080000, 0x28, kBranch, kNone, 0x28},
      {Isa::kA64, 0xd503100c, 0x1000, kWfiWfe, kNone, 0},
      {Isa::kA64, 0xd5233060, 0x1000, kTstart, kNone, 0},
      {Isa::kA32, 0xfa200408, 0x1000, kBranch, kBranchLink, 0x1008 + 0x801020},
      {Isa::kA32, 0xe12fff1e, 0x1000, kIndirectBranch, kV7ImpliedReturn, 0},
      {Isa::kA32, 0xe8bd8010, 0x1000, kIndirectBranch, kV7ImpliedReturn, 0},
      {Isa::kA32, 0xe160006e, 0x1000, kOther, kNone, 0},
      {Isa::kT32, 0xabcd4770, 0x1000, kIndirectBranch, kV7ImpliedReturn, 0},
      {Isa::kT32, 0xc001f02f, 0x1000, kBranch, kNone, 0x1004},
      {Isa::kT32, 0xc801f02f, 0x1000, kBranch, kNone, 0x1002},
      {Isa::kT32, 0x8f00f3de, 0x1000, kIndirectBranch, kNone, 0},
  };
  for (const Sample& each : samples) {
    const Instruction out = classify_one(each.isa, each.word, kAll, each.pc);
    EXPECT_EQ(out.type, each.type) << std::hex << each.word;
    EXPECT_EQ(out.subtype, each.subtype) << std::hex << each.word;
    EXPECT_EQ(out.target, each.target) << std::hex << each.word;
  }
}

}  // namespace
}  // namespace waymark::isa
