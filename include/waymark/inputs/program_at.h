// An ELF file where plain bytes of memory were asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "waymark/base/result.h"
#include "waymark/elf/file.h"

namespace waymark::inputs {

struct ProgramAt {
  elf::File program;
  std::string note;  ///< A sentence that says how the file is loaded.
};

/// The ELF file at `path` for the option `--image address=path`: as it was linked if `address` is
/// in one of its segments, else with its first segment at `address`.  Nothing: it is not an ELF
/// file, or it cannot be opened.  Without an address, as it was linked.
Result<std::optional<ProgramAt>> program_at(std::optional<std::uint64_t> address,
                                            const std::string& path);

}  // namespace waymark::inputs
