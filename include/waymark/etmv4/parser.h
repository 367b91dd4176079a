// Bytes to packets.  Fact sheet etmv4-ete.md section 2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"
#include "waymark/frames/stream.h"

namespace waymark::etmv4 {

/// Counts of one source; sheet frames.md section 5.
struct ParserStatistics {
  std::uint64_t total_bytes = 0;
  std::uint64_t unsynced_bytes = 0;
  std::uint32_t bad_headers = 0;
  std::uint32_t bad_sequences = 0;
  friend bool operator==(const ParserStatistics&, const ParserStatistics&) = default;
};

/// Header byte to how its packet is read, for one configuration.
struct HeaderTable;

/// Pull parser: feed() a block, next() until it says no, feed() the next one.  It keeps at most one
/// unfinished packet between blocks, so that any chunking gives the same packets.  A copy is a saved
/// state.  One owner; not thread safe.
class Parser {
 public:
  explicit Parser(const Config& config);

  /// The block before must be used up, and this one must live until it is.
  void feed(const frames::StreamBlock& block);

  /// The next whole packet.  False: the block is used up.
  bool next(Packet& packet);

  /// At the end of the trace: the unfinished packet, as kIncompleteEot.  False: none.
  bool finish(Packet& packet);

  /// Unsynchronised again, as the reference's RESET operation leaves it (sheet section 5.1).
  void reset();

  /// The bytes of the packet that next() or finish() gave last; valid until the next call.
  [[nodiscard]] Bytes packet_bytes() const { return {raw_, raw_size_}; }

  [[nodiscard]] const ParserStatistics& statistics() const { return statistics_; }
  [[nodiscard]] bool synchronised() const { return synced_; }

 private:
  friend struct ParserAccess;
  struct Registers;
  Config config_;
  const std::uint8_t* raw_ = nullptr;
  std::size_t raw_size_ = 0;
  ParserStatistics statistics_;
  bool synced_ = false;
};

}  // namespace waymark::etmv4
