// Counts of ITM trace: stimulus ports, exceptions, samples of the program counter, and other
// packets of the DWT.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "waymark/count/exception_stack.h"
#include "waymark/element/dwt.h"
#include "waymark/element/element.h"

namespace waymark::count {

struct ItmCounts {
  /// The maximum number of addresses in `samples`, which bounds the memory.
  static constexpr std::size_t kMaxSamples = std::size_t{1} << 20;

  struct Port {
    std::uint64_t writes = 0;
    std::uint64_t bytes = 0;
  };
  struct Exception {
    std::uint64_t entered = 0;
    std::uint64_t exited = 0;
    std::uint64_t returned = 0;
    // Times of those whose entry and exit have local timestamps, in ticks of these.
    std::uint64_t measured = 0;
    std::uint64_t total = 0;
    std::uint64_t own = 0;  ///< The same without the time for which others interrupted them.
    std::uint64_t shortest = 0;
    std::uint64_t longest = 0;
    unsigned deepest = 0;  ///< How many others one of them interrupted, at most.
  };

  std::map<std::uint32_t, Port> ports;
  std::map<std::uint32_t, Exception> exceptions;
  std::map<std::uint32_t, std::uint64_t> samples;  ///< By program counter.
  std::uint64_t unlisted_samples = 0;              ///< Samples of addresses beyond kMaxSamples.
  std::array<std::uint64_t, 12> dwt{};             ///< Packets of each DwtKind.
  std::uint64_t writes = 0;                        ///< Writes to stimulus ports.
  std::uint64_t local_timestamps = 0;
  std::uint64_t global_timestamps = 0;
  std::uint64_t overflows = 0;  ///< Elements before which packets were lost.

  void observe(std::span<const Element> elements);
  [[nodiscard]] std::uint64_t of(DwtKind kind) const { return dwt[static_cast<std::size_t>(kind)]; }
  /// Nothing was counted.
  [[nodiscard]] bool empty() const;

 private:
  /// Events that wait for the local timestamp after them.
  static constexpr std::size_t kMostWaiting = 65536;
  struct Waiting {
    std::uint16_t number = 0;
    DwtExceptionAction action = DwtExceptionAction::kReserved;
    bool lost = false;  ///< Instead of an exception: packets were lost.
  };

  void observe_dwt(const Element& element);
  void wait(const Waiting& event);
  void give_time(std::uint64_t time);

  std::vector<Waiting> waiting_;
  ExceptionStack stack_;
};

}  // namespace waymark::count
