// Decodes parts of a trace only to compare them with the code image.
#pragma once

#include <cstddef>
#include <vector>

#include "waymark/inputs/capture.h"
#include "waymark/inputs/code_memory.h"
#include "waymark/inputs/image_check.h"
#include "waymark/mismatch/finder.h"
#include "waymark/perf/program_files.h"

namespace waymark::inputs {

class ImageChecker {
 public:
  /// `tree`: sources with DecodeFlag::kReportLostAtoms, over the image of the capture.
  /// `most`: bytes of trace.
  ImageChecker(Capture& capture, DecodeTree& tree, std::uint64_t most = kMostChecked);

  /// The number of windows; all of a short trace is in them.
  [[nodiscard]] std::size_t windows() const { return windows_.size(); }
  [[nodiscard]] std::uint64_t bytes(std::size_t window) const;
  /// Decodes a window by itself.
  void run(std::size_t window, const mismatch::Finder::Found& found);
  /// All windows; those that are next to each other are decoded without a break.
  void run_all(const mismatch::Finder::Found& found, const mismatch::Finder::Passed& passed = {});
  /// The image has changed.
  void refresh();

 private:
  void run(TraceWindow window, const mismatch::Finder::Found& found,
           const mismatch::Finder::Passed& passed);

  Capture& capture_;
  DecodeTree& tree_;
  CodeMemory memory_;
  std::vector<TraceWindow> windows_;
};

/// Sets the static keys and alternatives of kernels as the trace shows them.  Returns those that
/// are not as in the files.
std::vector<KernelSwitch> resolve_switches(Capture& capture, ImageChecker& checker);

}  // namespace waymark::inputs
