#include "waymark/inputs/diagnosis.h"

namespace waymark::inputs {
namespace {

/// With more sources than this, those that look like damage are summed up.
constexpr std::size_t kManySources = 16;

/// Sources with less than this part of the bytes are not notable by their bytes.
constexpr std::uint64_t kNotablePart = 100;

void diagnose_source(const SourceFacts& facts, std::size_t source, const CaptureFacts& capture,
                     std::vector<Finding>& findings) {
  const SourceStatistics& counts = facts.counts;
  const std::uint64_t bytes = counts.total_bytes;
  if (bytes == 0) {
    // A recording has nothing from a CPU that the program did not run on.
    if (capture.recording) return;
    findings.push_back({.problem = SourceProblem::kNoBytes, .source = source});
  } else if (counts.sync_points == 0 && !facts.starts_in_sync) {
    findings.push_back({.problem = SourceProblem::kNoSyncPoint, .source = source, .bytes = bytes});
  } else if (counts.unsynced_bytes * 2 > bytes) {
    findings.push_back({.problem = SourceProblem::kLateSyncPoint,
                        .source = source,
                        .bytes = bytes,
                        .count = counts.unsynced_bytes});
  }
  if (counts.diagnostics != 0)
    findings.push_back({.problem = SourceProblem::kDamage,
                        .source = source,
                        .bytes = bytes,
                        .count = counts.diagnostics});
}

}  // namespace

NotableSources notable_sources(std::span<const SourceFacts> facts, bool all) {
  NotableSources notable;
  std::uint64_t total = 0;
  for (const SourceFacts& source : facts) total += source.counts.total_bytes;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const SourceStatistics& counts = facts[i].counts;
    if (all || facts.size() <= kManySources || counts.sync_points != 0 ||
        counts.total_bytes * kNotablePart >= total) {
      notable.sources.push_back(i);
    } else {
      ++notable.others;
      notable.other_bytes += counts.total_bytes;
    }
  }
  return notable;
}

std::vector<Finding> diagnose(std::span<const SourceFacts> facts, const NotableSources& notable,
                              const CaptureFacts& capture) {
  std::vector<Finding> findings;
  for (const std::size_t source : notable.sources)
    diagnose_source(facts[source], source, capture, findings);
  if (notable.others != 0) {
    findings.push_back({.problem = SourceProblem::kManyIds,
                        .bytes = notable.other_bytes,
                        .count = notable.others});
  }
  // The memory of a recording is that of its processes.
  if (!capture.recording && capture.needs_image && !capture.has_image)
    findings.push_back({.problem = SourceProblem::kNoImage});
  return findings;
}

}  // namespace waymark::inputs
