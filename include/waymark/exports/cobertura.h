// Coverage as an XML report of Cobertura.  See analysis-outputs.md 3.7.
#pragma once

#include "waymark/exports/table.h"

namespace waymark::exports {

/// A package for each folder, and a class for each file.  Names of files are relative to a source
/// folder of the report: "." for relative paths, and else the folder that has all of them.
Result<void> write_cobertura(const profile::Profile& profile,
                             std::span<const profile::ProgramProfile* const> programs,
                             const Options& options, TextBuffer& out);

}  // namespace waymark::exports
