// Sample profiles of LLVM, which Clang reads itself.  See analysis-outputs.md 3.9.
#pragma once

#include "waymark/exports/table.h"

namespace waymark::exports {

/// As text.  Functions without debug information, and code that is from no line, are left out.
Result<void> write_llvm_sample(const profile::Profile& profile,
                               const profile::ProgramProfile& program, const Options& options,
                               TextBuffer& out);

/// In the extensible binary form, which Clang reads fastest.
Result<void> write_llvm_sample_binary(const profile::Profile& profile,
                                      const profile::ProgramProfile& program,
                                      const Options& options, TextBuffer& out);

}  // namespace waymark::exports
