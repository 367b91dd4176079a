// The targets of indirect branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/count/nodes.h"

namespace waymark::count {

/// The target of an indirect branch.
struct WayKey {
  std::uint64_t address = 0;
  std::uint32_t mark = 0;  ///< kT32 or 0; no place has that bit.
  static constexpr std::uint32_t kT32 = std::uint32_t{1} << 31;
};

/// How often an indirect branch went to one target.
struct Way {
  std::uint64_t address = 0;
  Place marked_from = 0;  ///< The exit or the node, with WayKey::mark.
  Place to = 0;           ///< The block there; 0: the caller that counted it did not ask.
  std::uint32_t times = 0;

  [[nodiscard]] Place from() const { return marked_from & ~WayKey::kT32; }
};

/// The ways of a counter: open addressing, with a size that is a power of two.
class Ways {
 public:
  Ways() { clear(); }

  /// nullptr: it is new.
  [[nodiscard]] Way* find(Place from, WayKey key) {
    const Place marked = from | key.mark;
    for (std::size_t i = hash(marked, key.address) & mask_;; i = (i + 1) & mask_) {
      Way& way = slots_[i];
      if (way.marked_from == marked && way.address == key.address) [[likely]]
        return &way;
      if (way.marked_from == 0) return nullptr;
    }
  }
  /// Adds a way that is new; there must be room.  Valid until the next one is added.
  Way& add(Place from, WayKey key, Place to);
  [[nodiscard]] bool full() const;

  /// All ways, in no order; those with marked_from 0 are free slots.
  [[nodiscard]] std::span<Way> slots() { return slots_; }

  void clear();

 private:
  static std::size_t hash(Place from, std::uint64_t address) {
    return static_cast<std::size_t>(
        (address ^ (std::uint64_t{from} << 28)) * 0x9E3779B97F4A7C15ULL >> 40);
  }
  [[nodiscard]] Way& free_slot(Place marked_from, std::uint64_t address);

  std::vector<Way> slots_;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
};

}  // namespace waymark::count
