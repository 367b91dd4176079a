// Waymark's side of the benchmark.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "bench/capture.h"

namespace waymark::bench {

/// The decoders of one capture, ready for a pass.  The caches of a new object are cold; after a
/// pass and reset() they are warm, as in a long capture.
class Own {
 public:
  virtual ~Own() = default;
  Own() = default;
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  /// From the first byte to the end of trace.  `verify` fills Counts::checksum.
  virtual std::expected<Counts, std::string> pass(bool verify) = 0;
  virtual void reset() = 0;
};

/// `capture` must outlive the result.
std::expected<std::unique_ptr<Own>, std::string> make_own(const Capture& capture, Work work);

}  // namespace waymark::bench
