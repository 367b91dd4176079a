// The ini dialect of Arm trace snapshots; see snapshot-format.md 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waymark::inputs {

enum class IniLineKind : std::uint8_t {
  kSection,  ///< `[name]`; `key` is the name.
  kEntry,    ///< `key=value`, both trimmed.
  kText,     ///< Neither: an error in a section that is read, nothing in one that is not.
};

/// One line that is not empty.  All views point into the text given to the reader.
struct IniLine {
  IniLineKind kind = IniLineKind::kText;
  std::uint32_t number = 0;  ///< Counted from 1.
  std::string_view key{};
  std::string_view value{};
  std::string_view text{};  ///< The line without comment and line end, untrimmed.

  /// A header found inside what looks like `key=value`: `file=trace[0].bin` is section "0".
  [[nodiscard]] bool header_hides_entry() const;
};

/// Gives the lines of a text one by one, without memory of its own.  The text must outlive the
/// reader.  All bytes are legal; a last line without a newline counts.
class IniReader {
 public:
  explicit IniReader(std::string_view text) : rest_(text) {}

  std::optional<IniLine> next();

 private:
  std::string_view rest_;
  std::uint32_t number_ = 0;
};

/// `text` without blanks and tabs at both ends.
std::string_view ini_trim(std::string_view text);

/// `text` without `"` and `'` at both ends.
std::string_view ini_unquote(std::string_view text);

/// A whole text as a number: decimal, 0x hexadecimal, or octal after a leading 0; a sign is allowed
/// and a negative number wraps; too large gives the largest; empty is 0.  Nothing: other
/// characters.
std::optional<std::uint64_t> ini_number(std::string_view text);

/// As ini_number(), but stops at the first character that cannot belong to the number, as register
/// values are read.  No digits at all: 0.
std::uint64_t ini_number_prefix(std::string_view text);

}  // namespace waymark::inputs
