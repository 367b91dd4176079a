// Exit codes of waymark; docs/cli.md.
#pragma once

namespace waymark::cli {

enum ExitCode : int {
  kOk = 0,
  kDamaged = 1,       ///< Damage under --strict, or nothing could be decoded.
  kUsage = 2,         ///< The command line is wrong.
  kInput = 3,         ///< The input cannot be read or understood.
  kOutput = 4,        ///< The output cannot be written.
  kInterrupted = 130  ///< Ctrl-C.
};

}  // namespace waymark::cli
