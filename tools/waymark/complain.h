// Sentences on standard error.
#pragma once

#include <string_view>

namespace waymark::cli {

/// Writes "waymark: <sentence>" to standard error and returns `code`.  Names in the sentence need
/// no care: it is escaped as a whole (waymark/base/escape.h) and stays one line.  Never throws or
/// aborts, whatever standard error is; what cannot be written is lost.
int complain(std::string_view sentence, int code) noexcept;

/// Writes "waymark: note: <sentence>", under the same rules: something that the user should know
/// and that is no failure.
void note(std::string_view sentence) noexcept;

}  // namespace waymark::cli
