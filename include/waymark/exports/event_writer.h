// Formats that are made of what happened, in order, and not of sums.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/merge/timeline.h"

namespace waymark::exports {

/// A source, as a format names it.
struct EventSource {
  TraceId id = 0;
  std::string name{};
};

/// The text of an element of the kind kCustom, a message; can be asked for once.
using MessageText = std::function<std::string(const Element& element)>;

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

  /// Messages have a text; before begin().
  void set_message_text(MessageText text) { message_text_ = std::move(text); }

  /// The parts that are missing in the result or cannot be trusted, as whole sentences.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;

 protected:
  [[nodiscard]] const MessageText& message_text() const { return message_text_; }

 private:
  MessageText message_text_;
};

}  // namespace waymark::exports
