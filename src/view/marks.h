// Messages and events among elements.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/exports/events.h"
#include "waymark/view/answers.h"
#include "waymark/view/message_reader.h"

namespace waymark::view {

struct FoundMark {
  bool is_message = false;
  std::string kind{};
  std::string text{};
};

/// Makes marks of elements.  What software writes to a port of an ITM character by character
/// becomes lines of text.  One owner; not thread safe.
class MarkFinder {
 public:
  /// `messages`: nullptr: none are read.
  explicit MarkFinder(std::unique_ptr<MessageReader> messages) : messages_(std::move(messages)) {}

  /// Appends what the element shows.
  void find(const Element& element, std::vector<FoundMark>& out);
  /// Appends what is incomplete at the end of the trace, by source.
  void finish(std::vector<std::pair<TraceId, FoundMark>>& out);

 private:
  void find_plain(const Element& element, std::vector<FoundMark>& out);
  void add_port(const exports::Event& event, std::vector<FoundMark>& out);

  std::unique_ptr<MessageReader> messages_;
  std::vector<exports::Event> events_;
  std::map<std::pair<TraceId, std::uint32_t>, std::string> lines_;
};

}  // namespace waymark::view
