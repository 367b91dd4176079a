// One seeded difference between two runs of a random program: it is found where it was made.
#include <gtest/gtest.h>

#include <memory>

#include "two_runs.h"
#include "waymark/program/program.h"

namespace waymark::diff {
namespace {

constexpr std::uint64_t kPairs = 100;

std::shared_ptr<const program::Program> symbols(const ModelProgram& model) {
  std::vector<program::Function> functions;
  functions.reserve(model.functions().size());
  for (std::size_t i = 0; i < model.functions().size(); ++i) {
    functions.push_back({.start = model.functions()[i].start,
                         .last = model.functions()[i].end - 1,
                         .name = "f" + std::to_string(i)});
  }
  return program::Program::of(std::move(functions), "model");
}

program::PlaceLookup places(std::shared_ptr<const program::Program> program,
                            std::uint64_t slide = 0) {
  return [program = std::move(program), slide](const Element& /*element*/, std::uint64_t address) {
    if (address - slide > 0x80000) return program::Place{};
    return program::Place{program.get(), address - slide};
  };
}

/// The instruction that decided a divergence, as an address of the run, and its number.
struct Deciding {
  std::uint64_t address = 0;
  std::uint64_t instruction = 0;
};

Deciding deciding(const Comparison& comparison, const Divergence& divergence, Side side) {
  const Position& at = divergence.at[side];
  const Block& block = comparison.blocks()[at.block];
  if (divergence.left == side) {
    const BlockPlace& place = block.places[side];
    return {place.last().address, at.instruction + place.count};
  }
  const BlockPlace& before = comparison.blocks()[at.before].places[side];
  return {before.last().address, at.instruction};
}

TEST(SeededDifference, equal_runs_are_equal_however_they_are_divided) {
  for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
    const ModelProgram program(seed);
    const ModelRun first(program, {.input = seed, .division = 1});
    const ModelRun second(program, {.input = seed, .division = 2});
    ASSERT_NE(first.elements(), second.elements());
    Comparison comparison({});
    compare(comparison, first.elements(), second.elements(), seed);
    EXPECT_EQ(comparison.agreement().divergences, 0U) << "seed " << seed;
    EXPECT_EQ(comparison.totals()[0].instructions, first.instructions());
    EXPECT_TRUE(comparison.block_changes().empty());
  }
}

TEST(SeededDifference, another_input_value_is_the_first_divergence) {
  std::uint64_t joined = 0;
  for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
    const ModelProgram program(seed);
    const ModelRun first(program, {.input = seed});
    synth::Random random(seed);
    const std::uint64_t changed =
        random.below(static_cast<std::uint32_t>(first.decisions().size()));
    const Decision& decision = first.decisions()[changed];
    const ModelRun second(program, {.input = seed, .changed = changed, .division = 2});
    Comparison comparison({});
    compare(comparison, first.elements(), second.elements(), seed);
    // An indirect call with one possible target cannot change.
    if (comparison.divergences().empty()) {
      ASSERT_TRUE(decision.indirect);
      ASSERT_EQ(first.instructions(), second.instructions());
      ++joined;
      continue;
    }
    const Divergence& divergence = comparison.divergences().front();
    EXPECT_EQ(divergence.cause, decision.indirect ? Cause::kIndirectTarget : Cause::kBranchOutcome)
        << "seed " << seed;
    const Side side = divergence.left.value_or(0);
    const Deciding found = deciding(comparison, divergence, side);
    EXPECT_EQ(found.address, decision.address) << "seed " << seed;
    EXPECT_EQ(found.instruction, decision.instruction) << "seed " << seed;
    joined += divergence.joined != kNoBlock ? 1 : 0;
  }
  // A change near the end may leave nothing to meet in.
  EXPECT_GE(joined, kPairs - 3);
}

TEST(SeededDifference, extra_interrupt_is_the_only_divergence) {
  for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
    const ModelProgram program(seed);
    const ModelRun first(program, {.input = seed});
    synth::Random random(seed);
    const std::uint64_t before =
        random.below(static_cast<std::uint32_t>(first.instructions() * 3 / 4));
    const ModelRun second(program, {.input = seed, .division = 2, .interrupt = before});
    {
      Comparison comparison({});
      compare(comparison, first.elements(), second.elements(), seed);
      ASSERT_EQ(comparison.agreement().divergences, 1U) << "seed " << seed;
      const Divergence& divergence = comparison.divergences().front();
      EXPECT_EQ(divergence.cause, Cause::kException);
      ASSERT_EQ(divergence.left, Side{1});
      const Block& block = comparison.blocks()[divergence.at[1].block];
      EXPECT_EQ(block.exception, ModelRun::kInterrupt);
      EXPECT_EQ(divergence.at[1].instruction + block.places[1].count, before);
      EXPECT_NE(divergence.joined, kNoBlock);
    }
    Comparison ignoring({.runs = {RunOptions{}, RunOptions{.ignores_exception = [](const Element&) {
                                    return true;
                                  }}}});
    compare(ignoring, first.elements(), second.elements(), seed);
    EXPECT_EQ(ignoring.agreement().divergences, 0U) << "seed " << seed;
    EXPECT_TRUE(ignoring.block_changes().empty());
  }
}

TEST(SeededDifference, other_build_of_a_function_is_the_first_divergence) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
    const ModelProgram program(seed);
    const unsigned function = 1 + static_cast<unsigned>(seed % 3);
    const ModelProgram other = program.with_change(function);
    const ModelRun first(program, {.input = seed});
    const ModelRun second(other, {.input = seed, .division = 2});
    const auto programs = std::array{symbols(program), symbols(other)};
    Comparison comparison({.places = {places(programs[0]), places(programs[1])}});
    for (Side side = 0; side < kSides; ++side) comparison.programs().add(side, *programs[side]);
    compare(comparison, first.elements(), second.elements(), seed);
    std::vector<Match> matches;
    for (const auto& pair : comparison.programs().pairs()) matches.push_back(pair.match);
    EXPECT_EQ(matches, std::vector{Match::kBuilds});
    // The first instruction of the function, if it was executed.
    const std::uint64_t start = program.functions()[function].start;
    std::uint64_t instructions = 0;
    bool executed = false;
    for (const Element& element : first.elements()) {
      if (element.kind != ElementKind::kInstrRange) continue;
      executed = element.start == start;
      if (executed) break;
      instructions += element.count;
    }
    EXPECT_EQ(comparison.divergences().empty(), !executed) << "seed " << seed;
    if (comparison.divergences().empty()) continue;
    ++compared;
    const Divergence& divergence = comparison.divergences().front();
    EXPECT_EQ(divergence.cause, Cause::kOtherCode) << "seed " << seed;
    EXPECT_EQ(divergence.at[0].instruction, instructions) << "seed " << seed;
    EXPECT_EQ(divergence.at[1].instruction, instructions) << "seed " << seed;
    const Block& block = comparison.blocks()[divergence.at[0].block];
    EXPECT_EQ(comparison.programs().function(block.function).name, "f" + std::to_string(function));
    // No other function changed.
    for (const Change& change : comparison.function_changes())
      EXPECT_EQ(comparison.programs().function(change.number).name, "f" + std::to_string(function));
  }
  EXPECT_GE(compared, kPairs / 2);
}

TEST(SeededDifference, a_different_load_address_does_not_count_as_a_difference) {
  constexpr std::uint64_t kSlide = 0x7f0000000000;
  for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
    const ModelProgram program(seed);
    const ModelRun first(program, {.input = seed});
    const ModelRun second(program, {.input = seed, .division = 2, .slide = kSlide});
    const auto names = symbols(program);
    Comparison comparison({.places = {places(names), places(names, kSlide)}});
    compare(comparison, first.elements(), second.elements(), seed);
    EXPECT_EQ(comparison.agreement().divergences, 0U) << "seed " << seed;
    EXPECT_TRUE(comparison.function_changes().empty());
  }
}

}  // namespace
}  // namespace waymark::diff
