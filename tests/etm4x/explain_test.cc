#include "waymark/etm4x/explain.h"

#include <gtest/gtest.h>

#include "etm4x/units.h"

namespace waymark::etm4x {
namespace {

using Writes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

std::string after(Writes writes, const IdRegisters& id = middle_unit()) {
  Unit unit(id);
  for (const auto& [file, bytes] : writes) EXPECT_EQ(write(unit, file, bytes), "ok") << file;
  return explanation_text(explain(unit.image(), id, unit.caps));
}

testing::AssertionResult says(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in:\n" << text;
}

TEST(Explain, state_after_probe_is_fine) {
  const std::string text = after({});
  EXPECT_TRUE(says(text, "Exception levels: el0, el1."));
  EXPECT_TRUE(says(text, "Addresses: all."));
  EXPECT_TRUE(says(text, "Nothing looks wrong."));
}

TEST(Explain, logic_stopped_by_mode) {
  EXPECT_TRUE(says(after({{"mode", "10"}}), "The start/stop logic is stopped"));
  EXPECT_TRUE(says(after({{"addr_start", "100"}}), "begins started"));
  EXPECT_FALSE(says(after({{"mode", "0"}, {"addr_start", "100"}}), "is stopped and no start"));
}

TEST(Explain, secure_levels_after_reset) {
  EXPECT_TRUE(says(after({{"reset", "1"}}), "Secure levels are traced (s-el0, s-el1, s-el3)"));
}

TEST(Explain, event_on_an_unprogrammed_selector) {
  EXPECT_TRUE(says(after({{"mode", "8000800"}, {"event_ts", "5"}}),
                   "The timestamp event (event_ts) uses selector 5, which selects no resource"));
  EXPECT_TRUE(says(after({{"event_ts", "1f"}}), "uses selector 31, which the unit does not have"));
  EXPECT_TRUE(says(after({{"event_ts", "80"}}), "uses selector pair 0, which is reserved"));
  EXPECT_TRUE(says(after({{"event_ts", "1"}}), "but timestamps are off"));
}

TEST(Explain, nothing_is_traced) {
  EXPECT_TRUE(says(after({{"event_vinst", "0"}}), "is never true, so nothing is traced"));
  EXPECT_TRUE(says(after({{"ns_exlevel_vinst", "7"}}), "No exception level is selected"));
}

TEST(Explain, halves_of_a_range_differ) {
  EXPECT_TRUE(says(after({{"addr_range", "0 100"}, {"addr_exlevel_s_ns", "1"}}),
                   "The halves of pair 0 have different controls"));
}

TEST(Explain, odd_values) {
  EXPECT_TRUE(says(after({{"syncfreq", "15"}}), "The synchronisation period 21 is reserved"));
  EXPECT_TRUE(says(after({{"mode", "8000020"}}), "The cycle threshold 0 is below"));
  EXPECT_TRUE(says(after({{"mode", "8200000"}}), "Stalling is on at level 0"));
}

TEST(Explain, registers_that_no_driver_would_write) {
  RegisterImage image;
  image.set("TRCCONFIGR", 0x8FDE);
  image.set("TRCVICTLR", 0x201);
  image.set("TRCVIIECTLR", 0x00810081);
  image.set("TRCVISSCTLR", 0x80008000);
  image.set("TRCBBCTLR", 0x100);
  image.set("TRCTRACEIDR", 0x70);
  const std::string text =
      explanation_text(explain(image, bare_unit(), read_capabilities(bare_unit(), {})));
  for (const char* const part :
       {"TRCCONFIGR switches branch broadcast on", "TRCCONFIGR switches cycle counting on",
        "TRCCONFIGR switches timestamps on", "TRCVIIECTLR names pair 0 of 0",
        "TRCVISSCTLR names address comparator 15", "but no range is selected",
        "Trace ID 0x70 is reserved"}) {
    EXPECT_TRUE(says(text, part));
  }
}

TEST(Explain, missing_registers_are_not_reported) {
  RegisterImage image;
  image.set("TRCCONFIGR", 0xC1);
  const Explanation told = explain(image, middle_unit(), read_capabilities(middle_unit(), {}));
  EXPECT_EQ(told.traces,
            std::vector<std::string>{"The filter is not known: the source has no TRCVICTLR."});
  EXPECT_EQ(plan_text(told.plan), "etm4-plan 1\npe 0\ntrace-context-id\ntrace-vmid\n");
}

TEST(Explain, nothing_traced_is_a_plan) {
  Unit unit(middle_unit());
  ASSERT_EQ(write(unit, "ns_exlevel_vinst", "7"), "ok");
  const std::string text = plan_text(plan_of(unit.image(), unit.caps));
  EXPECT_TRUE(says(text, "levels none\n"));
  std::vector<PlanProblem> problems;
  EXPECT_TRUE(parse_plan(text, nullptr, problems));
}

TEST(Explain, what_a_decoder_sees) {
  const std::string text = after({{"mode", "8001870"}, {"cyc_threshold", "20"}});
  for (const char* const part :
       {"Context IDs of 32 bits", "Cycle counts, at least 32 cycles apart",
        "Timestamps, only where the trace synchronises", "for every taken branch",
        "A synchronisation point every 4096 bytes", "--reg TRCCONFIGR=0x1858"}) {
    EXPECT_TRUE(says(text, part));
  }
}

TEST(RegisterFields, names_what_is_set) {
  RegisterImage image;
  image.set("TRCVICTLR", 0x4B0201);
  image.set("TRCCNTCTLR1", 0x30001);
  EXPECT_EQ(register_fields_text(image),
            "TRCVICTLR      0x004B0201  EVENT=0x1  SSSTATUS=0x1  EXLEVEL_S=0xb  EXLEVEL_NS=0x4\n"
            "TRCCNTCTLR1    0x00030001  CNTEVENT=0x1  RLDSELF=0x1  CNTCHAIN=0x1\n");
}

}  // namespace
}  // namespace waymark::etm4x
