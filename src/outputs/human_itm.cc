// Lines for people about ITM data: text in one piece, and each time with the data that it stamps.
#include "itm_words.h"
#include "quoted.h"
#include "waymark/outputs/human.h"

namespace waymark::outputs {
namespace {

/// A longer text without a newline becomes a line of its own.
constexpr std::size_t kLongText = 160;

bool is_character(const Element& element) {
  return itm_kind(element) == ItmKind::kSoftware && element.extra_value == 1;
}

}  // namespace

void HumanWriter::add_itm(const Element& element) {
  std::size_t& waiting = waiting_[element.trace_id];
  if (waiting != kNone) {
    Item& item = lines_.items[waiting];
    if (item.element.kind == ElementKind::kItmTrace && continue_itm(item, element)) {
      if (!item.waits) waiting = kNone;
      return;
    }
    item.waits = false;
    waiting = kNone;
  }
  Item item{.element = element};
  item.waits = itm_kind(element) <= ItmKind::kHardware;
  if (is_character(element)) {
    if (const StimulusText text(element); !text.view().empty()) {
      item.is_text = true;
      item.number = texts_written_ + texts_.size();
      item.text_complete = text.view() == "\n";
      texts_.emplace_back(text.view());
    }
  }
  if (item.waits) waiting = lines_.items.size();
  lines_.items.push_back(item);
}

/// Whether the element belongs to the waiting line.
bool HumanWriter::continue_itm(Item& item, const Element& element) {
  if ((element.extra & kItmOverflow) != 0) return false;
  if (is_local_timestamp(element)) {
    item.stamped = true;
    item.late = itm_kind(element) != ItmKind::kTimestampSync;
    item.time = element.timestamp;
    item.time_is_least = (element.flags & kElementTimeIsPartial) != 0;
    // A line has one time in the first column, and what comes after the stamp has another time.
    item.waits = item.is_text && !item.text_complete && !shows_times_;
    return true;
  }
  if (!item.is_text || item.text_complete || !is_character(element) ||
      element.number != item.element.number)
    return false;
  // A byte of a longer UTF-8 character counts as text only after text.
  const bool part = element.start >= 0x80;
  if (!part && StimulusText(element).view().empty()) return false;
  std::string& text = texts_[in_memory(item.number - texts_written_)];
  text += static_cast<char>(element.start);
  item.text_complete = element.start == '\n' || text.size() >= kLongText;
  return true;
}

void HumanWriter::write_itm(const Item& item) {
  const std::uint64_t address = itm_address(item.element);
  if (address == kNoAddress) {
    out_.put("-- ");
  } else {
    out_.put("0x");
    out_.hex(address, 16);
    out_.put("          ");
  }
  if (item.is_text) {
    out_.put("port ");
    out_.dec(item.element.number);
    out_.put(": ");
    write_quoted(out_, texts_.front());
    texts_.pop_front();
    ++texts_written_;
  } else {
    write_itm_words(out_, item.element);
  }
  if (functions_) write_function(*functions_, item.element);
  if (item.stamped) {
    out_.put(item.time_is_least ? std::string_view(", time at least ")
                                : std::string_view(", time "));
    out_.dec(item.time);
    if (item.late && !item.time_is_least) out_.put(" at the latest");
  }
  if ((item.element.extra & kItmOverflow) != 0)
    out_.put(" (overflow: packets before this are lost)");
}

}  // namespace waymark::outputs
