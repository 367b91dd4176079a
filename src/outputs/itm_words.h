// The words for ITM elements in JSON, CSV and the text for people.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/element/dwt.h"
#include "waymark/element/element.h"

namespace waymark::outputs {

inline ItmKind itm_kind(const Element& element) {
  return static_cast<ItmKind>(element.extra & kItmKindMask);
}
inline DwtEvent dwt_event_of(const Element& element) {
  return dwt_event(element.number, element.extra_value, static_cast<std::uint32_t>(element.start));
}

/// The low bytes of an address in data trace, as many as are known.
struct Fragment {
  std::uint32_t value = 0;
  unsigned bytes = 0;  ///< 0: no byte is known; 4: all are.
};
inline Fragment pc_of(const Element& element) {
  return {static_cast<std::uint32_t>(element.end), itm_pc_bytes(element.reason)};
}
inline Fragment address_of(const Element& element) {
  return {static_cast<std::uint32_t>(element.end >> 32), itm_address_bytes(element.reason)};
}

/// "stimulus", "exception", "data_write", "local_timestamp" ...
std::string_view itm_word(const Element& element);

/// The cause of a local timestamp's delay: "timestamp", "packet", "both"; empty: no delay.
std::string_view delay_word(ItmKind kind);

/// The name of an exception of the M profile; empty: it has no name, as interrupts.
std::string_view exception_word(std::uint32_t number);

/// Before a local time: it is exact, or trace was lost since the last global timestamp.
inline std::string_view lower_bound_words(const Element& element) {
  return (element.flags & kElementTimeIsPartial) != 0 ? "time at least " : "time ";
}

/// "entered", "exited", "returned"; empty: reserved.
std::string_view action_word(DwtExceptionAction action);

/// The counters of an event packet, with blanks between: "cpi cyc".
class CountersText {
 public:
  explicit CountersText(std::uint32_t bits);
  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 32> text_{};
  std::size_t size_ = 0;
};
inline CountersText counters_text(std::uint32_t bits) { return CountersText(bits); }

/// The bytes of a write to a stimulus port, in the order of memory, if all of them are text. Zero
/// bytes at the end are omitted.
class StimulusText {
 public:
  explicit StimulusText(const Element& element);
  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 4> text_{};
  std::size_t size_ = 0;
};

/// The event, for people, without the facts that other columns show.
void write_itm_words(TextBuffer& out, const Element& element);

/// The address that belongs to the element, for its column; kNoAddress: none.
std::uint64_t itm_address(const Element& element);

}  // namespace waymark::outputs
