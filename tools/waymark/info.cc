// waymark info: what an input holds, and what looks wrong.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "branch_lists.h"
#include "capture_problems.h"
#include "command.h"
#include "commands.h"
#include "doctor.h"
#include "exit_code.h"
#include "format.h"
#include "hints.h"
#include "image_mismatches.h"
#include "index_access.h"
#include "info_recording.h"
#include "input_options.h"
#include "interrupt.h"
#include "program_search.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/diagnosis.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/outputs/json.h"

namespace waymark::cli {
namespace {

struct InfoOptions {
  InputOptions input;
  ExamineOptions examine;
  std::string index;
  Format format = Format::kText;
  std::string output;
  bool all_ids = false;
};

std::string_view framing_words(inputs::Framing framing) {
  switch (framing) {
    case inputs::Framing::kNone:
      return "one stream without frames";
    case inputs::Framing::kMemoryAligned:
      return "CoreSight frames, memory-aligned";
    case inputs::Framing::kFsync:
      return "CoreSight frames with frame syncs";
    case inputs::Framing::kHsync:
      return "CoreSight frames with frame and half syncs";
    case inputs::Framing::kPieces:
      return "CoreSight frames, as the kernel handed them over";
    case inputs::Framing::kDstream:
      return "CoreSight frames in DSTREAM records";
  }
  return "";
}

std::string_view protocol_words(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
      return "ETMv3";
    case Protocol::kPtm:
      return "PTM";
    case Protocol::kEtmV4:
      return "ETMv4";
    case Protocol::kEte:
      return "ETE";
    case Protocol::kStm:
      return "STM";
    case Protocol::kItm:
      return "ITM";
    case Protocol::kEtmV4Data:
      return "ETMv4 data";
    case Protocol::kMtb:
      return "MTB";
  }
  return "";
}

std::string protocol_text(const inputs::CaptureSource& source) {
  const std::string_view words = protocol_words(source.source->protocol());
  return source.version.empty() ? std::string(words) : fmt::format("{} {}", words, source.version);
}

std::string_view buffer_name(const inputs::Capture& capture) {
  if (capture.joined() != nullptr) return "all";
  return capture.buffer() != nullptr ? std::string_view(capture.buffer()->name)
                                     : std::string_view(capture.trace().path());
}

/// The rest of a buffer's line after its file.
std::string buffer_words(const inputs::Capture& capture, const inputs::TraceBuffer& buffer) {
  const inputs::JoinedTrace* const joined = capture.joined();
  if (joined == nullptr) return &buffer == capture.buffer() ? " <- this one" : "";
  const auto found =
      std::ranges::find(joined->buffers, buffer.name, &inputs::JoinedTrace::Buffer::name);
  if (found == joined->buffers.end()) return " left out";
  std::string ids;
  for (const inputs::CaptureSource& source : capture.sources())
    if (source.buffer == buffer.name)
      ids += fmt::format("{}0x{:02x}", ids.empty() ? "" : ", ", source.id);
  const auto number = static_cast<std::size_t>(found - joined->buffers.begin());
  const auto parts = static_cast<std::uint64_t>(
      std::ranges::count(joined->parts, number, &inputs::JoinedTrace::Part::buffer));
  return fmt::format(" joined: {} in {}, IDs {}", counted(found->bytes, "byte"),
                     counted(parts, "part"), ids.empty() ? "none" : ids);
}

constexpr std::string_view kRow = "  {:<5} {:<12} {:<10} {:<24} {:>12} {:>10} {:>6} {:>10}\n";

void write_source(TextBuffer& out, const Contents& contents, const inputs::CaptureSource& source) {
  const SourceStatistics& counts = contents.of(source);
  const std::string core =
      source.core.empty() ? source.core_type : fmt::format("{} {}", source.core, source.core_type);
  out.put(fmt::format(kRow, fmt::format("0x{:02x}", source.id), escaped(source.device),
                      protocol_text(source), escaped(core), counts.total_bytes, counts.packets,
                      counts.sync_points, counts.unsynced_bytes));
}

/// What frames carry under IDs of their own; frames.md 1.1.
constexpr TraceId kFlushId = 0x7B;
constexpr TraceId kTriggerId = 0x7D;

/// The facts about frames that no source has.
void write_markers(TextBuffer& out, const inputs::Capture& capture) {
  if (const std::uint64_t triggers = capture.id_bytes()[kTriggerId]; triggers != 0)
    out.put(fmt::format("          {}\n", counted(triggers, "trigger marker")));
  if (const std::uint64_t flushes = capture.id_bytes()[kFlushId]; flushes != 0)
    out.put(fmt::format("          {}\n", counted(flushes, "flush marker")));
}

void write_text(TextBuffer& out, const std::string& path, const Contents& contents) {
  const inputs::Capture& capture = contents.capture;
  out.put(fmt::format("input     {} ({})\n", escaped(inputs::input_name(path)),
                      inputs::input_kind_name(capture.kind())));
  if (const inputs::Snapshot* snapshot = capture.snapshot()) {
    if (!snapshot->description.empty()) {
      out.put(fmt::format("          {}\n", escaped(snapshot->description)));
    }
    for (const inputs::TraceBuffer& buffer : snapshot->buffers) {
      out.put(fmt::format("buffer    {} ({}){}\n", escaped(buffer.name), escaped(buffer.file),
                          buffer_words(capture, buffer)));
    }
  }
  out.put(fmt::format("trace     {}, {}, {}\n", escaped(inputs::trace_name(capture)),
                      counted(capture.trace().size(), "byte"), framing_words(capture.framing())));
  write_markers(out, capture);
  if (!contents.index.empty()) out.put(fmt::format("index     {}\n", escaped(contents.index)));
  if (capture.recording() != nullptr) write_recording_text(out, capture, contents.processes);

  out.put("\nsources\n");
  out.put(fmt::format(kRow, "id", "device", "protocol", "core", "bytes", "packets", "syncs",
                      "unsynced"));
  const inputs::NotableSources& notable = contents.notable;
  for (const std::size_t source : notable.sources)
    write_source(out, contents, capture.sources()[source]);
  if (notable.others != 0) {
    out.put(fmt::format("  and {} more IDs with {} in total (--all-ids lists them)\n",
                        notable.others, counted(notable.other_bytes, "byte")));
  }

  // The memory of a recording is that of its processes.
  if (capture.recording() == nullptr) {
    out.put("\nimage\n");
    const auto regions = capture.image().regions();
    if (regions.empty()) out.put("  none\n");
    for (const image::RegionInfo& region : regions) {
      out.put(fmt::format("  0x{:016x}-0x{:016x}  {:<6} {}\n", region.first, region.last,
                          image::space_name(region.space), escaped(region.name)));
    }
  }

  write_switches_text(out, capture);

  out.put("\nwhat looks wrong\n");
  const std::vector<std::string> problems = find_problems(contents);
  if (problems.empty()) out.put("  nothing\n");
  for (const std::string& problem : problems) out.put(fmt::format("  - {}\n", escaped(problem)));
}

void put_text(TextBuffer& out, std::string_view name, std::string_view value) {
  out.put(fmt::format("\"{}\":", name));
  outputs::write_json_string(out, value);
}

/// Calls `put` for each of `items`, with commas between.
template <class Items, class Put>
void put_list(TextBuffer& out, std::string_view name, const Items& items, Put&& put) {
  out.put(fmt::format(",\"{}\":[", name));
  std::string_view comma;
  for (const auto& item : items) {
    out.put(comma);
    comma = ",";
    put(item);
  }
  out.put(']');
}

void write_json_source(TextBuffer& out, const Contents& contents,
                       const inputs::CaptureSource& source) {
  const SourceStatistics& counts = contents.of(source);
  out.put(fmt::format(R"({{"id":{},)", source.id));
  put_text(out, "device", source.device);
  out.put(',');
  put_text(out, "core", source.core);
  out.put(',');
  put_text(out, "core_type", source.core_type);
  if (!source.buffer.empty()) {
    out.put(',');
    put_text(out, "buffer", source.buffer);
  }
  out.put(fmt::format(R"(,"protocol":"{}","version":"{}","bytes":{},"unsynced_bytes":{},)"
                      R"("packets":{},"sync_points":{},"bad_headers":{},"bad_sequences":{},)"
                      R"("damage":{}}})",
                      protocol_words(source.source->protocol()), source.version, counts.total_bytes,
                      counts.unsynced_bytes, counts.packets, counts.sync_points, counts.bad_headers,
                      counts.bad_sequences, counts.diagnostics));
}

/// The parts of a joined trace, from their first to their last byte.
void write_json_parts(TextBuffer& out, const inputs::JoinedTrace& joined) {
  put_list(out, "parts", joined.parts, [&](const inputs::JoinedTrace::Part& part) {
    out.put(fmt::format(R"({{"index":{},)", part.begin));
    put_text(out, "buffer", joined.buffers[part.buffer].name);
    out.put(fmt::format(R"(,"buffer_index":{}}})", part.offset));
  });
}

/// One object on one line; docs/output-formats.md.
void write_json(TextBuffer& out, const std::string& path, const Contents& contents) {
  const inputs::Capture& capture = contents.capture;
  const inputs::Snapshot* snapshot = capture.snapshot();
  out.put(R"({"type":"info",)");
  put_text(out, "input", path);
  out.put(',');
  put_text(out, "kind", inputs::input_kind_name(capture.kind()));
  out.put(',');
  put_text(out, "description", snapshot != nullptr ? snapshot->description : std::string());
  out.put(',');
  put_text(out, "buffer", buffer_name(capture));
  put_list(out, "buffers",
           snapshot != nullptr ? std::span<const inputs::TraceBuffer>(snapshot->buffers)
                               : std::span<const inputs::TraceBuffer>(),
           [&](const inputs::TraceBuffer& buffer) {
             out.put('{');
             put_text(out, "name", buffer.name);
             out.put(',');
             put_text(out, "file", buffer.file);
             out.put('}');
           });
  if (capture.joined() != nullptr) write_json_parts(out, *capture.joined());
  out.put(',');
  put_text(out, "trace", inputs::trace_name(capture));
  out.put(fmt::format(R"(,"bytes":{},"framing":"{}",)", capture.trace().size(),
                      inputs::framing_name(capture.framing())));
  put_text(out, "index", contents.index);
  put_list(out, "sources", capture.sources(),
           [&](const inputs::CaptureSource& source) { write_json_source(out, contents, source); });
  std::vector<TraceId> without_source;
  for (TraceId id = 1; id < kTraceIdCount; ++id) {
    const bool has_bytes = is_source_id(id) && capture.id_bytes()[id] != 0;
    if (has_bytes && !contents.counts.contains(id)) without_source.push_back(id);
  }
  put_list(out, "ids_without_source", without_source, [&](TraceId id) {
    out.put(fmt::format(R"({{"id":{},"bytes":{}}})", id, capture.id_bytes()[id]));
  });
  out.put(fmt::format(R"(,"trigger_markers":{},"flush_markers":{})", capture.id_bytes()[kTriggerId],
                      capture.id_bytes()[kFlushId]));
  put_list(out, "image", capture.image().regions(), [&](const image::RegionInfo& region) {
    out.put(fmt::format(R"({{"first":"0x{:x}","last":"0x{:x}",)", region.first, region.last));
    put_text(out, "space", image::space_name(region.space));
    out.put(',');
    put_text(out, "file", region.name);
    out.put('}');
  });
  if (capture.recording() != nullptr) write_recording_json(out, capture, contents.processes);
  write_mismatches_json(out, capture, contents.mismatches);
  put_list(out, "doubts", find_problems(contents),
           [&](const std::string& problem) { outputs::write_json_string(out, problem); });
  out.put("}\n");
}

/// A list of branches is not trace, but tells what trace it was made of.
int run_branch_list(const InfoOptions& options, const exports::BranchList& list) {
  const std::string inputs[] = {path_of_input(options.input.path)};
  auto output = Output::open(options.output, inputs);
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  describe(options.input.path, list, options.format == Format::kJson, output->text());
  return finish_output(*output, kOk);
}

int run(const InfoOptions& options) {
  const auto list = open_branch_list(options.input.path);
  if (!list) return complain(list.error().detail, kInput);
  if (*list) return run_branch_list(options, **list);
  if (const auto code =
          examine_input(options.input, options.examine, options.format, options.output, false))
    return *code;
  IndexAccess access(options.input, options.index);
  if (const auto good = capture_options(options.input); !good)
    return complain(good.error().detail, kUsage);
  auto capture = open_to_judge(options.input, access.known_id_bytes());
  if (!capture) {
    if (interrupted()) return kInterrupted;
    return complain(capture.error().detail, kInput);
  }
  if (const auto safe = refuse_input(options.output, access.input_files(*capture)); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  Contents contents{.capture = *capture};
  std::optional<ProcessBytes> processes;
  std::optional<ImageMismatches> mismatches;
  int code = kOk;
  if (const index::Index* index = access.ready(*capture)) {
    contents.index = index->place();
    for (const index::Stream& stream : index->header().streams)
      contents.counts[stream.id] = statistics_of(stream);
  } else {
    if (capture->recording() != nullptr) {
      processes.emplace(*capture);
      capture->tree().set_observer(&*processes);
      contents.processes = &*processes;
    }
    code = run_capture(*capture, *output, {.on_elements = [&](std::span<const Element> elements) {
      contents.add(elements);
    }});
    if (code == kInterrupted) return code;
    for (const inputs::CaptureSource& source : capture->sources())
      contents.counts[source.id] = source.source->statistics();
    contents.frame_damage = capture->tree().frame_statistics().damage;
    mismatches.emplace(*capture);
    contents.mismatches = &*mismatches;
  }
  contents.judge(options.all_ids);
  if (options.format == Format::kJson) {
    write_json(output->text(), options.input.path, contents);
  } else {
    write_text(output->text(), options.input.path, contents);
  }
  if (code == kOk && !options.examine.programs.empty()) {
    code =
        search_programs({options.input}, options.examine.programs, options.format, output->text());
  }
  return finish_output(*output, code);
}

}  // namespace

void add_info(Command& app, int& exit_code) {
  auto options = std::make_shared<InfoOptions>();
  Command* command =
      app.add_subcommand("info", "Show what a capture contains and what looks wrong");
  add_input_options(*command, options->input);
  add_index_option(*command, options->index);
  add_format_option(*command, options->format, false);
  add_examine_options(*command, options->examine);
  command->add_flag("--all-ids", options->all_ids,
                    "List every trace ID, even those that probably result from damage");
  command->add_option("-o,--output", options->output, "Write to this file")->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  waymark info board/\n"
      "  waymark info dump.bin --explain\n"
      "  waymark info board/ --programs build/\n"
      "  waymark info board/ --format json");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
