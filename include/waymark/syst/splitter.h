// Messages out of plain bytes: files, serial lines, ring buffers.  Fact sheet mipi-syst.md
// sections 1 and 12.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/syst/frame.h"
#include "waymark/syst/message.h"

namespace waymark::syst {

/// Splits a stream in which one message follows another.  A message with a length field, a short
/// one and a CLOCK say where they end.  Others do not: they end where the next message that makes
/// sense begins, as kGuessed.
///
/// A message that makes no sense (its type, checksum or text) may have been damaged in its length.
/// It then ends where messages that make sense go on, and so do bytes that are none; at the latest
/// kLookAhead bytes further on.
///
/// feed() a block, next() until it says no, feed() the next one; any chunking gives the same
/// frames.  Frames are views into the block, unless they began in an earlier one.  One owner; not
/// thread safe.
class StreamSplitter {
 public:
  static constexpr std::size_t kLookAhead = 2 * kMaxMessage;

  /// The block before must be used up, and this one must live until it is.
  void feed(Bytes block);
  bool next(Frame& frame);
  /// At the end of the stream: what is left, frame by frame.
  bool finish(Frame& frame);

  /// Frames that are kGuessed or kNoMessage, or whose message makes no sense.
  [[nodiscard]] std::uint64_t doubtful() const { return doubtful_; }

 private:
  bool split(Frame& frame, bool all_is_there);
  void take(Frame& frame, std::size_t size, FrameEnd end);
  /// Bytes of the doubtful beginning of `view`: at least `from`, likely the `least` of its header's
  /// fields, perhaps the `claimed` ones.
  static std::size_t search(Bytes view, std::size_t from, std::size_t least, std::size_t claimed);

  Bytes rest_;                       ///< What is not split yet.
  std::vector<std::uint8_t> carry_;  ///< Owns it, where it began in an earlier block.
  bool carried_ = false;             ///< rest_ is the end of carry_.
  TraceIndex index_ = 0;             ///< Of the first byte of rest_.
  std::size_t wanted_ = 0;           ///< With fewer bytes there is nothing to be told.
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
