// Messages out of console text.  See mipi-syst.md 7.1 and 12.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "waymark/syst/frame.h"

namespace waymark::syst {

/// The text before the hexadecimal digits of a message.
inline constexpr std::string_view kLineTag = "SYS-T RAW DATA:";

/// Finds messages anywhere in text: the tag, optional blanks, and digits in either case up to the
/// first other character.  A line may have several messages, with other text before, between and
/// after them.  Terminal colours within the digits are skipped.  feed() a block, call next() until
/// it returns false, then feed() the next block; any chunking gives the same frames.  One owner;
/// not thread safe.
class LineReader {
 public:
  /// The block before must be used up, and this one must live until it is.
  void feed(Bytes block);
  bool next(Frame& frame);
  /// Call at the end of the text; gives the message that ends there.
  bool finish(Frame& frame);

  /// No later frame begins before this index.
  [[nodiscard]] TraceIndex begins_at() const {
    return state_ == State::kText ? index_ + at_ : tag_index_;
  }

 private:
  enum class State : std::uint8_t { kText, kTag, kBlanks, kDigits, kEscape, kSequence };

  bool step(std::uint8_t byte);
  void give(Frame& frame);

  Bytes block_;
  std::size_t at_ = 0;
  TraceIndex index_ = 0;  ///< The index of the block's first byte.
  State state_ = State::kText;
  std::size_t matched_ = 0;  ///< Characters of the tag.
  TraceIndex tag_index_ = 0;
  std::vector<std::uint8_t> bytes_;
  int high_digit_ = -1;
  unsigned sequence_ = 0;  ///< Characters of an escape sequence.
  bool too_long_ = false;
};

/// Whether `text` contains the tag.
bool has_line_tag(Bytes text);

}  // namespace waymark::syst
