// The address of a live source, as users write it.  See docs/howto/live.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::live {

enum class Transport : std::uint8_t {
  kTcp,      ///< The bytes of a TCP connection.
  kOpenocd,  ///< The trace notifications of OpenOCD's Tcl port.
  kOrbflow,  ///< The ORBFLOW packets of orbuculum.
  kSerial,   ///< A serial device.
};

inline constexpr std::uint16_t kOpenocdPort = 6666;
inline constexpr std::uint16_t kOrbuculumPort = 3402;
/// The tag that orbuculum gives the ITM by default.
inline constexpr TraceId kItmTag = 1;

struct Address {
  Transport transport = Transport::kTcp;
  std::string text;  ///< As the user wrote it.
  std::string host;
  std::uint16_t port = 0;
  TraceId tag = kItmTag;   ///< kOrbflow: the stream to take.
  std::string path;        ///< kSerial.
  std::uint32_t baud = 0;  ///< kSerial; 0: as the device is set.

  /// "HOST:PORT", or the path of a device.
  [[nodiscard]] std::string place() const;
};

/// Whether `text` has the form of an address, right or wrong, or is the path of a serial device.
bool is_address(const std::string& text);

/// tcp://HOST:PORT, openocd://HOST[:PORT], orbuculum://HOST[:PORT][?tag=N],
/// serial:///dev/ttyX[?baud=N], or the path of a serial device.  An IPv6 address is in brackets.
/// kInvalidArgument: a sentence that names what is wrong.
Result<Address> parse_address(const std::string& text);

}  // namespace waymark::live
