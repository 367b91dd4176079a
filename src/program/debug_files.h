// Finds the files with the debug information of a program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf_file.h"
#include "waymark/program/program.h"

namespace waymark::program {

/// The file with what was stripped from a program: by its build ID, then by .gnu_debuglink.
/// nullptr: there is none that belongs to it.
std::unique_ptr<LoadedFile> find_debug_file(LoadedFile& program, const DebugSearch& search);

/// The file into which dwz put what several debug files share (.gnu_debugaltlink).
std::unique_ptr<LoadedFile> find_alternate_file(LoadedFile& debug, const DebugSearch& search);

/// The .dwo file of a unit that was compiled in `directory`.
std::unique_ptr<LoadedFile> find_split_file(std::string_view name, std::string_view directory,
                                            const std::string& program, const DebugSearch& search);

/// The symbols that a stripped program keeps (.gnu_debugdata, MiniDebugInfo).
std::unique_ptr<LoadedFile> mini_debug_file(LoadedFile& program);

/// As .gnu_debuglink has it.
std::uint32_t debug_link_crc(Bytes bytes);

}  // namespace waymark::program
