// The elements of a capture in batches, for commands that read two captures side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

/// The capture must outlive it.
class RunReader {
 public:
  explicit RunReader(inputs::Capture& capture) : capture_(&capture), batch_(kBatch) {}

  /// The next elements, valid until the next call; none: the end.  Errors: the frames cannot be
  /// read, or decoding cannot go on.
  Result<std::span<const Element>> next();
  /// Bytes of trace that were read.
  [[nodiscard]] std::uint64_t read() const { return read_; }

 private:
  static constexpr std::size_t kBatch = 2048;

  inputs::Capture* capture_;
  std::vector<Element> batch_;
  std::uint64_t read_ = 0;
  bool finishing_ = false;
};

}  // namespace waymark::cli
