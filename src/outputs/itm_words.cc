#include "itm_words.h"

#include <algorithm>

#include "quoted.h"
#include "waymark/element/exception_names.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

constexpr std::array<std::string_view, 12> kEvents = {
    "event_counters", "exception",  "pc_sample",    "sleeping",  "no_sample",  "pmu_overflow",
    "data_pc",        "data_match", "data_address", "data_read", "data_write", "reserved"};
static_assert(kEvents[static_cast<std::size_t>(DwtKind::kReserved)] == "reserved");

constexpr std::uint32_t kFirstInterrupt = 16;

constexpr std::array<std::string_view, 6> kCounters = {"cpi", "exc", "sleep", "lsu", "fold", "cyc"};

void write_exception(TextBuffer& out, const DwtEvent& event) {
  const std::string_view name = exception_word(event.exception);
  if (!name.empty()) {
    out.put(name);
  } else if (event.exception >= kFirstInterrupt) {
    out.put("IRQ");
    out.dec(event.exception - kFirstInterrupt);
  } else {
    out.put("exception");
  }
  out.put(" (");
  out.dec(event.exception);
  out.put(") ");
  const std::string_view action = action_word(event.action);
  out.put(action.empty() ? std::string_view("has the reserved action 0: the packet is damaged")
                         : action);
}

void write_hex(TextBuffer& out, const Element& element) {
  out.put("0x");
  out.hex(element.start, 2 * std::clamp<std::uint32_t>(element.extra_value, 1, 4));
}

/// "0x20002010", or "...2010" if only low bytes are known.
void write_fragment(TextBuffer& out, const Fragment& fragment) {
  out.put(fragment.bytes == 4 ? "0x" : "...");
  out.hex(fragment.value, 2 * std::clamp(fragment.bytes, 1U, 4U));
}

void write_data(TextBuffer& out, const Element& element, const DwtEvent& event) {
  const Fragment pc = pc_of(element);
  const Fragment address = address_of(element);
  out.put("comparator ");
  out.dec(event.comparator);
  switch (event.kind) {
    case DwtKind::kDataMatch:
      out.put(" matched");
      return;
    case DwtKind::kDataRead:
    case DwtKind::kDataWrite:
      out.put(event.kind == DwtKind::kDataWrite ? ": wrote " : ": read ");
      write_hex(out, element);
      break;
    default:
      out.put(": access");
      break;
  }
  if (address.bytes != 0) {
    out.put(event.kind == DwtKind::kDataRead ? " from " : " to ");
    write_fragment(out, address);
  }
  if (pc.bytes == 4) {
    if (event.kind == DwtKind::kDataPc) out.put(" by this instruction");
  } else if (pc.bytes != 0) {
    out.put(" by instruction ");
    write_fragment(out, pc);
  }
}

void write_hardware(TextBuffer& out, const Element& element) {
  const DwtEvent event = dwt_event_of(element);
  switch (event.kind) {
    case DwtKind::kEventCounters:
      out.put("counters wrapped: ");
      out.put(counters_text(event.value).view());
      return;
    case DwtKind::kException:
      write_exception(out, event);
      return;
    case DwtKind::kPcSample:
      out.put("PC sample");
      return;
    case DwtKind::kSleeping:
      out.put("PC sample: asleep");
      return;
    case DwtKind::kNoSample:
      out.put("PC sample: not allowed here");
      return;
    case DwtKind::kPmuOverflow:
      out.put("PMU counters overflowed:");
      for (unsigned i = 0; i < 8; ++i) {
        if ((event.value >> i & 1) == 0) continue;
        out.put(' ');
        out.dec(i);
      }
      return;
    case DwtKind::kDataPc:
    case DwtKind::kDataMatch:
    case DwtKind::kDataAddress:
    case DwtKind::kDataRead:
    case DwtKind::kDataWrite:
      write_data(out, element, event);
      return;
    case DwtKind::kReserved:
      out.put("hardware source ");
      out.dec(element.number);
      out.put(" (reserved): ");
      write_hex(out, element);
      return;
  }
}

}  // namespace

std::string_view itm_word(const Element& element) {
  switch (itm_kind(element)) {
    case ItmKind::kSoftware:
      return "stimulus";
    case ItmKind::kHardware:
      return kEvents[static_cast<std::size_t>(dwt_event_of(element).kind)];
    case ItmKind::kGlobalTimestamp:
      return "global_timestamp";
    default:
      return "local_timestamp";
  }
}

std::string_view delay_word(ItmKind kind) {
  switch (kind) {
    case ItmKind::kTimestampDelay:
      return "timestamp";
    case ItmKind::kPacketDelay:
      return "packet";
    case ItmKind::kBothDelay:
      return "both";
    default:
      return {};
  }
}

std::string_view exception_word(std::uint32_t number) {
  return number == 0 ? "Thread" : system_exception_name(number);
}

std::string_view action_word(DwtExceptionAction action) {
  switch (action) {
    case DwtExceptionAction::kEntered:
      return "entered";
    case DwtExceptionAction::kExited:
      return "exited";
    case DwtExceptionAction::kReturnedTo:
      return "returned";
    case DwtExceptionAction::kReserved:
      break;
  }
  return {};
}

CountersText::CountersText(std::uint32_t bits) {
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (size_ != 0) text_[size_++] = ' ';
    std::ranges::copy(kCounters[i], text_.begin() + size_);
    size_ += kCounters[i].size();
  }
}

StimulusText::StimulusText(const Element& element) {
  const std::size_t bytes = std::min<std::size_t>(element.extra_value, text_.size());
  for (std::size_t i = 0; i < bytes; ++i)
    text_[i] = static_cast<char>(element.start >> (8 * i) & 0xFF);
  std::size_t size = bytes;
  while (size != 0 && text_[size - 1] == '\0') --size;
  const bool text = std::all_of(text_.begin(), text_.begin() + size, [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t' || c == '\x1B';
  });
  size_ = text ? size : 0;
}

void write_itm_words(TextBuffer& out, const Element& element) {
  switch (itm_kind(element)) {
    case ItmKind::kSoftware:
      out.put("port ");
      out.dec(element.number);
      out.put(": ");
      write_hex(out, element);
      if (const StimulusText text(element); !text.view().empty()) {
        out.put(' ');
        write_quoted(out, text.view());
      }
      return;
    case ItmKind::kHardware:
      write_hardware(out, element);
      return;
    case ItmKind::kGlobalTimestamp:
      out.put("global time ");
      out.dec(element.timestamp);
      out.put(partial_time_words(element));
      if ((element.flags & kElementFrequencyChange) != 0) out.put(", its clock changed");
      return;
    default:
      out.put(lower_bound_words(element));
      out.dec(element.timestamp);
      out.put(" (+");
      out.dec(element.start);
      out.put(')');
      return;
  }
}

std::uint64_t itm_address(const Element& element) {
  if (itm_kind(element) != ItmKind::kHardware) return kNoAddress;
  const Fragment pc = pc_of(element);
  if (pc.bytes == 4) return pc.value;
  const DwtEvent event = dwt_event_of(element);
  return event.kind == DwtKind::kPcSample ? event.value : kNoAddress;
}

}  // namespace waymark::outputs
