// Problems of captures, as tables for programs that watch over many of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/base/types.h"

namespace waymark::exports {

/// One thing that looks wrong.
struct Finding {
  std::string kind{};           ///< A word such as "no_sync_point"; docs/output-formats.md.
  std::optional<TraceId> id{};  ///< The source; nothing: it is about the whole capture.
  std::uint64_t count = 0;      ///< How often, or of how many; 0: that is not known.
  std::uint64_t bytes = 0;      ///< The bytes of trace that it is about; 0: that is not known.
  std::string text{};           ///< A whole sentence.
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The findings of `waymark info` in one input.
struct CaptureFindings {
  std::string input{};
  std::uint8_t code = 0;    ///< The exit code of `waymark info` for it.
  std::string kind{};       ///< inputs::input_kind_name(); empty: it could not be read.
  std::string framing{};    ///< inputs::framing_name(); empty: not known.
  std::uint64_t bytes = 0;  ///< Of trace.
  std::vector<Finding> findings{};
  friend bool operator==(const CaptureFindings&, const CaptureFindings&) = default;
};

/// One object: how many captures have findings of each kind, and the findings of each capture, one
/// capture on a line.  Never fails.
Result<void> write_findings(std::span<const CaptureFindings> captures, TextBuffer& out);

/// A header, and a line for each finding.  A capture without any has one line.  Never fails.
Result<void> write_findings_csv(std::span<const CaptureFindings> captures, TextBuffer& out);

}  // namespace waymark::exports
