// Functions that several of the decoder's files use.
#pragma once

#include <cstdint>

#include "waymark/element/words.h"
#include "waymark/etmv3/decoder.h"

namespace waymark::etmv3 {

inline Quad quad_of(std::uint64_t low, std::uint64_t high) {
  return Quad{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
              static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
}

}  // namespace waymark::etmv3
