// Replay over a capture, from its keyframes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "builder.h"
#include "part_decoder.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// Where in the keyframes a part of the axis begins and ends: something of it can be between any
/// two of them.
struct KeyframeRange {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] KeyframeRange keyframes_around(const Keyframes& keyframes, double from, double to);

class RealReplay final : public Replay {
 public:
  /// `decoder` and `codes` must outlive it.
  RealReplay(PartDecoder& decoder, std::shared_ptr<const Known> known, const AxisChoice& axis,
             const CodeList& codes);

  Result<void> run(const ReplayRange& range, const Take& take, const Stop& stop) override;
  [[nodiscard]] const stacks::Engine& engine() const override { return decoder_.engine(); }
  [[nodiscard]] double axis(TraceId source, std::uint64_t n) const override;
  [[nodiscard]] std::optional<std::uint64_t> last_at(TraceId source, double at) const override;

  /// The number of the first instruction of a source that the last run() passed.
  [[nodiscard]] std::uint64_t first(TraceId source) const;

 private:
  struct Source {
    TraceId id = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    AxisPoints points{};
  };

  [[nodiscard]] KeyframeRange keyframes_of(const ReplayRange& range) const;
  [[nodiscard]] bool has_points_up_to(const std::vector<std::uint64_t>& ends);
  [[nodiscard]] const Source* source(TraceId id) const;
  void keep(const Keyframe& from, const Keyframe& to, const std::vector<std::uint64_t>& ends);

  PartDecoder& decoder_;
  std::shared_ptr<const Known> known_;
  AxisChoice axis_;
  const CodeList& codes_;
  std::vector<Source> sources_;
};

}  // namespace waymark::view
