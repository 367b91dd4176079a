// The files of real units: /sys/bus/coresight/devices, or a copy of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {

/// Paths are relative to the root: "etm0/mode".
class DeviceTree {
 public:
  DeviceTree() = default;
  DeviceTree(const DeviceTree&) = delete;
  DeviceTree& operator=(const DeviceTree&) = delete;
  virtual ~DeviceTree() = default;

  /// kNotFound: no such file; kIo: it is not a regular file, or the system or the driver refused;
  /// the sentence says how.
  virtual Result<std::string> read(std::string_view path) = 0;
  /// One write of the whole text.  Errors as above.
  virtual Result<void> write(std::string_view path, std::string_view text) = 0;
  /// In a copy: writes a file, which is made if it does not exist.
  virtual Result<void> create(std::string_view path, std::string_view text);
  /// In a copy: removes a file that create() made.
  virtual Result<void> remove(std::string_view path);
  /// Whether a driver answers: index files select, and reads show what the driver made of a write.
  [[nodiscard]] virtual bool live() const = 0;
  /// The folders "etm<N>" and "ete<N>", by number.
  virtual std::vector<std::string> units() = 0;
};

/// kNotFound: there is no such folder.
Result<std::unique_ptr<DeviceTree>> open_device_tree(const std::string& root);

/// ID registers from trcidr/ and mgmt/.  Where a copy lacks mgmt/trcdevarch, TRCIDR1 tells the
/// version; other registers beyond TRCIDR5 may be missing.  kNotFound, kIo, kParse: with the file.
Result<IdRegisters> read_ids(DeviceTree& tree, std::string_view unit);

/// What the files tell of the environment: cpu, ts_source, whether the unit is memory-mapped, and
/// TRCSSCSRn.  Of single-shot controls `walk` visits all as capture_settings() does; otherwise the
/// one that sshot_idx selects is known.  What cannot be read keeps its default.
Environment read_environment(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                             bool walk);

/// The number in a file, hexadecimal unless `base` says otherwise.
Result<std::uint64_t> read_number(DeviceTree& tree, std::string_view path, unsigned base = 16);

/// What the driver of a live tree holds, as the writes that restore it; begins with a reset.
/// `walk`: every comparator, counter and so on is visited by writing index files, which are then
/// restored; otherwise only what the index files select is seen.
Result<std::vector<SysfsWrite>> capture_settings(DeviceTree& tree, std::string_view unit,
                                                 const Capabilities& caps, bool walk);

struct Settings {
  std::vector<SysfsWrite> writes{};  ///< As those of capture_settings().
  bool complete = false;             ///< All comparators, counters and selectors are known.
  std::vector<std::string> notes{};  ///< What a user must know of them, in sentences.
};

/// The file in a unit's folder of a copy in which apply_plan() records its settings: each file of a
/// copy holds one comparator, and its index file does not select.
inline constexpr std::string_view kRecordFile = "waymark-settings";

/// What kRecordFile holds.
std::string record_text(const std::vector<SysfsWrite>& writes);

/// The settings of a unit, from its driver or from a copy.  In a copy, the record of apply_plan()
/// counts while the other files agree with it.  Otherwise files that were written after the copy
/// was made are believed rather than addr_cmp_view, which only a driver keeps up to date.
Result<Settings> read_settings(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                               const Environment& environment, bool walk);

/// The registers that the captured settings stand for.
RegisterImage image_of_settings(const std::vector<SysfsWrite>& settings, const IdRegisters& id,
                                const Environment& environment);

struct ApplyReport {
  std::vector<SysfsWrite> done{};  ///< Paths with the device's folder.
};

struct ApplyOptions {
  bool start = false;  ///< Write enable_source too.
  /// Called once everything is written and read back.  False: everything is restored.
  std::function<bool(const ApplyReport&)> confirm{};
};

/// The writes in the order of apply_plan(), sinks first.
std::vector<SysfsWrite> apply_order(const CompiledPlan& compiled, const Plan& plan,
                                    std::string_view unit, const ApplyOptions& options);

/// Writes the plan and reads every file back.  On a failure everything is restored, and the
/// sentence names the write, the reason and what could not be restored.  kConflict: the unit is
/// enabled; kUnsupported: the plan has settings that sysfs cannot make.
///
/// In a copy, the other files of the unit then hold what the driver would show, and kRecordFile has
/// all settings.
Result<ApplyReport> apply_plan(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                               const Environment& environment, const CompiledPlan& compiled,
                               const Plan& plan, const ApplyOptions& options);

}  // namespace waymark::etm4x
