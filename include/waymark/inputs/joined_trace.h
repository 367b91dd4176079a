// Several buffers of a snapshot as one trace of frames, in order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::inputs {

enum class Framing : std::uint8_t;

/// Where each byte of a joined trace comes from.  Plain data; the parts are in the order of their
/// first bytes.
struct JoinedTrace {
  /// A buffer that was joined.
  struct Buffer {
    std::string name{};
    Framing framing{};        ///< That of its own file.
    std::uint64_t bytes = 0;  ///< Of trace, as indexes of this buffer alone count them.
  };
  /// Consecutive bytes of one buffer.
  struct Part {
    TraceIndex begin = 0;      ///< In the joined trace.
    std::size_t buffer = 0;    ///< Into `buffers`.
    std::uint64_t offset = 0;  ///< The index of its first byte in the buffer alone.
  };

  struct Place {
    const Buffer* buffer = nullptr;
    /// In the buffer alone.  Exact for memory-aligned frames and for a stream without frames; among
    /// syncs, at most as much too low as the syncs since the beginning of the part have bytes.
    std::uint64_t offset = 0;
  };
  /// Nothing: an index before the first part.
  [[nodiscard]] std::optional<Place> place(TraceIndex index) const;

  std::vector<Buffer> buffers{};
  std::vector<Part> parts{};
};

}  // namespace waymark::inputs
