// Value change dumps (IEEE 1364), which viewers of waves show: exceptions, events, stimulus ports,
// and what a DWT reports, on an axis of time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/exports/event_writer.h"
#include "waymark/exports/events.h"
#include "waymark/merge/timeline.h"

namespace waymark::exports {

/// One variable of a dump.
struct VcdVariable {
  enum class Role : std::uint8_t {
    kTraced,
    kException,
    kContext,
    kEvent,
    kTrigger,
    kPort,
    kPortWrite,
    kPc,
    kAsleep,
    kData,
    kDataRead,
    kDataWrite,
    kDataPc,
    kDataAddress,
    kDataMatch,
    kCounter,
    kPmuOverflow,
    kSoftware,
    kSoftwareWrite,
    kFlag,
  };
  TraceId source = 0;
  Role role = Role::kTraced;
  std::uint32_t number = 0;
  std::uint32_t channel = 0;
  friend auto operator<=>(const VcdVariable&, const VcdVariable&) = default;
};

/// A dump declares its variables before their first values: this finds them, in a pass over all
/// elements before the one that is written.  A value.
class VcdSurvey {
 public:
  /// Further variables are left out.
  static constexpr std::size_t kMostVariables = 4096;

  void add(std::span<const Element> elements);

  [[nodiscard]] EventTime time() const { return time_.time(); }
  [[nodiscard]] const std::set<VcdVariable>& variables() const { return variables_; }
  /// How often a variable was needed that was left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  std::set<VcdVariable> variables_;
  TimeSurvey time_;
  std::uint64_t left_out_ = 0;
  std::vector<Event> events_;
};

/// Writes a dump.  Memory is bounded by the number of variables and that of EventClock.  One owner;
/// not thread safe.
class VcdWriter {
 public:
  /// `out` must outlive it, and may be cleared between calls.
  VcdWriter(const VcdSurvey& survey, std::span<const EventSource> sources, TextBuffer& out);

  /// For kTimestamps: records in order of time.
  void add(const merge::TimedRecord& record);
  /// For other times: elements in the order of the trace.
  void add(std::span<const Element> elements) { clock_.add(elements); }
  void finish();

  /// Events of sources that have no timestamps, though others do.  They are not in the dump.
  [[nodiscard]] std::uint64_t timeless() const { return timeless_; }

 private:
  struct Change;
  void changes_of(const Event& event, std::vector<Change>& out);
  void write_header(std::span<const EventSource> sources);
  void give(const Element& element, std::uint64_t time);
  void set_time(std::uint64_t time);
  void write(const Change& change);

  EventTime time_;
  TextBuffer& out_;
  EventClock clock_;
  std::map<VcdVariable, std::string> names_;  ///< What stands for a variable in the dump.
  std::map<TraceId, count::ExceptionStack> exceptions_;
  std::vector<Event> events_;
  std::uint64_t now_ = 0;
  bool begun_ = false;
  std::uint64_t timeless_ = 0;
};

/// Both passes.
std::unique_ptr<EventWriter> make_vcd();

}  // namespace waymark::exports
