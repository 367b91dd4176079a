// Probe, reset, enable, disable, perf.
#include "waymark/etm4x/unit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "etm4x/units.h"
#include "waymark/etm4x/files.h"

namespace waymark::etm4x {
namespace {

using Held = std::vector<std::pair<std::string, std::uint64_t>>;

TEST(Probe, levels_depend_on_where_the_kernel_runs) {
  EXPECT_EQ(Unit(middle_unit()).state.victlr, 0x004B0201);
  Environment environment;
  environment.kernel_at_el2 = true;
  EXPECT_EQ(Unit(middle_unit(), environment).state.victlr, 0x000B0201);
}

TEST(Reset, keeps_features_thresholds_and_ranges) {
  Unit unit(full_unit());
  for (const auto& [file, bytes] : std::initializer_list<std::pair<const char*, const char*>>{
           {"mode", "18fe"},
           {"cyc_threshold", "20"},
           {"bb_ctrl", "1"},
           {"pe", "3"},
           {"seq_idx", "2"},
           {"seq_event", "1"},
           {"cntr_idx", "1"},
           {"cntrldvr", "5"},
           {"res_idx", "4"},
           {"res_ctrl", "1"},
           {"sshot_ctrl", "1"},
           {"ctxid_pid", "7"},
           {"vmid_val", "7"},
           {"addr_start", "7"},
           {"vinst_pe_cmp_start_stop", "1"}}) {
    ASSERT_EQ(write(unit, file, bytes), "ok") << file;
  }
  ASSERT_EQ(write(unit, "reset", "1"), "ok");
  const State& s = unit.state;
  EXPECT_EQ(s.configr, 0x18D8) << "all but INSTP0";
  EXPECT_EQ(s.mode, 0x08000000);
  EXPECT_EQ(s.ccctlr, 0x20);
  EXPECT_EQ(s.bbctlr, 1);
  EXPECT_EQ(s.pe, 3);
  EXPECT_EQ(s.seq_idx, 2);
  EXPECT_EQ(s.syncpr, 8);
  EXPECT_EQ(s.victlr, 0x201);
  EXPECT_EQ(s.vissctlr, 0);
  EXPECT_EQ(s.vipcssctlr, 0);
  EXPECT_EQ(s.tag[0], Tag::kNone);
  EXPECT_EQ(s.acvr[0], 0);
  EXPECT_EQ(s.seqevr[2], 0);
  EXPECT_EQ(s.cntrldvr[1], 0);
  EXPECT_EQ(s.rsctlr[4], 0);
  EXPECT_EQ(s.sscr[0], 0);
  EXPECT_EQ(s.cidcvr[0], 0);
  EXPECT_EQ(s.vmidcvr[0], 0);
  EXPECT_EQ(s.cntr_idx + s.res_idx, 0);
}

TEST(Reset, of_zero_keeps_mode) {
  Unit unit(full_unit());
  ASSERT_EQ(write(unit, "mode", "1000"), "ok");
  ASSERT_EQ(write(unit, "reset", "0"), "ok");
  EXPECT_EQ(unit.state.mode, 0x08001000);
}

TEST(Reset, without_comparators_nothing_starts_the_logic) {
  Unit unit(bare_unit());
  ASSERT_EQ(write(unit, "reset", "1"), "ok");
  EXPECT_EQ(unit.state.victlr, 1);
  EXPECT_EQ(unit.state.mode, 0);
  EXPECT_EQ(unit.state.syncpr, 0xC) << "a fixed period is left alone";
}

TEST(Reset, without_quirks_is_probe) {
  Unit unit(middle_unit(), {}, kNoQuirks);
  ASSERT_EQ(write(unit, "mode", "1870"), "ok");
  ASSERT_EQ(write(unit, "cyc_threshold", "20"), "ok");
  ASSERT_EQ(write(unit, "reset", "1"), "ok");
  EXPECT_EQ(unit.state, Unit(middle_unit(), {}, kNoQuirks).state);
}

TEST(TraceId, follows_the_cpu_and_is_released_by_reset) {
  Environment environment;
  environment.cpu = 5;
  Unit unit(middle_unit(), environment);
  EXPECT_EQ(read(unit, "mgmt/trctraceid"), "0x1a");
  EXPECT_TRUE(unit.allocated_trace_id.has_value());
  ASSERT_EQ(write(unit, "reset", "0"), "ok");
  EXPECT_FALSE(unit.allocated_trace_id.has_value());
  environment.cpu = 48;
  EXPECT_EQ(Unit(middle_unit(), environment).trace_id(), 1);
  environment.cpu = 0x80000000;
  EXPECT_EQ(Unit(middle_unit(), environment).trace_id(), 1);
}

TEST(Enable, needs_a_sink) {
  Environment environment;
  environment.sink_active = false;
  Unit unit(middle_unit(), environment);
  EXPECT_EQ(write(unit, "enable_source", "1"), "-EINVAL");
}

TEST(Enable, refused_while_others_use_the_unit) {
  Environment environment;
  environment.claimed = true;
  Unit claimed(middle_unit(), environment);
  EXPECT_EQ(write(claimed, "enable_source", "1"), "-EBUSY");
  Unit unit(middle_unit());
  ASSERT_TRUE(unit.perf_start({}));
  EXPECT_EQ(write(unit, "enable_source", "1"), "-EBUSY");
  EXPECT_EQ(write(unit, "enable_source", "0"), "ok");
  EXPECT_EQ(unit.use, Use::kPerf) << "sysfs does not end a perf session";
  unit.disable({});
  EXPECT_EQ(write(unit, "enable_source", "1"), "ok");
  EXPECT_EQ(unit.perf_start({}).error().error, Errno::kBusy);
}

TEST(Enable, again_changes_nothing) {
  Unit unit(middle_unit());
  ASSERT_EQ(write(unit, "enable_source", "1"), "ok");
  ASSERT_EQ(write(unit, "mode", "10"), "ok");
  ASSERT_EQ(write(unit, "enable_source", "1"), "ok");
  EXPECT_EQ(unit.hardware().value("TRCCONFIGR"), 0);
}

TEST(Enable, single_shot_is_ready_if_programmed) {
  Unit unit(full_unit());
  unit.state.sscsr[0] = unit.state.sscsr[1] = unit.state.sscsr[2] = kShotDone | 1;
  unit.state.sscr[0] = 1;
  unit.state.sspcicr[1] = 1;
  const RegisterImage image = unit.image();
  EXPECT_EQ(image.value("TRCSSCSR0"), 1);
  EXPECT_EQ(image.value("TRCSSCSR1"), 1);
  EXPECT_EQ(image.value("TRCSSCSR2"), kShotDone | 1);
}

TEST(Enable, order_is_that_of_the_driver) {
  Unit unit(full_unit());
  const RegisterImage image = unit.image();
  const auto& values = image.values();
  EXPECT_EQ(values.back().name, "TRCPRGCTLR");
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const auto& value : values) names.push_back(value.name);
  const auto at = [&](std::string_view name) { return std::ranges::find(names, name); };
  EXPECT_LT(at("TRCCONFIGR"), at("TRCVICTLR"));
  EXPECT_LT(at("TRCCNTVR0"), at("TRCCNTRLDVR1")) << "counter by counter";
  EXPECT_LT(at("TRCACATR0"), at("TRCACVR1"));
  EXPECT_LT(at("TRCCIDCCTLR1"), at("TRCVMIDCVR0"));
}

TEST(Enable, power_and_reset_registers_depend_on_the_access) {
  Environment environment;
  environment.access = RegisterAccess::kSystemRegisters;
  const RegisterImage ete = Unit(ete_unit(), environment).image();
  EXPECT_EQ(ete.find("TRCRSR"), 0x1000);
  EXPECT_FALSE(ete.find("TRCPDCR"));
  const RegisterImage mmio = Unit(middle_unit()).image();
  EXPECT_EQ(mmio.find("TRCPDCR"), 8);
  EXPECT_FALSE(mmio.find("TRCRSR"));
}

TEST(Disable, takes_counters_and_single_shots_back) {
  Unit unit(middle_unit());
  ASSERT_EQ(write(unit, "cntr_val", "11"), "ok");
  ASSERT_EQ(write(unit, "enable_source", "1"), "ok");
  ASSERT_EQ(write(unit, "cntr_val", "22"), "ok");
  unit.disable(Held{{"TRCSSCSR0", 0x80000009}, {"TRCCNTVR3", 1}});
  EXPECT_EQ(read(unit, "cntr_val"), "0x11") << "as it was written, not as it was set since";
  EXPECT_EQ(read(unit, "sshot_status"), "0x80000009");
  EXPECT_EQ(read(unit, "enable_source"), "0");
}

TEST(Configuration, strobing_is_loaded_at_enable) {
  Unit unit(middle_unit());
  ASSERT_EQ(write(unit, "configurations/autofdo/preset", "2"), "ok");
  ASSERT_EQ(write(unit, "configurations/autofdo/enable", "1"), "ok");
  const RegisterImage would_be = unit.image();
  ASSERT_EQ(write(unit, "enable_source", "1"), "ok");
  const RegisterImage& image = unit.hardware();
  EXPECT_EQ(would_be, image);
  EXPECT_EQ(image.value("TRCRSCTLR2"), 0x20001);
  EXPECT_EQ(image.value("TRCRSCTLR3"), 0x20002);
  EXPECT_EQ(image.value("TRCCNTRLDVR0"), 5000);
  EXPECT_EQ(image.value("TRCCNTRLDVR1"), 4);
  EXPECT_EQ(image.value("TRCCNTCTLR1"), 0x8102);
  EXPECT_EQ(image.value("TRCSEQEVR0"), 0x81);
  EXPECT_EQ(image.value("TRCVICTLR"), 0x004B0203);
  unit.disable(Held{{"TRCCNTVR0", 77}});
  ASSERT_EQ(write(unit, "enable_source", "1"), "ok");
  EXPECT_EQ(unit.hardware().value("TRCCNTVR0"), 77) << "goes on where it stopped";
}

TEST(Perf, plain_event) {
  Unit unit(middle_unit());
  EXPECT_EQ(unit.perf_start({})->value("TRCVICTLR"), 0x00400201);
  EXPECT_EQ(unit.perf_start({.exclude_kernel = true})->value("TRCVICTLR"), 0x00600201);
  EXPECT_EQ(unit.perf_start({.exclude_user = true})->value("TRCVICTLR"), 0x00500201);
}

TEST(Perf, context_id_alias_follows_the_kernel) {
  Environment environment;
  environment.kernel_at_el2 = true;
  Unit vhe(middle_unit(), environment);
  EXPECT_EQ(vhe.perf_start({.contextid = true})->value("TRCCONFIGR"), 0x8080);
  EXPECT_EQ(vhe.perf_start({.contextid1 = true})->value("TRCCONFIGR"), 0x40);
  Unit unit(middle_unit());
  EXPECT_EQ(unit.perf_start({.contextid = true})->value("TRCCONFIGR"), 0x40);
  EXPECT_EQ(unit.perf_start({.contextid2 = true}).error().error, Errno::kInval);
  environment.init_pid_namespace = false;
  Unit inside(middle_unit(), environment);
  EXPECT_EQ(inside.perf_start({.contextid1 = true, .contextid2 = true})->value("TRCCONFIGR"), 0);
}

TEST(Perf, cycle_threshold) {
  Unit unit(middle_unit());
  const auto threshold = [&](std::uint32_t wanted) {
    return unit.perf_start({.cycacc = true, .cc_threshold = wanted})->value("TRCCCCTLR");
  };
  EXPECT_EQ(threshold(0), 0x100);
  EXPECT_EQ(threshold(1), 4);
  EXPECT_EQ(threshold(0x1020), 0x20);
}

TEST(Perf, timestamps_need_a_counter_and_a_selector) {
  Unit bare(bare_unit());
  EXPECT_EQ(bare.perf_start({.timestamp = true}).error().error, Errno::kInval);
  IdRegisters id = middle_unit();
  id.idr[4] &= ~0xF0000U;  // One pair: the fixed selectors.
  Unit one_pair(id);
  EXPECT_EQ(one_pair.perf_start({.timestamp = true}).error().error, Errno::kNoSpc);
  id.devarch = 0x47734A13;  // Now no pair.
  EXPECT_EQ(Unit(id).perf_start({.timestamp = true})->value("TRCTSCTLR"), 2);
  EXPECT_EQ(Unit(id, {}, kNoQuirks).perf_start({.timestamp = true}).error().error, Errno::kNoSpc);
}

TEST(Perf, options_without_the_feature) {
  Unit bare(bare_unit());
  EXPECT_EQ(bare.perf_start({.branch_broadcast = true}).error().error, Errno::kInval);
  EXPECT_EQ(bare.perf_start({.retstack = true})->value("TRCCONFIGR"), 0);
  EXPECT_EQ(bare.perf_start({.cycacc = true})->value("TRCCONFIGR"), 0x10);
  Unit fixed(bare_unit(), {}, kNoQuirks);
  EXPECT_EQ(fixed.perf_start({.cycacc = true}).error().error, Errno::kInval);
}

TEST(Perf, ranges_take_pairs) {
  Unit unit(middle_unit());
  PerfRequest request;
  request.filters = {{FilterAction::kFilter, 0x1000, 0x40}, {FilterAction::kFilter, 0x2000, 0x40}};
  const auto image = unit.perf_start(request);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->value("TRCACVR3"), 0x2040);
  EXPECT_EQ(image->value("TRCACATR3"), 0x4000);
  EXPECT_EQ(image->value("TRCVIIECTLR"), 3);
  EXPECT_EQ(image->value("TRCVICTLR"), 0x00400201);
  request.filters.assign(5, {FilterAction::kFilter, 0x1000, 0x40});
  EXPECT_EQ(unit.perf_start(request).error().error, Errno::kNoSpc);
}

TEST(Perf, start_and_stop_begin_as_the_event_stopped) {
  Unit unit(middle_unit());
  PerfRequest request;
  request.filters = {{FilterAction::kStart, 0x1000, 0}, {FilterAction::kStop, 0x2000, 0}};
  auto image = unit.perf_start(request);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->value("TRCVISSCTLR"), 0x00020001);
  EXPECT_EQ(image->value("TRCVICTLR"), 0x00400001);
  request.start_stop_started = true;
  image = unit.perf_start(request);
  EXPECT_EQ(image->value("TRCVICTLR"), 0x00400201);
}

TEST(Perf, filters_that_the_pmu_refuses) {
  Unit unit(middle_unit());
  const auto refused = [&](std::vector<PerfFilter> filters) {
    PerfRequest request;
    request.filters = std::move(filters);
    return unit.perf_start(request).error().error;
  };
  EXPECT_EQ(refused({{FilterAction::kStart, 1, 4}}), Errno::kOpNotSupp);
  EXPECT_EQ(refused({{FilterAction::kFilter, 1, 4}, {FilterAction::kStop, 1, 0}}),
            Errno::kOpNotSupp);
  EXPECT_EQ(refused({9, {FilterAction::kStop, 1, 0}}), Errno::kOpNotSupp);
  EXPECT_EQ(refused({{FilterAction::kFilter, 1, 0}}), Errno::kInval);
}

TEST(Perf, wipes_what_sysfs_programmed) {
  Unit unit(middle_unit());
  ASSERT_EQ(write(unit, "addr_start", "1000"), "ok");
  ASSERT_TRUE(unit.perf_start({}));
  EXPECT_EQ(read(unit, "addr_cmp_view"), "addr_cmp[0] unused");
  EXPECT_EQ(write(unit, "s_exlevel_vinst", "f"), "ok");
  EXPECT_EQ(read(unit, "s_exlevel_vinst"), "0x0") << "the secure levels are forgotten";
  Unit fixed(middle_unit(), {}, kNoQuirks);
  EXPECT_EQ(fixed.perf_start({})->value("TRCVICTLR"), 0x004B0201);
}

TEST(Perf, configurations) {
  Unit unit(middle_unit());
  PerfRequest request;
  request.configid = Configuration::kAutofdoHash;
  request.preset = 1;
  request.timestamp = true;
  const auto image = unit.perf_start(request);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->value("TRCCNTRLDVR0"), 5000) << "overwrites the timestamp interval";
  EXPECT_EQ(image->value("TRCCNTRLDVR1"), 2);
  EXPECT_EQ(image->value("TRCTSCTLR"), 2);
  request.preset = 10;
  EXPECT_EQ(unit.perf_start(request).error().error, Errno::kInval);
  request.configid = 1;
  EXPECT_EQ(unit.perf_start(request).error().error, Errno::kInval);
}

}  // namespace
}  // namespace waymark::etm4x
