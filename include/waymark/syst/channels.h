// Messages out of the channels of an STM or another STP source.  Fact sheet mipi-syst.md section 4.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/syst/frame.h"

namespace waymark::syst {

/// Packets that are no part of a message, and messages that were cut.
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

  /// Channels with an open message; beyond them the oldest message is given up as kLost.
  static constexpr std::size_t kMaxOpen = 4096;

  /// The frames that end with `element`, at most two unless it is a loss of data; kinds other than
  /// kSwTrace and kNoSync are passed over.  The frames are valid until the next call.
  std::span<const Frame> add(const Element& element);

  /// The messages that are still open.
  std::span<const Frame> finish();

  /// The last frequency of the transport's timestamps that the trace named, in Hz; 0: none.
  [[nodiscard]] std::uint64_t frequency() const { return frequency_; }
  [[nodiscard]] const ChannelStatistics& statistics() const { return statistics_; }

 private:
  struct Open {
    std::vector<std::uint8_t> bytes;
    Frame frame;
    std::uint64_t serial = 0;
    bool is_open = false;
    bool too_long = false;
  };

  Open& channel(std::uint64_t key);
  void note_age(std::uint64_t key, Open& open);
  void add_data(const Element& element);
  void begin(Open& open, const Element& element);
  static void append(Open& open, const Element& element);
  void give(Open& open, FrameEnd end);
  /// All open messages, or those of one master.
  void give_up(const Element& element, bool one_master, FrameEnd end);

  std::unordered_map<std::uint64_t, Open> channels_;
  std::uint64_t last_key_ = 0;
  Open* last_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::uint8_t>> kept_;  ///< Bytes of the frames, whose channels go on.
  struct Age {
    std::uint64_t key;
    std::uint64_t serial;
  };
  std::deque<Age> ages_;  ///< Of open messages, the oldest first, among some that have ended.
  std::uint64_t serial_ = 0;
  std::size_t open_ = 0;
  ChannelStatistics statistics_;
  std::uint64_t frequency_ = 0;
};

}  // namespace waymark::syst
