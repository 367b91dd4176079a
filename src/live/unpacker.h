// Unwraps the bytes of the trace from the records of a server.
#pragma once

#include <memory>
#include <vector>

#include "connection.h"
#include "waymark/live/address.h"
#include "waymark/live/stream.h"

namespace waymark::live {

class Unpacker {
 public:
  virtual ~Unpacker() = default;

  /// After connecting: asks the server for trace, if it must be asked.  Bytes of trace that come
  /// meanwhile are appended to `out`.  kUnsupported: the server speaks another protocol, or
  /// refuses; kIo: the connection broke, or the caller asked to stop.
  virtual Result<void> begin(Connection& connection, const Stop& stop,
                             std::vector<std::uint8_t>& out) = 0;

  /// Reads from the front of `in`, and appends trace to `out`, up to the end or to a place where
  /// trace is missing.  True: such a place.  kUnsupported: this is not the protocol.
  virtual Result<bool> take(Bytes& in, std::vector<std::uint8_t>& out) = 0;

  /// A note about data that was left out, as a sentence for the user, once; empty: none.
  virtual std::string left_out() { return {}; }
};

std::unique_ptr<Unpacker> make_unpacker(const Address& address);

}  // namespace waymark::live
