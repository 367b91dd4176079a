// The activity in a trace right now, for a display that is redrawn: hot
// addresses, exceptions, ports and losses since the last look, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "waymark/element/element.h"

namespace waymark::count {

/// Where something was executed or sampled.
struct ActivityPlace {
  std::uint64_t address = 0;
  std::uint32_t program = 0;  ///< Whose address it is; 0: that of the target's memory.
  friend bool operator==(const ActivityPlace&, const ActivityPlace&) = default;
};
struct ActivityPlaceHash {
  std::size_t operator()(const ActivityPlace& place) const {
    return static_cast<std::size_t>(
        (place.address ^ std::uint64_t{place.program} << 40) * 0x9E3779B97F4A7C15ULL >> 16);
  }
};

/// The counts between two looks.
struct ActivityCounts {
  /// The most addresses that are told apart; the others only count in `unlisted`.
  static constexpr std::size_t kMostPlaces = 65536;
  static constexpr std::size_t kMostNumbers = 4096;

  /// Samples of the program counter, or instructions of ranges by where these begin.
  std::unordered_map<ActivityPlace, std::uint64_t, ActivityPlaceHash> places;
  std::uint64_t unlisted = 0;
  std::map<std::uint32_t, std::uint64_t> exceptions;  ///< How often each was entered.
  std::map<std::uint32_t, std::uint64_t> ports;       ///< Bytes written to each stimulus port.
  std::uint64_t samples = 0;
  std::uint64_t sleeping = 0;  ///< Samples while the core was asleep.
  std::uint64_t instructions = 0;
  std::uint64_t software = 0;   ///< Packets of an STM.
  std::uint64_t overflows = 0;  ///< Times at which the trace unit lost trace.

  /// Samples and instructions: what the shares of places are of.
  [[nodiscard]] std::uint64_t weight() const { return samples + instructions; }
  void add(const ActivityCounts& more);
  void add_place(const ActivityPlace& place, std::uint64_t weight);
};

/// One owner; not thread safe.
class Activity {
 public:
  static constexpr std::size_t kMostLines = 16;
  static constexpr std::size_t kLongestLine = 256;

  struct PortLine {
    std::uint32_t port = 0;
    std::string text;  ///< As it was sent, without the line end.
  };

  /// Tells the places of an element's address apart, such as by program and function.
  using Locate = std::function<ActivityPlace(const Element& element, std::uint64_t address)>;

  /// Without `locate`, each address is a place.
  explicit Activity(Locate locate = {}) : locate_(std::move(locate)) {}

  void observe(std::span<const Element> elements);

  /// The counts since the last call.
  ActivityCounts take();
  /// The last whole lines of text that ports sent, the oldest first.
  [[nodiscard]] const std::deque<PortLine>& lines() const { return lines_; }

 private:
  void observe_itm(const Element& element);
  void add_place(const Element& element, std::uint64_t address, std::uint64_t weight);
  void add_text(std::uint32_t port, const Element& element);
  void end_lines();
  void end_line(std::uint32_t port, std::string& line);

  Locate locate_;
  ActivityCounts counts_;
  std::map<std::uint32_t, std::string> open_;  ///< The line that each port has begun.
  std::deque<PortLine> lines_;
};

}  // namespace waymark::count
