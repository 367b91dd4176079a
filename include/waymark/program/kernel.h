// The code of a kernel and of its modules, as their files hold it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::program {

/// A part of a file that is loaded at an address.
struct LoadedPart {
  std::uint64_t address = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t size = 0;  ///< Bytes of the file.
};

/// The executable segments of an ELF file, such as vmlinux or a copy of /proc/kcore.
std::vector<LoadedPart> executable_parts(Bytes elf_file);

/// The value of a symbol of any type; nothing: the file has none of that name.
std::optional<std::uint64_t> symbol_value(Bytes elf_file, std::string_view name);

/// The section .text of a kernel module, with its branches to itself as they are in memory.
struct ModuleCode {
  std::uint64_t file_offset = 0;
  std::vector<std::uint8_t> bytes{};
};

/// In the file, all branches that the linker left open lead to themselves.  Those within .text get
/// their targets.  Those that leave it become indirect branches: where they go, the trace says.
/// Nothing: not a relocatable file for AArch64.
std::optional<ModuleCode> module_code(Bytes elf_file);

}  // namespace waymark::program
