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

/// Bytes that a splitter may read more than once.  Bytes that are split earn it, so that no input
/// takes long, whatever is in it.
class SearchCredit {
 public:
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kPerByte = 64;
  static constexpr std::uint64_t kMost = std::uint64_t{8} << 20;

  /// False: there is not enough left.
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
/// one and a CLOCK say where they end.  Others do not: they end where the next message that makes
/// sense begins, as kGuessed.
///
/// A message that makes no sense (its checksum or text) ends where it says if messages follow
/// there.  Otherwise it may have been damaged in its length, and it ends where a chain of messages
/// begins; so do bytes that are none.  Of several chains, the one that is complete first counts.
/// Without any, a message ends where it says, and other bytes after kMaxMessage of them.
///
/// feed() a block, next() until it says no, feed() the next one; any chunking gives the same
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
  /// At the end of the stream: what is left, frame by frame.
  bool finish(Frame& frame);

  /// No frame that is still to come begins before this index.
  [[nodiscard]] TraceIndex begins_at() const { return index_; }

  /// Frames that are kGuessed or kNoMessage, or whose message makes no sense.
  [[nodiscard]] std::uint64_t doubtful() const { return doubtful_; }
  /// Bytes read to decide: at most those that SearchCredit gives.
  [[nodiscard]] std::uint64_t work() const { return credit_.spent(); }

 private:
  /// The beginning of rest_, if it does not say for certain where it ends.
  struct Doubt {
    FrameEnd kind = FrameEnd::kWhole;
    std::size_t from = 0;      ///< Bytes that belong to it at least,
    std::size_t least = 0;     ///< likely those of its header's fields,
    std::size_t claimed = 0;   ///< and as its length says; 0: it says nothing.
    bool is_followed = false;  ///< What follows there has been looked at,
    bool leads_on = false;     ///< and it is a header that can be.
    std::size_t searched = 0;  ///< So many bytes tell nothing.
  };
  struct Place {
    std::size_t at = 0;  ///< 0: none.
    bool is_spent = false;
  };

  bool split(Frame& frame, bool all_is_there);
  void take(Frame& frame, std::size_t size, FrameEnd end);
  /// Where the doubtful beginning ends; nothing: it takes more bytes to tell.  Looks at sizes that
  /// do not depend on chunks.
  std::optional<std::size_t> search(bool all_is_there);
  Place look_for_next(Bytes view, bool is_final);

  Bytes rest_;                       ///< What is not split yet.
  std::vector<std::uint8_t> carry_;  ///< Owns it, where it began in an earlier block.
  bool carried_ = false;             ///< rest_ is the end of carry_.
  TraceIndex index_ = 0;             ///< Of the first byte of rest_.
  std::size_t wanted_ = 0;           ///< With fewer bytes there is nothing to be told.
  std::optional<Doubt> doubt_;
  SearchCredit credit_;
  std::uint64_t doubtful_ = 0;
};

/// Why bytes are taken for plain messages, or not.
struct PlainFacts {
  std::uint64_t messages = 0;  ///< That make sense.
  std::uint64_t strong = 0;    ///< Of those, the ones that say more than four or eight bytes can.
  std::uint64_t doubtful = 0;
  std::uint64_t values = 0;  ///< Short ones that are not 0.
  /// Plain messages, and not by chance.
  [[nodiscard]] bool plausible() const { return strong != 0 && messages >= 16 * doubtful; }
  /// Short messages only, which have so little to them that other things must be excluded first:
  /// bytes that a program wrote to port 0 of an ITM look the same.
  [[nodiscard]] bool only_short() const {
    return strong == 0 && doubtful == 0 && messages >= 4 && values > 1;
  }
};
/// Looks at the first `window` bytes.
PlainFacts plain_facts(Bytes content, std::size_t window = std::size_t{1} << 20);

}  // namespace waymark::syst
