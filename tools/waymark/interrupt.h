// Signals: Ctrl-C becomes a question that loops ask.
#pragma once

namespace waymark::cli {

/// From now on, the first SIGINT or SIGTERM only sets a flag, and the next one ends the program at
/// once.  SIGPIPE and SIGXFSZ become errors of write().  If an input file becomes shorter while it
/// is mapped, the program ends with a sentence.
void watch_signals();

/// Whether SIGINT or SIGTERM arrived.
[[nodiscard]] bool interrupted();

}  // namespace waymark::cli
