// Profiles that consist of executed traces and taken branches.  See analysis-outputs.md 3.10
// to 3.13.
#pragma once

#include "waymark/exports/table.h"

namespace waymark::exports {

/// The input of `perf2bolt --pa`: link-time addresses.
Result<void> write_bolt(const profile::Profile& profile, const profile::ProgramProfile& program,
                        const Options& options, TextBuffer& out);

/// The input of `llvm-profgen --unsymbolized-profile`: addresses from the page of the first
/// executable segment.
Result<void> write_llvm_unsymbolized(const profile::Profile& profile,
                                     const profile::ProgramProfile& program, const Options& options,
                                     TextBuffer& out);

/// The input of `create_llvm_prof --profiler text` and `create_gcov --profiler text`: addresses
/// from the first segment, or offsets in the file; see Options::file_offsets.
Result<void> write_autofdo(const profile::Profile& profile, const profile::ProgramProfile& program,
                           const Options& options, TextBuffer& out);

}  // namespace waymark::exports
