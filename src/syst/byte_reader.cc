#include "waymark/syst/byte_reader.h"

#include <algorithm>

#include "waymark/syst/parser.h"

namespace waymark::syst {

namespace {

/// The size of a first message that is longer than `bytes`, if there can be one; else 0.
std::size_t size_of_first(Bytes bytes) {
  if (bytes.size() < 4) return 0;
  const Extent extent = message_extent(bytes);
  if (extent.kind != Extent::Kind::kKnown || extent.size <= bytes.size()) return 0;
  const Message message = parse_message(bytes);
  const bool can_be = !type_name(message.type).empty() && (message.header & kHeaderReserved) == 0 &&
                      subtype_name(message.type, message.subtype) != "??";
  return can_be ? extent.size : 0;
}

}  // namespace

// The decision depends on the first bytes only, not on their chunks.
void ByteReader::decide(bool is_all) {
  if (decide_at_ == kDecideAt && first_.size() >= kDecideAt) {
    decide_at_ += size_of_first(Bytes(first_).first(kDecideAt));
  }
  const Bytes window = Bytes(first_).first(std::min(first_.size(), decide_at_));
  const std::size_t from = searched_ < kLineTag.size() ? 0 : searched_ - kLineTag.size();
  if (from < window.size() && has_line_tag(window.subspan(from))) {
    form_ = ByteForm::kLines;
  } else if (window.size() == decide_at_ || is_all) {
    // The last message of the window may be cut, which gives one doubtful frame.
    PlainFacts facts = plain_facts(window);
    if (facts.doubtful != 0 && first_.size() >= decide_at_ && facts.messages > 1) --facts.doubtful;
    form_ = facts.plausible() || (short_ones_ && facts.only_short()) ? ByteForm::kPlain
                                                                     : ByteForm::kLines;
  }
  searched_ = window.size();
}

void ByteReader::feed(Bytes block) {
  if (form_ && first_.empty()) {
    form_ == ByteForm::kLines ? lines_.feed(block) : splitter_.feed(block);
    return;
  }
  first_.insert(first_.end(), block.begin(), block.end());
  if (!form_) decide(false);
  if (form_) form_ == ByteForm::kLines ? lines_.feed(first_) : splitter_.feed(first_);
}

bool ByteReader::next(Frame& frame) {
  if (!form_) return false;
  if (form_ == ByteForm::kLines ? lines_.next(frame) : splitter_.next(frame)) return true;
  // Both readers have copied what they need of the first bytes.
  first_.clear();
  return false;
}

bool ByteReader::finish(Frame& frame) {
  if (!form_) {
    decide(true);
    form_ == ByteForm::kLines ? lines_.feed(first_) : splitter_.feed(first_);
  }
  if (form_ == ByteForm::kLines) return lines_.next(frame) || lines_.finish(frame);
  return splitter_.next(frame) || splitter_.finish(frame);
}

}  // namespace waymark::syst
