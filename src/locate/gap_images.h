// The memory of the processes of a recording, with a program where nothing else is known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/image/image.h"
#include "waymark/image/image_selector.h"
#include "waymark/perf/process_images.h"

namespace waymark::locate {

/// One process sees what is in trial(), at addresses of which the recording has no memory.  One
/// owner; not thread safe.
class GapImages final : public image::ImageSelector {
 public:
  /// `processes` must outlive the object.
  explicit GapImages(const perf::ProcessImages& processes)
      : processes_(processes), tasks_(processes) {}

  /// From now on this process sees trial().  -1: what belongs to no process.
  void choose(std::int32_t pid);
  [[nodiscard]] image::Image& trial() { return trial_; }

  [[nodiscard]] const perf::Task& task_of(const Element& element);
  /// Whether the recording has no memory of the process at these addresses, as far as the process
  /// was met in the trace.
  [[nodiscard]] bool is_free(std::uint64_t address, std::uint64_t size) const;
  /// The path of the file that the recording names there; empty: none.
  [[nodiscard]] std::string recorded_at(std::uint64_t address) const;

  [[nodiscard]] const image::Image& image_at(TraceIndex index, TraceId trace_id,
                                             ExecutionContext context) const override;
  [[nodiscard]] Task task_at(TraceIndex index, TraceId trace_id,
                             ExecutionContext context) const override;

 private:
  using Layers = std::unordered_map<const image::Image*, std::unique_ptr<image::Image>>;

  const perf::ProcessImages& processes_;
  perf::TaskCursor tasks_;
  std::int32_t pid_ = -1;
  image::Image trial_;
  mutable Layers layers_;  ///< By the memory that is below.
  mutable TaskId task_{};
  mutable bool is_met_ = false;  ///< `task_` is one of the process.
};

}  // namespace waymark::locate
