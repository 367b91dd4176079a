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

  /// kNotFound: no such file; kIo: it is not a regular file, or the system or the driver refused,
  /// with the reason.
  virtual Result<std::string> read(std::string_view path) = 0;
  /// One write of the whole text.  Errors as above.
  virtual Result<void> write(std::string_view path, std::string_view text) = 0;
  /// In a copy: writes a file, and creates it if necessary.
  virtual Result<void> create(std::string_view path, std::string_view text);
  /// In a copy: removes a file that create() made.
  virtual Result<void> remove(std::string_view path);
  /// Whether the tree has a driver: index files select, and reads show the driver's result of a
  /// write.
  [[nodiscard]] virtual bool live() const = 0;
  /// The folders "etm<N>" and "ete<N>", by number.
  virtual std::vector<std::string> units() = 0;
};

/// kNotFound: there is no such folder.
Result<std::unique_ptr<DeviceTree>> open_device_tree(const std::string& root);

/// ID registers from trcidr/ and mgmt/.  If a copy lacks mgmt/trcdevarch, TRCIDR1 gives the
/// version; other registers beyond TRCIDR5 may be missing.  kNotFound, kIo, kParse: with the file.
Result<IdRegisters> read_ids(DeviceTree& tree, std::string_view unit);

/// The environment according to the files: cpu, ts_source, whether the unit is memory-mapped, and
/// TRCSSCSRn.  With `walk`, all single-shot controls are visited as in capture_settings();
/// otherwise only the one that sshot_idx selects is known.  Values that cannot be read keep their
/// defaults.
Environment read_environment(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                             bool walk);

/// The number in a file; hexadecimal unless `base` is different.
Result<std::uint64_t> read_number(DeviceTree& tree, std::string_view path, unsigned base = 16);

/// The settings in the driver of a live tree, as the writes that restore them, beginning with a
/// reset. `walk`: visits every comparator, counter and so on by writing index files, and then
/// restores these; otherwise it reads only what the index files select.
Result<std::vector<SysfsWrite>> capture_settings(DeviceTree& tree, std::string_view unit,
                                                 const Capabilities& caps, bool walk);

struct Settings {
  std::vector<SysfsWrite> writes{};  ///< As from capture_settings().
  bool complete = false;             ///< All comparators, counters and selectors are known.
  std::vector<std::string> notes{};  ///< What a user must know about them, in sentences.
};

/// The file in a unit's folder of a copy in which apply_plan() records its settings.  It is needed
/// because each file of a copy holds one comparator, and index files do not select.
inline constexpr std::string_view kRecordFile = "waymark-settings";

/// The contents of kRecordFile.
std::string record_text(const std::vector<SysfsWrite>& writes);

/// The settings of a unit, from its driver or from a copy.  In a copy, the record of apply_plan()
/// counts while the other files agree with it.  Otherwise, files that were written after the copy
/// was made take precedence over addr_cmp_view, which only a driver keeps up to date.
Result<Settings> read_settings(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                               const Environment& environment, bool walk);

/// The registers that result from the captured settings.
RegisterImage image_of_settings(const std::vector<SysfsWrite>& settings, const IdRegisters& id,
                                const Environment& environment);

struct ApplyReport {
  std::vector<SysfsWrite> done{};  ///< Paths with the device's folder.
};

struct ApplyOptions {
  bool start = false;  ///< Write enable_source too.
  /// Called when everything is written and read back.  False: everything is restored.
  std::function<bool(const ApplyReport&)> confirm{};
};

/// The writes in the order of apply_plan(), sinks first.
std::vector<SysfsWrite> apply_order(const CompiledPlan& compiled, const Plan& plan,
                                    std::string_view unit, const ApplyOptions& options);

/// Writes the plan and reads every file back.  On a failure everything is restored, and the
/// sentence names the write, the reason and what could not be restored.  kConflict: the unit is
/// enabled; kUnsupported: the plan has settings without a sysfs file.
///
/// In a copy, the other files of the unit then hold what the driver would show, and kRecordFile has
/// all settings.
Result<ApplyReport> apply_plan(DeviceTree& tree, std::string_view unit, const IdRegisters& id,
                               const Environment& environment, const CompiledPlan& compiled,
                               const Plan& plan, const ApplyOptions& options);

}  // namespace waymark::etm4x
