// The events between two keyframes, with places on the axis.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "builder.h"
#include "keyframe.h"
#include "marks.h"
#include "overview.h"
#include "part_decoder.h"

namespace waymark::view {

/// A frame of a stack.
struct PieceSpan {
  double start = 0;
  double end = 0;
  FunctionNumber function = 0;
  std::uint32_t depth = 0;
  stacks::Opening opening = stacks::Opening::kCall;
  bool began_before = false;  ///< It was open at the first keyframe.
  bool goes_on = false;       ///< It is open at the second one.
  bool end_unknown = false;   ///< It was left at a gap.
  bool is_exception = false;
};

struct PieceThread {
  TraceId source = 0;
  double from = 0;  ///< Where its source is at the keyframes.
  double to = 0;
  std::vector<PieceSpan> spans{};  ///< In the order in which they were opened.
  std::vector<Gap> gaps{};
  std::vector<Mark> marks{};
};

struct PieceSource {
  AxisPoints points{};
  std::vector<AxisPoint> cycles{};  ///< n: cycles so far; t: where they were counted.
  std::vector<Mark> messages{};
  std::vector<Mark> events{};
};

struct Piece {
  std::map<TrackNumber, PieceThread> threads{};
  std::vector<PieceSource> sources{};  ///< In the order of the capture.
  [[nodiscard]] std::size_t memory() const;
};

/// Decodes what is between two keyframes.
Result<std::shared_ptr<const Piece>> make_piece(PartDecoder& decoder, const Keyframe& from,
                                                const Keyframe& to, const AxisChoice& axis,
                                                FunctionTable& functions, const CodeList& codes,
                                                const Stop& stop);

/// The points of a source between two keyframes; `made`: those that its clock made in between.
AxisPoints points_between(const SourceAt& from, const SourceAt& to, bool counts_itself,
                          std::vector<AxisPoint> made);

}  // namespace waymark::view
