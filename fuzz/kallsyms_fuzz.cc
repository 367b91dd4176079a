// Copies of /proc/kallsyms.
#include <cstdlib>

#include "waymark/perf/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto all = waymark::perf::read_kallsyms({reinterpret_cast<const char*>(data), size});
  if (!all) return 0;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const waymark::image::Function& function = (*all)[i];
    if (function.last < function.start || function.name.empty()) std::abort();
    if (i != 0 && (*all)[i - 1].last >= function.start) std::abort();
  }
  return 0;
}
