#include "program_profile.h"

#include <utility>

#include "waymark/perf/process_images.h"

namespace waymark::cli {

profile::Locate program_locator(const inputs::Capture& capture, outputs::PlaceLookup places) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes == nullptr) {
    return [places = std::move(places)](TaskId /*task*/, std::uint64_t address) -> profile::Place {
      const program::Place place = places(Element(), address);
      if (place.program == nullptr) return {.address = address};
      return {place.program, place.program->path(), place.address};
    };
  }
  return [processes](TaskId task, std::uint64_t address) -> profile::Place {
    const perf::ProgramPlace place = processes->place(task, address);
    if (place.mapping == nullptr) return {.address = address};
    const program::Place linked = place.linked();
    // The mapping lives as long as the recording.
    if (linked.program != nullptr) return {linked.program, place.mapping->path, linked.address};
    return {.path = place.mapping->path, .address = place.file_offset};
  };
}

const profile::ProgramProfile* main_program(const profile::Profile& profile) {
  const profile::ProgramProfile* most = nullptr;
  for (const profile::ProgramProfile& program : profile.programs()) {
    if (program.program == nullptr || program.counts.rows.empty()) continue;
    if (most == nullptr || program.instructions() > most->instructions()) most = &program;
  }
  return most;
}

std::string file_name(const profile::ProgramProfile& program) {
  return program.path.substr(program.path.rfind('/') + 1);
}

}  // namespace waymark::cli
