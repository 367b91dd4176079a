// The name at the front of a packet's listing text.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace waymark::outputs {

/// A copy of the name ("I_ATOM_F3") that stays valid while the buffer of the text grows.
class PacketName {
 public:
  explicit PacketName(std::string_view text) {
    size_ = std::min({text.find_first_of(" :"), text.size(), name_.size()});
    std::ranges::copy(text.substr(0, size_), name_.begin());
  }
  [[nodiscard]] std::string_view view() const { return {name_.data(), size_}; }

 private:
  std::array<char, 48> name_{};
  std::size_t size_ = 0;
};

}  // namespace waymark::outputs
