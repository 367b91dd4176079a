// Serial devices.
#pragma once

#include <cstdint>
#include <string>

#include "waymark/base/result.h"

namespace waymark::live {

/// Whether `path` is a serial device, and not the terminal of this program.
bool is_serial(const std::string& path);

/// Opens a device for reading, without waiting for its lines: raw, 8 bits, no parity, 1 stop bit.
/// `baud` 0: the rate stays.  Returns the descriptor.  kNotFound, kIo; kInvalidArgument: the device
/// does not take the rate.
Result<int> open_serial(const std::string& path, std::uint32_t baud);

}  // namespace waymark::live
