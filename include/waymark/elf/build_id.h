// The build ID of a program: what a linker wrote into it to tell it from all others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::elf {

/// The bytes of NT_GNU_BUILD_ID, most often 20; empty: there is none, the file is not an ELF file,
/// or this build has no libelf.
std::vector<std::uint8_t> build_id_of(Bytes elf_file);

/// In hexadecimal, as `file` and `readelf -n` show it.
std::string build_id_text(const std::vector<std::uint8_t>& id);

/// Whether both name the same program.  Zeros at the end of an ID do not count: recordings pad it
/// to 20 bytes.  An empty one equals nothing.
bool same_build_id(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace waymark::elf
