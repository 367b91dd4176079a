// From the samples of a session to the bytes of trace on its pins.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/logic/swo.h"

namespace waymark::logic {

/// The settings that the user states; the others are detected.
struct PinOptions {
  /// The channel of each pin: "swo", or "clk" and "d0" to "d3".
  std::vector<std::pair<std::string, std::string>> pins{};
  std::optional<Coding> coding{};
  std::optional<double> bit_rate{};     ///< SWO: bits per second.
  std::optional<double> sample_rate{};  ///< In place of that of the session.
};

/// The decoded bytes, and how they were decoded.
struct PinTrace {
  unsigned width = 0;      ///< Pins of a parallel trace port; 0: SWO.
  std::string channels{};  ///< Their names, the clock first.
  Coding coding = Coding::kUart;
  double bit = 0;          ///< SWO: samples per bit.
  double sample_rate = 0;  ///< 0: not known.
  std::uint64_t samples = 0;
  std::uint64_t errors = 0;        ///< SWO: broken bytes or packets.  Port: lost bits, by syncs.
  std::uint64_t first_error = 0;   ///< SWO: the sample.
  std::uint64_t skipped_bits = 0;  ///< Port: before the first frame sync.
};

/// Receives bytes of trace, at most 1 MiB at once.
using TakeTrace = std::function<Result<void>(Bytes)>;

/// Decodes a session of sigrok.  `stop` is asked from time to time; true ends with kIo.  It may be
/// empty.  The detail of an error is a sentence without the name of the file.
///
/// kInvalidArgument: the options, or which channels have the trace is not clear; kBadData: what the
/// pins show is not trace; and the errors of Session.
Result<PinTrace> decode_pins(Bytes session, const PinOptions& options, const TakeTrace& take,
                             const std::function<bool()>& stop);

}  // namespace waymark::logic
