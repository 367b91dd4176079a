// The events of a trace besides the execution of instructions, in one vocabulary for all
// protocols: exceptions, events, writes of software, and what a DWT reports.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/count/exception_stack.h"
#include "waymark/element/element.h"
#include "waymark/merge/timeline.h"

namespace waymark::exports {

enum class EventKind : std::uint8_t {
  kGap,                ///< Trace was lost, or none was made.
  kTraceOn,            ///< Trace begins or goes on.
  kExceptionEntered,   ///< number: the exception.
  kExceptionExited,    ///< number: the same; kAnyException: the one that is handled.
  kExceptionReturned,  ///< number: the exception whose handler goes on; 0: none.
  kContext,            ///< value: the context ID.
  kEvent,              ///< number: that of the resource of a trace unit.
  kTrigger,
  kPort,         ///< number: a stimulus port of an ITM.
  kPcSample,     ///< value: the address.
  kSleeping,     ///< A sample of a core that was asleep.
  kDataValue,    ///< number: a comparator; write: whether the value was written.
  kDataPc,       ///< number: a comparator; value: known low bytes of the address of the access.
  kDataAddress,  ///< The same of the data.
  kDataMatch,    ///< number: a comparator.
  kCounter,      ///< number: a counter of the DWT that wrapped, as its bit in DwtCounter.
  kPmuOverflow,  ///< number: a counter of the PMU.
  kSoftware,     ///< number, channel: a write through an STM.
  kFlag,         ///< The same: a flag without data.
  kMessage,      ///< value: the number of a SyS-T message, whose text others keep.
};

/// "port", "pc_sample" ...
std::string_view event_word(EventKind kind);

inline constexpr std::uint32_t kAnyException = ~std::uint32_t{0};

struct Event {
  TraceId source = 0;
  EventKind kind = EventKind::kGap;
  std::uint32_t number = 0;   ///< See EventKind; of software, the master.
  std::uint32_t channel = 0;  ///< Of software.
  std::uint64_t value = 0;
  unsigned bits = 0;  ///< The size of the value; 0: there is none.
  bool write = false;
  friend bool operator==(const Event&, const Event&) = default;
};

/// Appends what the element says, in order.
void events_of(const Element& element, std::vector<Event>& out);

/// Applies an event to the exceptions of its source.
void apply(count::ExceptionStack& exceptions, const Event& event,
           const count::ExceptionStack::Moment& now, const count::ExceptionStack::Left& left);

/// The unit of the times of events.
enum class EventTime : std::uint8_t {
  kTimestamps,       ///< Ticks of the timestamp generator of the system.
  kLocalTimestamps,  ///< Ticks of the clock of an ITM, from the first one on.
  kPositions,        ///< Bytes of the trace: it has no timestamps.
};

/// "ticks of the timestamp generator" and so on.
std::string_view words_of(EventTime time);

/// Finds which times the events of a trace can have.  A value.
class TimeSurvey {
 public:
  void add(const Element& element);
  /// This source has events.
  void add_source(TraceId id) { sources_.insert(id); }
  /// Local timestamps only if all events are of the one source that has them.
  [[nodiscard]] EventTime time() const;

 private:
  std::set<TraceId> sources_;
  std::set<TraceId> local_;
  bool timestamps_ = false;
  bool least_ = false;  ///< Partial global times of an ITM, whose local ones are better.
};

/// Gives elements their times, which never decrease.  One owner; not thread safe.
class EventClock {
 public:
  /// A local timestamp comes after what it stamps, which waits for it.
  static constexpr std::size_t kMostHeld = 65536;
  using Take = std::function<void(const Element& element, std::uint64_t time)>;

  EventClock(EventTime time, Take take) : time_(time), take_(std::move(take)) {}

  /// For kTimestamps: records in order of time.  False: it has no time.
  bool add(const merge::TimedRecord& record);
  /// For other times: elements in the order of the trace.
  void add(std::span<const Element> elements);
  void finish() { give_held(now_); }

 private:
  void give(const Element& element, std::uint64_t time);
  void give_held(std::uint64_t time);
  void give_loss(const Element& element, std::uint64_t time);

  EventTime time_;
  Take take_;
  std::vector<Element> held_;
  std::uint64_t now_ = 0;
};

}  // namespace waymark::exports
