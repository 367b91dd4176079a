// The one checked reader over bytes that come from outside.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"

namespace waymark {

/// Reads forward through a span.  A read past the end gives zero and sets overrun(); the position
/// then stays at the end.  So a reader of several fields needs one check, after the last of them.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] bool at_end() const { return remaining() == 0; }
  [[nodiscard]] bool overrun() const { return overrun_; }

  std::uint8_t u8() {
    if (at_end()) {
      overrun_ = true;
      return 0;
    }
    return bytes_[position_++];
  }

  /// Little-endian, `count` bytes, 0 <= count <= 8.
  std::uint64_t little(unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) value |= std::uint64_t{u8()} << (8 * i);
    return value;
  }

  /// 7 bits a byte, least significant first, bit 7 set while another byte follows.  At most
  /// `max_bytes` bytes are read, whether the last has bit 7 set or not.
  std::uint64_t continued(unsigned max_bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < max_bytes; ++i) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7FU} << (7 * i);
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }

  Bytes take(std::size_t count) {
    if (count > remaining()) {
      overrun_ = true;
      count = remaining();
    }
    const Bytes taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
  bool overrun_ = false;
};

}  // namespace waymark
