// When counting decodes elements for a while.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace waymark::protocol {

/// Counting cannot follow atoms where code cannot be read: it gives its place to the decoder, and
/// takes it back.  This costs more than the elements do.  Where it happens often, counting
/// therefore stops, and the source decodes elements for a while: a detour.  Detours get longer
/// while counting does not get far between them.
///
/// Places are numbers of packets since the start.
class Detour {
 public:
  static constexpr std::uint64_t kNear = 8;    ///< Packets between two strays that count.
  static constexpr unsigned kStrays = 4;       ///< As many of them make a detour due.
  static constexpr std::uint64_t kFar = 256;   ///< Counting got far: the next detour is short.
  static constexpr std::size_t kShort = 64;    ///< Elements.
  static constexpr std::size_t kLong = 16384;  ///< Elements.

  /// Counting could not follow the atoms of the packet at `place`.
  void strayed(std::uint64_t place) {
    near_ = place - last_ <= kNear ? near_ + 1 : 1;
    last_ = place;
  }

  [[nodiscard]] bool due() const { return near_ >= kStrays; }

  /// The detour is due, and begins at the last stray.  Returns its length in elements.
  std::size_t begin() {
    const bool far = last_ - end_ > kFar;
    length_ = far ? kShort : std::min(2 * length_, kLong);
    return length_;
  }

  void end(std::uint64_t place) {
    end_ = last_ = place;
    near_ = 0;
  }

 private:
  std::uint64_t last_ = 0;  ///< The last stray, or the end of the detour after it.
  std::uint64_t end_ = 0;   ///< Of the last detour.
  unsigned near_ = 0;
  std::size_t length_ = kShort;
};

}  // namespace waymark::protocol
