// Finds the region for an address and a memory space.
#pragma once

#include <memory>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/image/image.h"

namespace waymark::image {

/// One stretch of memory, first..last inclusive.  Exactly one of `bytes` and `callback` answers.
struct Region {
  RegionKind kind = RegionKind::kBuffer;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  SpaceMask space = kSpaceAny;
  std::string name;
  Bytes bytes;                                ///< Into `copy` or `mapping`: last - first + 1 bytes.
  std::vector<std::uint8_t> copy;             ///< The bytes of a buffer.
  std::shared_ptr<const MappedFile> mapping;  ///< The file; shared by all its regions.
  std::uint64_t offset = 0;                   ///< Where in the file `bytes` begin.
  ReadCallback callback;
};

/// The regions in the order in which they were added, and in layers of equal space mask.  No two
/// regions of a layer overlap, so it is sorted, and a search in it is binary.
class RegionMap {
 public:
  /// A region in exactly these spaces that shares an address with first..last, if there is one.
  [[nodiscard]] const Region* overlap(std::uint64_t first, std::uint64_t last,
                                      SpaceMask space) const;

  /// overlap() must have returned null.
  void add(Region region);

  /// Removes the regions that start at `address` and share a bit with `space`; returns their
  /// number.
  std::size_t remove(std::uint64_t address, SpaceMask space);

  /// The region that a read of `address` gets, and the last address that comes from it.
  struct Found {
    const Region* region = nullptr;
    std::uint64_t last = 0;
  };
  /// Among the regions that hold `address` and share a bit with `space`, the one in the fewest
  /// spaces; of several of these, the one added first.
  [[nodiscard]] Found find(std::uint64_t address, SpaceMask space) const;

  [[nodiscard]] const std::vector<std::unique_ptr<const Region>>& in_order() const {
    return regions_;
  }

 private:
  /// The fields of a region that a search needs, stored together.
  struct Slot {
    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t arrival;  ///< Smaller numbers were added first.
    const Region* region;
  };
  struct Layer {
    SpaceMask space;
    std::vector<Slot> slots;  ///< By `first`; they do not overlap.

    /// The last slot that starts at or below `address`, or null.
    [[nodiscard]] const Slot* at_or_below(std::uint64_t address) const;
    /// The first slot that starts above `address`, or null.
    [[nodiscard]] const Slot* above(std::uint64_t address) const;
  };

  std::vector<std::unique_ptr<const Region>> regions_;
  std::vector<Layer> layers_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace waymark::image
