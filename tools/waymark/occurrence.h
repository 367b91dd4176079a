// An occurrence in a trace, as users name it: a function, an address, an event, a message.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "symbol_options.h"
#include "waymark/base/result.h"
#include "waymark/element/element.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/function_query.h"

namespace waymark::cli {

/// One of:
///
///     NAME, NAME+0x10      the function begins, or its instruction there is executed
///     0x8000               the instruction at this address is executed
///     event:N              the trace unit reports this event
///     exception:N          this exception is taken
///     port:N               software writes to this port of an ITM, or to this channel of an STM
///     text:TEXT            a line of a port, or a SyS-T message, contains this text
///
/// One owner; not thread safe.
class Occurrence {
 public:
  /// kInvalidArgument: the text is not of this form.
  static Result<Occurrence> parse(const std::string& text);

  [[nodiscard]] bool names_function() const { return kind_ == Kind::kFunction; }
  [[nodiscard]] bool names_text() const { return kind_ == Kind::kText; }
  /// Finds the function in the programs of a capture, which must outlive the object.  Errors as
  /// those of program_places(); kInvalidArgument: there is no such function, or several.
  Result<void> find_function(const inputs::Capture& capture, const SymbolOptions& symbols);
  /// Why it is not known whether there is such a function; empty: there is.
  [[nodiscard]] const std::string& unknown() const { return function_.unknown(); }

  /// Whether it happens at the element; if so, after how many of its instructions.  `message`: the
  /// text of an element of the kind kCustom.
  std::optional<std::uint64_t> happens(const Element& element, std::string_view message);

 private:
  enum class Kind : std::uint8_t { kFunction, kAddress, kEvent, kException, kPort, kText };

  std::optional<std::uint64_t> in_range(const Element& element);
  bool ends_line(const Element& element);

  Kind kind_ = Kind::kFunction;
  std::string name_;         ///< kFunction, kText.
  std::uint64_t value_ = 0;  ///< All others; kFunction: the offset.
  outputs::PlaceLookup places_;
  outputs::FunctionMatch function_;
  std::map<std::pair<TraceId, std::uint32_t>, std::string> lines_;  ///< By port.
};

}  // namespace waymark::cli
