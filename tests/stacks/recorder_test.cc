#include "waymark/stacks/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/seed_count.h"
#include "support/stack_checks.h"
#include "support/stack_records.h"
#include "support/workload_elements.h"
#include "waymark/synth/random.h"

namespace waymark::stacks {
namespace {

Element range(std::uint64_t start, std::uint32_t count, isa::InstrSubtype subtype) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.trace_id = 1;
  element.start = start;
  element.end = start + 4 * std::uint64_t{count};
  element.count = count;
  element.last_size = 4;
  element.last_type = isa::InstrType::kBranch;
  element.last_subtype = subtype;
  element.flags = kElementExecuted;
  return element;
}

std::vector<Step> steps_of(std::span<const Element> elements) {
  std::vector<Step> steps;
  Recorder recorder({}, [&](const Step& step) { steps.push_back(step); });
  recorder.observe(elements);
  recorder.finish();
  return steps;
}

TEST(Recorder, sums_up_what_stays_in_a_function) {
  std::vector<Element> elements{range(0x1000, 2, isa::InstrSubtype::kBranchLink)};
  for (std::uint32_t i = 0; i < 100; ++i)
    elements.push_back(range(0x2000 + 4 * std::uint64_t{i}, 3, isa::InstrSubtype::kNone));
  elements.push_back(range(0x2100, 1, isa::InstrSubtype::kV8Return));
  elements.push_back(range(0x1008, 1, isa::InstrSubtype::kNone));
  const std::vector<Step> steps = steps_of(elements);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].element.start, 0x2000U);
  EXPECT_EQ(steps[1].run.instructions, 99 * 3U + 1);
  EXPECT_EQ(steps[1].run.last.end, 0x2104U);
  EXPECT_EQ(steps[1].run.last.last_subtype, isa::InstrSubtype::kV8Return);
  EXPECT_TRUE(steps[2].run.is_empty());
}

TEST(Recorder, cycles_of_a_function_are_two_numbers) {
  std::vector<Element> elements(2, range(0x1000, 2, isa::InstrSubtype::kNone));
  for (std::uint32_t i = 0; i < 10; ++i) {
    elements.push_back(range(0x1000, 2, isa::InstrSubtype::kNone));
    elements.back().flags |= kElementHasCycleCount;
    elements.back().cycle_count = 5 + i;
  }
  elements.push_back(range(0x1000, 7, isa::InstrSubtype::kNone));
  elements.insert(elements.begin(), range(0x1000, 2, isa::InstrSubtype::kNone));
  const std::vector<Step> steps = steps_of(elements);
  ASSERT_EQ(steps.size(), 2U);
  const auto& run = steps[1].run;
  ASSERT_EQ(run.counts, 2);
  EXPECT_EQ(run.counted[0], (Counted{.instructions = 4, .cycles = 5}));
  EXPECT_EQ(run.counted[1], (Counted{.instructions = 18, .cycles = 9 * 5 + 45}));
  EXPECT_EQ(run.instructions, 7U);
}

TEST(Recorder, a_run_that_leaves_its_function_is_refused) {
  Engine engine({});
  const Element first = range(0x1000, 2, isa::InstrSubtype::kNone);
  Step step{.element = first, .run = {.low = 0, .high = kNoAddress, .has_ranges = true}};
  EXPECT_TRUE(engine.play(step));
  step.element.last_subtype = isa::InstrSubtype::kV8Return;
  EXPECT_FALSE(engine.play(step));
  step.element = first;
  step.run.low = 5;
  step.run.high = 4;
  EXPECT_FALSE(engine.play(step));
}

TEST(Recorder, elements_that_are_left_out_are_a_switch) {
  std::vector<Step> steps;
  Recorder recorder({}, [&](const Step& step) { steps.push_back(step); });
  const Element element = range(0x1000, 2, isa::InstrSubtype::kNone);
  recorder.observe({&element, 1});
  recorder.leave_out(1);
  recorder.leave_out(1);
  recorder.observe({&element, 1});
  recorder.finish();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].kind, Step::Kind::kLeftOut);
  EXPECT_EQ(steps[1].element.trace_id, 1);
}

/// Elements in slices of random sizes.
void check_in_slices(support::RecordChecker& checker, std::span<const Element> elements,
                     synth::Random& random) {
  while (!elements.empty()) {
    const std::size_t size =
        std::min<std::size_t>(1 + static_cast<std::size_t>(random.below(2000)), elements.size());
    checker.observe(elements.first(size));
    elements = elements.subspan(size);
  }
}

TEST(Recorder, any_execution_is_played_as_it_was_seen) {
  std::size_t all = 0;
  std::size_t steps = 0;
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    const std::vector<Element> elements = support::workload_elements(seed);
    ASSERT_FALSE(elements.empty());
    Options options;
    if (seed % 3 == 0) options.most_frames = 24;
    support::RecordChecker checker(options);
    synth::Random random(seed);
    check_in_slices(checker, elements, random);
    EXPECT_EQ(checker.finish(), "") << "seed " << seed;
    EXPECT_EQ(checker.refused(), 0U) << "seed " << seed;
    all += checker.elements();
    steps += checker.steps();
  }
  EXPECT_LT(steps, all);
}

/// Threads change at places that no element shows.
TEST(Recorder, threads_that_change_between_elements_are_played_as_they_were_seen) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    std::vector<Element> elements = support::workload_elements(seed);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i].index = i;
    Options options;
    options.owner = [](const Element& element) -> Owner {
      constexpr TraceIndex kTurn = 97;
      const TraceIndex turn = element.index / kTurn;
      return {.thread = turn % 3, .until = (turn + 1) * kTurn};
    };
    support::RecordChecker checker(options);
    synth::Random random(seed);
    check_in_slices(checker, elements, random);
    EXPECT_EQ(checker.finish(), "") << "seed " << seed;
    EXPECT_EQ(checker.refused(), 0U) << "seed " << seed;
  }
}

TEST(Recorder, any_elements_at_all_are_played_as_they_were_seen) {
  const auto program = support::few_functions();
  for (std::uint64_t seed = 1; seed <= support::seed_count(300); ++seed) {
    synth::Random random(seed);
    std::vector<std::uint8_t> bytes(32768);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    Options options;
    options.most_frames = 24;
    options.most_nodes = seed % 2 == 0 ? 100 : Tree::kMostNodes;
    options.places = [&program](const Element&, std::uint64_t address) {
      return program::Place{program.get(), address};
    };
    options.tail_calls = seed % 3 == 0 ? TailCalls::kReplace : TailCalls::kKeep;
    options.exceptions_apart = seed % 5 == 0;
    support::RecordChecker checker(options);
    checker.set_source(1, {.profile = isa::Profile::kM, .timestamps_repeat_cycles = true});
    check_in_slices(checker, support::elements_of(bytes), random);
    ASSERT_EQ(checker.finish(), "") << "seed " << seed;
  }
}

TEST(Recorder, a_sink_is_given_the_same_with_its_times) {
  std::size_t events = 0;
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    support::RecordChecker checker({}, true);
    checker.set_source(1, {.timestamps_repeat_cycles = seed % 3 == 0});
    synth::Random random(seed);
    check_in_slices(checker, support::workload_elements(seed), random);
    EXPECT_EQ(checker.finish(), "") << "seed " << seed;
    EXPECT_EQ(checker.refused(), 0U) << "seed " << seed;
    events += checker.events();
  }
  EXPECT_GT(events, 1000U);
  const auto program = support::few_functions();
  Options options;
  options.places = [&program](const Element&, std::uint64_t address) {
    return program::Place{program.get(), address};
  };
  for (std::uint64_t seed = 1; seed <= support::seed_count(300); ++seed) {
    synth::Random random(seed);
    std::vector<std::uint8_t> bytes(32768);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    support::RecordChecker checker(options, true);
    check_in_slices(checker, support::elements_of(bytes), random);
    ASSERT_EQ(checker.finish(), "") << "seed " << seed;
  }
}

TEST(Recorder, memory_that_changes_is_noticed) {
  const auto one = support::few_functions();
  std::vector<program::Function> functions(one->functions().begin(), one->functions().end());
  for (program::Function& function : functions) {
    function.start += 0x20;
    function.last += 0x20;
  }
  const auto other = program::Program::of(std::move(functions), "/bin/test");
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= support::seed_count(100); ++seed) {
    synth::Random random(seed);
    std::vector<std::uint8_t> bytes(32768);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    std::vector<Element> elements = support::elements_of(bytes);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i].index = i;
    Options options;
    options.places = [&](const Element& element, std::uint64_t address) {
      return program::Place{element.index / 500 % 2 == 0 ? one.get() : other.get(), address};
    };
    support::RecordChecker checker(options);
    check_in_slices(checker, elements, random);
    ASSERT_EQ(checker.finish(), "") << "seed " << seed;
    refused += checker.refused();
  }
  EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace waymark::stacks
