// Apparent problems of a capture.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "image_mismatches.h"
#include "info_recording.h"
#include "input_options.h"
#include "waymark/base/result.h"
#include "waymark/exports/findings.h"
#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/diagnosis.h"

namespace waymark::cli {

/// Opens a capture to judge it by what decoding shows.  What cannot be decoded, as a trace of
/// conditional instructions, is judged by its packets.
Result<inputs::Capture> open_to_judge(const InputOptions& options,
                                      const KnownIdBytes& known_id_bytes = {});

/// What the elements of a source show.
struct ElementFacts {
  std::uint64_t timestamps = 0;
  std::uint64_t zero_timestamps = 0;
  std::uint64_t overflows = 0;

  void add(const Element& element);
};

/// A capture and what was counted in it.
struct Contents {
  const inputs::Capture& capture;
  std::map<TraceId, SourceStatistics> counts{};
  const ProcessBytes* processes = nullptr;      ///< nullptr: not a recording, or it was not read.
  const ImageMismatches* mismatches = nullptr;  ///< nullptr: the trace was not read.
  std::string index{};  ///< Where the counts come from; empty: the trace was read.
  std::vector<inputs::SourceFacts> facts{};  ///< In the order of the capture's sources.
  inputs::NotableSources notable{};
  TraceIndex failed_at = kNoIndex;             ///< Decoding could not go on after this byte.
  std::uint64_t frame_damage = 0;              ///< Records of damage of the frames.
  std::map<TraceId, ElementFacts> elements{};  ///< Of sources with elements, if they were decoded.

  void add(std::span<const Element> all) {
    for (const Element& element : all) elements[element.trace_id].add(element);
  }

  /// Fills `facts` and `notable` from `counts`.
  void judge(bool all_ids);

  [[nodiscard]] const SourceStatistics& of(const inputs::CaptureSource& source) const {
    return counts.at(source.id);
  }
};

SourceStatistics statistics_of(const index::Stream& stream);

/// The problems of the capture that the counts and the notes show.
std::vector<exports::Finding> find_findings(const Contents& contents);

/// The same as sentences.
std::vector<std::string> find_problems(const Contents& contents);

/// Opens a capture, reads it to its end, judges it, and calls `use`.  Prints nothing.  kLimit:
/// `stop` said so.
Result<void> judge_capture(const InputOptions& options, const std::function<bool()>& stop,
                           const std::function<void(const Contents&)>& use);

/// The doubts of a capture that is judged so.
Result<std::vector<std::string>> problems_of(const InputOptions& options,
                                             const std::function<bool()>& stop);

}  // namespace waymark::cli
