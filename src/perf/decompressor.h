// A zstd stream in pieces, such as the COMPRESSED records of one recording.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::perf {

/// Bounds its memory: a stream that needs a window of more than 128 MiB is refused.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// Takes bytes from the front of `in` and writes to the front of `out`; returns how many it
  /// wrote.  Call it again while it fills `out` or `in` is not empty.  kBadData: not zstd, or
  /// damaged; kUnsupported: Waymark was built without zstd.
  Result<std::size_t> next(Bytes& in, std::span<std::uint8_t> out);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace waymark::perf
