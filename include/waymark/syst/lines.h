// Messages out of console text.  See mipi-syst.md 7.1 and 12.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "waymark/syst/frame.h"

namespace waymark::syst {

/// What stands before the hexadecimal digits of a message.
inline constexpr std::string_view kLineTag = "SYS-T RAW DATA:";

/// Finds messages anywhere in text: the tag, blanks or none, and digits in either case up to the
/// first character that is none.  Several may stand in a line, and other text before, between and
/// behind them; terminal colours within the digits are skipped.  feed() a block, next() until it
/// says no, feed() the next one; any chunking gives the same frames.  One owner; not thread safe.
class LineReader {
 public:
  /// The block before must be used up, and this one must live until it is.
  void feed(Bytes block);
  bool next(Frame& frame);
  /// At the end of the text: the message that it ends with.
  bool finish(Frame& frame);

  /// No frame that is still to come begins before this index.
  [[nodiscard]] TraceIndex begins_at() const {
    return state_ == State::kText ? index_ + at_ : tag_index_;
  }

 private:
  enum class State : std::uint8_t { kText, kTag, kBlanks, kDigits, kEscape, kSequence };

  bool step(std::uint8_t byte);
  void give(Frame& frame);

  Bytes block_;
  std::size_t at_ = 0;
  TraceIndex index_ = 0;  ///< Of the block's first byte.
  State state_ = State::kText;
  std::size_t matched_ = 0;  ///< Characters of the tag.
  TraceIndex tag_index_ = 0;
  std::vector<std::uint8_t> bytes_;
  int high_digit_ = -1;
  unsigned sequence_ = 0;  ///< Characters of an escape sequence.
  bool too_long_ = false;
};

/// The tag is in `text`.
bool has_line_tag(Bytes text);

}  // namespace waymark::syst
