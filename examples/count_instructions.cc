// Counts what each trace source of a capture executed.
//
//   count_instructions SNAPSHOT
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "waymark/inputs/capture.h"

namespace {

int fail(const waymark::Error& error) {
  std::fprintf(stderr, "count_instructions: %s\n", error.detail.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: count_instructions SNAPSHOT\n");
    return 2;
  }
  // snippet count
  // The trace, the code image, and a decode tree for both.
  auto capture = waymark::inputs::Capture::open(argv[1], {});
  if (!capture) return fail(capture.error());
  waymark::DecodeTree& tree = capture->tree();

  std::map<waymark::TraceId, std::uint64_t> executed;
  std::vector<waymark::Element> elements(1024);
  const auto take = [&] {
    while (const std::size_t count = tree.next(elements)) {
      for (const waymark::Element& element : std::span(elements).first(count)) {
        if (element.kind == waymark::ElementKind::kInstrRange)
          executed[element.trace_id] += element.count;
      }
    }
  };
  while (const auto block = capture->next_block()) {
    if (const auto fed = tree.feed(block->index, block->bytes); !fed) return fail(fed.error());
    take();
  }
  tree.finish();  // The decoder still holds elements: take these, too.
  take();
  // end snippet

  for (const auto& [id, count] : executed)
    std::printf("ID 0x%02x: %llu instructions\n", unsigned{id},
                static_cast<unsigned long long>(count));
  return 0;
}
