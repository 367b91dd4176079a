// Turns an execution into the bytes that a trace unit writes, with their ground truth.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/protocol/source.h"
#include "waymark/synth/execution.h"
#include "waymark/synth/program.h"
#include "waymark/synth/truth.h"

namespace waymark::synth {

/// Means are counted in blocks (in messages for STM and ITM); 0 switches the feature off.
struct UnitOptions {
  Protocol protocol = Protocol::kEtmV4;
  TraceId trace_id = 0x10;
  std::uint64_t seed = 1;
  std::string core{};  ///< "Cortex-A53"; empty: one that suits the protocol.

  // The settings of the trace unit.
  bool return_stack = false;
  bool cycle_counts = false;
  std::uint32_t cycle_threshold = 64;  ///< ETMv4, ETE: cycles below which none is traced.
  bool branch_broadcast = false;
  bool context_ids = false;
  bool vmids = false;
  std::uint64_t sync_period = 4096;  ///< Bytes between two synchronisations.
  std::uint32_t speculation = 0;  ///< ETMv4, ETE: TRCIDR8, elements not yet committed; at most 255.

  // The frequency of events.
  std::uint64_t timestamp_mean = 0;
  std::uint64_t event_mean = 0;
  std::uint64_t mispredict_mean = 20;  ///< With `speculation` only.
  std::uint64_t q_mean = 0;            ///< ETMv4, ETE.
  std::uint64_t overflow_mean = 0;
  std::uint64_t discard_mean = 0;  ///< ETMv4, ETE.
  std::uint64_t filter_mean = 0;   ///< Trace stops for a while, as a filter does it.
};

/// A register in the form of device files.
struct UnitRegister {
  std::string_view name;  ///< Valid as long as the unit.
  std::uint64_t value = 0;
};

/// One trace unit with the core, or for STM and ITM the software, that it traces.  Made by
/// make_unit().  One owner; not thread safe.
class TraceUnit {
 public:
  virtual ~TraceUnit() = default;
  TraceUnit(const TraceUnit&) = delete;
  TraceUnit& operator=(const TraceUnit&) = delete;

  /// Continues until at least `bytes` more bytes are appended to `out`, or until exhausted().
  virtual void run(std::vector<std::uint8_t>& out, std::size_t bytes) = 0;
  /// The core has stopped, and run() would append nothing.
  [[nodiscard]] virtual bool exhausted() const { return false; }
  /// Appends the last bytes; nothing may follow.
  virtual void finish(std::vector<std::uint8_t>& out) = 0;

  [[nodiscard]] virtual std::vector<UnitRegister> registers() const = 0;
  /// The type of the snapshot's device: "ETM4.4".
  [[nodiscard]] virtual std::string type() const = 0;
  /// Makes a source that decodes it.  `image` must outlive the source.
  [[nodiscard]] virtual std::unique_ptr<Source> make_source(const image::Image& image) const = 0;
  /// The trace shows single instructions, so a range of the ground truth comes in parts.
  [[nodiscard]] virtual bool ranges_in_parts() const { return false; }
  /// Core name; empty for STM and ITM.
  [[nodiscard]] const std::string& core() const { return core_; }
  [[nodiscard]] const UnitOptions& options() const { return options_; }
  [[nodiscard]] TruthWriter& truth() { return truth_; }
  /// A packet that could not be encoded; a fault of this library.
  [[nodiscard]] const Result<void>& status() const { return status_; }

 protected:
  TraceUnit(UnitOptions options, std::string core, bool keep_truth)
      : options_(std::move(options)), core_(std::move(core)), truth_(keep_truth) {}

  void note(const Result<void>& result) {
    if (!result && status_) [[unlikely]]
      status_ = result;
  }

  UnitOptions options_;
  std::string core_;
  TruthWriter truth_;
  Result<void> status_;
};

/// `program` is nullptr for STM and ITM; otherwise it must outlive the unit. With `keep_truth`,
/// truth() collects the bytes of the ground truth, for the caller to take.
///
/// kInvalidArgument: an unknown core, or an option that is not allowed or that the protocol does
/// not have; kUnsupported: the protocol cannot trace the program's instruction sets.
Result<std::unique_ptr<TraceUnit>> make_unit(const UnitOptions& options, const Program* program,
                                             const ExecutionOptions& execution, bool keep_truth);

}  // namespace waymark::synth
