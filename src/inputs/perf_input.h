// The data that a Capture keeps of a perf or simpleperf recording.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/inputs/capture.h"
#include "waymark/perf/file.h"
#include "waymark/perf/jitted_code.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/program_files.h"
#include "waymark/perf/recording.h"

namespace waymark::inputs {

struct PerfInput {
  MappedFile content{};  ///< The bytes of a file; those of a folder are in `file`.
  perf::File file;
  perf::Recording recording{};
  std::vector<std::size_t> order{};  ///< The pieces that are decoded, by the time of their records.
  TimeSource times = TimeSource::kAuxRecords;
  std::unique_ptr<perf::ProgramFiles> programs{};
  perf::JittedCode jitted{};
  std::unique_ptr<perf::ProcessImages> processes{};
};

}  // namespace waymark::inputs
