// The reference printer's lines, character for character.  See mipi-syst.md 6 and 7.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/parser.h"

namespace waymark::compat::syst {

struct PrinterOptions {
  bool payload_only = false;
  std::optional<waymark::syst::Guid> short_guid;
  bool hide_volatile = false;  ///< SYST_UNITTESTING: neither times nor checksums.
};

/// The line before all others.
void write_csv_header(TextBuffer& out);

/// Longer lines are ignored.  The reference is limited only by its memory.
inline constexpr std::size_t kMaxLine = std::size_t{16} << 20;

/// Whether a line that begins like this may be a message, and must be kept until it ends.  `known`:
/// the number of its characters for which this returned true before.
bool may_be_message(std::string_view begun, std::size_t known);

/// Takes lines of text, gives lines of the output.  One owner; not thread safe.
class Printer {
 public:
  Printer(const waymark::syst::Collateral& collateral, const PrinterOptions& options);

  /// Takes one line of the input without its newline; ignores lines without a message.
  void line(std::string_view text, TextBuffer& out);

 private:
  void write_csv(const waymark::syst::Message& message, std::uint64_t context, TextBuffer& out);

  waymark::syst::Quirks quirks_ = waymark::syst::Quirks::reference();
  PrinterOptions options_;
  waymark::syst::ClientFinder finder_;
  std::uint64_t context_time_ = 0;  ///< Counts messages; the reference has no other clock.
  std::vector<std::uint8_t> bytes_;
  TextBuffer scratch_;
};

/// The reference's sentence for collateral that it cannot load.
std::string reference_sentence(const waymark::syst::CollateralProblem& problem);
/// The reference's sentence on standard error for an ID that occurs twice.
std::string reference_sentence(const waymark::syst::CollateralWarning& warning);

}  // namespace waymark::compat::syst
