// printf formats with arguments from a message.  See mipi-syst.md 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/base/types.h"
#include "waymark/syst/quirks.h"

namespace waymark::syst {

enum class Modifier : std::uint8_t { kNone, kHh, kH, kL, kLl, kJ, kZ, kT, kLongDouble };

/// A piece of a format: plain text (with its %%), or one conversion.
struct Fragment {
  static constexpr int kNoNumber = -1;  ///< Of width and precision: not given.
  static constexpr int kStar = -2;      ///< The value of an argument.
  static constexpr int kTooBig = -3;    ///< Beyond the range of int.

  std::string_view text;  ///< All of it as it stands.
  int width = kNoNumber;
  int precision = kNoNumber;
  Modifier modifier = Modifier::kNone;
  char conversion = 0;  ///< 0: plain text.
  bool minus = false;
  bool plus = false;
  bool blank = false;
  bool sharp = false;
  bool zero = false;
  bool has_percent = false;  ///< Plain text with %% in it.

  [[nodiscard]] bool is_integer() const;
  [[nodiscard]] bool is_float() const;
};

/// The fragments of a format one after the other.
class FormatScanner {
 public:
  explicit FormatScanner(std::string_view format) : rest_(format) {}
  /// False: the format is used up, or not legal().
  bool next(Fragment& fragment);
  /// False: a conversion that the printer does not know, or that does not end.
  [[nodiscard]] bool legal() const { return legal_; }

 private:
  bool conversion(Fragment& fragment);
  std::string_view rest_;
  bool legal_ = true;
};

/// What one conversion may write; beyond it, the reference's words stand instead.
inline constexpr std::size_t kMaxConversion = 65535;

/// Where a text is cut, natively; the reference has no such bound.
inline constexpr std::size_t kMaxText = std::size_t{1} << 18;

struct ArgumentBytes {
  Bytes bytes;
  bool is_64bit = false;  ///< The sender's long, size_t and pointers have 8 bytes.
  /// The byte after them in memory, which the reference looks at behind a text without NUL.
  std::optional<std::uint8_t> byte_after{};
};

/// Appends `format` with its arguments.  Arguments that are missing or do not fit are told in the
/// text; surplus ones are ignored.  A text of more than kMaxText is cut, which it says itself;
/// with Quirks::reference_wording it is bounded by kMaxConversion for each conversion only.
void write_printf(TextBuffer& out, std::string_view format, const ArgumentBytes& arguments,
                  const Quirks& quirks = {});

/// The same with one integer that is no argument bytes: the formats of short messages and the names
/// of RAW protocols.  `is_64bit`: the width of `value`.
void write_value_format(TextBuffer& out, std::string_view format, std::uint64_t value,
                        bool is_64bit);

}  // namespace waymark::syst
