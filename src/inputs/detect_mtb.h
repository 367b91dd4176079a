// Detects whether bytes are the records of an MTB.
#pragma once

#include <cstddef>

#include "waymark/base/types.h"

namespace waymark::inputs {

/// The evidence of the records of a dump.
struct MtbFacts {
  std::size_t records = 0;   ///< That have something in them.
  std::size_t links = 0;     ///< Pairs of records, one after the other.
  std::size_t near = 0;      ///< Links where the source is a little after the last destination.
  std::size_t distinct = 0;  ///< Distinct destinations of near links, up to kEnoughDistinct.

  static constexpr std::size_t kEnoughDistinct = 3;
  /// Few bytes of anything else look like this by chance: a near link has 18 equal bits.
  [[nodiscard]] bool plausible() const {
    constexpr double kMinNear = 0.9;
    return distinct == kEnoughDistinct &&
           static_cast<double>(near) >= kMinNear * static_cast<double>(links);
  }
};

MtbFacts mtb_facts(Bytes content);

}  // namespace waymark::inputs
