// Makes what is drawn for a window from pieces, or from the overview.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "overview.h"
#include "piece.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// A window and how many pixels it has.
struct Canvas {
  double from = 0;
  double to = 0;
  std::uint32_t width = 1;
  std::set<TrackNumber> tracks{};  ///< Empty: all.

  [[nodiscard]] double pixel() const { return (to - from) / width; }
  [[nodiscard]] bool shows(TrackNumber track) const {
    return tracks.empty() || tracks.contains(track);
  }
};

/// The spans of one depth of a track, in the order of time.  Neighbours that are narrower than a
/// pixel become one.
class SpanRow {
 public:
  void add(const Span& span, const Canvas& canvas, std::vector<Span>& out);
  void finish(std::vector<Span>& out);

 private:
  static constexpr std::size_t kMostShares = 8;

  bool open_ = false;
  double pixel_ = 0;
  Span group_{};
  std::vector<std::pair<FunctionNumber, double>> shares_;
};

/// Takes pieces in the order of the capture.  Those in which nothing is in the window can be left
/// out: where one source is far ahead of another one, they are between pieces that have something.
class PictureMaker {
 public:
  /// Deeper frames are not drawn.
  static constexpr std::uint32_t kMostDepth = 512;

  /// `ids`: the sources in the order of the capture.
  PictureMaker(Canvas canvas, std::vector<TraceId> ids)
      : canvas_(std::move(canvas)), ids_(std::move(ids)), sources_(ids_.size()) {}

  /// `follows`: it begins where the one before it ends.
  void add(const Piece& piece, bool follows);
  /// `ended`: the sources of which nothing comes after the last piece.
  std::vector<TrackPicture> finish(const std::vector<TraceId>& ended);

 private:
  struct Thread {
    TraceId source = 0;
    double to = 0;                  ///< Where the source is after the last piece.
    std::vector<PieceSpan> open{};  ///< By depth: those that go on after the last piece.
    std::map<std::uint32_t, SpanRow> rows{};
    std::map<std::uint32_t, std::vector<Span>> spans{};
    TrackPicture picture{};
  };
  struct Source {
    std::vector<AxisPoint> points{};
    std::vector<AxisPoint> cycles{};
    std::vector<Mark> messages{};
    std::vector<Mark> events{};
  };

  void add_thread(Thread& to, const PieceThread& from);
  void leave_out(Thread& to, const PieceThread& next);
  void emit(Thread& to, const PieceSpan& span, bool before, bool after);
  void add_counters(std::size_t source, std::vector<TrackPicture>& out) const;

  Canvas canvas_;
  std::vector<TraceId> ids_;
  std::map<TrackNumber, Thread> threads_;
  std::vector<Source> sources_;
};

/// Marks that are closer than a pixel become one.
std::vector<Mark> merged(const std::vector<Mark>& marks, const Canvas& canvas);

/// Puts the messages of the overview in place of those of pieces, where it has all of them one by
/// one: it also knows those that began before a piece.
void take_messages(const Overview& overview, const Canvas& canvas,
                   std::vector<TrackPicture>& tracks);

/// The data of the overview about a window.
std::vector<TrackPicture> summary(const Overview& overview, const Canvas& canvas);

}  // namespace waymark::view
