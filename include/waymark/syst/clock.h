// Converts times of message sources to times of the transport.  See mipi-syst.md 5.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "waymark/syst/frame.h"
#include "waymark/syst/message.h"

namespace waymark::syst {

/// Learns from CLOCK messages.  Each channel has a clock of its own.  If a channel has sent no
/// CLOCK message, the last one of another channel of its master counts.  One owner; not thread
/// safe.
class ClockMap {
 public:
  /// Takes a CLOCK message as it came; ignores others.
  void learn(const Message& message, const Frame& frame);

  /// The frequency of the transport's timestamps, in Hz, for trace IDs whose trace does not state
  /// one; 0: not known.
  void set_transport_frequency(std::uint64_t hertz) { frequency_ = hertz; }
  /// The frequency that the trace of this ID states.
  void set_transport_frequency(TraceId id, std::uint64_t hertz) { frequencies_[id] = hertz; }
  [[nodiscard]] std::uint64_t transport_frequency(TraceId id) const {
    return frequencies_[id] != 0 ? frequencies_[id] : frequency_;
  }

  /// The time of a message's own timestamp on the transport's clock.  It needs a CLOCK message with
  /// a transport timestamp, and the transport's frequency or a second such message.
  [[nodiscard]] std::optional<std::uint64_t> transport_time(const Message& message,
                                                            const Frame& frame) const;

  /// Nanoseconds of the source's own clock, from the frequency in a CLOCK message.
  [[nodiscard]] std::optional<std::uint64_t> source_nanoseconds(const Message& message,
                                                                const Frame& frame) const;

 private:
  struct Sync {
    std::uint64_t transport = 0;
    std::uint64_t source = 0;
    std::uint64_t frequency = 0;  ///< The source's clock, in Hz.
    bool has_transport = false;
    double ticks = 0;  ///< Transport ticks per source tick; 0: not known.
  };
  using Key = std::tuple<TraceId, std::uint32_t, std::uint32_t>;
  static constexpr std::uint32_t kAny = kNoChannel - 1;
  /// Damaged captures can have any number of channels.
  static constexpr std::size_t kMaxClocks = 65536;

  Sync& place(const Key& key);
  [[nodiscard]] const Sync* find(const Frame& frame) const;

  std::map<Key, Sync> clocks_;
  std::uint64_t frequency_ = 0;
  std::array<std::uint64_t, 256> frequencies_{};
};

/// Ticks of a clock of `hertz` as nanoseconds, rounded down; all bits are set if the result is too
/// large.
std::uint64_t to_nanoseconds(std::uint64_t ticks, std::uint64_t hertz);

}  // namespace waymark::syst
