// The reference library's side of the benchmark.
#pragma once

#include <expected>
#include <string>

#include "bench/capture.h"

namespace waymark::bench {

/// "OpenCSD 1.3.3"; empty if the program was built without it.
std::string reference_version();

/// One pass of `work` over `capture` with new decoders.  kElementBatches and kElementSingle are the
/// same here, because the reference calls its client for every element.  The error is a sentence.
/// `verify` fills Counts::checksum, which a measured pass leaves out.
std::expected<Counts, std::string> run_reference(const Capture& capture, Work work, bool verify);

}  // namespace waymark::bench
