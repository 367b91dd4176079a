// Programs as arguments of commands: "FILE" or "FILE@ADDRESS".
#pragma once

#include <string>
#include <vector>

#include "waymark/etm4x/plan.h"
#include "waymark/image/elf_file.h"

namespace waymark::cli {

/// Errors as of image::ElfFile::open(); kInvalidArgument: no address after the @.
Result<image::ElfFile> open_elf_argument(const std::string& argument);

/// Looks in all files in turn; they must outlive the resolver.
etm4x::SymbolResolver symbol_resolver(const std::vector<image::ElfFile>& files);

}  // namespace waymark::cli
