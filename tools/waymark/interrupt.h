// Ctrl-C as a question that loops ask.
#pragma once

namespace waymark::cli {

/// From now on SIGINT and SIGTERM only set a flag (a second one ends the program at once), and
/// SIGPIPE and SIGXFSZ are errors of write().  An input file that becomes shorter while it is
/// mapped ends the program with a sentence.
void watch_signals();

[[nodiscard]] bool interrupted();

}  // namespace waymark::cli
