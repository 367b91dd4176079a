#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "waymark/etm4x/files.h"
#include "waymark/etm4x/tree.h"

namespace waymark::etm4x {
namespace {

// Whether `actual` is what the model expects to read.  A copy holds what was written instead.
bool same_setting(std::string_view expected, std::string_view written, std::string_view actual) {
  const auto trimmed = [](std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \n") + 1);
  };
  return trimmed(actual) == trimmed(expected) || trimmed(actual) == trimmed(written);
}

class Applier {
 public:
  Applier(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
          const Environment& environment)
      : tree_(tree), unit_(unit), model_(id, environment) {}

  Result<ApplyReport> run(std::vector<SysfsWrite> writes,
                          const std::function<bool(const ApplyReport&)>& confirm) {
    if (auto ready = check_idle(); !ready) return std::unexpected(ready.error());
    // A copied tree lacks the files that cannot be read.
    reset_left_out_ = std::erase_if(writes, [&](const SysfsWrite& write) {
                        if (tree_.live() || write.file != in_unit("reset")) return false;
                        const auto text = tree_.read(write.file);
                        return !text && text.error().code == ErrorCode::kNotFound;
                      }) != 0;
    if (reset_left_out_) static_cast<void>(model_.write("reset", "1"));
    if (auto kept = keep(writes); !kept) {
      return fail(kept.error().code, fmt::format("{} Nothing was written, because the current "
                                                 "values must be read first to be restored later.",
                                                 kept.error().detail));
    }
    ApplyReport report;
    for (const SysfsWrite& write : writes) {
      started_ = started_ || write.file == in_unit("enable_source");
      if (auto done = put(write); !done) return failed(write, done.error());
      report.done.push_back(write);
    }
    if (!tree_.live()) {
      if (auto done = show_as_driver(report); !done) return std::unexpected(done.error());
    }
    if (confirm && !confirm(report)) {
      return fail(ErrorCode::kIo, fmt::format("The plan was not applied. {}", undo()));
    }
    return report;
  }

 private:
  [[nodiscard]] std::string in_unit(std::string_view file) const {
    return fmt::format("{}/{}", unit_, file);
  }

  Result<void> check_idle() {
    const auto enabled = read_number(tree_, in_unit("enable_source"), 10);
    if (!enabled) return std::unexpected(enabled.error());
    if (*enabled == 0) return {};
    return fail(ErrorCode::kConflict,
                fmt::format("{} is tracing, so writes would only take effect at its next start: "
                            "write 0 to {} first.",
                            unit_, in_unit("enable_source")));
  }

  // Keeps what an undo needs.
  Result<void> keep(const std::vector<SysfsWrite>& writes) {
    for (const SysfsWrite& write : writes) {
      const bool of_unit = write.file.starts_with(fmt::format("{}/", unit_));
      if (tree_.live() && of_unit) continue;
      const bool known =
          std::ranges::any_of(before_, [&](const auto& held) { return held.first == write.file; });
      if (known) continue;
      auto text = tree_.read(write.file);
      if (!text) return std::unexpected(text.error());
      before_.emplace_back(write.file, std::move(*text));
    }
    if (!tree_.live()) return {};
    auto settings = capture_settings(tree_, unit_, model_.caps, true);
    if (!settings) return std::unexpected(settings.error());
    settings_ = std::move(*settings);
    return {};
  }

  // In a copy no driver answers, and the other files of the unit would be out of date.
  Result<void> show_as_driver(const ApplyReport& report) {
    const auto written = [&](std::string_view file) {
      return std::ranges::find(report.done, in_unit(file), &SysfsWrite::file) != report.done.end();
    };
    for (const FileRow& row : file_table()) {
      const bool setting = row.store != nullptr && row.name != "enable_source";
      if (row.show == nullptr || !(setting || row.name == "addr_cmp_view")) continue;
      if (written(row.name)) continue;
      const std::string path = in_unit(row.name);
      auto held = tree_.read(path);
      if (!held) continue;
      // If the driver refuses to show a file, its copy is empty.
      const std::string shown = model_.read(row.name).value_or("");
      if (*held == shown) continue;
      before_.emplace_back(path, std::move(*held));
      const SysfsWrite write{path, shown.substr(0, shown.find('\n')), 0};
      if (auto done = tree_.write(path, shown); !done) return failed(write, done.error());
    }
    std::vector<SysfsWrite> settings;
    if (reset_left_out_) settings.push_back({"reset", "1", 0});
    const std::string prefix = in_unit("");
    for (const SysfsWrite& write : report.done) {
      if (!write.file.starts_with(prefix) || write.file == in_unit("enable_source")) continue;
      settings.push_back({write.file.substr(prefix.size()), write.value, 0});
    }
    const std::string record = in_unit(kRecordFile);
    auto held = tree_.read(record);
    if (!held && held.error().code != ErrorCode::kNotFound) {
      return failed({record, "", 0}, held.error());
    }
    if (held) before_.emplace_back(record, std::move(*held));
    made_record_ = !held;
    if (auto done = tree_.create(record, record_text(settings)); !done) {
      return failed({record, std::string(kRecordFile), 0}, done.error());
    }
    return {};
  }

  Result<void> put(const SysfsWrite& write) {
    if (auto done = tree_.write(write.file, write.value + "\n"); !done) return done;
    const std::string prefix = fmt::format("{}/", unit_);
    if (!write.file.starts_with(prefix)) return verify(write, write.value);
    const std::string_view file = std::string_view(write.file).substr(prefix.size());
    const FileRow* row = find_file(file);
    const auto modelled = model_.write(file, write.value);
    if (row == nullptr || row->show == nullptr || !modelled) return {};
    const auto expected = model_.read(file);
    if (!expected) return {};
    return verify(write, *expected);
  }

  Result<void> verify(const SysfsWrite& write, std::string_view expected) {
    const auto actual = tree_.read(write.file);
    if (!actual) return std::unexpected(actual.error());
    if (same_setting(expected, write.value, *actual) || same_number(expected, *actual)) return {};
    std::string hint;
    if (write.file.ends_with("/s_exlevel_vinst")) {
      hint =
          " A perf session made the driver forget the secure levels; load it again, or name "
          "them in levels.";
    }
    return fail(ErrorCode::kIo,
                fmt::format("{} reads '{}' after '{}' was written, not '{}'.{}", write.file,
                            actual->substr(0, actual->find('\n')), write.value,
                            expected.substr(0, expected.find('\n')), hint));
  }

  // Each sink prints sizes and flags in a base of its own.
  static bool same_number(std::string_view expected, std::string_view actual) {
    const auto a = strict_number(expected, 0);
    const auto b = strict_number(actual, 0);
    return a && b && *a == *b;
  }

  std::unexpected<Error> failed(const SysfsWrite& write, const Error& reason) {
    const std::string undone = undo();
    const std::string place =
        write.line == 0 ? "" : fmt::format(" (line {} of the plan)", write.line);
    return fail(reason.code, fmt::format("Writing '{}' to {}{} failed: {} {}", write.value,
                                         write.file, place, reason.detail, undone));
  }

  std::string undo() {
    std::vector<std::string> left;
    if (started_ && tree_.live()) stop(left);
    for (const SysfsWrite& setting : settings_) {
      static_cast<void>(tree_.write(in_unit(setting.file), setting.value + "\n"));
    }
    if (made_record_) {
      const auto gone = tree_.remove(in_unit(kRecordFile));
      if (!gone && gone.error().code != ErrorCode::kNotFound) {
        left.push_back(in_unit(kRecordFile));
      }
    }
    for (const auto& [file, held] : std::views::reverse(before_)) {
      const auto now = tree_.read(file);
      if (now && *now == held) continue;
      if (!tree_.write(file, held)) left.push_back(file);
    }
    if (tree_.live()) compare(left);
    if (left.empty()) return "All files have their previous values again.";
    return fmt::format("These files could not be restored: {}.", fmt::join(left, ", "));
  }

  // Even a write that failed, or whose result could not be read, may have started the unit.
  void stop(std::vector<std::string>& left) {
    const std::string file = in_unit("enable_source");
    const auto done = tree_.write(file, "0\n");
    const auto now = read_number(tree_, file, 10);
    if (now ? *now != 0 : !done) left.push_back(file);
  }

  void compare(std::vector<std::string>& left) {
    const auto now = capture_settings(tree_, unit_, model_.caps, true);
    if (!now || now->size() != settings_.size()) {
      left.push_back(in_unit("*"));
      return;
    }
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      const SysfsWrite& was = settings_[i];
      if ((*now)[i] == was) continue;
      left.push_back(
          fmt::format("{} (was {}, is {})", in_unit(was.file), was.value, (*now)[i].value));
    }
  }

  DeviceTree& tree_;
  std::string_view unit_;
  Unit model_;
  bool started_ = false;                                     ///< The unit may trace.
  std::vector<std::pair<std::string, std::string>> before_;  ///< Files and their text.
  std::vector<SysfsWrite> settings_;                         ///< The settings of a live unit.
  bool reset_left_out_ = false;                              ///< A copy does not have the file.
  bool made_record_ = false;                                 ///< In a copy that had no record.
};

}  // namespace

std::vector<SysfsWrite> apply_order(const CompiledPlan& compiled, const Plan& plan,
                                    std::string_view unit, const ApplyOptions& options) {
  std::vector<SysfsWrite> writes;
  for (const PlanSink& sink : plan.sinks) {
    if (sink.buffer != 0) {
      writes.push_back({sink.name + "/buffer_size", fmt::format("0x{:x}", sink.buffer), sink.line});
    }
    writes.push_back({sink.name + "/enable_sink", "1", sink.line});
  }
  for (const SysfsWrite& write : compiled.writes) {
    writes.push_back({fmt::format("{}/{}", unit, write.file), write.value, write.line});
  }
  if (options.start) writes.push_back({fmt::format("{}/enable_source", unit), "1", 0});
  return writes;
}

Result<ApplyReport> apply_plan(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                               const Environment& environment, const CompiledPlan& compiled,
                               const Plan& plan, const ApplyOptions& options) {
  if (!compiled.beyond_sysfs.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("Nothing was written, because sysfs cannot do all of the plan: {}",
                            compiled.beyond_sysfs.front().text()));
  }
  return Applier(tree, unit, id, environment)
      .run(apply_order(compiled, plan, unit, options), options.confirm);
}

}  // namespace waymark::etm4x
