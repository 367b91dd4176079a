#include "waymark/etm4x/sysfs_text.h"

#include <fmt/format.h>

#include <optional>

namespace waymark::etm4x {
namespace {

std::optional<unsigned> digit_of(char c, unsigned base) {
  unsigned value = 16;
  if (c >= '0' && c <= '9') value = static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') value = static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') value = static_cast<unsigned>(c - 'A') + 10;
  if (value >= base) return std::nullopt;
  return value;
}

// As the kernel's isspace, which includes Latin-1's no-break space.
bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || static_cast<unsigned char>(c) == 0xA0;
}

bool starts_hex(std::string_view text) {
  return text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

std::string_view until_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

// Removes the digits at the front of `text` and returns their value.  Sets `overflow`, never clears
// it.
std::uint64_t take_digits(std::string_view& text, unsigned base, bool& overflow) {
  std::uint64_t value = 0;
  while (!text.empty()) {
    const auto digit = digit_of(text.front(), base);
    if (!digit) break;
    if (value > (~std::uint64_t{0} - *digit) / base) overflow = true;
    value = value * base + *digit;
    text.remove_prefix(1);
  }
  return value;
}

}  // namespace

std::expected<std::uint64_t, Errno> strict_number(std::string_view text, unsigned base) {
  text = until_nul(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (base == 0) {
    base = 10;
    if (text.starts_with('0')) {
      base = starts_hex(text) && text.size() > 2 && digit_of(text[2], 16) ? 16 : 8;
    }
  }
  if (base == 16 && starts_hex(text)) text.remove_prefix(2);
  const std::size_t before = text.size();
  bool overflow = false;
  const std::uint64_t value = take_digits(text, base, overflow);
  if (overflow) return std::unexpected(Errno::kRange);
  if (text.size() == before) return std::unexpected(Errno::kInval);
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (!text.empty()) return std::unexpected(Errno::kInval);
  return value;
}

ScannedNumbers scan_hex(std::string_view text, unsigned most) {
  text = until_nul(text);
  ScannedNumbers scanned;
  while (scanned.count < most && scanned.count < scanned.value.size()) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    if (text.empty() || !digit_of(text.front(), 16)) break;
    if (starts_hex(text)) text.remove_prefix(2);
    bool overflow = false;
    scanned.value[scanned.count++] = take_digits(text, 16, overflow);
  }
  return scanned;
}

std::string_view first_word(std::string_view text) {
  text = until_nul(text);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  std::size_t size = 0;
  while (size < text.size() && !is_blank(text[size])) ++size;
  return text.substr(0, size);
}

std::expected<bool, Errno> boolean_word(std::string_view text) {
  text = until_nul(text);
  const char first = text.empty() ? '\0' : text[0];
  const char second = text.size() < 2 ? '\0' : text[1];
  switch (first) {
    case 'y':
    case 'Y':
    case 't':
    case 'T':
    case '1':
      return true;
    case 'n':
    case 'N':
    case 'f':
    case 'F':
    case '0':
      return false;
    case 'o':
    case 'O':
      if (second == 'n' || second == 'N') return true;
      if (second == 'f' || second == 'F') return false;
      break;
    default:
      break;
  }
  return std::unexpected(Errno::kInval);
}

std::string hex_line(std::uint64_t value) { return fmt::format("0x{:x}\n", value); }

std::string decimal_line(std::int64_t value) { return fmt::format("{}\n", value); }

}  // namespace waymark::etm4x
