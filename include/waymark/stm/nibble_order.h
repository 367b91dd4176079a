// Which nibble comes first in fields of several nibbles: before STPv2.2, no packet states it.  See
// stm-itm.md 1, mipi-syst.md 4 ("nibble order trap").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "waymark/base/types.h"
#include "waymark/frames/stream.h"
#include "waymark/stm/config.h"
#include "waymark/stm/packet.h"

namespace waymark::stm {

/// Weighs the evidence.  The length of a packet is the same in both orders, so a stream can be
/// parsed first and interpreted later.
///
/// - A frequency in Hz is a round number in the right order only (60000000, not 7878960): one FREQ
///   packet decides.
/// - Timestamps never decrease in the right order, and about every other one does in the wrong
///   order.
class OrderEvidence {
 public:
  /// A verdict needs this many more decreasing timestamps in one order than in the other.
  static constexpr int kMargin = 8;

  /// `raw`: the nibbles of a field, the first one in bits [3:0].
  void frequency(std::uint64_t raw, unsigned nibbles);
  void timestamp(std::uint64_t raw, unsigned nibbles, TimestampEncoding encoding);

  [[nodiscard]] std::optional<NibbleOrder> verdict() const { return verdict_; }
  /// The last timestamp, if it is read in this order.
  [[nodiscard]] std::uint64_t time(bool least_first) const {
    return least_first ? least_first_.last : most_first_.last;
  }

  friend bool operator==(const OrderEvidence&, const OrderEvidence&) = default;

 private:
  struct Clock {
    std::uint64_t last = 0;
    bool started = false;
    bool goes_back(std::uint64_t value, unsigned nibbles, TimestampEncoding encoding);
    friend bool operator==(const Clock&, const Clock&) = default;
  };

  std::optional<NibbleOrder> verdict_;
  Clock most_first_;
  Clock least_first_;
  int balance_ = 0;
};

/// Searches a stream, block by block, for evidence of its order.  One owner; not thread safe.
class OrderSearch {
 public:
  /// The part of a stream that is searched, in whole blocks.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 26;

  OrderSearch();
  ~OrderSearch();

  /// The next block of the stream, which need not stay in memory.  True: no more is needed.
  bool look(const frames::StreamBlock& block);

  /// Empty if the stream shows no order.
  [[nodiscard]] std::optional<NibbleOrder> order() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The order that the bytes of one STM stream show, from the first ASYNC on; empty if they show
/// none.  Takes time linear in the size of `stream`, and stops at the first verdict.
std::optional<NibbleOrder> detect_nibble_order(Bytes stream);

}  // namespace waymark::stm
