// Random operations never break an invariant, and every accepted plan can be read off its
// registers. The fuzz targets etm4x_operations_fuzz and etm4x_plan_fuzz do the same for longer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "etm4x/random_operations.h"
#include "etm4x/random_plan.h"
#include "etm4x/units.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

constexpr unsigned kOperations = 200;

// WAYMARK_OPERATIONS says otherwise: fewer where a sanitizer is slow, more over night.
unsigned units() {
  const char* wanted = std::getenv("WAYMARK_OPERATIONS");  // NOLINT(concurrency-mt-unsafe)
  const unsigned long operations = wanted == nullptr ? 1000000 : std::strtoul(wanted, nullptr, 10);
  return static_cast<unsigned>(operations / kOperations);
}

TEST(RandomOperations, keep_every_invariant) {
  support::Random random(7);
  for (unsigned i = 0, end = units(); i < end; ++i) {
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
  for (unsigned i = 0; i < 2000; ++i) {
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
  EXPECT_GT(accepted, 100);
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
