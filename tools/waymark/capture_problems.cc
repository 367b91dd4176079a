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
#include "interrupt.h"
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
    case inputs::SourceProblem::kDamage:
      return "damage";
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
    case inputs::SourceProblem::kDamage:
      return fmt::format("{}: {} of damage, which `waymark decode` shows: {}.", name,
                         counted(finding.count, "record"), bad_packet_reason(capture, protocol));
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

bool is_reserved(TraceId id) { return id >= 0x70; }

/// Frames carry a trigger and a flush under IDs of their own.
constexpr TraceId kFlushId = 0x7B;
constexpr TraceId kTriggerId = 0x7D;

void add_reserved_ids(const inputs::Capture& capture, std::vector<exports::Finding>& findings) {
  constexpr std::string_view kRange = "CoreSight frames carry sources with the IDs 0x01 to 0x6f";
  for (const inputs::CaptureSource& source : capture.sources()) {
    if (!is_reserved(source.id)) continue;
    findings.push_back(
        {.kind = "reserved_id",
         .id = source.id,
         .text = fmt::format("Trace ID 0x{:02x} is reserved: {}. Give the trace unit another ID.",
                             source.id, kRange)});
  }
  const auto is_source = [&](TraceId id) {
    return std::ranges::find(capture.sources(), id, &inputs::CaptureSource::id) !=
           capture.sources().end();
  };
  for (unsigned number = 0x70; number < kTraceIdCount - 1; ++number) {
    const auto id = static_cast<TraceId>(number);
    const std::uint64_t bytes = capture.id_bytes()[id];
    if (bytes == 0 || id == kFlushId || id == kTriggerId || is_source(id)) continue;
    findings.push_back({.kind = "reserved_id",
                        .id = id,
                        .bytes = bytes,
                        .text = fmt::format("Frames have {} of the reserved trace ID 0x{:02x}: {}. "
                                            "Part of the trace is damaged, or --framing {} is "
                                            "wrong.",
                                            counted(bytes, "byte"), id, kRange,
                                            inputs::framing_name(capture.framing()))});
  }
}

void add_element_findings(TraceId id, const ElementFacts& facts,
                          std::vector<exports::Finding>& findings) {
  if (facts.overflows != 0)
    findings.push_back(
        {.kind = "overflow",
         .id = id,
         .count = facts.overflows,
         .text = fmt::format("Trace ID 0x{:02x}: {}: the trace unit had no room, and trace is "
                             "missing there.",
                             id, counted(facts.overflows, "overflow"))});
  if (facts.timestamps != 0 && facts.zero_timestamps == facts.timestamps)
    findings.push_back(
        {.kind = "zero_timestamps",
         .id = id,
         .count = facts.timestamps,
         .text = fmt::format("Trace ID 0x{:02x}: every timestamp is 0 ({} of them): the timestamp "
                             "generator is off or not connected.",
                             id, facts.timestamps)});
}

}  // namespace

void ElementFacts::add(const Element& element) {
  switch (element.kind) {
    case ElementKind::kTimestamp:
      ++timestamps;
      zero_timestamps += element.timestamp == 0 ? 1 : 0;
      break;
    case ElementKind::kNoSync:
      overflows += element.reason == static_cast<std::uint8_t>(UnsyncReason::kOverflow) ? 1 : 0;
      break;
    case ElementKind::kTraceOn:
      overflows += element.reason == static_cast<std::uint8_t>(TraceOnReason::kOverflow) ? 1 : 0;
      break;
    case ElementKind::kItmTrace:
      overflows += (element.extra & kItmOverflow) != 0 ? 1 : 0;
      if (static_cast<ItmKind>(element.extra & kItmKindMask) == ItmKind::kGlobalTimestamp) {
        ++timestamps;
        zero_timestamps += element.timestamp == 0 ? 1 : 0;
      }
      break;
    case ElementKind::kSwTrace:
      if ((element.extra & kSwTimestamp) != 0) {
        ++timestamps;
        zero_timestamps += element.timestamp == 0 ? 1 : 0;
      }
      break;
    default:
      break;
  }
}

SourceStatistics statistics_of(const index::Stream& stream) {
  SourceStatistics counts;
  counts.total_bytes = stream.tally.bytes;
  counts.unsynced_bytes = stream.tally.unsynced_bytes;
  counts.packets = stream.tally.packets;
  counts.sync_points = stream.tally.sync_points;
  counts.bad_headers = static_cast<std::uint32_t>(stream.tally.bad_headers);
  counts.bad_sequences = static_cast<std::uint32_t>(stream.tally.bad_sequences);
  // The index is made of packets, without decoding.
  counts.diagnostics = counts.bad_headers + counts.bad_sequences;
  return counts;
}

Result<inputs::Capture> open_to_judge(const InputOptions& options,
                                      const KnownIdBytes& known_id_bytes) {
  auto capture = try_open_capture(options, {}, known_id_bytes, true);
  if (capture || interrupted()) return capture;
  auto of_packets = try_open_capture(options, {.decode = false}, known_id_bytes, true);
  return of_packets ? std::move(of_packets) : std::move(capture);
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
  if (contents.frame_damage != 0)
    findings.push_back({.kind = "bad_frames",
                        .count = contents.frame_damage,
                        .text = fmt::format("The frames of the trace have {} of damage, which "
                                            "`waymark decode` shows: the capture is damaged, or "
                                            "--framing {} is wrong.",
                                            counted(contents.frame_damage, "record"),
                                            inputs::framing_name(capture.framing()))});
  const inputs::CaptureFacts facts{
      .recording = capture.recording() != nullptr,
      .needs_image = std::ranges::any_of(capture.sources(), &inputs::CaptureSource::needs_image),
      .has_image = !capture.image().regions().empty()};
  add_reserved_ids(capture, findings);
  for (const auto& [id, facts_of_source] : contents.elements)
    add_element_findings(id, facts_of_source, findings);
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
  auto opened = open_to_judge(options);
  if (!opened) return std::unexpected(std::move(opened).error());
  inputs::Capture& capture = *opened;
  Contents contents{.capture = capture};
  std::optional<ProcessBytes> processes;
  if (capture.recording() != nullptr) {
    processes.emplace(capture);
    capture.tree().set_observer(&*processes);
    contents.processes = &*processes;
  }
  std::array<Element, 512> elements;
  const auto drain = [&] {
    while (const std::size_t count = capture.tree().next(elements))
      contents.add(std::span(elements).first(count));
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
  contents.frame_damage = capture.tree().frame_statistics().damage;
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
