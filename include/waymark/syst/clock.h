// From the clocks of message sources to that of the transport.  See mipi-syst.md 5.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "waymark/syst/frame.h"
#include "waymark/syst/message.h"

namespace waymark::syst {

/// Learns from CLOCK messages.  Each channel has a clock of its own; where it has said nothing, the
/// last word of another channel of its master counts.  One owner; not thread safe.
class ClockMap {
 public:
  /// A CLOCK message, as it came; others are passed over.
  void learn(const Message& message, const Frame& frame);

  /// Of the transport's timestamps, in Hz, where the trace of an ID says none; 0: not known.
  void set_transport_frequency(std::uint64_t hertz) { frequency_ = hertz; }
  /// The same as the trace of this ID says it.
  void set_transport_frequency(TraceId id, std::uint64_t hertz) { frequencies_[id] = hertz; }
  [[nodiscard]] std::uint64_t transport_frequency(TraceId id) const {
    return frequencies_[id] != 0 ? frequencies_[id] : frequency_;
  }

  /// The time of a message's own timestamp on the transport's clock.  It needs a CLOCK message with
  /// a transport timestamp, and the transport's frequency or a second such message.
  [[nodiscard]] std::optional<std::uint64_t> transport_time(const Message& message,
                                                            const Frame& frame) const;

  /// Nanoseconds of the source's own clock, from the frequency that a CLOCK message said.
  [[nodiscard]] std::optional<std::uint64_t> source_nanoseconds(const Message& message,
                                                                const Frame& frame) const;

 private:
  struct Sync {
    std::uint64_t transport = 0;
    std::uint64_t source = 0;
    std::uint64_t frequency = 0;  ///< Of the source, in Hz.
    bool has_transport = false;
    double ticks = 0;  ///< Of the transport for one of the source; 0: not known.
  };
  using Key = std::tuple<TraceId, std::uint32_t, std::uint32_t>;
  static constexpr std::uint32_t kAny = kNoChannel - 1;
  /// Damaged captures have channels without number.
  static constexpr std::size_t kMaxClocks = 65536;

  Sync& place(const Key& key);
  [[nodiscard]] const Sync* find(const Frame& frame) const;

  std::map<Key, Sync> clocks_;
  std::uint64_t frequency_ = 0;
  std::array<std::uint64_t, 256> frequencies_{};
};

/// Ticks of a clock of `hertz` as nanoseconds, rounded down; all bits set if it is too much.
std::uint64_t to_nanoseconds(std::uint64_t ticks, std::uint64_t hertz);

}  // namespace waymark::syst
