// Each quirk alone: the driver's behaviour with it, and the repaired behaviour without it.
#include "waymark/etm4x/quirks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "etm4x/units.h"
#include "waymark/etm4x/sysfs_text.h"

namespace waymark::etm4x {
namespace {

struct QuirkCase {
  std::string_view quirk;
  std::function<std::string(const Quirks&)> seen;  ///< A text that depends on the quirks.
  std::string driver;
  std::string fixed;
};

Unit unit_of(const IdRegisters& id, const Quirks& quirks) {
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
    {"single_event_bit_1",
     [](const Quirks& q) {
       return played(unit_of(bare_unit(), q), {{"event_instren", "3"}}, "event_instren");
     },
     "0x2", "0x1"},
    {"external_inputs_8_bits",
     [](const Quirks& q) {
       IdRegisters id = middle_unit();
       id.idr[5] |= 0x1FF;
       return played(unit_of(id, q), {}, "nr_ext_inp");
     },
     "0xff", "0x1ff"},
    {"reset_keeps_features",
     [](const Quirks& q) {
       Unit unit = unit_of(middle_unit(), q);
       for (const auto& [file, bytes] : std::initializer_list<std::pair<const char*, const char*>>{
                {"mode", "30"}, {"cyc_threshold", "40"}, {"bb_ctrl", "1"}, {"reset", "1"}}) {
         EXPECT_EQ(write(unit, file, bytes), "ok");
       }
       return hex(unit.state.configr) + " " + hex(unit.state.ccctlr) + " " + hex(unit.state.bbctlr);
     },
     "0x18 0x40 0x1", "0x0 0x0 0x0"},
    {"reset_traces_all_levels",
     [](const Quirks& q) {
       return played(unit_of(middle_unit(), q), {{"reset", "1"}}, "s_exlevel_vinst");
     },
     "0x0", "0xb"},
    {"reset_sync_period_8",
     [](const Quirks& q) {
       return played(unit_of(middle_unit(), q), {{"reset", "1"}}, "syncfreq");
     },
     "0x8", "0xc"},
    {"sync_period_unchecked",
     [](const Quirks& q) {
       return played(unit_of(middle_unit(), q), {{"syncfreq", "7"}}, "syncfreq");
     },
     "0x7", "-EINVAL"},
    {"levels_stay_excluded",
     [](const Quirks& q) {
       return played(unit_of(middle_unit(), q), {{"mode", "c8000000"}, {"mode", "8000000"}},
                     "ns_exlevel_vinst");
     },
     "0x7", "0x4"},
    {"trace_reset_ungated",
     [](const Quirks& q) {
       Unit unit = unit_of(bare_unit(), q);
       EXPECT_EQ(write(unit, "mode", "2000000"), "ok");
       return hex(unit.state.victlr & kVictlrTraceReset);
     },
     "0x400", "0x0"},
    {"instruction_priority_ungated",
     [](const Quirks& q) {
       Unit unit = unit_of(bare_unit(), q);
       EXPECT_EQ(write(unit, "mode", "800000"), "ok");
       return hex(unit.state.stallctlr);
     },
     "0x400", "0x0"},
    {"missing_slots_accepted",
     [](const Quirks& q) {
       return played(unit_of(bare_unit(), q), {{"cntrldvr", "5"}}, "cntrldvr");
     },
     "0x5", "-EINVAL"},
    {"view_of_odd_half",
     [](const Quirks& q) {
       return played(unit_of(middle_unit(), q),
                     {{"addr_range", "40 50"}, {"addr_exlevel_s_ns", "1"}, {"addr_idx", "1"}},
                     "addr_cmp_view");
     },
     "addr_cmp[0] range 0x40 0x50 include ctrl(0x0)",
     "addr_cmp[0] range 0x40 0x50 include ctrl(0x100)"},
    {"range_of_one",
     [](const Quirks& q) {
       return played(unit_of(middle_unit(), q), {{"addr_range", "40 40"}}, "addr_range");
     },
     "0x40 0x40", "-EINVAL"},
    {"cycle_threshold_ungated",
     [](const Quirks& q) {
       return played(unit_of(bare_unit(), q), {{"cyc_threshold", "9"}}, "cyc_threshold");
     },
     "0x9", "-EINVAL"},
    {"perf_forgets_secure_levels",
     [](const Quirks& q) {
       return started(unit_of(middle_unit(), q), {}, "TRCVICTLR") + " " +
              started(unit_of(middle_unit(), q), {}, "TRCSSCSR0");
     },
     "0x400201 0x0", "0x4b0201 0x9"},
    {"perf_cycles_ungated",
     [](const Quirks& q) {
       return started(unit_of(bare_unit(), q), {.cycacc = true}, "TRCCONFIGR");
     },
     "0x10", "-EINVAL"},
    {"perf_selector_without_pairs",
     [](const Quirks& q) {
       return started(unit_of(without_selectors(), q), {.timestamp = true}, "TRCTSCTLR");
     },
     "0x2", "-ENOSPC"},
    {"preset_zero_refused",
     [](const Quirks& q) {
       return played(
           unit_of(middle_unit(), q),
           {{"configurations/autofdo/preset", "3"}, {"configurations/autofdo/preset", "0"}},
           "configurations/autofdo/preset");
     },
     "-EINVAL", "0"},
};

TEST(Quirks, each_alone_is_the_driver_and_without_it_repaired) {
  std::set<std::string_view> seen;
  for (const QuirkCase& c : kCases) {
    const auto* const row = std::ranges::find(kQuirks, c.quirk, &NamedQuirk<Quirks>::name);
    ASSERT_NE(row, kQuirks.end()) << c.quirk;
    Quirks alone;
    alone.*row->flag = true;
    Quirks others = kAllQuirks;
    others.*row->flag = false;
    EXPECT_EQ(c.seen(kAllQuirks), c.driver) << c.quirk;
    EXPECT_EQ(c.seen(alone), c.driver) << c.quirk;
    EXPECT_EQ(c.seen(others), c.fixed) << c.quirk;
    EXPECT_EQ(c.seen(kNoQuirks), c.fixed) << c.quirk;
    seen.insert(c.quirk);
  }
  for (const NamedQuirk<Quirks>& row : kQuirks)
    EXPECT_TRUE(seen.contains(row.name)) << row.name << " has no case";
}

}  // namespace
}  // namespace waymark::etm4x
