// Turns frames into records: parsed, with the client that they belong to and the time at which they
// were sent.  See mipi-syst.md 5 to 8.
#pragma once

#include <cstdint>
#include <optional>

#include "waymark/syst/clock.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/frame.h"
#include "waymark/syst/message.h"
#include "waymark/syst/parser.h"

namespace waymark::syst {

/// All that is known about one message.  Views into the frame and the collateral.
struct Record {
  Frame frame;
  Message message;
  const Client* client = nullptr;
  const Entry* entry = nullptr;  ///< format_entry().
  Status status = Status::kOk;
  /// Ticks of the transport's clock: from the message's own timestamp if a CLOCK message relates
  /// its clock to the transport's, otherwise from its first packet.
  std::optional<std::uint64_t> time{};
  bool time_is_own = false;  ///< `time` comes from the message's own timestamp.
  /// `time` in nanoseconds, if the frequency and all bits of the time are known; without any
  /// transport clock, nanoseconds of the source's own clock.
  std::optional<std::uint64_t> nanoseconds{};

  /// The upper bits of `time` are not known.
  [[nodiscard]] bool time_is_partial() const {
    return time.has_value() && !time_is_own && frame.time_is_partial;
  }
  /// The message can be read, whatever the collateral says about it.
  [[nodiscard]] bool good() const {
    // The reference has no strict mode, so two defects of that mode have the status kOk.
    return message.ok() && (status == Status::kOk || status == Status::kMissingCollateral);
  }
};

/// Takes the frames of one capture in order, and learns from CLOCK and BUILD messages.
/// `collateral` must outlive it.  One owner; not thread safe.
class Interpreter {
 public:
  explicit Interpreter(const Collateral& collateral, const ParseOptions& options = {})
      : options_(options), finder_(collateral, options.quirks) {}

  /// The client of short messages, which cannot name it.
  void set_short_client(const Guid& guid) { finder_.set_short_client(guid); }
  /// The frequency of the transport's timestamps, in Hz, for trace IDs whose trace does not state
  /// one; 0: not known.
  void set_transport_frequency(std::uint64_t hertz) { clocks_.set_transport_frequency(hertz); }
  /// The frequency that the trace of this ID states.
  void set_transport_frequency(TraceId id, std::uint64_t hertz) {
    clocks_.set_transport_frequency(id, hertz);
  }

  Record interpret(const Frame& frame);

 private:
  ParseOptions options_;
  ClientFinder finder_;
  ClockMap clocks_;
};

}  // namespace waymark::syst
