#include "waymark/logic/trace_port.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::logic {
namespace {

using Octets = std::vector<std::uint8_t>;

const Octets kSync = {0xFF, 0xFF, 0xFF, 0x7F};
const Octets kFrames = {0x21, 0x01, 0x02, 0x00, 0xFF, 0x7F, 0x80, 0xAA};

Octets joined(std::initializer_list<Octets> parts) {
  Octets all;
  for (const Octets& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Drives a port with an edge of the clock for every `width` bits.
class Port {
 public:
  explicit Port(unsigned width) : width_(width), decoder_(width) { sample(0); }

  void send(const Octets& bytes) {
    for (const std::uint8_t byte : bytes)
      for (unsigned bit = 0; bit != 8; bit += width_) send(byte >> bit & ((1U << width_) - 1));
  }
  void send(unsigned data) {
    sample(data);  // The data is there before the edge.
    clock_ = !clock_;
    sample(data);
  }
  [[nodiscard]] const Octets& bytes() const { return bytes_; }
  [[nodiscard]] const TracePortDecoder& decoder() const { return decoder_; }

 private:
  void sample(unsigned data) { decoder_.take(clock_, data, bytes_); }

  unsigned width_;
  bool clock_ = false;
  TracePortDecoder decoder_;
  Octets bytes_;
};

TEST(TracePort, each_width) {
  for (const unsigned width : {1U, 2U, 4U}) {
    Port port(width);
    port.send(joined({kSync, kFrames, kSync, kFrames}));
    EXPECT_EQ(port.bytes(), joined({kSync, kFrames, kSync, kFrames})) << width;
    EXPECT_EQ(port.decoder().slips(), 0U);
    EXPECT_EQ(port.decoder().skipped(), 0U);
  }
}

TEST(TracePort, bytes_begin_after_the_first_sync) {
  Port port(1);
  for (const unsigned bit : {1U, 0U, 0U}) port.send(bit);
  port.send(joined({kSync, kFrames}));
  EXPECT_EQ(port.bytes(), joined({kSync, kFrames}));
  EXPECT_EQ(port.decoder().skipped(), 3U);
}

TEST(TracePort, lost_bits_are_noticed_at_the_next_sync) {
  Port port(1);
  port.send(joined({kSync, kFrames}));
  for (const unsigned bit : {0U, 1U, 0U}) port.send(bit);
  port.send(joined({kSync, kFrames}));
  EXPECT_EQ(port.decoder().slips(), 1U);
  const Octets end = joined({kSync, kFrames});
  EXPECT_TRUE(std::equal(end.rbegin(), end.rend(), port.bytes().rbegin()));
}

TEST(TracePort, without_a_sync_nothing_is_given) {
  Port port(4);
  port.send(kFrames);
  EXPECT_TRUE(port.bytes().empty());
  EXPECT_FALSE(port.decoder().synchronised());
}

}  // namespace
}  // namespace waymark::logic
