// Counts the instructions from a byte on, without decoding what is before: count_from SNAPSHOT BYTE
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "waymark/index/builder.h"
#include "waymark/index/seek.h"

namespace {
int fail(const waymark::Error& error) {
  std::fprintf(stderr, "count_from: %s\n", error.detail.c_str());
  return 1;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "Usage: count_from SNAPSHOT BYTE\n");
    return 2;
  }
  const std::uint64_t place = std::strtoull(argv[2], nullptr, 0);
  // snippet seek
  // An index in memory; open_store() opens one that `waymark index` built.
  const auto index = waymark::index::make_memory_index();
  waymark::inputs::CaptureOptions packets_only;
  packets_only.source.decode = false;
  auto indexed = waymark::inputs::Capture::open(argv[1], packets_only);
  if (!indexed) return fail(indexed.error());
  const auto built = waymark::index::build(*indexed, *index, {});
  if (!built) return fail(built.error());

  auto capture = waymark::inputs::Capture::open(argv[1], {});
  if (!capture) return fail(capture.error());
  // Where each source has to begin, so that all elements from `place` on are exact.
  const auto entry = waymark::index::seek(*index, waymark::index::source_ids(*capture), place);
  if (!entry) return fail(entry.error());
  waymark::index::enter(*capture, *entry);
  // end snippet

  unsigned long long executed = 0;
  std::vector<waymark::Element> elements(1024);
  const auto take = [&] {
    while (const std::size_t count = capture->tree().next(elements))
      for (const waymark::Element& element : std::span(elements).first(count))
        if (element.kind == waymark::ElementKind::kInstrRange && element.index >= place)
          executed += element.count;
  };
  while (const auto block = capture->next_block()) {
    const auto fed = capture->tree().feed(block->index, block->bytes);
    if (!fed) return fail(fed.error());
    take();
  }
  capture->tree().finish();
  take();
  std::printf("%llu instructions\n", executed);
  return 0;
}
