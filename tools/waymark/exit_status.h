// The meaning of each exit code, for --help and the man pages; docs/output-formats.md.
#pragma once

#include <string_view>

#include "exit_code.h"

namespace waymark::cli {

struct ExitStatus {
  int code;
  std::string_view meaning;
};

inline constexpr ExitStatus kExitStatus[] = {
    {kOk, "success; damage in the trace may have been reported"},
    {kDamaged, "nothing could be decoded, --strict found damage, or diff found a difference"},
    {kUsage, "the command line is wrong"},
    {kInput, "the input cannot be read or understood"},
    {kOutput, "the output cannot be written"},
    {kMemory, "memory or another system resource ran out"},
    {kInterrupted, "interrupted; the output so far is written in whole lines"},
    {kReaderLeft, "the reader closed the output early, as head does"},
};

}  // namespace waymark::cli
