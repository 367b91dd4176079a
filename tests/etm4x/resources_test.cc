// The logic of a trace unit, instruction by instruction, as configured by plans.
#include "waymark/etm4x/resources.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "etm4x/units.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

constexpr std::uint8_t kEl0 = 0x10;
constexpr std::uint8_t kEl1 = 0x20;

Resources planned(std::string_view lines, const IdRegisters& id = full_unit()) {
  std::vector<PlanProblem> problems;
  const auto plan = parse_plan("etm4-plan 1\n" + std::string(lines), nullptr, problems);
  std::optional<CompiledPlan> done;
  if (plan) done = compile_plan(*plan, id, {}, problems);
  for (const PlanProblem& problem : problems) ADD_FAILURE() << problem.text();
  return {done ? done->image : RegisterImage{}, read_capabilities(id, {})};
}

Executed at(std::uint64_t address, std::uint8_t level = kEl0, std::uint32_t context_id = 0) {
  return {address, context_id, 0, level};
}

/// '1' for each address that is traced.
std::string traced(Resources& unit, std::initializer_list<std::uint64_t> addresses) {
  std::string text;
  for (const std::uint64_t address : addresses)
    text += unit.execute(at(address)).traced ? '1' : '0';
  return text;
}

/// The events of each waiting cycle, one digit per cycle.
std::string waits(Resources& unit, unsigned cycles) {
  std::string text;
  for (; cycles != 0; --cycles) text += static_cast<char>('0' + unit.idle().events);
  return text;
}

TEST(Resources, everything_not_secure_is_traced_by_an_empty_plan) {
  Resources unit = planned("");
  EXPECT_TRUE(unit.execute(at(0x1000)).traced);
  EXPECT_TRUE(unit.execute(at(0x1000, kEl1)).traced);
  EXPECT_FALSE(unit.execute(at(0x1000, 0x01)).traced);
  EXPECT_FALSE(unit.counts_cycles());
}

TEST(Resources, ranges_end_before_their_last_address_and_exclusion_wins) {
  Resources unit = planned("include 0x1000..0x1100\nexclude 0x1010..0x1020\n");
  EXPECT_EQ(traced(unit, {0xFFC, 0x1000, 0x100C, 0x1010, 0x101C, 0x1020, 0x10FC, 0x1100}),
            "01100110");
}

TEST(Resources, without_an_include_all_but_the_excluded_is_traced) {
  Resources unit = planned("exclude 0x1010..0x1020\n");
  EXPECT_EQ(traced(unit, {0x0, 0x1010, 0x1020}), "101");
}

TEST(Resources, levels_and_contexts_qualify_ranges) {
  Resources unit = planned("include 0x1000..0x2000 context-id 0x1234/1 at el0\nlevels el0 el1\n");
  EXPECT_FALSE(unit.execute(at(0x1000, kEl0, 0x34)).traced);
  EXPECT_TRUE(unit.execute(at(0x1000, kEl0, 0x1299)).traced);
  EXPECT_FALSE(unit.execute(at(0x1000, kEl1, 0x1299)).traced);
}

TEST(Resources, a_start_acts_before_its_instruction_and_a_stop_after_it) {
  Resources unit = planned("start 0x1004\nstop 0x100c\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1004}), "011101");
  unit = planned("start 0x1004\nstop 0x100c\nbegin started\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x100C, 0x1010}), "110");
}

TEST(Resources, an_event_decides_when) {
  Resources unit = planned("when address 0x1000, address 0x2000\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x1004, 0x2000}), "101");
  unit = planned("when not address 0x1000 and context-id 7\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x1004}), "00");
  EXPECT_TRUE(unit.execute(at(0x1004, kEl0, 7)).traced);
  EXPECT_FALSE(unit.execute(at(0x1000, kEl0, 7)).traced);
  unit = planned("when address 0x1000 or context-id 7\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x1004}), "10");
  EXPECT_TRUE(unit.execute(at(0x1004, kEl0, 7)).traced);
}

TEST(Resources, a_counter_that_reloads_itself_is_at_zero_once_a_round) {
  Resources unit = planned(
      "counter 0 value 2\ncounter 0 reload 3\ncounter 0 self-reload\n"
      "counter 0 count always\nevent 0 counter 0\n");
  EXPECT_TRUE(unit.counts_cycles());
  EXPECT_EQ(waits(unit, 12), "001000100010");
}

TEST(Resources, a_counter_that_does_not_stays_at_zero_until_it_is_reloaded) {
  Resources unit = planned(
      "counter 0 value 1\ncounter 0 reload 2\ncounter 0 count always\n"
      "counter 0 reload-on address 0x1000\nevent 1 counter 0\n");
  EXPECT_EQ(waits(unit, 5), "02000");
  unit.execute(at(0x1000));
  EXPECT_EQ(waits(unit, 5), "00200");
}

TEST(Resources, a_chained_counter_counts_the_rounds_of_the_one_before) {
  Resources unit = planned(
      "counter 0 value 1\ncounter 0 reload 1\ncounter 0 self-reload\n"
      "counter 0 count always\ncounter 1 value 2\ncounter 1 chain\nevent 0 counter 1\n");
  EXPECT_EQ(waits(unit, 8), "00001000");
}

TEST(Resources, the_sequencer_makes_one_transition_a_cycle) {
  Resources unit = planned(
      "sequencer 0 forward address 0x1000\nsequencer 1 forward address 0x2000\n"
      "sequencer 1 back address 0x3000\nsequencer reset address 0x4000\n"
      "when sequencer 2\n");
  EXPECT_EQ(traced(unit, {0x2000, 0x1000, 0x2000, 0x5000, 0x3000, 0x5000, 0x2000, 0x5000, 0x4000,
                          0x5000}),
            "0001100110");
}

TEST(Resources, a_single_shot_fires_once_unless_it_repeats) {
  Resources unit = planned("single-shot 0 address 0x1000\nwhen single-shot 0\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x1004, 0x1000}), "100");
  unit = planned("single-shot 0 address 0x1000\nsingle-shot 0 repeat\nwhen single-shot 0\n");
  EXPECT_EQ(traced(unit, {0x1000, 0x1004, 0x1000}), "101");
}

TEST(Resources, strobing_traces_one_window_in_n) {
  Resources unit = planned("strobe window 9 period 4\n");
  unsigned on = 0;
  for (unsigned i = 0; i < 1000; ++i) on += unit.execute(at(0x1000)).traced ? 1 : 0;
  EXPECT_GE(on, 180U);
  EXPECT_LE(on, 260U);
}

TEST(Resources, an_event_is_reported_when_it_becomes_true_and_outputs_are_not) {
  Resources unit = planned(
      "event 0 range 0x1000..0x2000\nevent-output 1 address 0x1004\n"
      "timestamps address 0x1008\n");
  EXPECT_EQ(unit.execute(at(0x1000)).events, 1);
  EXPECT_EQ(unit.execute(at(0x1004)).events, 0);
  EXPECT_TRUE(unit.execute(at(0x1008)).timestamp);
  EXPECT_FALSE(unit.execute(at(0x1008)).timestamp);
  EXPECT_EQ(unit.execute(at(0x2000)).events, 0);
  EXPECT_EQ(unit.execute(at(0x1000)).events, 1);
}

TEST(Resources, broadcasting_inside_outside_and_everywhere) {
  const auto broadcasts = [](std::string_view plan, std::uint64_t address) {
    Resources unit = planned(plan);
    unit.execute(at(address));
    return unit.broadcasts();
  };
  EXPECT_TRUE(broadcasts("branch-broadcast everywhere\n", 0x1000));
  EXPECT_TRUE(broadcasts("branch-broadcast inside 0x1000..0x2000\n", 0x1000));
  EXPECT_FALSE(broadcasts("branch-broadcast inside 0x1000..0x2000\n", 0x2000));
  EXPECT_FALSE(broadcasts("branch-broadcast outside 0x1000..0x2000\n", 0x1000));
  EXPECT_TRUE(broadcasts("branch-broadcast outside 0x1000..0x2000\n", 0x2000));
}

TEST(Resources, registers_of_any_value_are_survived) {
  const IdRegisters id = full_unit();
  RegisterImage image;
  for (const char* name : {"TRCVICTLR", "TRCVIIECTLR", "TRCVISSCTLR", "TRCBBCTLR", "TRCTSCTLR",
                           "TRCEVENTCTL0R", "TRCEVENTCTL1R", "TRCSEQRSTEVR", "TRCSEQSTR"})
    image.set(name, 0xFFFFFFFF);
  for (unsigned i = 0; i < 32; ++i) {
    for (const char* stem : {"TRCRSCTLR", "TRCACVR", "TRCACATR", "TRCCNTCTLR", "TRCCNTVR",
                             "TRCSEQEVR", "TRCSSCCR", "TRCCIDCVR", "TRCVMIDCVR", "TRCCIDCCTLR"})
      image.set(stem + std::to_string(i), 0xFFFFFFFF);
  }
  Resources unit(image, read_capabilities(id, {}));
  for (unsigned i = 0; i < 100; ++i) {
    static_cast<void>(unit.execute(at(i)));
    static_cast<void>(unit.idle());
  }
}

}  // namespace
}  // namespace waymark::etm4x
