// Any bytes as the database of an index: they are refused, or answer every question with something
// that a seek can use.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "waymark/index/seek.h"
#include "waymark/index/store.h"

namespace {

using namespace waymark;

void ask(index::Index& index) {
  const index::Header& header = index.header();
  constexpr std::array<TraceId, 3> kIds = {0, 0x10, 0x7F};
  for (const TraceIndex place :
       {TraceIndex{0}, TraceIndex{1}, header.indexed / 2, header.indexed, kNoIndex - 1}) {
    const auto entry = index::seek(index, kIds, place);
    if (!entry) continue;
    // Nobody is sent behind the place.
    if (entry->index > place) std::abort();
    for (const TraceIndex first : entry->first)
      if (first != kNoIndex && first > place) std::abort();
  }
  for (const TraceId id : kIds) {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 50; ++i) {
      const auto block = index.find(id, number, index::Walk::kForward, {});
      if (!block || !*block) break;
      if ((*block)->number < number || (*block)->number >= header.blocks()) std::abort();
      (void)index.landmarks(id, (*block)->number);
      (void)index.source_block((*block)->number);
      number = (*block)->number + 1;
    }
    (void)index.find(id, ~std::uint64_t{0}, index::Walk::kBackward, {.timestamp_at_least = 1});
  }
  (void)index.find_triggers(0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("index", MFD_CLOEXEC);
  if (file < 0) return 0;
  const bool written = ::write(file, data, size) == static_cast<ssize_t>(size);
  if (written) {
    if (const auto store = index::open_store("/proc/self/fd/" + std::to_string(file), {}))
      ask(**store);
  }
  ::close(file);
  return 0;
}
