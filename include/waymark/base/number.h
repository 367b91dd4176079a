// Numbers as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waymark {

/// The whole of `text` as a number in `base`, or in hexadecimal after 0x.  Nothing: no digits,
/// other characters, a sign, or more than 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

}  // namespace waymark
