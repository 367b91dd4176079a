#include "waymark/syst/guid.h"

#include "waymark/base/number.h"

namespace waymark::syst {
namespace {

constexpr std::string_view kShape = "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}";

}  // namespace

std::optional<Guid> parse_guid(std::string_view text, bool loose_digits) {
  if (text.size() != kShape.size()) return std::nullopt;
  Guid guid;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (kShape[at] != 'x') {
      if (text[at] != kShape[at]) return std::nullopt;
      ++at;
      continue;
    }
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[at + 1]);
    if (high < 0 || (low < 0 && !loose_digits)) return std::nullopt;
    guid.bytes[count++] = static_cast<std::uint8_t>(low < 0 ? high : high << 4 | low);
    at += 2;
  }
  return guid;
}

void write_guid(TextBuffer& out, const Guid& guid) {
  out.put('{');
  for (std::size_t i = 0; i < guid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out.put('-');
    out.hex(guid.bytes[i], 2);
  }
  out.put('}');
}

}  // namespace waymark::syst
