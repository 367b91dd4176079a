// Plans that drive a trace unit: the trace is what the plan says, and decodes to the ground truth.
#include "waymark/synth/programmed_unit.h"

#include <gmock/gmock.h>

#include "etm4x/units.h"
#include "support/seed_count.h"
#include "truth_bench.h"
#include "waymark/etm4x/compile.h"
#include "waymark/synth/estimate.h"

namespace waymark::synth {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kBase = 0x400000;

ProgrammedOptions planned(std::string_view lines,
                          const etm4x::IdRegisters& id = etm4x::full_unit()) {
  ProgrammedOptions options;
  options.id = id;
  std::vector<etm4x::PlanProblem> problems;
  const auto plan = etm4x::parse_plan("etm4-plan 1\n" + std::string(lines), nullptr, problems);
  std::optional<etm4x::CompiledPlan> compiled;
  if (plan) compiled = etm4x::compile_plan(*plan, id, options.environment, problems);
  for (const auto& problem : problems) ADD_FAILURE() << problem.text();
  if (compiled) options.image = compiled->image;
  options.instructions = 30'000;
  return options;
}

Program random_program(std::uint64_t seed = 1, isa::Isa isa = isa::Isa::kA64) {
  auto program = Program::random({.seed = seed, .isa = isa, .address = kBase});
  EXPECT_TRUE(program);
  return program ? *std::move(program) : Program();
}

ExecutionOptions busy(const ProgrammedOptions& options, std::uint64_t seed = 1) {
  ExecutionOptions execution;
  execution.seed = seed;
  execution.exception_mean = 50;
  add_contexts(options, execution);
  return execution;
}

struct Checked {
  std::string difference;
  TruthTotals totals;
  std::vector<Element> elements;
};

Checked check(const ProgrammedOptions& options, const Program& program,
              const ExecutionOptions& execution) {
  auto unit = make_programmed_unit(options, program, execution, true);
  if (!unit) return {unit.error().detail, {}, {}};
  std::vector<std::uint8_t> bytes;
  while (!(*unit)->exhausted()) (*unit)->run(bytes, 1000);
  (*unit)->finish(bytes);
  const auto image = program.image();
  const auto source = (*unit)->make_source(*image);
  Checked checked;
  checked.totals = (*unit)->truth().totals();
  if (!(*unit)->status()) checked.difference = (*unit)->status().error().detail;
  TruthChecker checker((*unit)->truth().bytes());
  const frames::Run run{};
  source->feed({bytes, {&run, 1}});
  std::vector<Element> elements(256);
  const auto drain = [&] {
    while (const std::size_t count = source->next(elements)) {
      checker.take(std::span(elements).first(count));
      checked.elements.insert(checked.elements.end(), elements.begin(),
                              elements.begin() + static_cast<std::ptrdiff_t>(count));
    }
  };
  drain();
  source->finish();
  drain();
  checker.finish();
  checked.difference += checker.difference();
  return checked;
}

std::size_t count(const Checked& checked, ElementKind kind) {
  return static_cast<std::size_t>(std::ranges::count(checked.elements, kind, &Element::kind));
}

constexpr std::string_view kPlans[] = {
    "",
    "return-stack\n",
    "include 0x400000..0x4001ff\n",
    "include 0x400040..0x4000ff\nreturn-stack\n",
    "exclude 0x400080..0x4003ff\nreturn-stack\ncycles 16\n",
    "start 0x400010\nstop 0x400100\nsync 256\n",
    "levels el0\ncycles\ntimestamps\nsync 512\nreturn-stack\n",
    "levels el1\nbranch-broadcast everywhere\n",
    "branch-broadcast inside 0x400000..0x4001ff\nreturn-stack\nsync 256\n",
    "branch-broadcast outside 0x400000..0x4001ff\nreturn-stack\ncycles 64\n",
    "trace-context-id\ninclude all context-id 0x1234\nsync 1024\n",
    "include 0x400000..0x400fff context-id 0x55\nexclude 0x400080..0x4000ff\nreturn-stack\n",
    "trace-vmid\ntrace-context-id\ntimestamps address 0x400020\n",
    "strobe window 100 period 5\ncycles\nreturn-stack\n",
    "event 0 address 0x400020\nevent 1 range 0x400100..0x4001ff\nsync never\n",
    ("when range 0x400000..0x4001ff\nevent 2 sequencer 1\nsequencer 0 forward address 0x400040\n"
     "sequencer 0 back address 0x400080\n"),
    "single-shot 0 address 0x400040\nwhen not single-shot 0\n",
};

TEST(ProgrammedUnit, every_plan_decodes_to_what_happened) {
  for (const std::string_view plan : kPlans) {
    for (const auto& id : {etm4x::full_unit(), etm4x::middle_unit(), etm4x::ete_unit()}) {
      for (std::uint64_t seed = 1; seed <= support::seed_count(3); ++seed) {
        ProgrammedOptions options = planned(plan, id);
        options.seed = seed;
        const Program program = random_program(seed);
        const Checked checked = check(options, program, busy(options, seed));
        ASSERT_EQ(checked.difference, "") << plan << "seed " << seed;
        ASSERT_GE(checked.totals.instructions + checked.totals.hidden_instructions, 30'000U);
      }
    }
  }
}

TEST(ProgrammedUnit, arm_and_thumb_programs_are_filtered_by_instruction) {
  for (const isa::Isa isa : {isa::Isa::kA32, isa::Isa::kT32}) {
    for (std::uint64_t seed = 1; seed <= support::seed_count(10); ++seed) {
      const ProgrammedOptions options =
          planned("include 0x400020..0x4002ff\nexclude 0x40008a..0x4000c3\nreturn-stack\n");
      const Checked checked = check(options, random_program(seed, isa), busy(options, seed));
      ASSERT_EQ(checked.difference, "") << "seed " << seed;
    }
  }
}

TEST(ProgrammedUnit, a_range_begins_inside_and_is_left_at_a_waypoint) {
  const ProgrammedOptions options = planned("include 0x400044..0x4000ff\n");
  const Checked checked = check(options, random_program(), busy(options));
  ASSERT_EQ(checked.difference, "");
  EXPECT_GT(count(checked, ElementKind::kInstrRange), 0U);
  EXPECT_GT(checked.totals.hidden_instructions, 0U);
  for (const Element& element : checked.elements) {
    if (element.kind != ElementKind::kInstrRange) continue;
    EXPECT_GE(element.start, 0x400044U);
    EXPECT_LE(element.start, 0x4000FFU);
  }
}

TEST(ProgrammedUnit, levels_keep_handlers_out_and_show_the_exceptions) {
  const ProgrammedOptions options = planned("levels el0\n");
  const Checked checked = check(options, random_program(), busy(options));
  ASSERT_EQ(checked.difference, "");
  EXPECT_GT(count(checked, ElementKind::kException), 10U);
  EXPECT_EQ(count(checked, ElementKind::kExceptionReturn), 0U);
  for (const Element& element : checked.elements) {
    if (element.kind == ElementKind::kPeContext) {
      EXPECT_EQ(element.exception_level, 0);
    }
  }
}

TEST(ProgrammedUnit, a_process_alone) {
  const ProgrammedOptions options =
      planned("trace-context-id\ninclude all context-id 0x1234\nlevels el0\n");
  const ExecutionOptions execution = busy(options);
  EXPECT_THAT(execution.processes, testing::ElementsAre(0x1234, 0x100));
  const Checked checked = check(options, random_program(), execution);
  ASSERT_EQ(checked.difference, "");
  EXPECT_GT(checked.totals.instructions, 1000U);
  EXPECT_GT(checked.totals.hidden_instructions, 1000U);
  for (const Element& element : checked.elements) {
    if (element.kind == ElementKind::kPeContext) {
      EXPECT_EQ(element.context_id, 0x1234U);
    }
  }
}

TEST(ProgrammedUnit, the_program_runs_at_the_level_that_is_asked_for) {
  const ProgrammedOptions options = planned("levels el1\n");
  ExecutionOptions execution = busy(options);
  execution.exception_mean = 0;
  EXPECT_EQ(check(options, random_program(), execution).totals.instructions, 0U);
  execution.el = 1;
  EXPECT_GE(check(options, random_program(), execution).totals.instructions, 30'000U);
}

TEST(ProgrammedUnit, a_plan_that_traces_nothing_ends) {
  const ProgrammedOptions options = planned("include 0x10..0x1f\n");
  const Program program = random_program();
  auto unit = make_programmed_unit(options, program, busy(options), false);
  ASSERT_TRUE(unit);
  std::vector<std::unique_ptr<TraceUnit>> units;
  units.push_back(*std::move(unit));
  CaptureOptions capture;
  capture.size = ~std::uint64_t{0};
  auto maker = CaptureMaker::create(capture, std::move(units));
  ASSERT_TRUE(maker);
  std::uint64_t bytes = 0;
  for (Bytes block = maker->next(); !block.empty(); block = maker->next()) bytes += block.size();
  EXPECT_LT(bytes, 100U);
}

TEST(ProgrammedUnit, the_snapshot_explains_itself_as_the_plan) {
  const ProgrammedOptions options = planned("include 0x400000..0x4001ff\nlevels el0\n");
  const Program program = random_program();
  auto unit = make_programmed_unit(options, program, busy(options), false);
  ASSERT_TRUE(unit);
  etm4x::RegisterImage image;
  for (const UnitRegister& reg : (*unit)->registers()) image.set(reg.name, reg.value);
  const auto caps = etm4x::read_capabilities(options.id, {});
  EXPECT_THAT(etm4x::plan_lines(etm4x::plan_of(image, caps)),
              Contains("include 0x400000..0x4001ff"));
}

TEST(ProgrammedUnit, limits_of_the_model_are_reported) {
  const auto said = [](std::string_view plan) {
    const ProgrammedOptions options = planned(plan);
    return not_modelled(options, busy(options));
  };
  EXPECT_THAT(said("levels el0 el1\n"), IsEmpty());
  EXPECT_THAT(said("levels el0 el2\n"), Contains(HasSubstr("Nothing runs at el2")));
  EXPECT_THAT(said("event 0 external 0\n"), Contains(HasSubstr("External inputs")));
  EXPECT_THAT(said("q-elements all\n"), Contains(HasSubstr("Q elements")));
  EXPECT_THAT(said("conditional all\n"), Contains(HasSubstr("Conditional instructions")));
  EXPECT_THAT(said("p0 loads\n"), Contains(HasSubstr("Loads and stores")));
  EXPECT_THAT(said("stall\n"), Contains(HasSubstr("overflows")));
  EXPECT_THAT(said("trace-error\n"), Contains(HasSubstr("resets")));
}

TEST(Estimate, packets_and_addresses_add_up) {
  const ProgrammedOptions options =
      planned("include 0x400000..0x4003ff\ncycles 16\ntimestamps\nreturn-stack\n");
  const Program program = random_program();
  const auto estimate = estimate_trace(options, program, busy(options));
  ASSERT_TRUE(estimate) << estimate.error().detail;
  EXPECT_GE(estimate->executed, 30'000U);
  EXPECT_LT(estimate->traced, estimate->executed);
  std::uint64_t bytes = 0;
  for (const auto& share : estimate->packets) bytes += share.bytes;
  EXPECT_EQ(bytes, estimate->bytes);
  const auto instructions = [](const Estimate& of) {
    std::uint64_t sum = 0;
    std::uint64_t end = 0;
    for (const auto& stretch : of.stretches) {
      EXPECT_GE(stretch.first, end);
      EXPECT_LT(stretch.first, stretch.end);
      end = stretch.first;
      sum += stretch.instructions;
    }
    return sum;
  };
  EXPECT_EQ(instructions(*estimate), estimate->traced);
  // Every address is a bound, so that nothing is joined.
  std::vector<std::uint64_t> bounds;
  for (std::uint64_t address = 0x400000; address < 0x401000; address += 4)
    bounds.push_back(address);
  const auto bounded = estimate_trace(options, program, busy(options), bounds);
  ASSERT_TRUE(bounded);
  EXPECT_GT(bounded->stretches.size(), estimate->stretches.size());
  EXPECT_EQ(instructions(*bounded), estimate->traced);
}

TEST(Estimate, what_a_plan_adds_costs_bytes) {
  const auto bytes = [](std::string_view plan) {
    const ProgrammedOptions options = planned(plan);
    const auto estimate = estimate_trace(options, random_program(), busy(options));
    EXPECT_TRUE(estimate) << estimate.error().detail;
    return estimate ? estimate->bytes : 0;
  };
  const std::uint64_t plain = bytes("");
  EXPECT_GT(bytes("branch-broadcast everywhere\n"), 2 * plain);
  EXPECT_GT(bytes("cycles 16\n"), plain);
  EXPECT_GT(bytes("sync 256\n"), plain);
  EXPECT_LT(bytes("return-stack\n"), plain);
  EXPECT_LT(bytes("include 0x400000..0x4000ff\n"), plain);
}

}  // namespace
}  // namespace waymark::synth
