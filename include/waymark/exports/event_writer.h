// Formats that are made of what happened, in order, and not of sums.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/merge/timeline.h"

namespace waymark::exports {

/// A source, as a format names it.
struct EventSource {
  TraceId id = 0;
  std::string name{};
};

/// The trace is read twice: survey() gets all elements, then begin() and one of the functions add()
/// get them again.  One owner; not thread safe.
class EventWriter {
 public:
  virtual ~EventWriter() = default;

  virtual void survey(std::span<const Element> elements) = 0;
  /// After the survey: whether there is anything to write.
  [[nodiscard]] virtual bool has_events() const = 0;
  /// The same: whether it wants the records of all sources in order of time, not elements in the
  /// order of the trace.
  [[nodiscard]] virtual bool wants_times() const = 0;

  /// `out` must outlive the writer; it may be cleared between calls.
  virtual void begin(std::span<const EventSource> sources, TextBuffer& out) = 0;
  virtual void add(const merge::TimedRecord& record) = 0;
  virtual void add(std::span<const Element> elements) = 0;
  virtual void finish() = 0;

  /// What is missing in the result or cannot be trusted, as whole sentences.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

}  // namespace waymark::exports
