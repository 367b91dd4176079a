#include "table_writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stack_pass.h"
#include "version.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {
namespace {

/// The threads of a recording.
exports::CallsPart::FindTask tasks_of(const inputs::Capture& capture) {
  if (capture.processes() == nullptr) return {};
  std::map<std::uint32_t, exports::CallsPart::Task> tasks;
  for (const perf::Task& task : capture.processes()->known_tasks())
    tasks[static_cast<std::uint32_t>(task.tid)] = {.process = static_cast<std::uint32_t>(task.pid),
                                                   .name = task.name};
  return [tasks = std::move(tasks)](std::uint64_t thread) {
    const auto known = tasks.find(static_cast<std::uint32_t>(thread));
    return known == tasks.end() ? std::nullopt : std::optional(known->second);
  };
}

stacks::Options call_options(const inputs::Capture& capture, outputs::PlaceLookup places,
                             const StackExportOptions& options, stacks::Sink& sink) {
  stacks::Options made = stack_options(capture, std::move(places));
  made.tail_calls =
      options.replace_tail_calls ? stacks::TailCalls::kReplace : stacks::TailCalls::kKeep;
  made.exceptions_apart = options.exceptions_apart;
  made.sink = &sink;
  return made;
}

}  // namespace

bool wants_table(const ExportOptions& options, std::string_view table) {
  const std::vector<std::string>& named = options.of_format.tables;
  return named.empty() || std::ranges::find(named, table) != named.end();
}

exports::TableInput table_input(std::size_t number, const std::string& path,
                                std::optional<std::size_t> slice) {
  exports::TableInput input{.part = static_cast<std::uint32_t>(number),
                            .path = path,
                            .created_by = "waymark version " WAYMARK_VERSION};
  if (slice) input.slice = static_cast<std::uint32_t>(*slice);
  return input;
}

int write_counts(const Collector& collected, const TableFolder& folder,
                 const exports::TableInput& input) {
  OpenPart<exports::CountsPart> part;
  if (const int code = part.open(folder, "counts", input, collected.files()); code != kOk)
    return code;
  for (const profile::ProgramProfile& program : collected.profile().programs()) {
    part.part().add(program);
    part.output().settle();
  }
  return part.finish();
}

bool has_content(const Element& element) {
  return element.kind != ElementKind::kNoSync && element.kind != ElementKind::kEndOfTrace;
}

MessageRows::MessageRows(const ExportMessages& messages, OpenPart<exports::MessagesPart>& to)
    : interpreter_(messages.collateral()), reader_(interpreter_, *this), to_(to) {
  interpreter_.set_transport_frequency(messages.transport().frequency);
  if (messages.transport().short_guid)
    interpreter_.set_short_client(*messages.transport().short_guid);
}

void MessageRows::on_frame(const syst::Frame& frame) {
  to_.part().add(interpreter_.interpret(frame));
  to_.output().settle();
}

CallRows::CallRows(const inputs::Capture& capture, outputs::PlaceLookup places,
                   const StackExportOptions& options, OpenPart<exports::CallsPart>& to)
    : timeline_(to.part(), {.unit = options.time, .tracks_apart = false}),
      engine_(call_options(capture, std::move(places), options, timeline_)) {
  set_sources(engine_, capture);
  to.part().begin(engine_.tree(), tasks_of(capture));
}

void CallRows::finish() {
  timeline_.finish();
  report_quality(engine_);
  for (const TraceId id : timeline_.timeless()) {
    note(
        fmt::format("trace ID 0x{:02x} has no times of this kind, and its calls are left out; "
                    "see --time.",
                    id));
  }
}

}  // namespace waymark::cli
