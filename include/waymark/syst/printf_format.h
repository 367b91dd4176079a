// printf formats with the arguments of a message.  See mipi-syst.md 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/base/types.h"
#include "waymark/syst/quirks.h"

namespace waymark::syst {

enum class Modifier : std::uint8_t { kNone, kHh, kH, kL, kLl, kJ, kZ, kT, kLongDouble };

/// A piece of a format: plain text (which may contain %%), or one conversion.
struct Fragment {
  static constexpr int kNoNumber = -1;  ///< Width or precision: not given.
  static constexpr int kStar = -2;      ///< Taken from an argument.
  static constexpr int kTooBig = -3;    ///< Outside the range of int.

  std::string_view text;  ///< The complete piece, unchanged.
  int width = kNoNumber;
  int precision = kNoNumber;
  Modifier modifier = Modifier::kNone;
  char conversion = 0;  ///< 0: plain text.
  bool minus = false;
  bool plus = false;
  bool blank = false;
  bool sharp = false;
  bool zero = false;
  bool has_percent = false;  ///< Plain text that contains %%.

  [[nodiscard]] bool is_integer() const;
  [[nodiscard]] bool is_float() const;
};

/// Gives the fragments of a format one after the other.
class FormatScanner {
 public:
  explicit FormatScanner(std::string_view format) : rest_(format) {}
  /// False: the format has ended, or is not legal().
  bool next(Fragment& fragment);
  /// False: the format has a conversion that the printer does not know, or one that does not end.
  [[nodiscard]] bool legal() const { return legal_; }

 private:
  bool conversion(Fragment& fragment);
  std::string_view rest_;
  bool legal_ = true;
};

/// The longest output of one conversion.  Where it would be longer, the reference's words replace
/// it.
inline constexpr std::size_t kMaxConversion = 65535;

/// Where a text is cut without quirks; the reference has no such limit.
inline constexpr std::size_t kMaxText = std::size_t{1} << 18;

struct ArgumentBytes {
  Bytes bytes;
  bool is_64bit = false;  ///< The sender's long, size_t and pointers have 8 bytes.
  /// The byte after the arguments in memory, which the reference reads after a text without NUL.
  std::optional<std::uint8_t> byte_after{};
};

/// Appends `format` with its arguments.  The text states arguments that are missing or do not fit;
/// surplus arguments are ignored.  A text longer than kMaxText is cut and says so.  With
/// Quirks::reference_wording only kMaxConversion limits each conversion.
void write_printf(TextBuffer& out, std::string_view format, const ArgumentBytes& arguments,
                  const Quirks& quirks = {});

/// The same with one integer instead of argument bytes, for the formats of short messages and the
/// names of RAW protocols.  `is_64bit`: the width of `value`.
void write_value_format(TextBuffer& out, std::string_view format, std::uint64_t value,
                        bool is_64bit);

}  // namespace waymark::syst
