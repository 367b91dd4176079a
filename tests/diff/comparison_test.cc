#include "waymark/diff/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "two_runs.h"

namespace waymark::diff {
namespace {

using Elements = std::vector<Element>;

Element range(std::uint64_t start, TraceId id = 1) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.trace_id = id;
  element.start = start;
  element.end = start + 16;
  element.count = 4;
  element.last_size = 4;
  element.last_type = isa::InstrType::kBranch;
  element.flags = kElementExecuted;
  return element;
}
Element context(std::uint32_t number, TraceId id = 1) {
  Element element;
  element.kind = ElementKind::kPeContext;
  element.trace_id = id;
  element.context_id = number;
  element.flags = kElementContextIdValid;
  return element;
}
Element cycles(std::uint32_t count, TraceId id = 1) {
  Element element;
  element.kind = ElementKind::kCycleCount;
  element.trace_id = id;
  element.cycle_count = count;
  element.flags = kElementHasCycleCount;
  return element;
}

TEST(DiffComparison, threads_may_run_in_another_order) {
  const Elements first{context(1), range(0x100), range(0x200), context(2), range(0x300)};
  const Elements second{context(2),   range(0x300), context(1),
                        range(0x100), context(1),   range(0x200)};
  Comparison comparison({});
  compare(comparison, first, second);
  EXPECT_EQ(comparison.agreement().divergences, 0U);
  ASSERT_EQ(comparison.threads().size(), 2U);
  EXPECT_EQ(comparison.threads()[0].agreement.steps, 2U);
}

TEST(DiffComparison, threads_with_other_numbers_are_compared_in_order) {
  const Elements first{context(1), range(0x100), context(2), range(0x300), range(0x310)};
  const Elements second{context(7), range(0x100), context(8), range(0x300), range(0x320)};
  Comparison comparison({});
  compare(comparison, first, second);
  EXPECT_EQ(comparison.agreement().divergences, 1U);
  EXPECT_EQ(comparison.agreement().steps, 2U);
  EXPECT_TRUE(comparison.threads()[0].by_order);
  EXPECT_EQ(comparison.threads()[1].instructions, (std::array<std::uint64_t, 2>{8, 8}));
}

TEST(DiffComparison, a_thread_of_one_run_has_no_partner) {
  const Elements first{range(0x100, 1), range(0x100, 2)};
  const Elements second{range(0x100, 1)};
  Comparison comparison({});
  compare(comparison, first, second);
  EXPECT_EQ(comparison.agreement().divergences, 0U);
  ASSERT_EQ(comparison.threads().size(), 2U);
  EXPECT_FALSE(comparison.threads()[1].threads[1].has_value());
  EXPECT_FALSE(comparison.are_same());
}

TEST(DiffComparison, cycles_are_divided_among_the_steps_since_the_last_count) {
  const Elements first{range(0x100), range(0x200), cycles(10), range(0x100), cycles(7)};
  const Elements second{range(0x100), range(0x200), cycles(30), range(0x100), cycles(7)};
  Comparison comparison({});
  compare(comparison, first, second);
  EXPECT_EQ(comparison.agreement().divergences, 0U);
  const auto changes = comparison.block_changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].sums[0].cycles + changes[1].sums[0].cycles, 17U);
  EXPECT_EQ(comparison.totals()[1].cycles, 37U);
  EXPECT_TRUE(comparison.are_same());
}

TEST(DiffComparison, what_waits_is_bounded) {
  Elements first;
  Elements second{context(1), range(0x100)};
  first.push_back(context(2));
  for (unsigned i = 0; i < 500; ++i) first.push_back(range(0x100));
  first.push_back(context(1));
  first.push_back(range(0x100));
  Comparison comparison({.most_waiting = 100});
  compare(comparison, first, second);
  EXPECT_EQ(comparison.threads()[0].not_compared[0] + comparison.threads()[1].not_compared[0],
            401U);
  EXPECT_FALSE(comparison.are_same());
  EXPECT_EQ(comparison.totals()[0].instructions, 2004U);
}

/// Elements without any sense, of few places.
Elements nonsense(std::uint64_t seed, std::uint64_t& instructions) {
  synth::Random random(seed);
  Elements run;
  for (unsigned i = 0; i < 400; ++i) {
    Element element;
    const auto kind = random.below(2 * kElementKindCount);
    element.kind =
        kind < kElementKindCount ? static_cast<ElementKind>(kind) : ElementKind::kInstrRange;
    element.trace_id = static_cast<TraceId>(random.below(2));
    element.start = 0x100 * random.below(4);
    element.end = random.one_in(20) ? random.next() : element.start + 4 * random.below(4);
    element.flags = static_cast<std::uint16_t>(random.next());
    element.context_id = random.below(3);
    element.last_type = static_cast<isa::InstrType>(random.below(7));
    element.last_subtype = static_cast<isa::InstrSubtype>(random.below(5));
    element.last_size = static_cast<std::uint8_t>(random.below(5));
    element.cycle_count = random.below(100);
    element.reason = static_cast<std::uint8_t>(random.below(3));
    if (element.kind == ElementKind::kInstrRange) {
      element.count = random.below(4);
      instructions += element.count;
    }
    run.push_back(element);
  }
  return run;
}

TEST(DiffComparison, elements_without_sense_lose_no_instruction) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::array<std::uint64_t, kSides> instructions{};
    const Elements first = nonsense(2 * seed, instructions[0]);
    const Elements second = nonsense(2 * seed + 1, instructions[1]);
    Comparison comparison({});
    compare(comparison, first, second, seed);
    std::array<std::uint64_t, kSides> passed{};
    for (const ThreadPair& pair : comparison.threads())
      for (Side side = 0; side < kSides; ++side)
        if (pair.threads[side]) passed[side] += pair.instructions[side];
    EXPECT_EQ(passed, instructions) << "seed " << seed;
    EXPECT_EQ(comparison.totals()[0].instructions, instructions[0]) << "seed " << seed;
    // The same with what may be left out: it ends, and counts no more.
    const auto sometimes = [](const Element& element) { return (element.start & 0x100) != 0; };
    const RunOptions options{.ignores_exception = sometimes, .ignores_function = sometimes};
    Comparison ignoring({.runs = {options, options}});
    compare(ignoring, first, second, seed);
    EXPECT_LE(ignoring.totals()[1].instructions, instructions[1]);
  }
}

std::uint64_t listed(const Comparison& comparison) {
  std::uint64_t sum = 0;
  for (const Divergence& divergence : comparison.divergences()) sum += divergence.times;
  return sum;
}

/// A loop that goes to one of two places each time.
Elements loop(std::uint64_t first, unsigned times) {
  Elements run;
  for (unsigned i = 0; i < times; ++i) {
    run.push_back(range(0x100));
    run.push_back(range(i % 2 == 0 ? first : 0x300));
    run.push_back(range(0x400));
    run.push_back(range(0x500));
    run.push_back(range(0x600));
  }
  return run;
}

TEST(DiffComparison, equal_divergences_are_one) {
  Comparison comparison({.most_divergences = 2});
  compare(comparison, loop(0x200, 3000), loop(0x280, 3000));
  EXPECT_EQ(comparison.agreement().divergences, 1500U);
  ASSERT_EQ(comparison.divergences().size(), 1U);
  const Divergence& divergence = comparison.divergences()[0];
  EXPECT_EQ(divergence.times, 1500U);
  EXPECT_EQ(divergence.at[0].instruction, 4U);
  const auto part = comparison.common_part(divergence);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ((*part)[0].last().address, 0x10CU);
  EXPECT_EQ((*part)[1].end().address, 0x110U);
  EXPECT_FALSE(comparison.are_same());
}

TEST(DiffComparison, divergences_with_other_outcomes_are_distinct) {
  Elements first = loop(0x200, 20);
  Elements second = loop(0x280, 20);
  const Elements more = loop(0x2C0, 10);
  first.insert(first.end(), more.begin(), more.end());
  const Elements other = loop(0x280, 10);
  second.insert(second.end(), other.begin(), other.end());
  // The same at another place, and in another thread.
  for (Elements* run : {&first, &second}) {
    run->push_back(range(0x700));
    run->push_back(range(run == &first ? 0x200 : 0x280));
    run->push_back(range(0x800));
    run->push_back(range(0x900));
    run->push_back(range(0xA00));
    for (const Element& element : loop(run == &first ? 0x200 : 0x280, 4)) {
      run->push_back(element);
      run->back().trace_id = 2;
    }
  }
  Comparison comparison({});
  compare(comparison, first, second);
  ASSERT_EQ(comparison.divergences().size(), 4U);
  std::vector<std::uint64_t> times;
  for (const Divergence& divergence : comparison.divergences()) times.push_back(divergence.times);
  std::ranges::sort(times);
  EXPECT_EQ(times, (std::vector<std::uint64_t>{1, 2, 5, 10}));
  EXPECT_EQ(listed(comparison), comparison.agreement().divergences);
}

TEST(DiffComparison, all_divergences_are_listed_or_beyond_the_limit) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ModelProgram program(seed);
    const ModelRun first(program, {.input = 2 * seed});
    const ModelRun second(program, {.input = 2 * seed + 1});
    Comparison all({});
    compare(all, first.elements(), second.elements(), seed);
    ASSERT_LT(all.divergences().size(), 1000U);
    EXPECT_EQ(listed(all), all.agreement().divergences) << "seed " << seed;
    EXPECT_EQ(all.are_same(), all.divergences().empty()) << "seed " << seed;
    // Those that are listed are counted equal, wherever they are.
    Comparison few({.most_divergences = 2});
    compare(few, first.elements(), second.elements(), seed);
    for (std::size_t i = 0; i < few.divergences().size(); ++i)
      EXPECT_EQ(few.divergences()[i].times, all.divergences()[i].times) << "seed " << seed;
  }
}

TEST(DiffComparison, divergences_beyond_the_limit_are_counted) {
  const ModelProgram program(3);
  const ModelRun first(program, {.input = 1});
  const ModelRun second(program, {.input = 2});
  Comparison comparison({.most_divergences = 2});
  compare(comparison, first.elements(), second.elements());
  EXPECT_EQ(comparison.divergences().size(), 2U);
  EXPECT_GT(comparison.agreement().divergences, 2U);
}

}  // namespace
}  // namespace waymark::diff
