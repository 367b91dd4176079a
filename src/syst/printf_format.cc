#include "waymark/syst/printf_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "waymark/base/bits.h"

namespace waymark::syst {

namespace {

enum class Family : std::uint8_t { kNone, kInteger, kFloat, kOther };

/// The family of each conversion.
constexpr auto kFamilies = [] {
  std::array<Family, 256> families{};
  for (const char c : std::string_view("diuoxX"))
    families[static_cast<unsigned char>(c)] = Family::kInteger;
  for (const char c : std::string_view("fFeEgGaA"))
    families[static_cast<unsigned char>(c)] = Family::kFloat;
  for (const char c : std::string_view("cpsn"))
    families[static_cast<unsigned char>(c)] = Family::kOther;
  return families;
}();

Family family_of(char conversion) { return kFamilies[static_cast<unsigned char>(conversion)]; }

}  // namespace

bool Fragment::is_integer() const { return family_of(conversion) == Family::kInteger; }
bool Fragment::is_float() const { return family_of(conversion) == Family::kFloat; }

bool FormatScanner::next(Fragment& fragment) {
  if (rest_.empty() || !legal_) return false;
  fragment = {};
  std::size_t at = 0;
  while (at < rest_.size()) {
    const std::size_t percent = rest_.find('%', at);
    if (percent == std::string_view::npos) {
      at = rest_.size();
    } else if (percent + 1 < rest_.size() && rest_[percent + 1] == '%') {
      at = percent + 2;
      fragment.has_percent = true;
    } else {
      at = percent;
      break;
    }
  }
  if (at != 0) {
    fragment.text = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return true;
  }
  legal_ = conversion(fragment);
  return legal_;
}

namespace {

// Reads digits from `at`, and moves `at` after them.
int read_number(std::string_view text, std::size_t& at) {
  std::int64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    value = std::min<std::int64_t>(value * 10 + (text[at] - '0'), std::int64_t{INT_MAX} + 1);
  return value > INT_MAX ? Fragment::kTooBig : static_cast<int>(value);
}

Modifier read_modifier(std::string_view text, std::size_t& at) {
  if (at >= text.size()) return Modifier::kNone;
  const bool twice = at + 1 < text.size() && text[at + 1] == text[at];
  Modifier modifier = Modifier::kNone;
  switch (text[at]) {
    case 'h':
      modifier = twice ? Modifier::kHh : Modifier::kH;
      at += twice ? 2 : 1;
      return modifier;
    case 'l':
      modifier = twice ? Modifier::kLl : Modifier::kL;
      at += twice ? 2 : 1;
      return modifier;
    case 'j':
      modifier = Modifier::kJ;
      break;
    case 'z':
      modifier = Modifier::kZ;
      break;
    case 't':
      modifier = Modifier::kT;
      break;
    case 'L':
      modifier = Modifier::kLongDouble;
      break;
    default:
      return Modifier::kNone;
  }
  ++at;
  return modifier;
}

}  // namespace

bool FormatScanner::conversion(Fragment& fragment) {
  const std::string_view text = rest_;
  std::size_t at = 1;
  for (bool flag = true; flag && at < text.size();) {
    switch (text[at]) {
      case '-':
        fragment.minus = true;
        break;
      case '+':
        fragment.plus = true;
        break;
      case ' ':
        fragment.blank = true;
        break;
      case '#':
        fragment.sharp = true;
        break;
      case '0':
        fragment.zero = true;
        break;
      default:
        flag = false;
        continue;
    }
    ++at;
  }
  const auto is = [&](char c) { return at < text.size() && text[at] == c; };
  const auto is_digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  if (is('*')) {
    fragment.width = Fragment::kStar;
    ++at;
  } else if (is_digit()) {
    fragment.width = read_number(text, at);
  }
  if (is('.')) {
    ++at;
    if (is('*')) {
      fragment.precision = Fragment::kStar;
      ++at;
    } else {
      fragment.precision = read_number(text, at);
    }
  }
  fragment.modifier = read_modifier(text, at);
  if (at >= text.size() || family_of(text[at]) == Family::kNone) return false;
  fragment.conversion = text[at];
  fragment.text = text.substr(0, at + 1);
  rest_.remove_prefix(at + 1);
  return true;
}

namespace {

enum class Outcome : std::uint8_t { kDone, kMissing, kCorrupt, kTooLarge, kInvalid };

/// A conversion whose stars have been replaced by values.
struct Spec {
  std::uint32_t width = 0;
  std::optional<std::uint32_t> precision{};
  bool minus = false;
  bool too_big = false;  ///< A number is too big for the host's printf.
};

/// The arguments, with the sender's sizes.
class Arguments {
 public:
  explicit Arguments(const ArgumentBytes& from) : bytes_(from.bytes), from_(from) {}
  explicit Arguments(std::uint64_t value) : value_(value) {}

  [[nodiscard]] bool is_64bit() const { return from_.is_64bit; }
  [[nodiscard]] std::size_t long_size() const { return from_.is_64bit ? 8 : 4; }

  std::optional<std::uint64_t> number(std::size_t size) {
    if (value_) return std::exchange(value_, std::nullopt);
    if (bytes_.size() < size) return std::nullopt;
    const std::uint64_t number =
        size == 8 ? load_le<std::uint64_t>(bytes_.data()) : load_le<std::uint32_t>(bytes_.data());
    bytes_ = bytes_.subspan(size);
    return number;
  }

  /// The text up to its NUL.  kMissing; or kCorrupt if it has no end, with all that is left.
  Outcome text(std::string_view& text) {
    if (bytes_.empty()) return Outcome::kMissing;
    const auto* begin = reinterpret_cast<const char*>(bytes_.data());
    const void* nul = std::memchr(begin, 0, bytes_.size());
    const std::size_t size = nul == nullptr
                                 ? bytes_.size()
                                 : static_cast<std::size_t>(static_cast<const char*>(nul) - begin);
    text = {begin, size};
    bytes_ = bytes_.subspan(nul == nullptr ? size : size + 1);
    if (nul != nullptr) return Outcome::kDone;
    return from_.byte_after == std::uint8_t{0} ? Outcome::kMissing : Outcome::kCorrupt;
  }

 private:
  Bytes bytes_;
  ArgumentBytes from_;
  std::optional<std::uint64_t> value_;
};

/// Writes conversions as the host's printf (glibc) does.
class Writer {
 public:
  Writer(TextBuffer& out, Arguments& arguments, const Quirks& quirks)
      : out_(out), arguments_(arguments), quirks_(quirks) {}

  Outcome write(const Fragment& fragment) {
    Spec spec{.minus = fragment.minus};
    if (!resolve(fragment, spec)) return Outcome::kMissing;
    switch (fragment.conversion) {
      case 's':
        return write_string(fragment, spec);
      case 'n':
        return arguments_.number(arguments_.long_size()) ? Outcome::kDone : Outcome::kMissing;
      case 'p':
        return write_pointer(fragment, spec);
      case 'c':
        return write_character(fragment, spec);
      default:
        return fragment.is_float() ? write_float(fragment, spec) : write_integer(fragment, spec);
    }
  }

 private:
  bool resolve(const Fragment& fragment, Spec& spec) {
    if (fragment.width == Fragment::kStar) {
      const auto value = arguments_.number(4);
      if (!value) return false;
      const auto number = static_cast<std::int32_t>(static_cast<std::uint32_t>(*value));
      spec.minus |= number < 0;
      spec.too_big = number == INT_MIN;
      spec.width = static_cast<std::uint32_t>(number < 0 ? -std::int64_t{number} : number);
    } else if (fragment.width >= 0) {
      spec.width = static_cast<std::uint32_t>(fragment.width);
    }
    if (fragment.precision == Fragment::kStar) {
      const auto value = arguments_.number(4);
      if (!value) return false;
      const auto number = static_cast<std::int32_t>(static_cast<std::uint32_t>(*value));
      if (number >= 0) spec.precision = static_cast<std::uint32_t>(number);
    } else if (fragment.precision >= 0) {
      spec.precision = static_cast<std::uint32_t>(fragment.precision);
    }
    spec.too_big |= fragment.width == Fragment::kTooBig || fragment.precision == Fragment::kTooBig;
    return true;
  }

  // Writes `prefix`, then `zeros` times 0, then `text`, padded to the width.
  Outcome put(const Spec& spec, bool pad_with_zeros, std::string_view prefix, std::size_t zeros,
              std::string_view text) {
    if (spec.too_big) return Outcome::kInvalid;
    std::size_t size = prefix.size() + zeros + text.size();
    if (std::max<std::size_t>(size, spec.width) > kMaxConversion) return Outcome::kTooLarge;
    const std::size_t padding = spec.width > size ? spec.width - size : 0;
    size += padding;
    char* at = out_.grow(size);
    if (!spec.minus && !pad_with_zeros) at = std::fill_n(at, padding, ' ');
    at = write_text(at, prefix);
    if (!spec.minus && pad_with_zeros) at = std::fill_n(at, padding, '0');
    at = std::fill_n(at, zeros, '0');
    at = write_text(at, text);
    if (spec.minus) std::fill_n(at, padding, ' ');
    out_.advance(size);
    return Outcome::kDone;
  }

  Outcome write_string(const Fragment& fragment, const Spec& spec) {
    if (fragment.modifier == Modifier::kL || fragment.modifier == Modifier::kLl) {
      return Outcome::kInvalid;
    }
    std::string_view text;
    const Outcome found = arguments_.text(text);
    if (found != Outcome::kDone && (found == Outcome::kMissing || quirks_.reference_wording)) {
      return found;
    }
    const Outcome written =
        put(spec, false, "", 0, spec.precision ? text.substr(0, *spec.precision) : text);
    return written == Outcome::kDone ? found : written;
  }

  Outcome write_character(const Fragment& fragment, const Spec& spec) {
    const auto value = arguments_.number(4);
    if (!value) return Outcome::kMissing;
    char text[4] = {static_cast<char>(*value & 0xFF)};
    std::size_t size = 1;
    if (fragment.modifier == Modifier::kL || fragment.modifier == Modifier::kLl) {
      const auto wide = static_cast<std::uint32_t>(*value);
      // The host's printf only knows ASCII, as it runs in the locale C.
      if (wide >= 0x80 && quirks_.reference_wording) return Outcome::kInvalid;
      size = utf8(wide, text);
      if (size == 0) return Outcome::kInvalid;
    }
    if (text[0] != 0) return put(spec, false, "", 0, {text, size});
    // A NUL ends the text and also what would follow it in the column.
    Spec column = spec;
    column.width = spec.minus || spec.width == 0 ? 0 : spec.width - 1;
    return put(column, false, "", 0, "");
  }

  static std::size_t utf8(std::uint32_t code, char* out) {
    const auto tail = [&](unsigned shift) {
      return static_cast<char>(0x80 | (code >> shift & 0x3F));
    };
    if (code < 0x80) {
      out[0] = static_cast<char>(code);
      return 1;
    }
    if (code < 0x800) {
      out[0] = static_cast<char>(0xC0 | code >> 6);
      out[1] = tail(0);
      return 2;
    }
    if (code < 0x10000) {
      out[0] = static_cast<char>(0xE0 | code >> 12);
      out[1] = tail(6);
      out[2] = tail(0);
      return code >= 0xD800 && code < 0xE000 ? 0 : 3;
    }
    if (code > 0x10FFFF) return 0;
    out[0] = static_cast<char>(0xF0 | code >> 18);
    out[1] = tail(12);
    out[2] = tail(6);
    out[3] = tail(0);
    return 4;
  }

  Outcome write_pointer(const Fragment& fragment, const Spec& spec) {
    const auto value = arguments_.number(arguments_.long_size());
    if (!value) return Outcome::kMissing;
    if (*value == 0) return put(spec, false, "", 0, "(nil)");
    Fragment as_hex = fragment;
    as_hex.sharp = true;
    as_hex.conversion = 'x';
    const char* sign = fragment.plus ? "+" : fragment.blank ? " " : "";
    return put_number(as_hex, spec, *value, sign);
  }

  // The number of bytes of the sender's argument.
  [[nodiscard]] std::size_t integer_size(Modifier modifier) const {
    switch (modifier) {
      case Modifier::kLl:
      case Modifier::kJ:
        return 8;
      case Modifier::kL:
      case Modifier::kZ:
        return arguments_.long_size();
      case Modifier::kT:
        return quirks_.ptrdiff_takes_four_bytes ? 4 : arguments_.long_size();
      default:
        return 4;
    }
  }

  Outcome write_integer(const Fragment& fragment, const Spec& spec) {
    const std::size_t size = integer_size(fragment.modifier);
    const auto argument = arguments_.number(size);
    if (!argument) return Outcome::kMissing;
    std::uint64_t value = *argument;
    // The bits that the host's conversion uses.
    unsigned host_bits = 64;
    if (fragment.modifier == Modifier::kNone) host_bits = 32;
    if (fragment.modifier == Modifier::kH) host_bits = 16;
    if (fragment.modifier == Modifier::kHh) host_bits = 8;
    if (fragment.conversion != 'd' && fragment.conversion != 'i') {
      return put_number(fragment, spec, value & low_mask(host_bits), "");
    }
    const unsigned bits = quirks_.narrow_is_zero_extended
                              ? host_bits
                              : std::min(host_bits, static_cast<unsigned>(8 * size));
    value = sign_extend(value, bits);
    if (static_cast<std::int64_t>(value) < 0) return put_number(fragment, spec, 0 - value, "-");
    return put_number(fragment, spec, value, fragment.plus ? "+" : fragment.blank ? " " : "");
  }

  Outcome put_number(const Fragment& fragment, const Spec& spec, std::uint64_t value,
                     std::string_view sign) {
    char digits[24];
    char* end = digits + sizeof digits;
    char* at = end;
    const bool upper = fragment.conversion == 'X';
    switch (fragment.conversion) {
      case 'x':
      case 'X': {
        const char* const letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
        for (std::uint64_t rest = value; rest != 0; rest >>= 4) *--at = letters[rest & 0xF];
        break;
      }
      case 'o':
        for (std::uint64_t rest = value; rest != 0; rest >>= 3)
          *--at = static_cast<char>('0' + (rest & 7));
        break;
      default:
        for (std::uint64_t rest = value; rest != 0; rest /= 10)
          *--at = static_cast<char>('0' + rest % 10);
    }
    const auto count = static_cast<std::size_t>(end - at);
    std::size_t wanted = spec.precision.value_or(1);
    if (fragment.conversion == 'o' && fragment.sharp) wanted = std::max(wanted, count + 1);
    char prefix[3];
    char* prefix_end = write_text(prefix, sign);
    if (fragment.sharp && value != 0 && (fragment.conversion == 'x' || upper)) {
      *prefix_end++ = '0';
      *prefix_end++ = fragment.conversion;
    }
    return put(spec, fragment.zero && !spec.precision,
               {prefix, static_cast<std::size_t>(prefix_end - prefix)},
               wanted > count ? wanted - count : 0, {at, count});
  }

  Outcome write_float(const Fragment& fragment, const Spec& spec) {
    const auto argument = arguments_.number(8);
    if (!argument) return Outcome::kMissing;
    if (spec.too_big) return Outcome::kInvalid;
    if (spec.width > kMaxConversion) return Outcome::kTooLarge;
    const auto value = std::bit_cast<double>(*argument);
    auto precision = static_cast<int>(std::min<std::uint32_t>(spec.precision.value_or(0), INT_MAX));
    if (!std::isfinite(value)) {
      precision = 0;
    } else if (precision > static_cast<int>(kMaxConversion)) {
      const bool short_form =
          (fragment.conversion == 'g' || fragment.conversion == 'G') && !fragment.sharp;
      if (!short_form) return Outcome::kTooLarge;
      // No double has more significant digits than this.
      precision = 1100;
    }
    char format[16];
    char* at = format;
    *at++ = '%';
    if (spec.minus) *at++ = '-';
    if (fragment.plus) *at++ = '+';
    if (fragment.blank) *at++ = ' ';
    if (fragment.sharp) *at++ = '#';
    if (fragment.zero) *at++ = '0';
    *at++ = '*';
    if (spec.precision) at = write_text(at, ".*");
    *at++ = fragment.conversion;
    *at = 0;
    char* const room = out_.grow(kMaxConversion + 1);
    const auto width = static_cast<int>(spec.width);
    const int size = spec.precision
                         ? std::snprintf(room, kMaxConversion + 1, format, width, precision, value)
                         : std::snprintf(room, kMaxConversion + 1, format, width, value);
    if (size < 0) return Outcome::kInvalid;
    if (static_cast<std::size_t>(size) > kMaxConversion) return Outcome::kTooLarge;
    out_.advance(static_cast<std::size_t>(size));
    return Outcome::kDone;
  }

  TextBuffer& out_;
  Arguments& arguments_;
  const Quirks& quirks_;
};

void put_plain(TextBuffer& out, std::string_view text, bool runs_collapse) {
  while (true) {
    const std::size_t percent = text.find('%');
    if (percent == std::string_view::npos) {
      out.put(text);
      return;
    }
    out.put(text.substr(0, percent + 1));
    text.remove_prefix(percent + 1);
    // Each sign has been written once, and is in the format twice.
    if (runs_collapse) {
      text.remove_prefix(std::min(text.find_first_not_of('%'), text.size()));
    } else {
      text.remove_prefix(std::min<std::size_t>(1, text.size()));
    }
  }
}

void put_failure(TextBuffer& out, Outcome outcome, std::string_view format,
                 std::string_view fragment, bool reference_wording) {
  switch (outcome) {
    case Outcome::kDone:
      return;
    case Outcome::kMissing:
      out.put(reference_wording ? "- insufficient argument bytes for format '"
                                : "[no argument is left for '");
      out.put(reference_wording ? format : fragment);
      out.put(reference_wording ? "'" : "']");
      return;
    case Outcome::kCorrupt:
      out.put("[the text of the argument has no end]");
      return;
    case Outcome::kTooLarge:
      out.put(" - printf result using format '");
      out.put(fragment);
      out.put("' is too large");
      return;
    case Outcome::kInvalid:
      out.put(" - invalid format '");
      out.put(fragment);
      out.put("' in printf");
      return;
  }
}

Outcome write_fragments(TextBuffer& out, std::string_view format, Arguments& arguments,
                        const Quirks& quirks) {
  Writer writer(out, arguments, quirks);
  Fragment fragment;
  const std::size_t begin = out.size();
  for (FormatScanner scanner(format); scanner.next(fragment);) {
    if (out.size() - begin > kMaxText && !quirks.reference_wording) {
      out.put("[the text is longer than 262144 bytes, and its rest is cut]");
      return Outcome::kDone;
    }
    if (fragment.conversion == 0) {
      if (fragment.has_percent) {
        put_plain(out, fragment.text, quirks.percent_runs_collapse);
      } else {
        out.put(fragment.text);
      }
      continue;
    }
    const Outcome outcome = writer.write(fragment);
    if (outcome == Outcome::kDone) continue;
    put_failure(out, outcome, format, fragment.text, quirks.reference_wording);
    return outcome;
  }
  return Outcome::kDone;
}

void write_all(TextBuffer& out, std::string_view format, Arguments& arguments,
               const Quirks& quirks) {
  FormatScanner check(format);
  Fragment fragment;
  bool has_text = false;
  while (check.next(fragment)) has_text |= fragment.conversion == 's';
  if (!check.legal()) {
    out.put("invalid format string '");
    out.put(format);
    out.put('\'');
    return;
  }
  if (!quirks.reference_wording || !has_text) {
    (void)write_fragments(out, format, arguments, quirks);
    return;
  }
  // A text without end discards everything before it.
  TextBuffer text;
  if (write_fragments(text, format, arguments, quirks) == Outcome::kCorrupt) {
    out.put(" - corrupt printf payload, missing argument string termination");
  } else {
    out.put(text.view());
  }
}

}  // namespace

void write_printf(TextBuffer& out, std::string_view format, const ArgumentBytes& arguments,
                  const Quirks& quirks) {
  ArgumentBytes seen = arguments;
  if (!quirks.reference_wording) seen.byte_after.reset();
  Arguments from(seen);
  write_all(out, format, from, quirks);
}

void write_value_format(TextBuffer& out, std::string_view format, std::uint64_t value,
                        bool is_64bit) {
  Arguments from(is_64bit ? value : value & 0xFFFFFFFF);
  // The host's printf gets the value unchanged.
  write_all(out, format, from, Quirks{.narrow_is_zero_extended = true});
}

}  // namespace waymark::syst
