// A capture with everything that belongs to it, described or random, for tests and benchmarks of
// programs that read captures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "waymark/image/image.h"
#include "waymark/synth/capture.h"

namespace waymark::synth {

struct Workload {
  Program program;
  ExecutionOptions execution;  ///< For the first core; the others have their own seeds.
  std::vector<UnitOptions> units;
  CaptureOptions capture;

  struct RandomOptions {
    std::uint64_t seed = 1;
    /// The protocol of each source; empty: one to four random sources.
    std::vector<Protocol> protocols{};
    std::uint64_t size = 0;  ///< Bytes; 0: a random size from 100 to 20,000.
    bool damage = false;     ///< Some captures are damaged.
    std::string m_core{};    ///< One source: the ETM of this core, of m_core(); empty: others.
  };
  /// Draws program, execution and options from the seed, with all features of the protocols.
  ///
  /// kInvalidArgument: a protocol that synthetic captures do not have, or too many.
  static Result<Workload> random(const RandomOptions& options);

  /// The result points to `program`: the workload must outlive it.  Errors as of make_unit() and
  /// CaptureMaker::create().
  [[nodiscard]] Result<CaptureMaker> make(bool keep_truth = true) const;

 private:
  static Result<Workload> random_m_profile(const RandomOptions& options);
};

/// A whole capture in memory.  Registers are in maker.units(), frames in maker.frame_options().
struct MemoryCapture {
  CaptureMaker maker;
  std::unique_ptr<image::Image> image;
  std::vector<std::uint8_t> bytes{};

  /// A decoding source for each unit, in order.  The capture must outlive them.
  [[nodiscard]] std::vector<std::unique_ptr<Source>> sources() const;
};

/// As Workload::make(), or the error of TraceUnit::status().
Result<MemoryCapture> make_in_memory(const Workload& workload, bool keep_truth = true);

}  // namespace waymark::synth
