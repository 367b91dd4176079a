// The page of a viewer in one file, with the answers to a fixed set of requests in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/exports/coverage.h"
#include "waymark/view/page.h"
#include "waymark/view/session.h"

namespace waymark::view {

/// A place at which two captures part.
struct ComparedPlace {
  std::string thread{};
  std::string text{};   ///< What happened, as a sentence.
  std::string where{};  ///< Empty: not known.
  std::uint64_t times = 1;
};

struct ReportOptions {
  std::vector<PageFile> files{};
  std::string version{};
  std::size_t most_bytes = 10'000'000;
  /// Parts with details; none: the first part of the capture, and the one with the most
  /// instructions per unit of the axis.
  std::vector<Window> windows{};
  /// Details of the whole capture: windows side by side, every instruction, and every function.
  bool whole = false;
  /// Where the runs of a comparison diverge; the first of `divergence_count`.
  std::vector<ComparedPlace> divergences{};
  std::uint64_t divergence_count = 0;
  /// The execution of source files in the first capture; empty: there are no source lines.
  exports::Coverage coverage{};
};

struct Report {
  std::string html{};
  /// The parts left out because of most_bytes, as the middle of a sentence.
  std::vector<std::string> left_out{};
};

/// Until the session knows the whole capture, or CaptureFacts::failure says why it never will.
/// kLimit: `stop` said so before.
Result<void> wait_until_ready(Session& session, const Stop& stop);

/// In this order, each as far as there is room: the facts, tracks and findings; the comparison and
/// the coverage; the timeline of the whole capture; its functions and flame graph; the same of each
/// window; the code and the callers of the hottest functions; the instructions at the start of each
/// window.  Where an answer has no room, one with less detail is tried first.  With
/// ReportOptions::whole, every instruction comes last.
///
/// Waits until the session knows the whole capture.  `other`: its functions are put beside those
/// of `session`; nullptr: there is only one capture.  kInvalidArgument: there is no room for the
/// page itself, or a window is empty; kLimit: `stop` said so; those of the session.
Result<Report> make_report(Session& session, Session* other, const ReportOptions& options,
                           const Stop& stop);

}  // namespace waymark::view
