#include "made_capture.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "output.h"

namespace waymark::cli {

Result<void> refuse_inputs_in(const std::string& folder, const synth::CaptureMaker& maker,
                              const synth::Program* program, std::span<const std::string> inputs) {
  std::vector<inputs::SnapshotFile> files{{"trace.bin", {}}, {"perf.data", {}}};
  files.push_back({"truth/totals.ini", {}});
  for (std::size_t i = 0; i < maker.units().size(); ++i)
    files.push_back({"truth/" + maker.device_name(i) + ".truth", {}});
  for (std::size_t i = 0; program != nullptr && i < program->segments().size(); ++i)
    if (program->segments()[i].origin.file.empty())
      files.push_back({synth::CaptureMaker::memory_file(i), {}});
  if (const std::string path = program == nullptr ? "" : program->file(); !path.empty()) {
    const std::string name = synth::CaptureMaker::program_file(path);
    std::error_code error;
    if (!std::filesystem::equivalent(path, std::filesystem::path(folder) / name, error))
      files.push_back({name, {}});
  }
  return refuse_inputs_in(folder, maker.snapshot(program, "trace.bin"), files, inputs);
}

}  // namespace waymark::cli
