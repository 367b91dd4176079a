// ZIP archives made for tests; nothing in them is packed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace waymark::logic::testing_archive {

inline std::uint32_t crc_of(std::string_view content) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (const char c : content) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit != 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB8'8320U : 0U);
  }
  return ~crc;
}

class Archive {
 public:
  void add(std::string_view name, std::string_view content, std::uint16_t method = 0,
           std::uint32_t size = ~0U, std::uint32_t crc = 0) {
    const auto header = static_cast<std::uint32_t>(bytes_.size());
    const auto packed = static_cast<std::uint32_t>(content.size());
    if (size == ~0U) {
      size = packed;
      crc = crc_of(content);
    }
    std::vector<std::uint8_t> facts;
    put(facts, method, 2);
    put(facts, 0, 4);
    put(facts, crc, 4);
    put(facts, packed, 4);
    put(facts, size, 4);
    put(facts, name.size(), 2);
    put(bytes_, 0x0403'4B50, 4);
    put(bytes_, 20, 2);
    put(bytes_, 0, 2);
    bytes_.insert(bytes_.end(), facts.begin(), facts.end());
    put(bytes_, 0, 2);
    bytes_.insert(bytes_.end(), name.begin(), name.end());
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    put(directory_, 0x0201'4B50, 4);
    put(directory_, 20, 2);
    put(directory_, 20, 2);
    put(directory_, 0, 2);
    directory_.insert(directory_.end(), facts.begin(), facts.end());
    for (int i = 0; i != 12; ++i) directory_.push_back(0);
    put(directory_, header, 4);
    directory_.insert(directory_.end(), name.begin(), name.end());
    ++count_;
  }

  /// The last entry once more, as a second file with the same bytes.
  void repeat_directory() { repeated_ = true; }

  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all = bytes_;
    const std::size_t begin = all.size();
    std::size_t count = count_;
    for (int i = 0; i != (repeated_ ? 2 : 1); ++i)
      all.insert(all.end(), directory_.begin(), directory_.end());
    if (repeated_) count *= 2;
    const std::size_t size = all.size() - begin;
    put(all, 0x0605'4B50, 4);
    put(all, 0, 4);
    put(all, count, 2);
    put(all, count, 2);
    put(all, size, 4);
    put(all, begin, 4);
    put(all, 0, 2);
    return all;
  }

 private:
  static void put(std::vector<std::uint8_t>& out, std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i != size; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> directory_;
  std::size_t count_ = 0;
  bool repeated_ = false;
};

}  // namespace waymark::logic::testing_archive
