// Standard input, output and error as a program finds them: perhaps closed, full, or a pipe without
// a reader.
#pragma once

#include <string_view>

namespace waymark {

/// Writes `text` to standard error as far as that takes it.  A failure is ignored, since nothing is
/// left to report it to; nothing is thrown and no signal is raised.  Keeps errno.
void write_to_standard_error(std::string_view text) noexcept;

/// Writes all of `text` to a descriptor, in as many writes as that takes; a descriptor that does
/// not block is waited for.  0, or the errno of the write that failed; EPIPE raises no signal.
int write_all(int descriptor, std::string_view text) noexcept;

/// To be called first in main(): each of the descriptors 0 to 2 that is closed is occupied, so that
/// no file that is opened later takes its place.  Reading from or writing to one that was closed
/// fails as before.
void occupy_standard_descriptors() noexcept;

}  // namespace waymark
