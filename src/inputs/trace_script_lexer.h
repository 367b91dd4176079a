// The text of a trace script as statements; docs/trace-scripts.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"

namespace waymark::inputs {

/// A statement, an opening statement ("repeat 3 {"), or a closing brace (no words, not opening).
struct Statement {
  std::uint32_t line = 0;
  bool opens = false;
  std::vector<std::string_view> words;
  std::string body;  ///< The lines of `expect`.
};

/// The statements of `text`, as views into it.  kParse with "line N: ".
Result<std::vector<Statement>> read_statements(std::string_view text);

/// "line N: <reason>".
std::unexpected<Error> fail_at(std::uint32_t line, std::string_view reason,
                               ErrorCode code = ErrorCode::kParse);

}  // namespace waymark::inputs
