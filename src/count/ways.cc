#include "waymark/count/ways.h"

#include <utility>

namespace waymark::count {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;
// Small, because each harvest of the counts reads the whole table.
constexpr std::size_t kFirstTable = std::size_t{1} << 6;

}  // namespace

bool Ways::full() const { return used_ == kMost; }

Way& Ways::free_slot(Place marked_from, std::uint64_t address) {
  std::size_t i = hash(marked_from, address) & mask_;
  while (slots_[i].marked_from != 0) i = (i + 1) & mask_;
  return slots_[i];
}

Way& Ways::add(Place from, WayKey key, Place to) {
  if ((used_ + 1) * 2 > slots_.size()) {
    const std::vector<Way> old = std::move(slots_);
    slots_.assign(old.size() * 2, {});
    mask_ = slots_.size() - 1;
    for (const Way& moved : old)
      if (moved.marked_from != 0) free_slot(moved.marked_from, moved.address) = moved;
  }
  const Place marked = from | key.mark;
  ++used_;
  return free_slot(marked, key.address) = {
             .address = key.address, .marked_from = marked, .to = to, .times = 0};
}

void Ways::clear() {
  slots_.assign(kFirstTable, {});
  mask_ = kFirstTable - 1;
  used_ = 0;
}

}  // namespace waymark::count
