// Description files, and the programs made from them.
#include "waymark/etm4x/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "etm4x/units.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

Result<Symbol> symbols(std::string_view name) {
  if (name == "main") return Symbol{0x4000, 0x100};
  if (name == "label") return Symbol{0x5000, 0};
  return fail(ErrorCode::kNotFound, "No symbol of this name is in a.out");
}

std::string problems_of(std::string_view lines, const IdRegisters& id = middle_unit()) {
  std::vector<PlanProblem> problems;
  const auto plan =
      parse_plan(std::string("etm4-plan 1\n") + std::string(lines), symbols, problems);
  if (plan) static_cast<void>(compile_plan(*plan, id, {}, problems));
  std::string text;
  for (const PlanProblem& problem : problems) text += problem.text() + "\n";
  return text;
}

CompiledPlan compiled(std::string_view lines, const IdRegisters& id = middle_unit()) {
  std::vector<PlanProblem> problems;
  const auto plan =
      parse_plan(std::string("etm4-plan 1\n") + std::string(lines), symbols, problems);
  std::optional<CompiledPlan> done;
  if (plan) done = compile_plan(*plan, id, {}, problems);
  for (const PlanProblem& problem : problems) ADD_FAILURE() << problem.text();
  return done.value_or(CompiledPlan{});
}

std::uint64_t reg(const CompiledPlan& plan, std::string_view name) {
  return plan.image.value(name);
}

TEST(PlanParser, heading_is_needed) {
  std::vector<PlanProblem> problems;
  EXPECT_FALSE(parse_plan("include all\n", nullptr, problems));
  EXPECT_EQ(problems.at(0).line, 1);
  problems.clear();
  EXPECT_FALSE(parse_plan("", nullptr, problems));
  EXPECT_EQ(problems.size(), 1);
}

TEST(PlanParser, ranges) {
  std::vector<PlanProblem> problems;
  const auto plan = parse_plan(
      "# A comment.\n"
      "etm4-plan 1\n"
      "include 0x1000..0x2000\n"
      "include 0x2000/0x100\n"
      "include 0x3000+0x100\n"
      "include main+4+8\n"
      "include 0xfffffffffffff000+0x1000\n"
      "include main  # all of it\n"
      "include main+4..label\n"
      "exclude all at el1+el2 context-id 0x1234/1\n",
      symbols, problems);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan_text(*plan),
            "etm4-plan 1\n"
            "include 0x1000..0x2000\n"
            "include 0x2000..0x2100\n"
            "include 0x3000..0x3100\n"
            "include 0x4004..0x400c\n"
            "include 0xfffffffffffff000+0x1000\n"
            "include 0x4000..0x4100\n"
            "include 0x4004..0x5000\n"
            "exclude all context-id 0x1200/0x1 at el1+el2\n");
}

TEST(PlanParser, every_refusal_names_line_rule_and_remedy) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"nonsense\n", "line 2: 'nonsense' is not a setting. A line begins with one of: include,"},
      {"return-stack 1\n",
       "line 2: '1' is one argument too many for 'return-stack'. The form is: return-stack."},
      {"include label\n", "line 2: 'label' is a single address, not a range."},
      {"include other\n", "line 2: 'other' is not known. No symbol of this name is in a.out."},
      {"include 2..1\n", "line 2: '2..1' is empty: 0x2 is not below 0x1."},
      {"include 1/0\n", "line 2: '1/0' has no size."},
      {"include\n", "line 2: a range is missing."},
      {"start\n", "line 2: an address is missing."},
      {"levels el9\n", "line 2: 'el9' is not an exception level."},
      {"cycles 4096\n",
       "line 2: 4096 is out of range for the cycle threshold. 1 to 4095 is accepted"},
      {"sync 300\n",
       "line 2: a period of 300 bytes is not a power of two. 256 or 512 is accepted."},
      {"event 0 counter 0 and counter 1 and counter 1\n",
       "line 2: an event joins two terms at most."},
      {"event 0 counter 0, address 1\n", "line 2: a selector takes resources of one kind only."},
      {"event 0 button\n", "line 2: 'button' is not a resource of an event."},
      {"event 0 always\nevent 0 never\n", "line 3: line 2 already has event 0."},
      {"branch-broadcast inside main\nbranch-broadcast everywhere\n",
       "line 3: line 2 contradicts this setting."},
      {"begin sometimes\n",
       "line 2: 'sometimes' is not accepted here. Accepted: started, stopped."},
      {"counter 0 colour\n", "line 2: 'colour' is not a setting of a counter."},
      {"sequencer 0 sideways never\n", "line 2: 'sideways' is not a setting of a sequencer."},
      {"single-shot 0 twice\n", "line 2: 'twice' is not a setting of a single-shot control."},
      {"strobe window 5\n", "line 2: strobing needs a window (cycles) and a period (windows)."},
      {"sink ../x\n", "line 2: '../x' is not a device name."},
      {"sink tmc_etr0 buffer 5000\n",
       "line 2: a buffer of 5000 bytes is not made of whole pages. 4096 or 8192 is accepted."},
      {"sink a$(id)\n", "line 2: 'a$(id)' is not a device name."},
      {"cycles 8\nlevels el0\ncycles 9\n", "line 4: line 2 already has 'cycles'."},
      {"counter 0 value 5\ncounter 1 value 5\ncounter 0x0 value 7\n",
       "line 4: line 2 already has 'counter 0 value'."},
      {"sequencer state 1\nsequencer state 2\n", "line 3: line 2 already has 'sequencer state'."},
      {"sequencer 0 forward always\nsequencer 0 back always\nsequencer 0 forward never\n",
       "line 4: line 2 already has 'sequencer 0 forward'."},
      {"sequencer reset always\nsequencer reset never\n",
       "line 3: line 2 already has 'sequencer reset'."},
      {"strobe window 1 window 2 period 3\n", "line 2: 'window' is given twice."},
      {"levels el0+\n", "line 2: 'el0+' is incomplete."},
      {"start 1 at el0 at el1\n", "line 2: 'at' is given twice."},
      {"when address 0, address 1, address 2, address 3, address 4, address 5, address 6, "
       "address 7, address 8, address 9, address 10, address 11, address 12, address 13, "
       "address 14, address 15, address 16\n",
       "line 2: there are too many items of this kind."},
      {"include main context-id x\n", "line 2: 'x' is not a context value."},
  };
  for (const auto& [lines, text] : kCases) {
    EXPECT_NE(problems_of(lines).find(text), std::string::npos) << lines << problems_of(lines);
  }
}

TEST(PlanCheck, what_the_unit_lacks_is_named_with_an_alternative) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"trace-context-id\n", "the unit has no context ID trace (TRCIDR2.CIDSIZE is 0)"},
      {"trace-vmid\n", "the unit has no VMID trace"},
      {"cycles\n", "the unit has no cycle counting (TRCIDR0.TRCCCI is 0)"},
      {"timestamps\n", "the unit has no timestamps"},
      {"branch-broadcast everywhere\n", "the unit has no branch broadcast"},
      {"return-stack\n", "the unit has no return stack"},
      {"q-elements all\n", "the unit has no Q elements"},
      {"conditional all\n", "the unit has no trace of conditional instructions"},
      {"p0 loads\n", "the unit has no loads and stores as P0 elements"},
      {"stall\n", "the unit has no stall control"},
      {"no-overflow\n", "the unit has no overflow prevention"},
      {"stall-priority\n", "the unit has no stall control"},
      {"trace-reset\n", "the unit has no forced trace of resets"},
      {"trace-error\n", "the unit has no forced trace of system errors"},
      {"atb-trigger\n", "the unit has no ATB triggers"},
      {"low-power-override\n", "the unit has no low-power override"},
      {"sync 4096\n", "the unit has no programmable synchronisation period"},
      {"pe 1\n", "the unit cannot trace PE 1. 0 to 0 is accepted."},
      {"start-input 0\n", "the unit has no such PE comparator input"},
      {"event 1 always\n", "the unit has no event 1. Events 0 to 0 are accepted."},
      {"levels s-el0\n", "the unit cannot trace s-el0. Accepted: el0, el1, el2."},
      {"include 0..1\n", "the plan needs more ranges than the unit has free pairs"},
      {"start 0\n", "the plan needs more than the 0 address comparators"},
      {"counter 0 value 1\n", "the unit has no counter 0"},
      {"sequencer state 1\n", "the unit has no sequencer"},
      {"single-shot 0 repeat\n", "the unit has no single-shot control 0"},
      {"strobe window 5 period 5\n", "the unit has no second counter, which strobing needs"},
      {"when sequencer 1\n", "the unit has no sequencer state 1"},
      {"when external 0\n", "the unit has no external input 0"},
      {"when context-id 1\n", "the unit has no context ID comparators"},
  };
  for (const auto& [lines, text] : kCases) {
    const std::string problems = problems_of(lines, bare_unit());
    EXPECT_NE(problems.find(text), std::string::npos) << lines << problems;
    EXPECT_TRUE(problems.starts_with("line 2: ")) << problems;
  }
  EXPECT_NE(problems_of("cycles 3\n").find("4 to 4095 is accepted"), std::string::npos);
  EXPECT_NE(problems_of("counter 0 chain\n").find("counter 0 cannot be chained"),
            std::string::npos);
}

TEST(PlanCheck, too_many_of_a_kind) {
  std::string ranges;
  for (unsigned i = 0; i < 5; ++i) ranges += "include " + std::to_string(i * 16) + "/8\n";
  EXPECT_NE(problems_of(ranges).find("line 6: the plan needs more ranges"), std::string::npos);
  EXPECT_NE(problems_of("include all context-id 1\ninclude all context-id 2\n")
                .find("line 3: the plan compares with more contexts"),
            std::string::npos);
}

TEST(Compile, empty_plan_traces_everything_non_secure) {
  const CompiledPlan plan = compiled("");
  EXPECT_EQ(reg(plan, "TRCCONFIGR"), 0);
  EXPECT_EQ(reg(plan, "TRCVICTLR"), 0x000B0201);
  EXPECT_EQ(reg(plan, "TRCSYNCPR"), 12);
  EXPECT_TRUE(plan.beyond_sysfs.empty());
}

TEST(Compile, filter) {
  const CompiledPlan plan =
      compiled("include main\nexclude 0x4010/0x10\nstart 0x100\nstop 0x200\nlevels el0\n");
  EXPECT_EQ(reg(plan, "TRCVIIECTLR"), 0x00020001);
  EXPECT_EQ(reg(plan, "TRCACVR0"), 0x4000);
  EXPECT_EQ(reg(plan, "TRCACVR1"), 0x40FF);
  EXPECT_EQ(reg(plan, "TRCACVR7"), 0x100) << "points from the top";
  EXPECT_EQ(reg(plan, "TRCACVR6"), 0x200);
  EXPECT_EQ(reg(plan, "TRCVISSCTLR"), 0x00400080);
  EXPECT_EQ(reg(plan, "TRCVICTLR"), 0x006B0001) << "waits for the start";
}

TEST(Compile, contexts_and_levels_go_to_both_halves) {
  const CompiledPlan plan = compiled("include main context-id 0x1234 vmid 7 at el0\n");
  EXPECT_EQ(reg(plan, "TRCCIDCVR0"), 0x1234);
  EXPECT_EQ(reg(plan, "TRCVMIDCVR0"), 7);
  EXPECT_EQ(reg(plan, "TRCACATR0"), 0x6F0C);
  EXPECT_EQ(reg(plan, "TRCACATR1"), 0x6F0C);
}

TEST(Compile, features) {
  const CompiledPlan plan = compiled(
      "trace-context-id\ncycles 32\ntimestamps\nreturn-stack\nbranch-broadcast everywhere\n");
  EXPECT_EQ(reg(plan, "TRCCONFIGR"), 0x1858);
  EXPECT_EQ(reg(plan, "TRCCCCTLR"), 32);
}

TEST(Compile, events_share_selectors) {
  const CompiledPlan plan = compiled(
      "timestamps counter 0\nevent 0 counter 0\nevent 1 counter 0 or not address 0x80\n"
      "counter 0 value 16\ncounter 0 self-reload\ncounter 0 reload 16\ncounter 0 count always\n");
  EXPECT_EQ(reg(plan, "TRCRSCTLR2"), 0x20001);
  EXPECT_EQ(reg(plan, "TRCTSCTLR"), 2);
  EXPECT_EQ(reg(plan, "TRCEVENTCTL0R"), 0x8202);
  EXPECT_EQ(reg(plan, "TRCEVENTCTL1R"), 3);
  EXPECT_EQ(reg(plan, "TRCRSCTLR4"), 0x320001) << "OR: inverted, and the pair inverted";
  EXPECT_EQ(reg(plan, "TRCRSCTLR5"), 0x40080);
  EXPECT_EQ(reg(plan, "TRCCNTCTLR0"), 0x10001);
}

TEST(Compile, range_of_an_event_becomes_part_of_the_filter) {
  const CompiledPlan alone = compiled("event 0 range main\n");
  EXPECT_EQ(reg(alone, "TRCVIIECTLR"), 3) << "everything, and the range";
  EXPECT_TRUE(alone.beyond_sysfs.empty());
  const CompiledPlan inside = compiled("include 0x4000..0x5000\nevent 0 range main\n");
  EXPECT_EQ(reg(inside, "TRCVIIECTLR"), 3);
  EXPECT_TRUE(inside.beyond_sysfs.empty());
  const CompiledPlan outside = compiled("include 0..0x1000\nevent 0 range main\n");
  EXPECT_EQ(reg(outside, "TRCVIIECTLR"), 1);
  EXPECT_EQ(outside.beyond_sysfs.size(), 1) << "sysfs would include it";
}

TEST(Compile, strobing_is_what_the_feature_programs) {
  const CompiledPlan plan = compiled("strobe window 5000 period 4\n");
  EXPECT_EQ(reg(plan, "TRCRSCTLR2"), 0x20001);
  EXPECT_EQ(reg(plan, "TRCRSCTLR3"), 0x20002);
  EXPECT_EQ(reg(plan, "TRCCNTRLDVR0"), 5000);
  EXPECT_EQ(reg(plan, "TRCCNTCTLR1"), 0x8102);
  EXPECT_EQ(reg(plan, "TRCVICTLR") & 0xFF, 3);
}

TEST(Compile, registers_beyond_sysfs_are_in_the_image_and_reported) {
  const CompiledPlan plan = compiled("stall level 4\nevent 0 external 2\n");
  EXPECT_EQ(reg(plan, "TRCSTALLCTLR"), 0x104);
  EXPECT_EQ(reg(plan, "TRCEXTINSELR"), 2);
  EXPECT_EQ(plan.beyond_sysfs.size(), 2);
}

TEST(AcceptablePlan, registers_that_a_plan_cannot_express_are_comments) {
  RegisterImage image;
  image.set("TRCCONFIGR", 5U << 8 | kConfigCycles | 2U << 13);
  image.set("TRCCCCTLR", 2);
  image.set("TRCSYNCPR", 3);
  image.set("TRCVICTLR", 0x201);
  image.set("TRCVIIECTLR", 3);
  image.set("TRCACVR0", 0x200, true);
  image.set("TRCACVR1", 0x100, true);
  image.set("TRCACVR2", 0x300, true);
  image.set("TRCACVR3", 0x400, true);
  image.set("TRCVIPCSSCTLR", 1);
  const Capabilities caps = read_capabilities(middle_unit(), {});
  EXPECT_EQ(acceptable_plan_text(plan_of(image, caps), middle_unit(), {}),
            "etm4-plan 1\n"
            "pe 0\n"
            "# include 0x200..0x101: '0x200..0x101' is empty: 0x200 is not below 0x101.\n"
            "include 0x300..0x401\n"
            "# start-input 0: the unit has no such PE comparator input.\n"
            "begin started\n"
            "levels el0 el1 el2 s-el0 s-el1 s-el3\n"
            "when always\n"
            "# cycles 2: the threshold 2 is below the smallest of the unit.\n"
            "# q-elements 2: '2' is not accepted here.\n"
            "# conditional 5: '5' is not accepted here.\n"
            "# sync 8: 8 is out of range for the synchronisation period in bytes.\n");
}

TEST(AcceptablePlan, a_strobing_unit_is_one_line) {
  Unit unit(middle_unit());
  ASSERT_EQ(write(unit, "configurations/autofdo/enable", "1"), "ok");
  const std::string text =
      acceptable_plan_text(plan_of(unit.image(), unit.caps), middle_unit(), {});
  EXPECT_NE(text.find("\nstrobe window 5000 period 10000\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('#'), std::string::npos) << text;
}

TEST(Compile, pe_inputs_of_a_single_shot_need_a_control_that_takes_them) {
  constexpr std::string_view kLine = "etm4-plan 1\nsingle-shot 0 pe-input 0\n";
  std::vector<PlanProblem> problems;
  const auto plan = parse_plan(kLine, nullptr, problems);
  ASSERT_TRUE(plan);
  Environment environment;
  EXPECT_FALSE(compile_plan(*plan, full_unit(), environment, problems));
  EXPECT_EQ(problems.at(0).text(),
            "line 2: single-shot control 0 takes no PE inputs. TRCSSCSRn.PC is 0: use an address.");
  problems.clear();
  environment.sscsr[0] = 0x8;
  const auto known = compile_plan(*plan, full_unit(), environment, problems);
  ASSERT_TRUE(known);
  EXPECT_EQ(reg(*known, "TRCSSPCICR0"), 1);
  EXPECT_TRUE(std::ranges::none_of(known->notes, [](const auto& note) { return note.line == 2; }));
  environment.sscsr[0] = 0;
  environment.unknown_sscsr = 1;
  const auto unknown = compile_plan(*plan, full_unit(), environment, problems);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(reg(*unknown, "TRCSSPCICR0"), 1);
  ASSERT_TRUE(std::ranges::any_of(unknown->notes, [](const auto& note) {
    return note.line == 2 && note.rule.find("is not known") != std::string::npos;
  }));
}

TEST(PlanCheck, external_inputs_are_counted_as_the_register_says) {
  IdRegisters id = middle_unit();
  id.idr[5] = (id.idr[5] & ~0x1FFU) | 0x100;  // The driver's file reads 0.
  EXPECT_EQ(problems_of("event 0 external 200\n", id), "");
}

TEST(Compile, writes_undo_what_was_there_before) {
  const CompiledPlan plan = compiled("include main\ntimestamps\n");
  Unit unit(middle_unit());
  for (const auto& [file, bytes] : std::initializer_list<std::pair<const char*, const char*>>{
           {"mode", "c7ffffff"}, {"bb_ctrl", "101"}, {"addr_start", "77"}, {"event_ts", "3"}}) {
    ASSERT_EQ(write(unit, file, bytes), "ok");
  }
  for (const SysfsWrite& item : plan.writes) ASSERT_EQ(write(unit, item.file, item.value), "ok");
  EXPECT_EQ(unit.image(), plan.image);
}

TEST(PerfLine, lists_what_perf_cannot_express) {
  std::vector<PlanProblem> problems;
  const auto plan =
      parse_plan("etm4-plan 1\ninclude 0x1000..0x1041\nlevels el0\ncycles 32\nexclude 0x1010/4\n",
                 nullptr, problems);
  ASSERT_TRUE(plan);
  const PerfLine line = perf_line(*plan, middle_unit(), {});
  EXPECT_TRUE(line.possible);
  EXPECT_EQ(line.command,
            "perf record -e cs_etm/cycacc,cc_threshold=32/u --filter 'filter OFFSET/0x40@FILE' -- "
            "COMMAND");
  EXPECT_TRUE(std::ranges::find(line.differences, "perf cannot express: exclude 0x1010..0x1014") !=
              line.differences.end());
  EXPECT_TRUE(std::ranges::none_of(line.differences, [](const std::string& text) {
    return text.find("include") != std::string::npos;
  }));
  EXPECT_TRUE(std::ranges::any_of(line.differences, [](const std::string& text) {
    return text.find("at 0x1000 is not known: name it with --elf") != std::string::npos;
  }));
}

std::string filters_of(std::string_view lines, const ProgramFinder& programs,
                       std::string* differences = nullptr) {
  std::vector<PlanProblem> problems;
  const auto plan = parse_plan("etm4-plan 1\n" + std::string(lines), nullptr, problems);
  if (!plan) return "no plan";
  const PerfLine line = perf_line(*plan, middle_unit(), {}, programs);
  for (const std::string& text : line.differences) {
    if (differences != nullptr) *differences += text + "\n";
  }
  const std::size_t at = line.command.find("--filter ");
  if (at == std::string::npos) return "";
  return line.command.substr(at + 9, line.command.rfind(" -- ") - at - 9);
}

std::optional<ProgramPlace> program_at_400000(std::uint64_t address) {
  if (address < 0x400000 || address >= 0x401000) return std::nullopt;
  return ProgramPlace{"/opt/sort", address - 0x400000 + 0x150, 0x401000 - address};
}

TEST(PerfLine, user_code_is_an_offset_in_its_file) {
  EXPECT_EQ(filters_of("include 0x400010..0x400020\n", program_at_400000),
            "'filter 0x160/0xf@/opt/sort'");
  EXPECT_EQ(filters_of("start 0x400020\nstop 0x400040\n", program_at_400000),
            "'start 0x170@/opt/sort, stop 0x190@/opt/sort'");
}

TEST(PerfLine, kernel_code_is_an_address) {
  EXPECT_EQ(filters_of("include 0xffffff8008561000..0xffffff8008561040\n", program_at_400000),
            "'filter 0xffffff8008561000/0x3f'");
}

TEST(PerfLine, what_a_filter_of_perf_does_otherwise) {
  std::string differences;
  filters_of("include 0x400f00..0x401100\n", program_at_400000, &differences);
  EXPECT_NE(differences.find("beyond its segment of /opt/sort"), std::string::npos);
  const auto named = [](std::uint64_t) { return ProgramPlace{"/a b/it's", 4, 100}; };
  EXPECT_EQ(filters_of("start 0x1000\n", named, &differences), "'start 0x4@FILE'");
  EXPECT_NE(differences.find("give /a b/it's another name"), std::string::npos);
  const auto quoted = [](std::uint64_t) { return ProgramPlace{"/it's", 4, 100}; };
  EXPECT_EQ(filters_of("start 0x1000\n", quoted), R"('start 0x4@/it'\''s')");
}

TEST(Script, has_sinks_first_and_every_write) {
  std::vector<PlanProblem> problems;
  const auto plan =
      parse_plan("etm4-plan 1\nsink tmc_etr0 buffer 65536\ncycles\n", nullptr, problems);
  const auto done = compile_plan(*plan, middle_unit(), {}, problems);
  ASSERT_TRUE(done);
  const std::string script = shell_script(*done, *plan, "/dev/tree", "etm0");
  const auto sink = script.find("put tmc_etr0/buffer_size 65536\nput tmc_etr0/enable_sink 1\n");
  EXPECT_NE(sink, std::string::npos);
  EXPECT_LT(sink, script.find("put etm0/reset '0x1'"));
  EXPECT_NE(script.find("put etm0/cyc_threshold '0x4'"), std::string::npos);
}

}  // namespace
}  // namespace waymark::etm4x
