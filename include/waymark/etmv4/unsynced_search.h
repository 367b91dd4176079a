// The search for the first A-sync.  See etmv4-ete.md 2.2, first table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// Takes bytes one by one, and gives them back in chunks or as the A-sync.  What it holds is always
/// less than a chunk, or the beginning of an A-sync.  A chunk that falls due with the last byte of
/// a run waits for the first byte of the next one.
class UnsyncedSearch {
 public:
  static constexpr std::size_t kAsyncSize = 12;

  /// Bytes as a packet.
  struct Chunk {
    PacketType type = PacketType::kNotSync;
    TraceIndex index = 0;
    std::vector<std::uint8_t> bytes;
  };

  /// `as_reference`: Quirks::surplus_zeros_are_asyncs.
  explicit UnsyncedSearch(bool as_reference = false) : as_reference_(as_reference) {}

  /// A chunk must be given before the next byte is taken.
  [[nodiscard]] bool due() const { return due_ != Due::kNothing; }
  void give_due(Chunk& chunk);
  /// True: the bytes are an A-sync, or the last is not what it ends with.  Then give_all() follows.
  bool take(std::uint8_t byte, TraceIndex index);
  /// Gives everything that is held.
  void give_all(Chunk& chunk);

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] bool in_async() const { return stage_ == Stage::kAsync; }
  /// Call for each chunk of unsynchronised bytes: whether it is the first of the stream, or of what
  /// follows a jump.
  bool is_first_chunk() {
    if (again_) return false;
    const bool first = !chunk_given_;
    chunk_given_ = true;
    return first;
  }

  /// Synchronisation was found.
  void end();
  /// It was lost again: a search whose chunks do not count.
  void begin_again() { again_ = true; }
  /// A new search.
  void reset() { *this = UnsyncedSearch(as_reference_); }
  /// A new search that is not part of the stream's: its chunks do not count there.
  void jump();

  friend bool operator==(const UnsyncedSearch& a, const UnsyncedSearch& b);

 private:
  enum class Stage : std::uint8_t { kPlain, kExtension, kAsync };
  enum class Due : std::uint8_t { kNothing, kAll, kAllButLast, kOldestZero };

  TraceIndex take_front(std::size_t size);

  bool as_reference_;
  std::vector<std::uint8_t> bytes_;
  std::vector<TraceIndex> indexes_;  ///< Those of the bytes.
  TraceIndex index_ = 0;             ///< With the quirk: that of the oldest byte.
  Stage stage_ = Stage::kPlain;
  Due due_ = Due::kNothing;
  TraceIndex next_index_ = 0;  ///< That of the bytes after those that are due.
  bool index_fixed_ = false;   ///< index_ is that of the next byte.
  bool chunk_given_ = false;
  bool jumped_ = false;
  bool chunk_given_before_ = false;  ///< The value before the jump.
  bool again_ = false;               ///< It is not the first search.
};

}  // namespace waymark::etmv4
