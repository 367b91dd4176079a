// The stream of a server or serial device, which connects again when the connection is lost.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "waymark/live/address.h"
#include "waymark/live/stream.h"

namespace waymark::live {

struct ConnectOptions {
  Stop stop{};
  Notify notify{};
  /// How long to try again after the connection is lost; 0: not at all; nothing: for ever.
  std::optional<Milliseconds> retry_for{};
};

/// Connects.  A connection that is lost later is made again, at first after 100 ms and in the end
/// every 5 s, and a kGap comes before the bytes of the new one.  kNotFound, kIo: as Connection;
/// kUnsupported: the server speaks another protocol.
Result<std::unique_ptr<Stream>> connect(const Address& address, ConnectOptions options);

}  // namespace waymark::live
