// Exit codes of waymark; docs/output-formats.md.
#pragma once

namespace waymark::cli {

enum ExitCode : int {
  kOk = 0,
  kDamaged = 1,        ///< Damage under --strict, or nothing could be decoded.
  kDifferent = 1,      ///< The runs that `diff` compared are not the same.
  kUsage = 2,          ///< The command line is wrong.
  kInput = 3,          ///< The input cannot be read or understood.
  kOutput = 4,         ///< The output cannot be written.
  kMemory = 5,         ///< Memory, or another resource of the system, ran out.
  kInterrupted = 130,  ///< Ctrl-C.
  kReaderLeft = 141    ///< The reader of the output went away, as `head` does; nothing is said.
};

}  // namespace waymark::cli
