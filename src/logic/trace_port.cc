#include "waymark/logic/trace_port.h"

#include <array>

namespace waymark::logic {

void TracePortDecoder::take(bool clock, unsigned data, std::vector<std::uint8_t>& out) {
  if (begun_ && clock != clock_) take_data(data, out);
  begun_ = true;
  clock_ = clock;
}

void TracePortDecoder::take_data(unsigned data, std::vector<std::uint8_t>& out) {
  constexpr std::uint32_t kFullSync = 0x7FFF'FFFF;
  constexpr unsigned kByte = 8;
  constexpr unsigned kWord = 32;
  last_ = last_ >> width_ | data << (kWord - width_);
  bits_ += width_;
  if (!synchronised_) skipped_ += width_;
  if (last_ == kFullSync && (!synchronised_ || bits_ != kByte)) {
    if (synchronised_) {
      ++slips_;
    } else {
      skipped_ -= skipped_ < kWord ? skipped_ : kWord;
    }
    synchronised_ = true;
    bits_ = 0;
    // Its first bytes were given in another place, or not at all.
    constexpr std::array<std::uint8_t, 4> kBytes = {0xFF, 0xFF, 0xFF, 0x7F};
    out.insert(out.end(), kBytes.begin(), kBytes.end());
    return;
  }
  if (bits_ < kByte) return;
  bits_ = 0;
  if (synchronised_) out.push_back(static_cast<std::uint8_t>(last_ >> (kWord - kByte)));
}

}  // namespace waymark::logic
