// The output of OpenOCD's Tcl port: records that end with 1A, which are replies or notifications.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::live {

/// The byte that ends each request, reply and notification.
inline constexpr std::uint8_t kRecordEnd = 0x1A;

struct RpcCounts {
  std::uint64_t trace_records = 0;
  std::uint64_t bad_records = 0;  ///< Trace that is not whole hexadecimal bytes, or too long.
};

/// Divides the stream into records.  The bytes may come in pieces of any size.
class RpcReader {
 public:
  /// The longest record that is kept.  OpenOCD sends at most 4096 bytes of trace at once.
  static constexpr std::size_t kMostRecord = std::size_t{64} << 10;

  enum class Found : std::uint8_t { kNothing, kTrace, kReply, kOther, kDamage };

  /// Reads up to the end of the next record, or of `bytes`, and removes what it read.  kTrace: the
  /// bytes were appended to `trace`.  kReply: see reply().  kOther: a notification that is not
  /// trace.  kDamage: trace is missing here.
  Found next(Bytes& bytes, std::vector<std::uint8_t>& trace);

  /// The text of the last reply.
  [[nodiscard]] const std::string& reply() const { return record_; }
  [[nodiscard]] const RpcCounts& counts() const { return counts_; }
  /// The record that has begun is longer than any that OpenOCD sends.
  [[nodiscard]] bool too_long() const { return too_long_; }

  /// A new connection.
  void restart();

 private:
  Found take_record(std::vector<std::uint8_t>& trace);

  std::string record_;
  bool ended_ = true;  ///< record_ was given; the next byte begins a new one.
  bool too_long_ = false;
  RpcCounts counts_;
};

}  // namespace waymark::live
