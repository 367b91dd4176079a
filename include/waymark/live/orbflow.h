// ORBFLOW: packets of a tag, data and a checksum, each in a COBS frame that ends with 00.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::live {

struct OrbflowCounts {
  std::uint64_t packets = 0;     ///< Whole packets of any tag.
  std::uint64_t bad_frames = 0;  ///< COBS frames that are cut, too long or too short.
  std::uint64_t bad_sums = 0;
  std::uint64_t other_bytes = 0;  ///< Data of other tags.
};

/// Takes the data of one tag out of the packets.  The bytes may come in pieces of any size.  What
/// comes before the first 00 may be the end of a packet, and is not judged.
class OrbflowReader {
 public:
  explicit OrbflowReader(TraceId tag) : tag_(tag) {}

  /// The longest message: a tag, 4094 bytes and a sum.
  static constexpr std::size_t kMostMessage = 4096;

  /// Reads up to the end of `bytes`, or to a damaged packet, whose data is missing between what was
  /// appended to `out` and what comes next.  Returns the number of bytes that were read.
  std::size_t read(Bytes bytes, std::vector<std::uint8_t>& out);
  /// Whether the last read() ended at a damaged packet.
  [[nodiscard]] bool damaged() const { return damaged_; }

  [[nodiscard]] const OrbflowCounts& counts() const { return counts_; }
  /// The first tag other than that of the stream that had data; 0: none.
  [[nodiscard]] TraceId other_tag() const { return other_tag_; }
  /// Bytes since the last 00, or since the beginning.
  [[nodiscard]] std::uint64_t since_end() const { return since_end_; }

  /// A new connection: the next bytes may begin inside a packet.
  void restart();

 private:
  void put(std::uint8_t byte);
  void end_frame(std::vector<std::uint8_t>& out);
  void begin_frame();

  TraceId tag_;
  OrbflowCounts counts_;
  TraceId other_tag_ = 0;
  std::uint64_t since_end_ = 0;
  bool damaged_ = false;

  /// The frame that is being read.  `left`: literal bytes of the run that are still to come.
  struct Frame {
    bool joined = false;  ///< A 00 was seen, so that a frame begins where it seems to.
    bool bad = false;
    bool zero_follows = false;  ///< The run stands for a 00 unless the message ends with it.
    std::uint8_t left = 0;
    std::size_t size = 0;
    std::array<std::uint8_t, kMostMessage> message{};
  };
  Frame frame_;
};

}  // namespace waymark::live
