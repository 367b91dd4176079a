// Applies plans to a tree that answers as the driver does.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "etm4x/units.h"
#include "waymark/etm4x/tree.h"

namespace waymark::etm4x {
namespace {

// One unit "etm0", which the model implements, and plain files next to it.
class ModelTree final : public DeviceTree {
 public:
  explicit ModelTree(const IdRegisters& id) : unit(id) {}

  Result<std::string> read(std::string_view path) override {
    if (path == refuse_read && std::exchange(reads_refused, false)) {
      return fail(ErrorCode::kIo, std::string(path) + " cannot be read: No device.");
    }
    if (const auto at = files.find(path); at != files.end()) return at->second;
    const auto text = unit.read(in_unit(path));
    if (!text) return refused(path, text.error());
    return *text;
  }
  Result<void> write(std::string_view path, std::string_view text) override {
    ++writes;
    reads_refused = path == refuse_read && text.starts_with('1');
    if (path == refuse_path && (refuse_value.empty() || text == refuse_value)) {
      return fail(ErrorCode::kIo, std::string(path) + " cannot be written: No space.");
    }
    if (const auto at = files.find(path); at != files.end()) {
      at->second = text;
      return {};
    }
    const auto done = unit.write(in_unit(path), text);
    if (!done) return refused(path, done.error());
    return {};
  }
  [[nodiscard]] bool live() const override { return true; }
  std::vector<std::string> units() override { return {"etm0"}; }

  Unit unit;
  std::map<std::string, std::string, std::less<>> files;
  std::string refuse_path;
  std::string refuse_value;
  std::string refuse_read;  ///< Fails once, after the file was written.
  bool reads_refused = false;
  unsigned writes = 0;

 private:
  static std::string_view in_unit(std::string_view path) {
    return path.starts_with("etm0/") ? path.substr(5) : path;
  }
  static std::unexpected<Error> refused(std::string_view path, const Refusal& refusal) {
    return fail(refusal.error == Errno::kNoEnt ? ErrorCode::kNotFound : ErrorCode::kIo,
                std::string(path) + ": " + std::string(errno_name(refusal.error)));
  }
};

struct Ready {
  Plan plan;
  CompiledPlan compiled;
};

Ready ready(std::string_view lines, const IdRegisters& id = middle_unit()) {
  std::vector<PlanProblem> problems;
  Ready result;
  result.plan =
      parse_plan("etm4-plan 1\n" + std::string(lines), nullptr, problems).value_or(Plan{});
  result.compiled = compile_plan(result.plan, id, {}, problems).value_or(CompiledPlan{});
  for (const PlanProblem& problem : problems) ADD_FAILURE() << problem.text();
  return result;
}

Result<ApplyReport> apply(ModelTree& tree, const Ready& what, const ApplyOptions& options = {}) {
  return apply_plan(tree, "etm0", middle_unit(), {}, what.compiled, what.plan, options);
}

constexpr std::string_view kLines =
    "include 0x1000..0x2000\nexclude 0x1100/0x10\nstart 0x1000\ncycles 32\n"
    "event 0 counter 0 and address 0x1200\ncounter 0 value 7\ncounter 0 count always\n";

// A unit that was programmed before.
void program(Unit& unit) {
  for (const auto& [file, bytes] :
       std::initializer_list<std::pair<const char*, const char*>>{{"mode", "8000830"},
                                                                  {"cyc_threshold", "40"},
                                                                  {"addr_range", "10 20"},
                                                                  {"addr_idx", "1"},
                                                                  {"addr_exlevel_s_ns", "3"},
                                                                  {"addr_idx", "4"},
                                                                  {"addr_stop", "99"},
                                                                  {"cntr_idx", "1"},
                                                                  {"cntrldvr", "5"},
                                                                  {"res_idx", "4"},
                                                                  {"res_ctrl", "20001"},
                                                                  {"seq_idx", "1"},
                                                                  {"seq_event", "102"},
                                                                  {"event_ts", "4"},
                                                                  {"ctxid_pid", "55"},
                                                                  {"ctxid_masks", "8"},
                                                                  {"event", "4"},
                                                                  {"event_instren", "1"}}) {
    ASSERT_EQ(write(unit, file, bytes), "ok") << file;
  }
}

TEST(Apply, unit_holds_the_image_then) {
  ModelTree tree(middle_unit());
  program(tree.unit);
  const Ready what = ready(kLines);
  const auto report = apply(tree, what);
  ASSERT_TRUE(report) << report.error().detail;
  EXPECT_EQ(report->done.size(), what.compiled.writes.size());
  EXPECT_EQ(tree.unit.image(), what.compiled.image);
}

TEST(Apply, start_comes_last) {
  ModelTree tree(middle_unit());
  tree.files["tmc_etr0/enable_sink"] = "0\n";
  tree.files["tmc_etr0/buffer_size"] = "0x100000\n";
  const Ready what = ready("sink tmc_etr0 buffer 65536\n");
  const auto report = apply(tree, what, {.start = true});
  ASSERT_TRUE(report) << report.error().detail;
  EXPECT_EQ(report->done.front().file, "tmc_etr0/buffer_size");
  EXPECT_EQ(report->done.back().file, "etm0/enable_source");
  EXPECT_EQ(tree.files["tmc_etr0/enable_sink"], "1\n");
  EXPECT_EQ(tree.unit.hardware(), what.compiled.image);
}

TEST(Apply, failure_at_any_write_leaves_everything_as_it_was) {
  const Ready what = ready(std::string(kLines) + "sink tmc_etr0\n");
  std::size_t undone = 0;
  for (const SysfsWrite& at : apply_order(what.compiled, what.plan, "etm0", {})) {
    ModelTree tree(middle_unit());
    program(tree.unit);
    tree.files["tmc_etr0/enable_sink"] = "0\n";
    const State before = tree.unit.state;
    tree.refuse_path = at.file;
    tree.refuse_value = at.value + "\n";
    const auto report = apply(tree, what);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().detail.find(at.file), std::string::npos);
    EXPECT_NE(report.error().detail.find("No space."), std::string::npos);
    EXPECT_EQ(tree.files["tmc_etr0/enable_sink"], "0\n");
    // Restoring may need the very write that is refused; then the sentence says so.
    if (report.error().detail.find("could not be restored") == std::string::npos) {
      State after = tree.unit.state;
      after.res_idx = before.res_idx;
      EXPECT_EQ(after, before) << at.file << " " << at.value;
      ++undone;
    }
  }
  EXPECT_GT(undone, 0U);
}

TEST(Apply, a_start_that_cannot_be_read_back_is_undone) {
  ModelTree tree(middle_unit());
  const Ready what = ready("levels el0\n");
  const State before = tree.unit.state;
  tree.refuse_read = "etm0/enable_source";
  const auto report = apply(tree, what, {.start = true});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().detail.find("enable_source"), std::string::npos);
  EXPECT_NE(report.error().detail.find("All files have their previous values again."),
            std::string::npos)
      << report.error().detail;
  EXPECT_EQ(*tree.unit.read("enable_source"), "0\n");
  State after = tree.unit.state;
  after.res_idx = before.res_idx;  // No write restores the 0 of a unit after probe.
  EXPECT_EQ(after, before);
}

TEST(Apply, what_no_write_brings_back_is_named) {
  // After probe the threshold is 0, which is below the smallest value that the file accepts.
  ModelTree tree(middle_unit());
  tree.refuse_read = "etm0/enable_source";
  const auto report = apply(tree, ready("cycles 32\n"), {.start = true});
  ASSERT_FALSE(report);
  EXPECT_NE(
      report.error().detail.find("These files could not be restored: etm0/cyc_threshold (was 0x0, "
                                 "is 0x20)."),
      std::string::npos)
      << report.error().detail;
}

TEST(Apply, refused_while_tracing) {
  ModelTree tree(middle_unit());
  ASSERT_EQ(write(tree.unit, "enable_source", "1"), "ok");
  const auto report = apply(tree, ready("cycles\n"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kConflict);
  EXPECT_EQ(tree.writes, 0);
}

TEST(Apply, refused_if_sysfs_cannot_do_all_of_it) {
  ModelTree tree(middle_unit());
  const auto report = apply(tree, ready("stall level 3\n"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(tree.writes, 0);
}

TEST(Apply, lost_secure_levels_are_noticed) {
  ModelTree tree(middle_unit());
  ASSERT_TRUE(tree.unit.perf_start({}));
  tree.unit.disable({});
  const auto report = apply(tree, ready("levels el0\n"));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().detail.find("perf session"), std::string::npos);
}

TEST(Settings, captured_and_replayed_give_the_same_registers) {
  ModelTree tree(middle_unit());
  program(tree.unit);
  const State before = tree.unit.state;
  const auto settings = capture_settings(tree, "etm0", tree.unit.caps, true);
  ASSERT_TRUE(settings);
  EXPECT_EQ(tree.unit.state, before) << "looking changes nothing";
  EXPECT_EQ(image_of_settings(*settings, middle_unit(), {}), tree.unit.image());
}

TEST(ReadEnvironment, of_a_live_unit) {
  ModelTree tree(full_unit());
  tree.unit.environment.cpu = 5;
  tree.unit.environment.has_trf = true;
  for (unsigned i = 0; i < 8; ++i) tree.unit.state.sscsr[i] = i;
  tree.unit.state.sshot_idx = 3;
  const Environment seen = read_environment(tree, "etm0", full_unit(), false);
  EXPECT_EQ(seen.cpu, 5);
  EXPECT_TRUE(seen.has_trf);
  EXPECT_EQ(seen.access, RegisterAccess::kMemoryMapped);
  EXPECT_EQ(seen.sscsr[3], 3);
  EXPECT_EQ(seen.unknown_sscsr, 0xF7);
  EXPECT_EQ(tree.writes, 0) << "it was not asked to walk";
  const Environment walked = read_environment(tree, "etm0", full_unit(), true);
  EXPECT_EQ(walked.unknown_sscsr, 0);
  EXPECT_EQ(walked.sscsr[7], 7);
  EXPECT_EQ(tree.unit.state.sshot_idx, 3) << "the selection is put back";
}

TEST(ReadEnvironment, a_unit_of_system_registers_shows_less) {
  ModelTree tree(middle_unit());
  tree.unit.environment.access = RegisterAccess::kSystemRegisters;
  EXPECT_EQ(read_environment(tree, "etm0", middle_unit(), false).access,
            RegisterAccess::kSystemRegisters);
  EXPECT_FALSE(read_environment(tree, "etm0", middle_unit(), false).has_trf);
  EXPECT_EQ(read_environment(tree, "none", ete_unit(), false).access,
            RegisterAccess::kSystemRegisters)
      << "an ETE has no other access";
  EXPECT_EQ(read_environment(tree, "none", middle_unit(), false).access,
            RegisterAccess::kMemoryMapped)
      << "a copy of a few files says nothing";
}

TEST(Settings, of_a_unit_after_probe_compare_alike) {
  ModelTree tree(middle_unit());
  const auto first = capture_settings(tree, "etm0", tree.unit.caps, true);
  const auto second = capture_settings(tree, "etm0", tree.unit.caps, true);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST(Ids, are_read_from_the_tree) {
  IdRegisters held = full_unit();
  held.idr8 = {1, 2, 3, 4, 5, 6};
  held.mgmt.authstatus = 0xCC;
  held.mgmt.pidr[2] = 7;
  ModelTree tree(held);
  const auto id = read_ids(tree, "etm0");
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, held);
}

}  // namespace
}  // namespace waymark::etm4x
