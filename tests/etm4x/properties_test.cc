// Random operations never break an invariant, and every accepted plan can be recovered from its
// registers.  The fuzz targets etm4x_operations_fuzz and etm4x_plan_fuzz do the same for longer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "etm4x/random_operations.h"
#include "etm4x/random_plan.h"
#include "etm4x/units.h"
#include "support/seed_count.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

constexpr unsigned kOperations = 200;

std::uint64_t units() { return support::seed_count(1'000'000) / kOperations; }

TEST(RandomOperations, keep_every_invariant) {
  support::Random random(7);
  for (std::uint64_t i = 0, end = units(); i < end; ++i) {
    Unit unit(random_ids(random), random_environment(random),
              random.one_in(4) ? kNoQuirks : kAllQuirks);
    for (unsigned n = 0; n < kOperations; ++n) {
      ASSERT_EQ(random_operation(unit, random), "") << "unit " << i << " operation " << n;
    }
  }
}

TEST(RandomPlans, are_in_the_explanation_of_their_registers) {
  support::Random random(11);
  unsigned accepted = 0;
  const std::uint64_t rounds = support::seed_count(2000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const Plan plan = random_plan(random);
    const IdRegisters id = random.coin() ? full_unit() : middle_unit();
    std::vector<PlanProblem> problems;
    const auto compiled = compile_plan(plan, id, {}, problems);
    if (!compiled) {
      ASSERT_FALSE(problems.empty());
      for (const PlanProblem& problem : problems) {
        ASSERT_FALSE(problem.rule.empty() || problem.remedy.empty());
      }
      continue;
    }
    ++accepted;
    std::vector<std::string> missing;
    EXPECT_TRUE(contains_plan(plan_of(compiled->image, read_capabilities(id, {})), plan, missing))
        << fmt::format("{}", fmt::join(missing, "\n")) << "\nof\n"
        << plan_text(plan);
  }
  EXPECT_GT(accepted, rounds / 20);
}

// The lines, each once, in any order.
std::set<std::string> lines_of(const Plan& plan) {
  const auto lines = plan_lines(plan);
  return {lines.begin(), lines.end()};
}

struct ReadBack {
  std::optional<Plan> plan;
  std::optional<CompiledPlan> compiled;
  std::string text;
};

// Turns registers into a plan as `waymark etm4 explain --as-plan` prints it, and the plan into
// registers.
ReadBack read_back(const RegisterImage& image, const IdRegisters& id,
                   const Environment& environment) {
  ReadBack back;
  const Plan seen = plan_of(image, read_capabilities(id, environment));
  back.text = acceptable_plan_text(seen, id, environment);
  std::vector<PlanProblem> problems;
  back.plan = parse_plan(back.text, nullptr, problems);
  if (back.plan) back.compiled = compile_plan(*back.plan, id, environment, problems);
  for (const PlanProblem& problem : problems) ADD_FAILURE() << problem.text() << "\n" << back.text;
  return back;
}

TEST(RandomPlans, explained_and_compiled_again_give_the_same_registers) {
  support::Random random(17);
  unsigned accepted = 0;
  unsigned same = 0;
  const std::uint64_t rounds = support::seed_count(3000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const Plan plan = random_plan(random);
    const IdRegisters id = random.coin() ? full_unit() : random.coin() ? middle_unit() : ete_unit();
    Environment environment;
    environment.sscsr.fill(kShotHasPeInputs);
    std::vector<PlanProblem> problems;
    const auto compiled = compile_plan(plan, id, environment, problems);
    if (!compiled) continue;
    ++accepted;
    const ReadBack back = read_back(compiled->image, id, environment);
    ASSERT_TRUE(back.compiled) << plan_text(plan);
    EXPECT_EQ(back.text.find('#'), std::string::npos) << back.text;
    const Capabilities caps = read_capabilities(id, environment);
    EXPECT_EQ(lines_of(plan_of(back.compiled->image, caps)),
              lines_of(plan_of(compiled->image, caps)))
        << plan_text(plan);
    same += back.compiled->image == compiled->image ? 1 : 0;
  }
  EXPECT_GT(accepted, rounds / 10);
  // A range that only an event uses then comes before the start and stop addresses of the filter:
  // the same comparators in another order.
  EXPECT_GT(same * 10, accepted * 9) << same << " of " << accepted;
}

TEST(RandomUnits, are_explained_as_plans_that_are_accepted) {
  support::Random random(19);
  unsigned whole = 0;
  const std::uint64_t rounds = support::seed_count(2000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const IdRegisters id = random.one_in(4)   ? random_ids(random)
                           : random.coin()    ? full_unit()
                           : random.one_in(3) ? bare_unit()
                                              : middle_unit();
    const Environment environment = random_environment(random);
    Unit unit(id, environment);
    for (unsigned n = random.below(150); n > 0; --n) {
      ASSERT_EQ(random_operation(unit, random), "");
    }
    const RegisterImage image = unit.image();
    const ReadBack back = read_back(image, id, environment);
    ASSERT_TRUE(back.compiled) << "unit " << i;
    std::vector<std::string> missing;
    EXPECT_TRUE(contains_plan(plan_of(back.compiled->image, unit.caps), *back.plan, missing))
        << fmt::format("{}", fmt::join(missing, "\n")) << "\nof\n"
        << back.text;
    whole += back.text.find('#') == std::string::npos ? 1 : 0;
  }
  EXPECT_GT(whole, rounds / 10);
}

TEST(RandomPlans, text_is_read_back) {
  support::Random random(13);
  for (unsigned i = 0; i < 500; ++i) {
    const std::string text = plan_text(random_plan(random));
    std::vector<PlanProblem> problems;
    const auto plan = parse_plan(text, nullptr, problems);
    ASSERT_TRUE(plan) << text << problems.front().text();
    EXPECT_EQ(plan_text(*plan), text);
  }
}

}  // namespace
}  // namespace waymark::etm4x
