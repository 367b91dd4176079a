// Instructions as text: --disassemble.
#pragma once

#include <memory>

#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/instructions.h"

namespace waymark::cli {

/// LLVM's library, as the variable WAYMARK_LLVM names it.  nullptr: there is none, and a note on
/// standard error says so.
std::shared_ptr<const program::Llvm> load_llvm();

/// The lister of the instructions of a capture, which must outlive the result.  `places` names
/// targets of branches; it may be empty.  `lines`: finds source lines, too.
outputs::InstructionOptions instruction_options(const inputs::Capture& capture,
                                                outputs::PlaceLookup places, bool lines = false);

}  // namespace waymark::cli
