// The layer of frames: how many bytes of each trace ID are in CoreSight frames.
//
//   count_frames TRACE        frames as in memory, for instance samples/quicksort/trace.bin
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "waymark/frames/demux.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: count_frames TRACE\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> trace{std::istreambuf_iterator<char>(file), {}};
  waymark::frames::Demux demux({});
  trace.resize(trace.size() - trace.size() % demux.options().alignment());  // Only whole frames.

  const waymark::Bytes bytes(reinterpret_cast<const std::uint8_t*>(trace.data()), trace.size());
  if (const auto fed = demux.feed(0, bytes); !fed) {
    std::fprintf(stderr, "count_frames: %s\n", fed.error().detail.c_str());
    return 1;
  }
  std::map<unsigned, unsigned long> size_of_id;
  while (true) {
    using waymark::frames::Step;
    const Step step = demux.step();
    if (step == Step::kNeedInput) break;
    if (step == Step::kError) demux.resync();
    if (step != Step::kFrame) continue;
    for (const auto& segment : demux.frame().view()) size_of_id[segment.id] += segment.size;
  }
  for (const auto& [id, size] : size_of_id) std::printf("ID 0x%02x: %lu bytes\n", id, size);
  return 0;
}
