// One connection to a live source: a TCP socket or a serial device.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "waymark/live/address.h"
#include "waymark/live/stream.h"

namespace waymark::live {

/// Owns the descriptor; move-only.
class Connection {
 public:
  /// Waits for the host at most a few seconds.  kNotFound: the host or device; kIo: it refuses, or
  /// the caller asked to stop.  The sentence has the remedy.
  static Result<Connection> open(const Address& address, const Stop& stop);

  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Waits at most `patience`.  Nothing: no bytes came; 0: the other side ended the connection.
  /// kIo: the connection broke.
  Result<std::optional<std::size_t>> read(std::span<std::uint8_t> out, Milliseconds patience);
  /// kIo: the connection broke, or takes nothing.
  Result<void> send(std::string_view text);

 private:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace waymark::live
