// perf.data files of any bytes: no crash, bounded memory, and what a recording says is inside the
// file.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "waymark/image/image.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/recording.h"

namespace {

using namespace waymark;
using namespace waymark::perf;

/// Asks about processes at each piece.  No program is looked for on this machine.
void use_processes(const Recording& recording) {
  std::vector<std::size_t> order(recording.pieces.size());
  std::vector<TraceIndex> begins(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    begins[i] = 16 * i;
  }
  ProgramFiles files(ProgramSearch{.roots = {"/nonexistent"}});
  const ProcessImages images(recording, order, begins, files);
  for (std::size_t i = 0; i < begins.size() && i < 16; ++i) {
    for (const TaskEvent& event : recording.events) {
      const TaskId task = images.task_at(begins[i], 0x10, static_cast<std::uint32_t>(event.tid)).id;
      static_cast<void>(images.task(task).name.size());
      const std::uint64_t address =
          std::holds_alternative<Mapping>(event.what) ? std::get<Mapping>(event.what).address : 0;
      const ProgramPlace place = images.place(task, address);
      if (place.file != nullptr) std::abort();
      if (&event - recording.events.data() > 64) break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = File::read(Bytes(data, size), "perf.data");
  if (!file) return 0;
  static_cast<void>(file->command_line());
  static_cast<void>(file->feature_text(Feature::kOsRelease));
  const auto recording = Recording::read(*file);
  if (!recording) return 0;
  for (const Piece& piece : recording->pieces) {
    const Bytes bytes = recording->bytes(piece);
    if (bytes.size() != piece.size) std::abort();
    if (!bytes.empty() && (bytes.data() < data || bytes.data() + bytes.size() > data + size))
      std::abort();
  }
  if (recording->events.size() > size) std::abort();
  use_processes(*recording);
  return 0;
}
