#include "quoted.h"

#include <bit>
#include <cstdint>

#include "waymark/base/bits.h"

namespace waymark::outputs {

std::size_t plain_length(std::string_view text, bool quotable) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  // The high bits of bytes with this value, and perhaps of some above the lowest of them.
  const auto equal = [](std::uint64_t word, std::uint64_t byte) {
    const std::uint64_t difference = word ^ (byte * kOnes);
    return (difference - kOnes) & ~difference;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const auto word = load_le<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(&text[at]));
    std::uint64_t other = word | (word + kOnes) | ((word - 0x20 * kOnes) & ~word);
    if (quotable) other |= equal(word, '"') | equal(word, '\\');
    other &= kHigh;
    if (other != 0) return at + static_cast<std::size_t>(std::countr_zero(other)) / 8;
  }
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte >= 0x7F || (quotable && (byte == '"' || byte == '\\'))) break;
  }
  return at;
}

std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const auto length = static_cast<std::size_t>(std::countl_one(first));
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[length] || code > 0x10FFFF || surrogate ? 0 : length;
}

void write_quoted(TextBuffer& out, std::string_view text) {
  out.put('"');
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = utf8_length(text);
    if (c == '\n') {
      out.put("\\n");
    } else if (c == '\r') {
      out.put("\\r");
    } else if (c == '\t') {
      out.put("\\t");
    } else if (c == '"' || c == '\\') {
      out.put('\\');
      out.put(c);
    } else if (byte < 0x20 || byte == 0x7F || length == 0) {
      out.put("\\x");
      out.hex(byte, 2);
    } else {
      out.put(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out.put('"');
}

void write_shown(TextBuffer& out, std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::size_t plain = 0;
  while (true) {
    plain += plain_length(text.substr(plain), false);
    if (plain == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[plain]);
    // So are the control characters U+0080 to U+009F, which terminals obey.
    const bool is_control = byte == 0xC2 && plain + 1 < text.size() &&
                            static_cast<unsigned char>(text[plain + 1]) < 0xA0;
    const std::size_t length = byte < 0x80 || is_control ? 0 : utf8_length(text.substr(plain));
    if (length != 0) {
      plain += length;
      continue;
    }
    out.put(text.substr(0, plain));
    if (byte == '\n') {
      out.put("\\n");
    } else if (byte == '\t') {
      out.put('\t');
    } else {
      out.put("\\x");
      out.hex(byte, 2);
    }
    text.remove_prefix(plain + 1);
    plain = 0;
  }
  out.put(text);
}

}  // namespace waymark::outputs
