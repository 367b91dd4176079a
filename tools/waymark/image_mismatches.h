// The part of `waymark info` about traces that contradict their code image.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

/// Where trace and image disagree, by function.
class ImageMismatches {
 public:
  /// Decodes trace of the capture, which was opened with CaptureOptions::check_image.
  explicit ImageMismatches(inputs::Capture& capture);

  struct Row {
    std::string program{};   ///< Its path on this machine; empty: not known.
    std::string function{};  ///< Empty: not known.
    std::uint64_t times = 0;
    bool in_kernel = false;
    bool switches = false;  ///< There is code nearby that the kernel changes in memory.
  };
  /// The most frequent first.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  /// A whole sentence or two for each program.
  [[nodiscard]] std::vector<std::string> doubts() const;

 private:
  std::vector<Row> rows_;
};

/// What the kernel had changed in memory.
void write_switches_text(TextBuffer& out, const inputs::Capture& capture);

/// Both, as fields of an object, each after a comma.
void write_mismatches_json(TextBuffer& out, const inputs::Capture& capture,
                           const ImageMismatches* mismatches);

}  // namespace waymark::cli
