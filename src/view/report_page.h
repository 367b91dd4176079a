// The content of a report besides answers: the page as one file, and the comparison of two
// captures.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/view/answers.h"
#include "waymark/view/page.h"
#include "waymark/view/report.h"

namespace waymark::view {

/// The page with its script and its style inside.
class ReportPage {
 public:
  explicit ReportPage(const std::vector<PageFile>& files);

  /// Without data.
  [[nodiscard]] std::size_t size() const { return before_.size() + after_.size(); }
  /// `data` is JSON without the character `<`, as write_string() makes it.
  [[nodiscard]] std::string with(std::string_view data) const;

 private:
  std::string before_;
  std::string after_;
};

/// The functions of two captures side by side: those with the same name in programs of the same
/// name are one row.  Before them, where the captures part, as `options` says.
void write_comparison(TextBuffer& out, const std::array<CaptureFacts, 2>& facts,
                      const std::array<Functions, 2>& functions, const ReportOptions& options);

}  // namespace waymark::view
