// The layer of counts: which code was executed most. This is faster than taking elements.
//
//   hot_code CAPTURE
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "waymark/inputs/capture.h"
#include "waymark/parallel/counting.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: hot_code CAPTURE\n");
    return 2;
  }
  auto capture = waymark::inputs::Capture::open(argv[1], {});
  if (!capture) {
    std::fprintf(stderr, "hot_code: %s\n", capture.error().detail.c_str());
    return 1;
  }
  waymark::DecodeTree& tree = capture->tree();
  std::map<waymark::Source*, waymark::count::Counter> counters;
  const auto count = [&](waymark::Source& source) { source.count(counters[&source]); };
  while (const auto block = capture->next_block()) {
    if (!tree.feed(block->index, block->bytes)) return 1;
    tree.work(count);
  }
  tree.finish();
  tree.work(count);

  waymark::count::Counts counts;
  for (auto& [source, counter] : counters) counts.add(counter.take());
  const unsigned long long all = counts.totals().instructions;
  std::printf("%llu instructions\n", all);
  std::ranges::stable_sort(counts.rows, std::greater{}, &waymark::count::Row::instructions);
  if (counts.rows.size() > 5) counts.rows.resize(5);
  for (const waymark::count::Row& row : counts.rows) {
    const double share = 100.0 * static_cast<double>(row.instructions()) / static_cast<double>(all);
    std::printf("%5.1f %%  0x%llx to 0x%llx, %llu times\n", share,
                static_cast<unsigned long long>(row.range.start),
                static_cast<unsigned long long>(row.range.end),
                static_cast<unsigned long long>(row.times()));
  }
  return 0;
}
