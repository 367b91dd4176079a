// perf.data files of any bytes: no crash, bounded memory, and what a recording says is inside the
// file.
#include <cstdint>
#include <cstdlib>

#include "waymark/perf/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waymark;
  using namespace waymark::perf;
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
  return 0;
}
