// The kernel's parsers for writes to files, and the formats in which files show values.  See
// etm4x-programming.md 1.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "waymark/etm4x/outcome.h"

namespace waymark::etm4x {

/// The strict unsigned parser. `base` is 10 or 16, or 0 for C notation. kInval: any other text;
/// kRange: more than 64 bits. A NUL ends the text.
std::expected<std::uint64_t, Errno> strict_number(std::string_view text, unsigned base);

/// Numbers as scanf reads them in hexadecimal: blanks are skipped, reading stops at the first thing
/// that is not a number, and values of more than 64 bits wrap.
struct ScannedNumbers {
  std::array<std::uint64_t, 3> value{};
  unsigned count = 0;
};
ScannedNumbers scan_hex(std::string_view text, unsigned most);

/// The first word between blanks; empty if there is none.
std::string_view first_word(std::string_view text);

/// "yes", "1", "on" and similar words.  kInval: any other text.
std::expected<bool, Errno> boolean_word(std::string_view text);

/// "0x1f\n", "31\n".
std::string hex_line(std::uint64_t value);
std::string decimal_line(std::int64_t value);

}  // namespace waymark::etm4x
