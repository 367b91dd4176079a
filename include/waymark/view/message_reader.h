// Messages that software sends in several elements, such as those of SyS-T.
#pragma once

#include <span>
#include <string>

#include "waymark/element/element.h"

namespace waymark::view {

/// Used for one pass over a trace, by one thread.
class MessageReader {
 public:
  virtual ~MessageReader() = default;
  MessageReader() = default;
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  /// The elements with messages, which have the kind kCustom, in place of those that carry them.
  /// Valid until the next call.
  virtual std::span<const Element> replace(std::span<const Element> elements) = 0;
  /// The messages that are incomplete at the end of the trace.
  virtual std::span<const Element> finish() = 0;
  /// The text of a message; can be taken once.
  virtual std::string text(const Element& message) = 0;
};

}  // namespace waymark::view
