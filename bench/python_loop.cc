// The loop with which bench/python.py compares Python: batches of 64 Ki elements, and sums over
// them.
//
//   python_loop INPUT
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "stopwatch.h"
#include "waymark/inputs/capture.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    (void)std::fprintf(stderr, "Usage: python_loop INPUT\n");
    return 2;
  }
  auto capture = waymark::inputs::Capture::open(argv[1], {});
  if (!capture) {
    (void)std::fprintf(stderr, "python_loop: %s\n", capture.error().detail.c_str());
    return 1;
  }
  const waymark::bench::Stopwatch watch;
  waymark::DecodeTree& tree = capture->tree();
  std::vector<waymark::Element> batch(65536);
  std::size_t filled = 0;
  std::uint64_t elements = 0;
  std::uint64_t starts = 0;
  std::uint64_t kinds = 0;
  const auto sum = [&] {
    for (const waymark::Element& element : std::span(batch).first(filled)) {
      starts += element.start;
      kinds += static_cast<std::uint64_t>(element.kind);
    }
    elements += filled;
    filled = 0;
  };
  const auto take = [&] {
    while (const std::size_t count = tree.next(std::span(batch).subspan(filled))) {
      filled += count;
      if (filled == batch.size()) sum();
    }
  };
  while (const auto block = capture->next_block()) {
    if (const auto fed = tree.feed(block->index, block->bytes); !fed) {
      (void)std::fprintf(stderr, "python_loop: %s\n", fed.error().detail.c_str());
      return 1;
    }
    take();
  }
  tree.finish();
  take();
  sum();
  const double seconds = watch.seconds();
  std::printf("%llu %llu %llu %.6f\n", static_cast<unsigned long long>(elements),
              static_cast<unsigned long long>(starts), static_cast<unsigned long long>(kinds),
              seconds);
  return 0;
}
