// Bytes from hexadecimal text, for tests.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace waymark::frames {

inline std::vector<std::uint8_t> hex(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::uint8_t> bytes;
  for (std::string digits; in >> digits;)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits, nullptr, 16)));
  return bytes;
}

inline std::vector<std::uint8_t> operator+(std::vector<std::uint8_t> left,
                                           const std::vector<std::uint8_t>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace waymark::frames
