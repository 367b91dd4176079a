// SHA-256 (FIPS 180-4), with which jobs and parts are told apart and checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "waymark/base/types.h"

namespace waymark::shard {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(Bytes bytes);

/// 64 digits in lower case.
std::string hex_of(const Sha256& digest);

}  // namespace waymark::shard
