// Ctrl-C as a question that loops ask.
#pragma once

namespace waymark::cli {

/// From now on SIGINT and SIGTERM only set a flag (a second one ends the program at once), and
/// SIGPIPE and SIGXFSZ are errors of write().
void watch_signals();

[[nodiscard]] bool interrupted();

}  // namespace waymark::cli
