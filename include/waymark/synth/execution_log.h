// Makes a program execute what an emulator has logged.
#pragma once

#include <string_view>

#include "waymark/base/result.h"
#include "waymark/synth/program.h"

namespace waymark::synth {

/// Reads the addresses of all executed instructions, in order, one per line: in hexadecimal, or as
/// `qemu-user -singlestep -d exec,nochain` logs them.  Bit 0 of an address says that it is T32
/// code. The program then executes exactly this, once (Program::set_log).
///
/// kParse: "line N: ..."; the program does not lead from one instruction to the next one.
Result<void> load_execution_log(std::string_view text, Program& program);

}  // namespace waymark::synth
