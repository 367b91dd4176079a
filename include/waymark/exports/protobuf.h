// Writes messages of Protocol Buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace waymark::exports {

/// The fields of one message, in the order of the calls.
class ProtobufMessage {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  void text(unsigned field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(unsigned field, const ProtobufMessage& value) { text(field, value.bytes_); }
  /// An element of a packed repeated field is written by a message of its own.
  void packed(std::uint64_t value) { varint(value); }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace waymark::exports
