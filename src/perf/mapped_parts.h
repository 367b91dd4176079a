// The content of mapped memory: the bytes of programs, of the kernel, its modules and jitted code.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/perf/address_spaces.h"
#include "waymark/perf/program_files.h"
#include "waymark/perf/recording.h"

namespace waymark::perf {

/// A part of a range that a file shows.
struct MappedPart {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t file_offset = 0;
  Bytes bytes{};  ///< From `first` on; they may end earlier.
  std::shared_ptr<const Mapping> mapping{};
  const ProgramFile* file = nullptr;
  const program::Program* names = nullptr;  ///< As in ProgramPlace.
  std::uint64_t names_bias = 0;             ///< How far above the addresses of `names` the code is.
};

/// The parts of executable ranges whose files are found, ascending.
std::vector<MappedPart> mapped_parts(const std::vector<MappedRange>& ranges,
                                     const Recording& recording, ProgramFiles& files);

}  // namespace waymark::perf
