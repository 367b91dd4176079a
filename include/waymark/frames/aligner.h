// Finds where frames begin in a capture without frame syncs, from the content.  See frames.md 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::frames {

/// Whole frames, one after the other.
struct FramePiece {
  std::size_t offset = 0;  ///< Where the first frame begins.
  std::size_t size = 0;    ///< A multiple of kFrameSize.
  friend bool operator==(const FramePiece&, const FramePiece&) = default;
};

/// Where the frames of a capture are.
struct FrameAlignment {
  std::vector<FramePiece> pieces{};  ///< In order; they do not overlap.
  std::size_t id_bytes = 0;          ///< ID bytes in the pieces.
  std::size_t odd_ids = 0;           ///< Those that name none of the sources of the capture.
  std::size_t syncs = 0;             ///< Alignment synchronisations that are whole in the pieces.

  /// Bytes before the first piece, between pieces, and (less than a frame is usual) after the last.
  [[nodiscard]] std::size_t left_out(std::size_t size) const;
  /// The bytes really look like frames: nearly all ID bytes name few sources.
  [[nodiscard]] bool plausible() const;
};

/// Bytes at the beginning and at the end that is_aligned() compares by their content.
inline constexpr std::size_t kAlignmentWindow = std::size_t{128} << 10;

/// Whether frames begin at offset 0 and nothing was lost or inserted, as far as a quick look shows:
/// the ID bytes of all windows that it reads name the same few sources, and no other alignment has
/// more alignment synchronisations at the beginning or at the end.  Of content above 8 MiB it reads
/// 8 to 16 MiB.
bool is_aligned(Bytes content);

/// Content that has more bytes is only searched as a whole if one of its stretches, of 256 KiB in
/// each 4 MiB, is plausible.  So content without frames takes a sixteenth of the time, and
/// trace of 5 MiB and more is always found.
inline constexpr std::size_t kMostSearched = std::size_t{64} << 20;

/// Searches for the frames with every alignment, window by window.  An alignment is kept as long as
/// the content agrees with it; so it is found again after lost or inserted bytes.  Time is linear,
/// and memory is a small part of the content.  `stop` is asked at least once for each MiB; if it
/// says so, the search ends and has no pieces.
FrameAlignment align(Bytes content, const std::function<bool()>& stop = {});

}  // namespace waymark::frames
