// Each quirk alone: the driver's behaviour with it, and the repaired behaviour without it.
#include "waymark/etm4x/quirks.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "etm4x/units.h"
#include "waymark/etm4x/sysfs_text.h"

namespace waymark::etm4x {
namespace {

struct QuirkCase {
  Quirk quirk;
  std::function<std::string(Quirks)> seen;  ///< A text that depends on the quirks.
  std::string driver;
  std::string fixed;
};

Unit unit_of(const IdRegisters& id, Quirks quirks) {
  Environment environment;
  environment.sscsr = {0x9};
  return Unit(id, environment, quirks);
}

std::string hex(std::uint64_t value) {
  std::string text = hex_line(value);
  text.pop_back();
  return text;
}

// The answers to writes, except "ok", and what a file reads after them.
std::string played(Unit unit,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> writes,
                   std::string_view file) {
  for (const auto& [name, bytes] : writes) {
    if (const std::string answer = write(unit, name, bytes); answer != "ok") return answer;
  }
  return read(unit, file);
}

std::string started(Unit unit, const PerfRequest& request, std::string_view reg) {
  const auto image = unit.perf_start(request);
  return image ? hex(image->value(reg)) : std::string(errno_name(image.error().error));
}

IdRegisters without_selectors() {
  IdRegisters id = middle_unit();
  id.idr[4] &= ~0xF0000U;
  id.devarch = 0x47734A13;  // From ETMv4.3 on, 0 means none.
  return id;
}

const QuirkCase kCases[] = {
    {Quirk::kSingleEventBit1,
     [](Quirks q) {
       return played(unit_of(bare_unit(), q), {{"event_instren", "3"}}, "event_instren");
     },
     "0x2", "0x1"},
    {Quirk::kExternalInputs8Bits,
     [](Quirks q) {
       IdRegisters id = middle_unit();
       id.idr[5] |= 0x1FF;
       return played(unit_of(id, q), {}, "nr_ext_inp");
     },
     "0xff", "0x1ff"},
    {Quirk::kResetKeepsFeatures,
     [](Quirks q) {
       Unit unit = unit_of(middle_unit(), q);
       for (const auto& [file, bytes] : std::initializer_list<std::pair<const char*, const char*>>{
                {"mode", "30"}, {"cyc_threshold", "40"}, {"bb_ctrl", "1"}, {"reset", "1"}}) {
         EXPECT_EQ(write(unit, file, bytes), "ok");
       }
       return hex(unit.state.configr) + " " + hex(unit.state.ccctlr) + " " + hex(unit.state.bbctlr);
     },
     "0x18 0x40 0x1", "0x0 0x0 0x0"},
    {Quirk::kResetTracesAllLevels,
     [](Quirks q) {
       return played(unit_of(middle_unit(), q), {{"reset", "1"}}, "s_exlevel_vinst");
     },
     "0x0", "0xb"},
    {Quirk::kResetSyncPeriod8,
     [](Quirks q) { return played(unit_of(middle_unit(), q), {{"reset", "1"}}, "syncfreq"); },
     "0x8", "0xc"},
    {Quirk::kSyncPeriodUnchecked,
     [](Quirks q) { return played(unit_of(middle_unit(), q), {{"syncfreq", "7"}}, "syncfreq"); },
     "0x7", "-EINVAL"},
    {Quirk::kLevelsStayExcluded,
     [](Quirks q) {
       return played(unit_of(middle_unit(), q), {{"mode", "c8000000"}, {"mode", "8000000"}},
                     "ns_exlevel_vinst");
     },
     "0x7", "0x4"},
    {Quirk::kTraceResetUngated,
     [](Quirks q) {
       Unit unit = unit_of(bare_unit(), q);
       EXPECT_EQ(write(unit, "mode", "2000000"), "ok");
       return hex(unit.state.victlr & kVictlrTraceReset);
     },
     "0x400", "0x0"},
    {Quirk::kInstructionPriorityUngated,
     [](Quirks q) {
       Unit unit = unit_of(bare_unit(), q);
       EXPECT_EQ(write(unit, "mode", "800000"), "ok");
       return hex(unit.state.stallctlr);
     },
     "0x400", "0x0"},
    {Quirk::kMissingSlotsAccepted,
     [](Quirks q) { return played(unit_of(bare_unit(), q), {{"cntrldvr", "5"}}, "cntrldvr"); },
     "0x5", "-EINVAL"},
    {Quirk::kSelectorOfOddHalf,
     [](Quirks q) {
       return played(unit_of(middle_unit(), q),
                     {{"addr_range", "40 50"}, {"addr_exlevel_s_ns", "1"}, {"addr_idx", "1"}},
                     "addr_cmp_view");
     },
     "addr_cmp[0] range 0x40 0x50 include ctrl(0x0)",
     "addr_cmp[0] range 0x40 0x50 include ctrl(0x100)"},
    {Quirk::kRangeMayBeEmpty,
     [](Quirks q) {
       return played(unit_of(middle_unit(), q), {{"addr_range", "40 40"}}, "addr_range");
     },
     "0x40 0x40", "-EINVAL"},
    {Quirk::kCycleThresholdUngated,
     [](Quirks q) {
       return played(unit_of(bare_unit(), q), {{"cyc_threshold", "9"}}, "cyc_threshold");
     },
     "0x9", "-EINVAL"},
    {Quirk::kPerfForgetsSecureLevels,
     [](Quirks q) {
       return started(unit_of(middle_unit(), q), {}, "TRCVICTLR") + " " +
              started(unit_of(middle_unit(), q), {}, "TRCSSCSR0");
     },
     "0x400201 0x0", "0x4b0201 0x9"},
    {Quirk::kPerfCyclesUngated,
     [](Quirks q) { return started(unit_of(bare_unit(), q), {.cycacc = true}, "TRCCONFIGR"); },
     "0x10", "-EINVAL"},
    {Quirk::kPerfSelectorWithoutPairs,
     [](Quirks q) {
       return started(unit_of(without_selectors(), q), {.timestamp = true}, "TRCTSCTLR");
     },
     "0x2", "-ENOSPC"},
    {Quirk::kPresetZeroRefused,
     [](Quirks q) {
       return played(
           unit_of(middle_unit(), q),
           {{"configurations/autofdo/preset", "3"}, {"configurations/autofdo/preset", "0"}},
           "configurations/autofdo/preset");
     },
     "-EINVAL", "0"},
};

TEST(Quirks, each_alone_is_the_driver_and_without_it_repaired) {
  std::set<Quirk> seen;
  for (const QuirkCase& c : kCases) {
    const auto bit = static_cast<Quirks>(c.quirk);
    EXPECT_EQ(c.seen(kAllQuirks), c.driver) << bit;
    EXPECT_EQ(c.seen(bit), c.driver) << bit;
    EXPECT_EQ(c.seen(kAllQuirks & ~bit), c.fixed) << bit;
    EXPECT_EQ(c.seen(kNoQuirks), c.fixed) << bit;
    seen.insert(c.quirk);
  }
  for (const QuirkRow& row : quirk_table()) {
    EXPECT_TRUE(seen.contains(row.quirk)) << row.name << " has no case";
  }
}

TEST(Quirks, each_has_a_name_and_two_sentences) {
  Quirks all = 0;
  for (const QuirkRow& row : quirk_table()) {
    EXPECT_FALSE(row.name.empty() || row.driver.empty() || row.fixed.empty());
    all |= static_cast<Quirks>(row.quirk);
  }
  EXPECT_EQ(all, kAllQuirks);
}

}  // namespace
}  // namespace waymark::etm4x
