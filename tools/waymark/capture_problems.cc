#include "capture_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "hints.h"
#include "waymark/base/plural.h"

namespace waymark::cli {
namespace {

/// The word for it; docs/output-formats.md.
std::string_view problem_kind(inputs::SourceProblem problem) {
  switch (problem) {
    case inputs::SourceProblem::kNoBytes:
      return "no_bytes";
    case inputs::SourceProblem::kNoSyncPoint:
      return "no_sync_point";
    case inputs::SourceProblem::kLateSyncPoint:
      return "late_sync_point";
    case inputs::SourceProblem::kBadPackets:
      return "bad_packets";
    case inputs::SourceProblem::kManyIds:
      return "many_ids";
    case inputs::SourceProblem::kNoImage:
      return "no_image";
  }
  return "";
}

/// A finding as a whole sentence.
std::string finding_text(const Contents& contents, const inputs::Finding& finding) {
  const inputs::Capture& capture = contents.capture;
  const inputs::CaptureSource& source = capture.sources()[finding.source];
  const auto name = fmt::format("Trace ID 0x{:02x}", source.id);
  const Protocol protocol = source.source->protocol();
  const std::string bytes = counted(finding.bytes, "byte");
  switch (finding.problem) {
    case inputs::SourceProblem::kNoBytes:
      return fmt::format("{} has no bytes in the trace: the source was idle or off.", name);
    case inputs::SourceProblem::kNoSyncPoint:
      return fmt::format(
          "{} has {} but no synchronisation point, so none of it can be decoded: {}.", name, bytes,
          sync_remedy(protocol));
    case inputs::SourceProblem::kLateSyncPoint:
      return fmt::format("{}: {} of {} are before the first synchronisation point.", name,
                         finding.count, bytes);
    case inputs::SourceProblem::kBadPackets:
      return fmt::format("{}: {}: {}.", name, counted(finding.count, "bad packet"),
                         bad_packet_reason(capture, protocol));
    case inputs::SourceProblem::kManyIds:
      return fmt::format(
          "{} more trace IDs have {} in total and no synchronisation point. This many IDs mean "
          "that part of the trace is damaged, or that --framing {} is wrong.",
          finding.count, bytes, inputs::framing_name(capture.framing()));
    case inputs::SourceProblem::kNoImage:
      return "There is no program image: packets can be listed, but instructions cannot be "
             "decoded. Name the program with --elf, or its memory with --image.";
  }
  return "";
}

}  // namespace

SourceStatistics statistics_of(const index::Stream& stream) {
  SourceStatistics counts;
  counts.total_bytes = stream.tally.bytes;
  counts.unsynced_bytes = stream.tally.unsynced_bytes;
  counts.packets = stream.tally.packets;
  counts.sync_points = stream.tally.sync_points;
  counts.bad_headers = static_cast<std::uint32_t>(stream.tally.bad_headers);
  counts.bad_sequences = static_cast<std::uint32_t>(stream.tally.bad_sequences);
  return counts;
}

void Contents::judge(bool all_ids) {
  for (const inputs::CaptureSource& source : capture.sources())
    facts.push_back({source.id, source.starts_in_sync, of(source)});
  notable = inputs::notable_sources(facts, all_ids);
}

std::vector<exports::Finding> find_findings(const Contents& contents) {
  const inputs::Capture& capture = contents.capture;
  std::vector<exports::Finding> findings;
  for (const inputs::Note& note : capture.notes()) {
    if (note.severity != Severity::kInfo)
      findings.push_back({.kind = note.loss ? "loss" : "warning", .text = note.text});
  }
  if (contents.failed_at != kNoIndex) {
    findings.push_back({.kind = "ends_early",
                        .text = fmt::format("Decoding cannot continue after byte {} of the trace.",
                                            contents.failed_at)});
  }
  const inputs::CaptureFacts facts{
      .recording = capture.recording() != nullptr,
      .needs_image = std::ranges::any_of(capture.sources(), &inputs::CaptureSource::needs_image),
      .has_image = !capture.image().regions().empty()};
  std::optional<exports::Finding> no_image;
  for (const inputs::Finding& found : inputs::diagnose(contents.facts, contents.notable, facts)) {
    const bool of_image = found.problem == inputs::SourceProblem::kNoImage;
    exports::Finding finding{.kind = std::string(problem_kind(found.problem)),
                             .count = found.count,
                             .bytes = found.bytes,
                             .text = finding_text(contents, found)};
    if (!of_image && found.problem != inputs::SourceProblem::kManyIds)
      finding.id = capture.sources()[found.source].id;
    (of_image ? no_image.emplace() : findings.emplace_back()) = std::move(finding);
  }
  if (contents.mismatches != nullptr)
    std::ranges::move(contents.mismatches->findings(), std::back_inserter(findings));
  if (capture.recording() != nullptr)
    std::ranges::move(program_findings(capture, contents.processes), std::back_inserter(findings));
  if (no_image) findings.push_back(*std::move(no_image));
  return findings;
}

std::vector<std::string> find_problems(const Contents& contents) {
  std::vector<std::string> problems;
  for (exports::Finding& finding : find_findings(contents))
    problems.push_back(std::move(finding.text));
  return problems;
}

Result<void> judge_capture(const InputOptions& options, const std::function<bool()>& stop,
                           const std::function<void(const Contents&)>& use) {
  auto opened = try_open_capture(options, {.decode = false}, {}, true);
  if (!opened) return std::unexpected(std::move(opened).error());
  inputs::Capture& capture = *opened;
  Contents contents{.capture = capture};
  std::optional<ProcessBytes> processes;
  if (capture.recording() != nullptr) {
    processes.emplace(capture);
    capture.tree().set_observer(&*processes);
    contents.processes = &*processes;
  }
  std::array<Element, 64> elements;
  const auto drain = [&] {
    while (capture.tree().next(elements) != 0) continue;
  };
  while (true) {
    const auto event = capture.next_event();
    if (!event) return std::unexpected(event.error());
    if (!*event) break;
    if (stop()) return fail(ErrorCode::kLimit, "The request was cancelled.");
    if ((*event)->kind == inputs::TraceEvent::Kind::kGap) {
      capture.tree().lose();
      drain();
    }
    if ((*event)->kind != inputs::TraceEvent::Kind::kBlock) continue;
    const inputs::TraceBlock& block = (*event)->block;
    WAYMARK_TRY(capture.tree().feed(block.index, block.bytes));
    drain();
    if (!capture.tree().failed()) continue;
    contents.failed_at = block.index + capture.tree().consumed();
    break;
  }
  capture.tree().finish();
  drain();
  for (const inputs::CaptureSource& source : capture.sources())
    contents.counts[source.id] = source.source->statistics();
  const ImageMismatches mismatches(capture);
  contents.mismatches = &mismatches;
  contents.judge(false);
  use(contents);
  return {};
}

Result<std::vector<std::string>> problems_of(const InputOptions& options,
                                             const std::function<bool()>& stop) {
  std::vector<std::string> problems;
  WAYMARK_TRY(judge_capture(options, stop,
                            [&](const Contents& contents) { problems = find_problems(contents); }));
  return problems;
}

}  // namespace waymark::cli
