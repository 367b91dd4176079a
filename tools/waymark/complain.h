// Sentences on standard error.
#pragma once

#include <string_view>
#include <system_error>

namespace waymark::cli {

/// Writes "waymark: <sentence>" to standard error and returns `code`.  Names in the sentence need
/// no care: it is escaped as a whole (waymark/base/escape.h) and stays one line.  Never throws or
/// aborts, whatever standard error is; what cannot be written is lost.
int complain(std::string_view sentence, int code) noexcept;

/// Says that memory ran out, and returns kMemory.  The caller then writes nothing more, because
/// its output may be incomplete.
int complain_of_memory() noexcept;

/// The same if the system refuses another resource, such as a thread.
int complain_of_resources(const std::system_error& error) noexcept;

/// Writes "waymark: note: <sentence>", under the same rules: something that the user should know
/// although nothing failed.
void note(std::string_view sentence) noexcept;

}  // namespace waymark::cli
