#include "doubts.h"

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

/// A finding as a whole sentence.
std::string finding_text(const Contents& contents, const inputs::Finding& finding) {
  const inputs::Capture& capture = contents.capture;
  const inputs::CaptureSource& source = capture.sources()[finding.source];
  const auto name = fmt::format("Trace ID 0x{:02x}", source.id);
  const Protocol protocol = source.source->protocol();
  const std::string bytes = counted(finding.bytes, "byte");
  switch (finding.doubt) {
    case inputs::Doubt::kNoBytes:
      return fmt::format("{} has no bytes in the trace: the source was idle or off.", name);
    case inputs::Doubt::kNoSyncPoint:
      return fmt::format(
          "{} has {} but no synchronisation point, so none of it can be decoded: {}.", name, bytes,
          sync_remedy(protocol));
    case inputs::Doubt::kLateSyncPoint:
      return fmt::format("{}: {} of {} are before the first synchronisation point.", name,
                         finding.count, bytes);
    case inputs::Doubt::kBadPackets:
      return fmt::format("{}: {}: {}.", name, counted(finding.count, "bad packet"),
                         bad_packet_reason(capture, protocol));
    case inputs::Doubt::kManyIds:
      return fmt::format(
          "{} more trace IDs have {} in total and no synchronisation point. So many IDs mean that "
          "part of the trace is damaged, or that --framing {} is wrong.",
          finding.count, bytes, inputs::framing_name(capture.framing()));
    case inputs::Doubt::kNoImage:
      return "There is no program image: packets can be listed, but no instructions decoded. Add "
             "--elf FILE, or --image ADDRESS=FILE.";
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

std::vector<std::string> find_doubts(const Contents& contents) {
  const inputs::Capture& capture = contents.capture;
  std::vector<std::string> doubts;
  for (const inputs::Note& note : capture.notes()) {
    if (note.severity != Severity::kInfo) doubts.push_back(note.text);
  }
  const inputs::CaptureFacts facts{
      .recording = capture.recording() != nullptr,
      .needs_image = std::ranges::any_of(capture.sources(), &inputs::CaptureSource::needs_image),
      .has_image = !capture.image().regions().empty()};
  std::string no_image;
  for (const inputs::Finding& finding : inputs::diagnose(contents.facts, contents.notable, facts)) {
    std::string text = finding_text(contents, finding);
    (finding.doubt == inputs::Doubt::kNoImage ? no_image : doubts.emplace_back()) = std::move(text);
  }
  if (contents.mismatches != nullptr)
    std::ranges::move(contents.mismatches->doubts(), std::back_inserter(doubts));
  if (capture.recording() != nullptr)
    std::ranges::move(program_doubts(capture, contents.processes), std::back_inserter(doubts));
  if (!no_image.empty()) doubts.push_back(std::move(no_image));
  return doubts;
}

Result<std::vector<std::string>> doubts_of(const InputOptions& options,
                                           const std::function<bool()>& stop) {
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
  while (const auto block = capture.next_block()) {
    if (stop()) return fail(ErrorCode::kLimit, "The question was withdrawn.");
    WAYMARK_TRY(capture.tree().feed(block->index, block->bytes));
    drain();
    if (capture.tree().failed()) break;
  }
  capture.tree().finish();
  drain();
  for (const inputs::CaptureSource& source : capture.sources())
    contents.counts[source.id] = source.source->statistics();
  const ImageMismatches mismatches(capture);
  contents.mismatches = &mismatches;
  contents.judge(false);
  return find_doubts(contents);
}

}  // namespace waymark::cli
