// Frames to records: parsed, with the client that they belong to and the time at which they were
// made.  See mipi-syst.md 5 to 8.
#pragma once

#include <cstdint>
#include <optional>

#include "waymark/syst/clock.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/frame.h"
#include "waymark/syst/message.h"
#include "waymark/syst/parser.h"

namespace waymark::syst {

/// All that is known of one message.  Views into the frame and the collateral.
struct Record {
  Frame frame;
  Message message;
  const Client* client = nullptr;
  const Entry* entry = nullptr;  ///< format_entry().
  Status status = Status::kOk;
  /// Ticks of the transport's clock: of the message's own timestamp where a CLOCK message ties its
  /// clock to that of the transport, or else of its first packet.
  std::optional<std::uint64_t> time{};
  bool time_is_own = false;  ///< `time` comes from the message's own timestamp.
  /// The same in nanoseconds where the frequency is known, and all bits of the time; without any
  /// transport clock, those of the source's own.
  std::optional<std::uint64_t> nanoseconds{};

  /// Upper bits of `time` are not known.
  [[nodiscard]] bool time_is_partial() const {
    return time.has_value() && !time_is_own && frame.time_is_partial;
  }
  /// The message can be read, whatever collateral says of it.
  [[nodiscard]] bool good() const {
    // Two defects of strict mode are kOk in the words of the reference, which has no such mode.
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
  /// Of the transport's timestamps, in Hz, where the trace of an ID says none; 0: not known.
  void set_transport_frequency(std::uint64_t hertz) { clocks_.set_transport_frequency(hertz); }
  /// The same as the trace of this ID says it.
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
