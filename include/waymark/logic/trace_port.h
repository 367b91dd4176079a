// The bytes on a parallel trace port: TRACECLK with 1, 2 or 4 pins of TRACEDATA.  See frames.md 2.
#pragma once

#include <cstdint>
#include <vector>

namespace waymark::logic {

/// Data is read at both edges of the clock, the least significant bits first.  A full frame sync,
/// 31 ones and a 0, shows where bytes begin; what comes before the first one is left out.
class TracePortDecoder {
 public:
  /// `width`: 1, 2 or 4 pins.
  explicit TracePortDecoder(unsigned width) : width_(width) {}

  void take(bool clock, unsigned data, std::vector<std::uint8_t>& out);

  [[nodiscard]] bool synchronised() const { return synchronised_; }
  /// Bits before the first frame sync.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  /// How often a frame sync showed that bits were lost.
  [[nodiscard]] std::uint64_t slips() const { return slips_; }

 private:
  void take_data(unsigned data, std::vector<std::uint8_t>& out);

  unsigned width_;
  bool begun_ = false;
  bool clock_ = false;
  bool synchronised_ = false;
  std::uint32_t last_ = 0;  ///< The last 32 bits, the latest at the top.
  unsigned bits_ = 0;       ///< How many bits of the next byte are there; below 8.
  std::uint64_t skipped_ = 0;
  std::uint64_t slips_ = 0;
};

}  // namespace waymark::logic
