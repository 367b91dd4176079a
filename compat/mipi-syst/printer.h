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

/// The one line before all others.
void write_csv_header(TextBuffer& out);

/// A longer line is passed over.  The reference knows no bound but its memory.
inline constexpr std::size_t kMaxLine = std::size_t{16} << 20;

/// A line that begins so may be a message, and must be kept until it ends.  `known`: characters of
/// it for which this has been true before.
bool may_be_message(std::string_view begun, std::size_t known);

/// Text lines in, lines of the output out.  One owner; not thread safe.
class Printer {
 public:
  Printer(const waymark::syst::Collateral& collateral, const PrinterOptions& options);

  /// One line of the input without its newline; anything but a message is passed over.
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

/// The reference's sentence for collateral that it does not load.
std::string reference_sentence(const waymark::syst::CollateralProblem& problem);
/// What it says on standard error of an ID that is there twice.
std::string reference_sentence(const waymark::syst::CollateralWarning& warning);

}  // namespace waymark::compat::syst
