// Programs: random, described, and made by hand; and their execution.
#include "waymark/synth/program.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "truth_bench.h"

namespace waymark::synth {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto program = Program::described(text);
  return program ? "none" : program.error().detail;
}

TEST(SynthProgram, a_described_loop_runs_as_often_as_it_says) {
  const auto program = Program::described(
      "isa A64\n"
      "at 0x80000\n"
      "function main   # a comment\n"
      "  loop 3\n"
      "    work 2\n"
      "    call leaf\n"
      "  end\n"
      "end\n"
      "function leaf\n"
      "  work 1\n"
      "end\n");
  ASSERT_TRUE(program) << program.error().detail;
  EXPECT_EQ(program->entries(), (std::vector<Place>{{0x80000, isa::Isa::kA64}}));
  Execution execution(*program, {}, {});
  Step step;
  std::vector<std::uint64_t> starts;
  for (int i = 0; i < 11; ++i) {
    execution.next(step);
    starts.push_back(step.start);
  }
  // Call, return, loop; three times, then the return to nowhere, and a new start.
  EXPECT_EQ(starts,
            (std::vector<std::uint64_t>{0x80000, 0x80014, 0x8000C, 0x80000, 0x80014, 0x8000C,
                                        0x80000, 0x80014, 0x8000C, 0x80010, 0x80000}));
}

TEST(SynthProgram, exceptions_at_every_step_do_not_keep_a_capture_from_ending) {
  auto program = Program::described("handler h\n end\nfunction f\n work 3\n end\n");
  ASSERT_TRUE(program) << program.error().detail;
  auto unit = make_unit({}, &*program, {.exception_mean = 1}, false);
  ASSERT_TRUE(unit) << unit.error().detail;
  std::vector<std::uint8_t> bytes;
  (*unit)->run(bytes, 1000);
  (*unit)->finish(bytes);
  EXPECT_LT(bytes.size(), 100'000U);
}

TEST(SynthProgram, the_limit_of_code_counts_every_stretch) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i) {
    text += "at 0x" + std::to_string(i + 1) + "00000000\nfunction f" + std::to_string(i) + "\n" +
            " work 1000\n work 1\nend\n";
  }
  EXPECT_TRUE(Program::described(text));
  const auto program = Program::described(text, 30'000);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kLimit);
  EXPECT_THAT(program.error().detail,
              HasSubstr("more than 30000 bytes of code (in function 'f7')"));
}

TEST(SynthProgram, many_segments_are_refused) {
  Program program;
  std::uint64_t address = 1U << 24;
  for (unsigned i = 0; i < 4096; ++i) ASSERT_TRUE(program.add_segment(address -= 16, {0, 0, 0, 0}));
  const auto added = program.add_segment(address - 16, {0, 0, 0, 0});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kLimit);
}

TEST(SynthProgram, handlers_need_room) {
  Program program;
  ASSERT_TRUE(program.add_segment(0x1000, {0, 0, 0, 0}));
  ASSERT_TRUE(program.add_segment(0xFFFFFFFFFFFFF000, {0, 0, 0, 0}));
  const auto added = program.add_default_handlers(isa::Isa::kA64);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().detail, HasSubstr("no room for exception handlers"));
}

TEST(SynthProgram, without_handlers_is_not_traced) {
  Program program;
  ASSERT_TRUE(program.add_segment(0x1000, {0, 0, 0, 0}));
  program.add_entry({0x1000, isa::Isa::kA64});
  const auto unit = make_unit({}, &program, {}, false);
  ASSERT_FALSE(unit);
  EXPECT_THAT(unit.error().detail, HasSubstr("no exception handler"));
}

TEST(SynthProgram, addresses_that_differ_in_their_top_bits_are_two_places) {
  // NOP and B to itself, at both addresses.
  const std::vector<std::uint8_t> code = {0x1F, 0x20, 0x03, 0xD5, 0x00, 0x00, 0x00, 0x14};
  Program program;
  ASSERT_TRUE(program.add_segment(0x1000, code));
  ASSERT_TRUE(program.add_segment(0x4000000000001000, code));
  program.add_entry({0x1000, isa::Isa::kA64});
  Execution execution(program, {}, {});
  EXPECT_EQ(execution.block_at({0x1000, isa::Isa::kA64}).start, 0x1000U);
  EXPECT_EQ(execution.block_at({0x4000000000001000, isa::Isa::kA64}).start, 0x4000000000001000U);
}

TEST(SynthProgram, each_virtual_machine_has_a_vmid) {
  auto program = Program::random({.seed = 3});
  ASSERT_TRUE(program);
  Execution execution(*program, {}, {.exception_mean = 2, .vmids = 2});
  std::set<std::uint32_t> seen;
  Step step;
  for (unsigned i = 0; i < 20'000; ++i) {
    seen.insert(execution.context().vmid);
    execution.next(step);
  }
  EXPECT_EQ(seen, (std::set<std::uint32_t>{1, 2}));
}

TEST(SynthProgram, a_branch_that_cannot_reach_is_named_by_its_caller) {
  EXPECT_THAT(error_of("at 0x1000\nfunction far_caller\n call there\nend\n"
                       "at 0x900000000\nfunction there\n work 1\nend\n"),
              HasSubstr("(in function 'far_caller')"));
}

TEST(SynthProgram, a_described_program_with_everything_decodes_to_what_happened) {
  for (const std::string isa : {"A64", "A32", "T32"}) {
    auto program = Program::described(
        "isa " + isa +
        "\nfunction main\n loop 2 5\n work 3\n call f\n end\n skip 40\n call_indirect f g\n end\n"
        " choose\n case\n work 1\n case\n barrier\n wait\n case\n return_if 50\n end\n end\n"
        "function f\n return_if 20\n work 2\n end\n"
        "function g\n work 1\n call f\n end\n"
        "handler irq\n work 2\n loop 3\n barrier\n end\n end\n");
    ASSERT_TRUE(program) << program.error().detail;
    EXPECT_EQ(program->handlers().size(), 1U);
    TruthBench b;
    b.program = *std::move(program);
    b.units.emplace_back();
    b.units.front().return_stack = true;
    b.execution.exception_mean = 50;
    b.capture.size = 20'000;
    EXPECT_EQ(b.check(), "") << isa;
    EXPECT_GT(b.instructions, 10'000U) << isa;
  }
}

TEST(SynthProgram, mistakes_in_a_description_are_named_with_their_line) {
  EXPECT_THAT(error_of("function f\n work x\nend\n"), HasSubstr("line 2: 'x' is not a number"));
  EXPECT_THAT(error_of("function f\n jump f\nend\n"),
              HasSubstr("line 2: 'jump' is not a statement"));
  EXPECT_THAT(error_of("function f\n call g\nend\n"),
              HasSubstr("line 2: There is no function 'g'"));
  EXPECT_THAT(error_of("function f\n work 1\n"), HasSubstr("not closed"));
  EXPECT_THAT(error_of("function f\nend\nfunction f\nend\n"), HasSubstr("line 3"));
  EXPECT_THAT(error_of("work 1\n"), HasSubstr("outside a function"));
  EXPECT_THAT(error_of("isa A65\n"), HasSubstr("A65"));
  EXPECT_THAT(error_of("at 3\n"), HasSubstr("multiple of 4"));
  EXPECT_THAT(error_of("function f\n loop 0\n end\nend\n"), HasSubstr("at least once"));
  EXPECT_THAT(error_of("function f\n choose\n end\nend\n"), HasSubstr("nothing to choose"));
  EXPECT_THAT(error_of("function f\n choose\n work 1\n"), HasSubstr("begins with `case`"));
  EXPECT_THAT(error_of("function f\n case\nend\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_of(""), HasSubstr("no function to start with"));
  EXPECT_THAT(error_of("function f\n call g\nend\nisa T32\nfunction g\nend\n"),
              HasSubstr("A64 functions cannot call"));
  EXPECT_THAT(error_of("function f\n call g\nend\nat 0xF00000000\nfunction g\nend\n"),
              HasSubstr("cannot reach"));
  std::string deep = "function f\n";
  for (int i = 0; i < 100; ++i) deep += "loop 1\n";
  EXPECT_THAT(error_of(deep), HasSubstr("too deeply"));
}

TEST(SynthProgram, random_programs_of_a_seed_are_equal) {
  const auto bytes = [](std::uint64_t seed) {
    return Program::random({.seed = seed})->segments().back().bytes;
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
  EXPECT_FALSE(Program::random({.functions = 0}));
  EXPECT_FALSE(Program::random({.isa = isa::Isa::kA64, .mixed = true}));
  EXPECT_FALSE(Program::random({.isa = isa::Isa::kA32, .address = std::uint64_t{1} << 40}));
}

TEST(SynthProgram, segments_do_not_overlap) {
  Program program;
  EXPECT_TRUE(program.add_segment(0x1000, std::vector<std::uint8_t>(16)));
  EXPECT_TRUE(program.add_segment(0x1010, std::vector<std::uint8_t>(16)));
  EXPECT_FALSE(program.add_segment(0xFFF, std::vector<std::uint8_t>(2)));
  EXPECT_FALSE(program.add_segment(0x1008, std::vector<std::uint8_t>(1)));
  EXPECT_FALSE(program.add_segment(0x2000, {}));
  EXPECT_FALSE(program.add_segment(~std::uint64_t{0}, std::vector<std::uint8_t>(2)));
}

TEST(SynthProgram, files_other_than_programs_are_refused) {
  EXPECT_FALSE(Program::elf("/nonexistent/file"));
  const std::string path = testing::TempDir() + "waymark_no_elf";
  std::ofstream(path) << "text";
  EXPECT_FALSE(Program::elf(path));
  std::ofstream(path) << "\177ELF\002\001\001";
  EXPECT_FALSE(Program::elf(path));
}

TEST(SynthProgram, an_elf_file_is_traced_in_its_real_code) {
  auto program = Program::elf(WAYMARK_SOURCE_DIR "/samples/quicksort/quicksort.elf");
  if (!program && program.error().code == ErrorCode::kUnsupported)
    GTEST_SKIP() << program.error().detail;
  ASSERT_TRUE(program) << program.error().detail;
  EXPECT_GT(program->functions().size(), 1U);
  EXPECT_EQ(program->file(), WAYMARK_SOURCE_DIR "/samples/quicksort/quicksort.elf");
  EXPECT_EQ(program->segments().front().origin.file.empty(),
            program->segments().front().address != 0x40'00F0);
  TruthBench b;
  b.program = *std::move(program);
  b.units.emplace_back();
  b.execution.exception_mean = 300;
  b.capture.size = 30'000;
  EXPECT_EQ(b.check(), "");
  EXPECT_GT(b.instructions, 10'000U);
}

}  // namespace
}  // namespace waymark::synth
