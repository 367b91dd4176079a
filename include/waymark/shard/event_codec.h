// Elements and damage as bytes.  What an element has in common with the one of its kind before it
// is not written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "waymark/base/diagnostic.h"
#include "waymark/base/types.h"
#include "waymark/element/element.h"

namespace waymark::shard {

using Event = std::variant<Element, Diagnostic>;

class EventWriter {
 public:
  EventWriter();
  ~EventWriter();
  EventWriter(EventWriter&&) noexcept;
  EventWriter& operator=(EventWriter&&) noexcept;

  void add(const Event& event);
  /// The bytes written since the last call.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class EventReader {
 public:
  /// The bytes must outlive it.
  explicit EventReader(Bytes bytes);
  ~EventReader();
  EventReader(EventReader&&) noexcept;
  EventReader& operator=(EventReader&&) noexcept;

  /// Nothing: there is none; is_bad() says whether what comes is not an event.
  std::optional<Event> next();
  [[nodiscard]] bool is_bad() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waymark::shard
