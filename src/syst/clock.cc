#include "waymark/syst/clock.h"

#include <cmath>
#include <utility>

#include "waymark/base/wide.h"

namespace waymark::syst {

std::uint64_t to_nanoseconds(std::uint64_t ticks, std::uint64_t hertz) {
  constexpr std::uint64_t kNano = 1'000'000'000;
  if (hertz == 0) return ~std::uint64_t{0};
  const std::uint64_t seconds = ticks / hertz;
  // The rest is less than a second, and its product may have more than 64 bits.
  const auto rest = Wide{ticks % hertz} * kNano / hertz;
  if (seconds > ~std::uint64_t{0} / kNano - 1) return ~std::uint64_t{0};
  return seconds * kNano + static_cast<std::uint64_t>(rest);
}

ClockMap::Sync& ClockMap::place(const Key& key) {
  if (clocks_.size() >= kMaxClocks && !clocks_.contains(key)) clocks_.erase(clocks_.begin());
  return clocks_[key];
}

void ClockMap::learn(const Message& message, const Frame& frame) {
  if (message.type != Type::kClock || !message.ok()) return;
  const Sync sync{.transport = frame.time,
                  .source = message.value,
                  .frequency = message.extra,
                  .has_transport = frame.has_time && !frame.time_is_partial};
  Sync& own = place({frame.trace_id, frame.master, frame.channel});
  double ticks = own.ticks;
  // Two syncs of one clock give the ratio of the two clocks.
  if (own.has_transport && sync.has_transport && own.frequency == sync.frequency &&
      sync.source > own.source && sync.transport > own.transport) {
    ticks = static_cast<double>(sync.transport - own.transport) /
            static_cast<double>(sync.source - own.source);
  }
  own = sync;
  own.ticks = ticks;
  const Sync last = own;
  place({frame.trace_id, frame.master, kAny}) = last;
}

const ClockMap::Sync* ClockMap::find(const Frame& frame) const {
  if (clocks_.empty()) return nullptr;
  for (const Key& key : {Key{frame.trace_id, frame.master, frame.channel},
                         Key{frame.trace_id, frame.master, kAny}}) {
    const auto found = clocks_.find(key);
    if (found != clocks_.end()) return &found->second;
  }
  return nullptr;
}

std::optional<std::uint64_t> ClockMap::transport_time(const Message& message,
                                                      const Frame& frame) const {
  if (!message.has_timestamp()) return std::nullopt;
  const Sync* const sync = find(frame);
  if (sync == nullptr || !sync->has_transport) return std::nullopt;
  double rate = sync->ticks;
  const std::uint64_t frequency = transport_frequency(frame.trace_id);
  if (frequency != 0 && sync->frequency != 0) {
    rate = static_cast<double>(frequency) / static_cast<double>(sync->frequency);
  }
  if (rate == 0) return std::nullopt;
  const bool before = message.timestamp < sync->source;
  const std::uint64_t distance =
      before ? sync->source - message.timestamp : message.timestamp - sync->source;
  const double ticks = std::floor(static_cast<double>(distance) * rate);
  // A time before the transport's zero or past its end is not valid: the clock was set.
  constexpr double kFarthest = 9.2e18;
  if (ticks > kFarthest) return std::nullopt;
  const auto moved = static_cast<std::uint64_t>(ticks);
  if (before) {
    return moved > sync->transport ? std::nullopt : std::optional(sync->transport - moved);
  }
  return sync->transport + moved < moved ? std::nullopt : std::optional(sync->transport + moved);
}

std::optional<std::uint64_t> ClockMap::source_nanoseconds(const Message& message,
                                                          const Frame& frame) const {
  if (!message.has_timestamp()) return std::nullopt;
  const Sync* const sync = find(frame);
  if (sync == nullptr || sync->frequency == 0) return std::nullopt;
  return to_nanoseconds(message.timestamp, sync->frequency);
}

}  // namespace waymark::syst
