// CRC-32C (Castagnoli), the checksum of SyS-T messages.  See mipi-syst.md 1.5.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"

namespace waymark::syst {

/// Uses the processor's instruction if there is one (SSE4.2, ARMv8 CRC), which it checks at run
/// time.
std::uint32_t crc32c(Bytes bytes);

/// The same from tables, on every processor.
std::uint32_t crc32c_portable(Bytes bytes);

/// Whether crc32c() uses an instruction here.
bool crc32c_is_in_hardware();

}  // namespace waymark::syst
