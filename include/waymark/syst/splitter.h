// Messages out of plain bytes: files, serial lines, ring buffers.  See mipi-syst.md
// 1 and 12.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "waymark/syst/frame.h"
#include "waymark/syst/message.h"

namespace waymark::syst {

/// A budget of bytes that a splitter may read again.  Bytes that are split add to it, so that no
/// input takes long.
class SearchCredit {
 public:
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kPerByte = 64;
  static constexpr std::uint64_t kMost = std::uint64_t{8} << 20;

  /// False: the budget is too small.
  bool spend(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    spent_ += bytes;
    return true;
  }
  void earn(std::uint64_t bytes) { left_ = std::min(left_ + kPerByte * bytes, kMost); }
  [[nodiscard]] std::uint64_t spent() const { return spent_; }

 private:
  std::uint64_t left_ = kFirst;
  std::uint64_t spent_ = 0;
};

/// Splits a stream in which one message follows another.  A message with a length field, a short
/// message and a CLOCK state where they end.  Other messages do not: they end where the next
/// message that makes sense begins, as kGuessed.
///
/// A message that makes no sense (its checksum or text is wrong) ends where it says if messages
/// follow there.  Otherwise its length may be damaged, and it ends where a chain of messages
/// begins; the same holds for bytes that are not a message.  Among several chains, the one that is
/// complete first counts.  Without any chain, a message ends where it says, and other bytes end
/// after kMaxMessage of them.
///
/// feed() a block, call next() until it returns false, then feed() the next block.  Any chunking
/// gives the same frames, each as soon as the deciding bytes are there.  Frames are views into the
/// block, unless they began in an earlier one.  One owner; not thread safe.
/// frames, each as soon as the bytes that decide are there.  Frames are views into the block,
/// unless they began in an earlier one.  One owner; not thread safe.
class StreamSplitter {
 public:
  static constexpr std::size_t kLookAhead = 2 * kMaxMessage;

  StreamSplitter() = default;
  StreamSplitter(const StreamSplitter&) = delete;  // Views into itself.
  StreamSplitter& operator=(const StreamSplitter&) = delete;

  /// The block before must be used up, and this one must live until it is.
  void feed(Bytes block);
  bool next(Frame& frame);
  /// Call at the end of the stream; gives what is left, frame by frame.
  bool finish(Frame& frame);

  /// No later frame begins before this index.
  [[nodiscard]] TraceIndex begins_at() const { return index_; }

  /// Frames that are kGuessed or kNoMessage, or whose message makes no sense.
  [[nodiscard]] std::uint64_t doubtful() const { return doubtful_; }
  /// Bytes read to find ends of frames: at most those that SearchCredit gives.
  [[nodiscard]] std::uint64_t work() const { return credit_.spent(); }

 private:
  /// The beginning of rest_, if its end is not certain.
  struct UncertainStart {
    FrameEnd kind = FrameEnd::kWhole;
    std::size_t from = 0;      ///< At least these bytes belong to it.
    std::size_t least = 0;     ///< Probably the size of its header's fields.
    std::size_t claimed = 0;   ///< The size that its length field states; 0: none.
    bool is_followed = false;  ///< The bytes after `claimed` were examined.
    bool leads_on = false;     ///< They can be a header.
    std::size_t searched = 0;  ///< The number of bytes that were searched without a result.
  };
  struct Place {
    std::size_t at = 0;  ///< 0: none.
    bool is_spent = false;
  };

  bool split(Frame& frame, bool all_is_there);
  void take(Frame& frame, std::size_t size, FrameEnd end);
  /// The end of the doubtful beginning; nothing: more bytes are needed.  Examines sizes that do not
  /// depend on chunks.
  std::optional<std::size_t> search(bool all_is_there);
  Place look_for_next(Bytes view, bool is_final);

  Bytes rest_;                       ///< What is not split yet.
  std::vector<std::uint8_t> carry_;  ///< Owns the bytes of rest_ that began in an earlier block.
  bool carried_ = false;             ///< rest_ is the end of carry_.
  TraceIndex index_ = 0;             ///< The index of the first byte of rest_.
  std::size_t wanted_ = 0;           ///< Fewer bytes than these decide nothing.
  std::optional<UncertainStart> uncertain_;
  SearchCredit credit_;
  std::uint64_t doubtful_ = 0;
};

/// Whether bytes look like plain messages.
struct PlainFacts {
  std::uint64_t messages = 0;  ///< Messages that make sense.
  std::uint64_t strong = 0;    ///< Those that say more than four or eight bytes can.
  std::uint64_t doubtful = 0;
  std::uint64_t values = 0;  ///< Short messages that are not 0.
  /// The bytes are plain messages, and not by chance.
  [[nodiscard]] bool plausible() const { return strong != 0 && messages >= 16 * doubtful; }
  /// The bytes are only short messages.  These have so little content that the caller must first
  /// exclude other things: bytes that a program wrote to port 0 of an ITM look the same.
  [[nodiscard]] bool only_short() const {
    return strong == 0 && doubtful == 0 && messages >= 4 && values > 1;
  }
};
/// Examines the first `window` bytes.
PlainFacts plain_facts(Bytes content, std::size_t window = std::size_t{1} << 20);

}  // namespace waymark::syst
