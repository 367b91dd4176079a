// Traces that contradict their code image: the part of `waymark info`, and the notes of others.
#pragma once

#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/exports/findings.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/image_check.h"
#include "waymark/mismatch/summary.h"

namespace waymark::cli {

/// Where trace and image disagree, by function.
class ImageMismatches {
 public:
  /// Decodes up to `most` bytes of the trace of the capture, which was opened with
  /// CaptureOptions::check_image.
  explicit ImageMismatches(inputs::Capture& capture, std::uint64_t most = inputs::kMostChecked);

  /// The most frequent first.
  [[nodiscard]] const std::vector<mismatch::FunctionRow>& rows() const { return rows_; }

  /// One for each program.
  [[nodiscard]] std::vector<exports::Finding> findings() const;

 private:
  std::vector<mismatch::FunctionRow> rows_;
};

/// For commands that have decoded the capture: says on standard error if a part of the trace
/// contradicts the code image.  `code`: how decoding ended; nothing is said if that was early.
void report_mismatches(inputs::Capture& capture, int code);

/// The code that the kernel had changed in memory.
void write_switches_text(TextBuffer& out, const inputs::Capture& capture);

/// Both, as fields of an object, each after a comma.
void write_mismatches_json(TextBuffer& out, const inputs::Capture& capture,
                           const ImageMismatches* mismatches);

}  // namespace waymark::cli
