// The part of `waymark info` about traces that contradict their code image.
#pragma once

#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/inputs/capture.h"
#include "waymark/mismatch/summary.h"

namespace waymark::cli {

/// Where trace and image disagree, by function.
class ImageMismatches {
 public:
  /// Decodes trace of the capture, which was opened with CaptureOptions::check_image.
  explicit ImageMismatches(inputs::Capture& capture);

  /// The most frequent first.
  [[nodiscard]] const std::vector<mismatch::FunctionRow>& rows() const { return rows_; }

  /// A whole sentence or two for each program.
  [[nodiscard]] std::vector<std::string> doubts() const;

 private:
  std::vector<mismatch::FunctionRow> rows_;
};

/// What the kernel had changed in memory.
void write_switches_text(TextBuffer& out, const inputs::Capture& capture);

/// Both, as fields of an object, each after a comma.
void write_mismatches_json(TextBuffer& out, const inputs::Capture& capture,
                           const ImageMismatches* mismatches);

}  // namespace waymark::cli
