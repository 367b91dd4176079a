#include "waymark/live/orbflow.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace waymark::live {
namespace {

/// A run of this code has 254 bytes and stands for no 00.
constexpr std::uint8_t kFullRun = 255;
/// Tags from here on are private to probes.
constexpr std::uint8_t kFirstPrivateTag = 0x7F;

}  // namespace

void OrbflowReader::begin_frame() {
  frame_.bad = false;
  frame_.zero_follows = false;
  frame_.left = 0;
  frame_.size = 0;
}

void OrbflowReader::restart() {
  begin_frame();
  frame_.joined = false;
  since_end_ = 0;
  damaged_ = false;
}

void OrbflowReader::put(std::uint8_t byte) {
  if (frame_.size == frame_.message.size()) {
    frame_.bad = true;
    return;
  }
  frame_.message[frame_.size++] = byte;
}

std::size_t OrbflowReader::read(Bytes bytes, std::vector<std::uint8_t>& out) {
  damaged_ = false;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::uint8_t byte = bytes[at];
    if (byte == 0) {
      end_frame(out);
      if (damaged_) return at + 1;
      continue;
    }
    ++since_end_;
    if (frame_.bad) continue;
    if (frame_.left != 0) {
      put(byte);
      --frame_.left;
      continue;
    }
    if (frame_.zero_follows) put(0);
    frame_.left = static_cast<std::uint8_t>(byte - 1);
    frame_.zero_follows = byte != kFullRun;
  }
  return bytes.size();
}

void OrbflowReader::end_frame(std::vector<std::uint8_t>& out) {
  const bool was_joined = std::exchange(frame_.joined, true);
  const bool is_empty = since_end_ == 0;
  since_end_ = 0;
  const bool is_cut = frame_.left != 0;
  const bool is_bad = frame_.bad;
  const Bytes message = Bytes(frame_.message).first(frame_.size);
  begin_frame();
  if (is_empty) return;
  const auto sum = [](std::uint8_t all, std::uint8_t byte) {
    return static_cast<std::uint8_t>(all + byte);
  };
  const bool is_framed = !is_bad && !is_cut && message.size() >= 2;
  const bool is_good =
      is_framed && std::accumulate(message.begin(), message.end(), std::uint8_t{0}, sum) == 0;
  if (!is_good) {
    // The end of a packet that began before the connection is not damage.
    if (!was_joined) return;
    ++(is_framed ? counts_.bad_sums : counts_.bad_frames);
    damaged_ = true;
    return;
  }
  ++counts_.packets;
  const Bytes data = message.subspan(1, message.size() - 2);
  if (message.front() == tag_) {
    out.insert(out.end(), data.begin(), data.end());
    return;
  }
  if (message.front() >= kFirstPrivateTag || message.front() == 0) return;
  counts_.other_bytes += data.size();
  if (other_tag_ == 0 && !data.empty()) other_tag_ = message.front();
}

}  // namespace waymark::live
