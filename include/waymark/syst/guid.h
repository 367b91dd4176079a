// The identity of a SyS-T client.  See mipi-syst.md 1.2.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/base/types.h"

namespace waymark::syst {

/// 16 bytes in the order of the text, which is also their order in a message.
struct Guid {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] constexpr Guid operator&(const Guid& mask) const {
    Guid result;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      result.bytes[i] = static_cast<std::uint8_t>(bytes[i] & mask.bytes[i]);
    return result;
  }
  friend constexpr auto operator<=>(const Guid&, const Guid&) = default;
};

inline constexpr Guid kFullGuidMask = [] {
  Guid mask;
  mask.bytes.fill(0xFF);
  return mask;
}();

/// Reads "{494e5443-8a9c-4014-a65a-2f36a36d96e4}", with digits in either case; gives nothing for
/// any other text.  `loose_digits`: only the first character of each pair must be a digit; the
/// second counts only if it is a digit too, as in the reference printer
/// (Quirks::loose_guid_digits).
std::optional<Guid> parse_guid(std::string_view text, bool loose_digits = false);

/// In braces and lower case.
void write_guid(TextBuffer& out, const Guid& guid);

/// How collateral identifies clients without a GUID: STP master, channel, and origin.
constexpr Guid pseudo_guid(std::uint16_t master, std::uint16_t channel, std::uint8_t origin) {
  Guid guid;
  guid.bytes[4] = static_cast<std::uint8_t>(master >> 8);
  guid.bytes[5] = static_cast<std::uint8_t>(master & 0xFF);
  guid.bytes[6] = static_cast<std::uint8_t>(channel >> 8);
  guid.bytes[7] = static_cast<std::uint8_t>(channel & 0xFF);
  guid.bytes[8] = origin & 0x7FU;
  return guid;
}

/// The form that the reference printer looks for instead: the origin in byte 7, and nothing else.
constexpr Guid pseudo_guid_of_reference(std::uint8_t origin) {
  Guid guid;
  guid.bytes[7] = origin;
  return guid;
}

}  // namespace waymark::syst
