#include "waymark/exports/events.h"

#include <algorithm>
#include <array>
#include <utility>

#include "waymark/element/dwt.h"

namespace waymark::exports {
namespace {

constexpr std::array<std::string_view, 20> kWords = {"gap",
                                                     "trace_on",
                                                     "exception_entered",
                                                     "exception_exited",
                                                     "exception_returned",
                                                     "context",
                                                     "event",
                                                     "trigger",
                                                     "port",
                                                     "pc_sample",
                                                     "sleeping",
                                                     "data",
                                                     "data_pc",
                                                     "data_address",
                                                     "data_match",
                                                     "dwt_count",
                                                     "pmu",
                                                     "software",
                                                     "flag",
                                                     "message"};
static_assert(kWords[static_cast<std::size_t>(EventKind::kMessage)] == "message");

void add_dwt(const Element& element, Event event, std::vector<Event>& out) {
  const DwtEvent dwt =
      dwt_event(element.number, element.extra_value, static_cast<std::uint32_t>(element.start));
  const auto give = [&](EventKind kind, std::uint32_t number) {
    event.kind = kind;
    event.number = number;
    out.push_back(event);
  };
  const auto give_value = [&](EventKind kind, std::uint64_t value, unsigned bits) {
    event.value = value;
    event.bits = bits;
    give(kind, dwt.comparator);
  };
  const auto give_address = [&](EventKind kind, std::uint64_t value, unsigned bytes) {
    if (bytes != 0) give_value(kind, value & (~std::uint64_t{0} >> (64 - 8 * bytes)), 8 * bytes);
  };
  switch (dwt.kind) {
    case DwtKind::kEventCounters:
      for (std::uint32_t bit = kDwtCpi; bit <= kDwtCycle; bit <<= 1)
        if ((dwt.value & bit) != 0) give(EventKind::kCounter, bit);
      return;
    case DwtKind::kException:
      switch (dwt.action) {
        case DwtExceptionAction::kEntered:
          return give(EventKind::kExceptionEntered, dwt.exception);
        case DwtExceptionAction::kExited:
          return give(EventKind::kExceptionExited, dwt.exception);
        case DwtExceptionAction::kReturnedTo:
          return give(EventKind::kExceptionReturned, dwt.exception);
        case DwtExceptionAction::kReserved:
          return;
      }
      return;
    case DwtKind::kPcSample:
      event.value = dwt.value;
      event.bits = 32;
      return give(EventKind::kPcSample, 0);
    case DwtKind::kSleeping:
      return give(EventKind::kSleeping, 0);
    case DwtKind::kPmuOverflow:
      for (std::uint32_t counter = 0; counter < 8; ++counter)
        if ((dwt.value >> counter & 1) != 0) give(EventKind::kPmuOverflow, counter);
      return;
    case DwtKind::kDataMatch:
      return give(EventKind::kDataMatch, dwt.comparator);
    case DwtKind::kDataPc:
      return give_address(EventKind::kDataPc, element.end, itm_pc_bytes(element.reason));
    case DwtKind::kDataAddress:
      return give_address(EventKind::kDataAddress, element.end >> 32,
                          itm_address_bytes(element.reason));
    case DwtKind::kDataRead:
    case DwtKind::kDataWrite:
      event.write = dwt.kind == DwtKind::kDataWrite;
      return give_value(EventKind::kDataValue, element.start, 8 * element.extra_value);
    case DwtKind::kNoSample:
    case DwtKind::kReserved:
      return;
  }
}

void add_itm(const Element& element, Event event, std::vector<Event>& out) {
  if ((element.extra & kItmOverflow) != 0) out.push_back(event);  // A gap.
  switch (static_cast<ItmKind>(element.extra & kItmKindMask)) {
    case ItmKind::kSoftware:
      event.kind = EventKind::kPort;
      event.number = element.number;
      event.value = element.start;
      event.bits = 8 * element.extra_value;
      out.push_back(event);
      return;
    case ItmKind::kHardware:
      return add_dwt(element, event, out);
    default:
      return;
  }
}

void add_software(const Element& element, Event event, std::vector<Event>& out) {
  event.number = element.sw_id.master;
  event.channel = element.sw_id.channel;
  if (static_cast<SwTraceKind>(element.reason) != SwTraceKind::kData ||
      (element.extra & (kSwMasterError | kSwGlobalError)) != 0) {
    if ((element.extra & (kSwMasterError | kSwGlobalError)) != 0) out.push_back(event);
    return;
  }
  if ((element.extra & kSwFrequency) != 0) return;
  if ((element.extra & kSwTrigger) != 0) {
    event.kind = EventKind::kTrigger;
    event.number = 0;
    event.channel = 0;
  } else if (element.extra_value != 0) {
    event.kind = EventKind::kSoftware;
    event.value = element.start;
    event.bits = element.extra_value > 64 ? 64 : element.extra_value;
  } else if ((element.extra & kSwMarker) != 0) {
    event.kind = EventKind::kFlag;
  } else {
    return;
  }
  out.push_back(event);
}

}  // namespace

std::string_view event_word(EventKind kind) { return kWords[static_cast<std::size_t>(kind)]; }

void events_of(const Element& element, std::vector<Event>& out) {
  Event event{.source = element.trace_id};
  const auto give = [&](EventKind kind, std::uint32_t number) {
    event.kind = kind;
    event.number = number;
    out.push_back(event);
  };
  switch (element.kind) {
    case ElementKind::kNoSync:
      return give(EventKind::kGap, 0);
    case ElementKind::kTraceOn:
      if (static_cast<TraceOnReason>(element.reason) == TraceOnReason::kOverflow)
        give(EventKind::kGap, 0);
      return give(EventKind::kTraceOn, 0);
    case ElementKind::kPeContext:
      if ((element.flags & kElementContextIdValid) == 0) return;
      event.value = element.context_id;
      event.bits = 32;
      return give(EventKind::kContext, 0);
    case ElementKind::kInstrRange:
      if (element.last_subtype == isa::InstrSubtype::kV8ExceptionReturn &&
          (element.flags & kElementExecuted) != 0)
        give(EventKind::kExceptionExited, kAnyException);
      return;
    case ElementKind::kException:
      if ((element.flags & kElementTailChain) != 0)
        give(EventKind::kExceptionExited, kAnyException);
      return give(EventKind::kExceptionEntered, element.number);
    case ElementKind::kExceptionReturn:
      return give(EventKind::kExceptionExited, kAnyException);
    case ElementKind::kEvent:
      if (static_cast<EventType>(element.reason) == EventType::kTrigger)
        return give(EventKind::kTrigger, 0);
      for (std::uint32_t number = 0; number < 32; ++number)
        if ((element.number >> number & 1) != 0) give(EventKind::kEvent, number);
      return;
    case ElementKind::kSwTrace:
      return add_software(element, event, out);
    case ElementKind::kItmTrace:
      return add_itm(element, event, out);
    case ElementKind::kCustom:
      event.value = element.start;
      return give(EventKind::kMessage, 0);
    default:
      return;
  }
}

void apply(count::ExceptionStack& exceptions, const Event& event,
           const count::ExceptionStack::Moment& now, const count::ExceptionStack::Left& left) {
  switch (event.kind) {
    case EventKind::kExceptionEntered:
      return exceptions.enter(event.number, now);
    case EventKind::kExceptionExited:
      if (event.number == kAnyException) return exceptions.exit(now, left);
      return exceptions.exit(event.number, now, left);
    case EventKind::kExceptionReturned:
      return exceptions.return_to(event.number, now, left);
    case EventKind::kGap:
      return exceptions.lose(now, left);
    default:
      return;
  }
}

namespace {

/// Whether packets were lost before it; the element then no longer says so.
bool take_loss(Element& element) {
  if (element.kind != ElementKind::kItmTrace || (element.extra & kItmOverflow) == 0) return false;
  element.extra &= static_cast<std::uint8_t>(~kItmOverflow);
  return true;
}

bool has_timestamp(const Element& element) {
  switch (element.kind) {
    case ElementKind::kTimestamp:
      return true;
    case ElementKind::kSwTrace:
      return (element.extra & kSwTimestamp) != 0;
    case ElementKind::kItmTrace:
      return static_cast<ItmKind>(element.extra & kItmKindMask) == ItmKind::kGlobalTimestamp;
    case ElementKind::kCustom:
      return (element.flags & kElementHasTimestamp) != 0;
    default:
      return false;
  }
}

}  // namespace

std::string_view words_of(EventTime time) {
  switch (time) {
    case EventTime::kTimestamps:
      return "ticks of the timestamp generator";
    case EventTime::kLocalTimestamps:
      return "ticks of the local timestamps of the ITM";
    case EventTime::kPositions:
      return "positions in the trace, in bytes";
  }
  return {};
}

void TimeSurvey::add(const Element& element) {
  if (has_timestamp(element)) {
    const bool least =
        element.kind == ElementKind::kItmTrace && (element.flags & kElementTimeIsPartial) != 0;
    (least ? least_ : timestamps_) = true;
  }
  if (is_local_timestamp(element)) local_.insert(element.trace_id);
}

EventTime TimeSurvey::time() const {
  if (timestamps_) return EventTime::kTimestamps;
  if (sources_.size() == 1 && local_ == sources_) return EventTime::kLocalTimestamps;
  return least_ ? EventTime::kTimestamps : EventTime::kPositions;
}

void EventClock::give(const Element& element, std::uint64_t time) {
  now_ = std::max(now_, time);
  take_(element, now_);
}

void EventClock::give_held(std::uint64_t time) {
  for (const Element& element : held_) give(element, time);
  held_.clear();
}

// The loss before an element of an ITM is an event of its own: what came before it does not have
// the time of what comes after it.
void EventClock::give_loss(const Element& element, std::uint64_t time) {
  Element loss = element;
  loss.kind = ElementKind::kNoSync;
  loss.extra = 0;
  loss.reason = static_cast<std::uint8_t>(UnsyncReason::kOverflow);
  give(loss, time);
}

bool EventClock::add(const merge::TimedRecord& record) {
  if (record.is_damage) return true;
  if (record.time == merge::kNever) return false;
  Element element = record.element;
  if (take_loss(element)) give_loss(element, now_);
  give(element, record.time);
  return true;
}

void EventClock::add(std::span<const Element> elements) {
  for (Element element : elements) {
    const bool lost = take_loss(element);
    if (time_ == EventTime::kPositions) {
      if (lost) give_loss(element, element.index);
      give(element, element.index);
      continue;
    }
    // The timestamp of what waits for one was lost too.
    if (lost || element.kind == ElementKind::kNoSync) give_held(now_);
    if (lost) give_loss(element, now_);
    if (element.kind == ElementKind::kNoSync) {
      give(element, now_);
    } else if (is_local_timestamp(element)) {
      give_held(element.timestamp);
    } else {
      held_.push_back(element);
      if (held_.size() == kMostHeld) give_held(now_);
    }
  }
}

}  // namespace waymark::exports
