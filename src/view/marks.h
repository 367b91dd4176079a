// Messages and events among elements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/exports/events.h"
#include "waymark/view/answers.h"

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
  /// Appends what the element shows.
  void find(const Element& element, std::vector<FoundMark>& out);

 private:
  void add_port(const exports::Event& event, std::vector<FoundMark>& out);

  std::vector<exports::Event> events_;
  std::map<std::pair<TraceId, std::uint32_t>, std::string> lines_;
};

}  // namespace waymark::view
