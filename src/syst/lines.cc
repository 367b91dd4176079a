#include "waymark/syst/lines.h"

#include <algorithm>
#include <cstring>

#include "waymark/base/number.h"
#include "waymark/syst/message.h"

namespace waymark::syst {
namespace {

constexpr std::uint8_t kEscapeByte = 0x1B;
/// The maximum number of characters in an escape sequence.
constexpr unsigned kMaxSequence = 32;

}  // namespace

bool has_line_tag(Bytes text) {
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  return view.find(kLineTag) != std::string_view::npos;
}

void LineReader::feed(Bytes block) {
  index_ += block_.size();
  block_ = block;
  at_ = 0;
}

// Advances by one byte.  True: a message ended before the byte, which must be read again.
bool LineReader::step(std::uint8_t byte) {
  switch (state_) {
    case State::kText:
    case State::kTag:
      // Only S is both a beginning of the tag and the end of a longer one, SYS.
      if (matched_ == 3 && byte != static_cast<std::uint8_t>(kLineTag[3])) {
        matched_ = 1;
        tag_index_ += 2;
      }
      if (byte == static_cast<std::uint8_t>(kLineTag[matched_])) {
        if (matched_ == 0) tag_index_ = index_ + at_;
        state_ = State::kTag;
        if (++matched_ < kLineTag.size()) return false;
        state_ = State::kBlanks;
        bytes_.clear();
        high_digit_ = -1;
        too_long_ = false;
      } else {
        const bool restarts = byte == static_cast<std::uint8_t>(kLineTag[0]);
        matched_ = restarts ? 1 : 0;
        state_ = restarts ? State::kTag : State::kText;
        if (restarts) tag_index_ = index_ + at_;
      }
      return false;
    case State::kBlanks:
      if (byte == ' ' || byte == '\t') return false;
      state_ = State::kDigits;
      [[fallthrough]];
    case State::kDigits: {
      const int value = hex_digit(static_cast<char>(byte));
      if (value >= 0) {
        if (high_digit_ < 0) {
          high_digit_ = value;
        } else {
          if (bytes_.size() < kMaxMessage) {
            bytes_.push_back(static_cast<std::uint8_t>(high_digit_ << 4 | value));
          } else {
            too_long_ = true;
          }
          high_digit_ = -1;
        }
        return false;
      }
      if (byte == kEscapeByte) {
        state_ = State::kEscape;
        return false;
      }
      return true;
    }
    case State::kEscape:
      if (byte != '[') return true;
      state_ = State::kSequence;
      sequence_ = 0;
      return false;
    case State::kSequence:
      // Parameters, then a final byte; anything else is not an escape sequence.
      if (byte < 0x20 || byte > 0x7E || ++sequence_ > kMaxSequence) return true;
      if (byte >= 0x40) state_ = State::kDigits;
      return false;
  }
  return false;
}

void LineReader::give(Frame& frame) {
  frame = {};
  frame.bytes = bytes_;
  frame.index = tag_index_;
  if (too_long_) {
    frame.end = FrameEnd::kTooLong;
  } else if (high_digit_ >= 0) {
    frame.end = FrameEnd::kBadText;
  }
  state_ = State::kText;
  matched_ = 0;
}

bool LineReader::next(Frame& frame) {
  while (at_ < block_.size()) {
    if (state_ == State::kText) {
      const void* found = std::memchr(block_.data() + at_, kLineTag[0], block_.size() - at_);
      if (found == nullptr) break;
      at_ = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - block_.data());
    }
    if (step(block_[at_])) {
      give(frame);
      return true;
    }
    ++at_;
  }
  at_ = block_.size();
  return false;
}

bool LineReader::finish(Frame& frame) {
  if (state_ == State::kText || state_ == State::kTag) return false;
  give(frame);
  return true;
}

}  // namespace waymark::syst
