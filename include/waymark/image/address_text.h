// Addresses and ranges of addresses as users write them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "waymark/base/result.h"

namespace waymark::image {

/// At least one byte.  Both ends are included, so that a range can reach the top of memory.
struct AddressRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= first && address <= last;
  }
  /// Whether the bytes from `start` to before `end` touch the range.
  [[nodiscard]] bool touches(std::uint64_t start, std::uint64_t end) const {
    return start < end && start <= last && end - 1 >= first;
  }
};

/// The bytes that a name stands for.  kNotFound: it is not known; any other error is about a name
/// that is known, and ends the reading.
using NameLookup = std::function<Result<AddressRange>(std::string_view name)>;

/// Reads a range of addresses.  N is a number, decimal or hexadecimal after 0x; P is N, NAME or
/// NAME+N:
///
///   P         one byte; for a NAME alone, everything that it stands for
///   P..P      from the first address up to, not including, the second
///   N+N       this many bytes from an address
///   NAME+N+N  the same
///
/// If a text as a whole is a known name, it means that name.  Without `names` there are no names.
/// kInvalidArgument: none of these forms, an empty range, or a range beyond the top of memory;
/// kNotFound: an unknown name; otherwise the error of the lookup.  `detail` quotes the text.
Result<AddressRange> parse_address_range(std::string_view text, const NameLookup& names = {});

/// "0x1000..0x1010", as parse_address_range() reads it; for one byte, "0x1000".
std::string address_range_text(const AddressRange& range);

}  // namespace waymark::image
