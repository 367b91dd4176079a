// Messages out of the channels of an STM or another STP source.  See mipi-syst.md 4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/syst/frame.h"

namespace waymark::syst {

/// Packets outside messages, and messages that were cut.
struct ChannelStatistics {
  std::uint64_t frames = 0;
  std::uint64_t cut = 0;    ///< Frames that did not end as they should.
  std::uint64_t noise = 0;  ///< Data packets and flags outside messages.
};

/// Puts the data packets of each trace ID, master and channel together: a packet with a timestamp
/// begins a message, a marker or a flag ends it, and one with both is a whole short message.  One
/// owner; not thread safe.
class ChannelAssembler {
 public:
  ChannelAssembler() = default;
  ChannelAssembler(const ChannelAssembler&) = delete;  // Pointers into itself.
  ChannelAssembler& operator=(const ChannelAssembler&) = delete;

  /// Channels with an open message.  With more, the oldest message ends as kLost.
  static constexpr std::size_t kMaxOpen = 4096;

  /// The frames that end with `element`, in the order in which they began: at most two, unless the
  /// element is a loss of data.  Kinds other than kSwTrace and kNoSync are ignored.  The frames are
  /// valid until the next call.
  std::span<const Frame> add(const Element& element);

  /// The messages that are still open.
  std::span<const Frame> finish();

  /// The last timestamp frequency that the trace of this ID named, in Hz; 0: none.
  [[nodiscard]] std::uint64_t frequency(TraceId id) const { return frequencies_[id]; }
  [[nodiscard]] const ChannelStatistics& statistics() const { return statistics_; }

 private:
  struct Open;
  /// Neighbours in a chain of open messages, and its ends.  The oldest message is the first.
  struct Link {
    Open* before = nullptr;
    Open* after = nullptr;
  };
  struct Chain {
    Open* first = nullptr;
    Open* last = nullptr;
  };
  struct Open {
    std::vector<std::uint8_t> bytes;
    Frame frame;
    Chain* master = nullptr;
    Link in_all;
    Link in_trace_id;
    Link in_master;
    bool is_open = false;
    bool too_long = false;
  };

  static void append_to(Chain& chain, Open& open, Link Open::* link);
  static void take_from(Chain& chain, Open& open, Link Open::* link);
  Open& channel(std::uint64_t key);
  void add_data(const Element& element);
  void begin(Open& open, const Element& element);
  static void append(Open& open, const Element& element);
  void give(Open& open, FrameEnd end);
  void give_all(Chain& chain, FrameEnd end);

  std::unordered_map<std::uint64_t, Open> channels_;  ///< By trace ID, master and channel.
  std::unordered_map<std::uint64_t, Chain> masters_;  ///< By trace ID and master.
  std::array<Chain, 256> trace_ids_;
  Chain all_;
  std::uint64_t last_key_ = 0;
  Open* last_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::uint8_t>> kept_;  ///< Bytes of frames whose channels continue.
  std::size_t open_ = 0;
  ChannelStatistics statistics_;
  std::array<std::uint64_t, 256> frequencies_{};
};

}  // namespace waymark::syst
