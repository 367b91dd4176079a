#include "waymark/synth/execution_log.h"

#include <gtest/gtest.h>

#include "waymark/synth/execution.h"

namespace waymark::synth {
namespace {

constexpr std::uint32_t kNop = 0xD503201F;
constexpr std::uint32_t kCall = 0x94000003;     // bl +12
constexpr std::uint32_t kSkip = 0x54000040;     // b.eq +8
constexpr std::uint32_t kReturn = 0xD65F03C0;   // ret
constexpr std::uint32_t kService = 0xD4000001;  // svc #0

/// At 0x1000: call 0x100c; b.eq 0x100c; svc.  At 0x100c: nop; ret.
Program program() {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : {kCall, kSkip, kService, kNop, kReturn})
    for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  bytes.resize(bytes.size() + 16);
  Program made;
  EXPECT_TRUE(made.add_segment(0x1000, std::move(bytes)));
  made.add_entry({0x1000, isa::Isa::kA64});
  EXPECT_TRUE(made.add_default_handlers(isa::Isa::kA64));
  return made;
}

constexpr auto kLog =
    "# comment\n1000\n100c\n1010\n1004\nTrace 0: 0x7f00 [0000/0000000000001008/0001/0201] main\n";

TEST(ExecutionLog, the_program_executes_it_once) {
  Program made = program();
  ASSERT_TRUE(load_execution_log(kLog, made));
  ASSERT_NE(made.log(), nullptr);
  Execution execution(made, {.arch = isa::Arch::kAA64}, {.exception_mean = 1});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::vector<bool> taken;
  Step step;
  while (!execution.ended()) {
    execution.next(step);
    if (step.kind == StepKind::kException) {
      EXPECT_EQ(step.start, 0x100CU);
      continue;
    }
    ranges.emplace_back(step.start, step.end);
    taken.push_back(step.taken);
  }
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{
      {0x1000, 0x1004}, {0x100C, 0x1014}, {0x1004, 0x1008}, {0x1008, 0x100C}};
  EXPECT_EQ(ranges, expected);
  EXPECT_EQ(taken, (std::vector<bool>{true, true, false, true}));
}

TEST(ExecutionLog, what_the_program_cannot_do_is_refused_with_its_line) {
  const auto refuse = [](std::string_view text, std::string_view sentence) {
    Program made = program();
    const auto loaded = load_execution_log(text, made);
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().code, ErrorCode::kParse);
    EXPECT_NE(loaded.error().detail.find(sentence), std::string::npos) << loaded.error().detail;
    EXPECT_EQ(made.log(), nullptr);
  };
  refuse("1000\nhello\n", "line 2: this is not an address");
  refuse("1000\n9000\n", "line 2: the program has no code at 0x9000");
  refuse("1000\n1004\n", "line 2: the instruction before 0x1004 does not lead there");
  refuse("100c\n1004\n", "line 2: the instruction before 0x1004 does not lead there");
  refuse("", "the log has no instructions");
  refuse("Trace 0: nothing\n", "line 1: this is not an address");
}

}  // namespace
}  // namespace waymark::synth
