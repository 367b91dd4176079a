// The model: a trace unit as the Linux driver presents it.  Write its files, read them, enable it,
// and see the resulting registers.  See etm4x-programming.md 3 to 8 and 10.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/etm4x/capabilities.h"
#include "waymark/etm4x/outcome.h"
#include "waymark/etm4x/register_image.h"
#include "waymark/etm4x/state.h"

namespace waymark::etm4x {

/// The built-in feature `strobing` and the configuration `autofdo` that loads it;
/// etm4x-programming.md 14.
struct Configuration {
  static constexpr std::uint32_t kAutofdoHash = 0xA7C3DDDD;
  static constexpr unsigned kPresets = 9;
  static constexpr std::array<std::uint32_t, kPresets> kPeriods = {2,   4,   8,    16,  64,
                                                                   128, 512, 1024, 4096};
  static constexpr std::uint64_t kDefaultWindow = 5000;
  static constexpr std::uint64_t kDefaultPeriod = 10000;

  bool enabled = false;
  unsigned preset = 0;  ///< 0: the parameters below.
  std::uint64_t window = kDefaultWindow;
  std::uint64_t period = kDefaultPeriod;
  std::uint32_t saved_counter0 = 0;  ///< From the last run.
  std::uint32_t saved_counter1 = 0;
};

enum class Use : std::uint8_t { kIdle, kSysfs, kPerf };

enum class FilterAction : std::uint8_t { kFilter, kStart, kStop };

struct PerfFilter {
  FilterAction action = FilterAction::kFilter;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

/// One start of a perf event; members are named as in the PMU's format folder.
struct PerfRequest {
  bool branch_broadcast = false;
  bool cycacc = false;
  bool contextid1 = false;
  bool contextid2 = false;
  bool contextid = false;
  bool timestamp = false;
  bool retstack = false;
  std::uint32_t preset = 0;
  std::uint32_t configid = 0;
  std::uint32_t cc_threshold = 0;
  bool exclude_kernel = false;
  bool exclude_user = false;
  bool start_stop_started = false;  ///< TRCVICTLR.SSSTATUS as the last stop of this event kept it.
  std::vector<PerfFilter> filters{};
};

/// Plain data with the driver's operations.  Not thread safe.
struct Unit {
  /// The state after probe, etm4x-programming.md 3.
  explicit Unit(const IdRegisters& registers, const Environment& where = {},
                Quirks quirk_set = kAllQuirks);

  /// Writes exactly these bytes to a file.  A refusal changes nothing.
  Outcome write(std::string_view file, std::string_view bytes);
  /// The text of the file, with its newline.
  [[nodiscard]] Shown read(std::string_view file);

  /// The registers that an enable would write now.  For TRCSSCSRn and the trace ID, this counts as
  /// an enable.
  RegisterImage image();

  /// The registers that the last effective enable through sysfs wrote.
  [[nodiscard]] const RegisterImage& hardware() const { return hardware_; }

  Outcome enable();
  void disable_through_sysfs();

  /// Called when trace is stopped and hardware holds `registers`; other counters and single-shot
  /// states keep their written values.
  void disable(std::span<const std::pair<std::string, std::uint64_t>> registers);

  /// Starts a perf session, and ends an earlier one.
  std::expected<RegisterImage, Refusal> perf_start(const PerfRequest& request);

  /// EXCL of etm4x-programming.md 3: levels that the mode bits exclude, [3:0] secure, [6:4]
  /// non-secure.
  [[nodiscard]] std::uint32_t excluded_levels() const;

  /// The value that mgmt/trctraceid shows; it stays the same from then on.
  unsigned trace_id();
  /// TRCCONFIGR in hardware; 0 before the first enable.
  [[nodiscard]] std::uint32_t live_configr() const;
  /// TRCPDCR: power is requested while the unit is enabled.
  [[nodiscard]] std::uint32_t live_pdcr() const;

  IdRegisters id;
  Environment environment;
  Quirks quirks;
  Capabilities caps;
  State state;
  Configuration configuration;
  Use use = Use::kIdle;
  std::optional<unsigned> allocated_trace_id;

 private:
  void set_probe_defaults();
  void load_configuration(unsigned preset);
  void read_back(std::span<const std::pair<std::string, std::uint64_t>> registers);
  Outcome program_perf(const PerfRequest& request);
  Outcome set_timestamp_interval();
  Outcome set_filters(const PerfRequest& request);

  RegisterImage hardware_;
  RegisterImage written_;  ///< By the last enable of any kind, or the last image.
  bool configuration_running_ = false;
};

}  // namespace waymark::etm4x
