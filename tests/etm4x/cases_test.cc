#include "waymark/etm4x/cases.h"

#include <gtest/gtest.h>

#include "etm4x/units.h"

namespace waymark::etm4x {
namespace {

std::vector<StepResult> results(std::vector<Step> steps) {
  Case item;
  item.unit = middle_unit();
  item.steps = std::move(steps);
  return run_case(item, kAllQuirks);
}

std::string text(const StepResult& result) { return std::get<std::string>(result); }

TEST(Cases, a_step_gives_ok_the_text_or_the_error) {
  const auto given = results({WriteStep{"addr_idx", "3"}, ReadStep{"addr_idx"},
                              WriteStep{"addr_idx", "99"}, ReadStep{"no_such_file"}});
  ASSERT_EQ(given.size(), 4U);
  EXPECT_EQ(text(given[0]), "ok");
  EXPECT_EQ(text(given[1]), "0x3\n");
  EXPECT_EQ(text(given[2]), "-EINVAL");
  EXPECT_EQ(text(given[3]), "-ENOENT");
}

TEST(Cases, every_case_has_a_fresh_unit) {
  const auto before = results({ReadStep{"addr_idx"}});
  results({WriteStep{"addr_idx", "3"}});
  EXPECT_EQ(results({ReadStep{"addr_idx"}}), before);
}

TEST(Cases, the_hardware_has_the_settings_after_the_start) {
  const auto given = results({WriteStep{"cyc_threshold", "0x200"}, ImageStep{}, HardwareStep{},
                              WriteStep{"enable_source", "1"}, HardwareStep{}, DisableStep{}});
  EXPECT_EQ(std::get<RegisterImage>(given[1]).value("TRCCCCTLR"), 0x200U);
  EXPECT_EQ(std::get<RegisterImage>(given[2]).value("TRCCCCTLR"), 0U);
  EXPECT_EQ(text(given[3]), "ok");
  EXPECT_EQ(std::get<RegisterImage>(given[4]).value("TRCCCCTLR"), 0x200U);
  EXPECT_EQ(text(given[5]), "ok");
}

TEST(Cases, perf_gives_the_registers_or_the_error) {
  PerfStep cycles;
  cycles.request.cycacc = true;
  PerfStep empty_range;
  empty_range.request.filters.push_back({.action = FilterAction::kFilter, .start = 0x1000});
  const auto given = results({cycles, empty_range});
  EXPECT_NE(std::get<RegisterImage>(given[0]).value("TRCCONFIGR") & kConfigCycles, 0U);
  EXPECT_EQ(text(given[1]), "-EINVAL");
}

}  // namespace
}  // namespace waymark::etm4x
