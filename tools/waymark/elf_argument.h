// Programs as arguments of commands: "FILE" or "FILE@ADDRESS".
#pragma once

#include <string>
#include <vector>

#include "waymark/elf/file.h"
#include "waymark/etm4x/plan.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

/// The file, and what its addresses are moved by.  kInvalidArgument: no address after the @.
Result<inputs::ProgramFile> parse_elf_argument(const std::string& argument);

/// Errors as those of parse_elf_argument() and elf::File::open().
Result<elf::File> open_elf_argument(const std::string& argument);

/// The files of such arguments, without addresses.
std::vector<std::string> program_paths(const std::vector<std::string>& arguments);

/// Looks in all files in turn; they must outlive the resolver.
etm4x::SymbolResolver symbol_resolver(const std::vector<elf::File>& files);

}  // namespace waymark::cli
