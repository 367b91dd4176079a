#include "info_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/elf/build_id.h"
#include "waymark/outputs/json.h"
#include "waymark/perf/jitted_code.h"
#include "waymark/perf/program_files.h"
#include "waymark/perf/recording.h"

namespace waymark::cli {
namespace {

/// Takes the process from the fields of a packet.
class ContextFields final : public FieldVisitor {
 public:
  explicit ContextFields(ExecutionContext& context) : context_(context) {}
  [[nodiscard]] std::optional<std::uint64_t> address() const { return address_; }
  void on_field(const FieldValue& field) override {
    constexpr std::uint64_t kContextId = 0xFFFFFFFF;
    if (field.name == "context_id")
      context_.process = (context_.process & ~kContextId) | (field.value & kContextId);
    if (field.name == "value") address_ = field.value;
    if (field.name == "vmid")
      context_.process = (context_.process & kContextId) | field.value << 32;
    if (field.name == "el") context_.level = static_cast<std::uint8_t>(field.value);
  }

 private:
  ExecutionContext& context_;
  std::optional<std::uint64_t> address_;
};

std::string command_text(const perf::Origin& origin) {
  return fmt::format("{}", fmt::join(origin.command, " "));
}

/// How the kernel filled its buffers.
std::string buffers_text(const perf::Recording& recording) {
  std::set<std::uint32_t> cpus;
  std::set<std::uint32_t> threads;
  for (const perf::Buffer& buffer : recording.buffers) {
    if (buffer.cpu) cpus.insert(*buffer.cpu);
    if (buffer.tid) threads.insert(*buffer.tid);
  }
  std::string text = counted(recording.pieces.size(), "AUX record");
  if (!cpus.empty()) text += fmt::format(", from {}", counted(cpus.size(), "CPU"));
  if (!threads.empty()) text += fmt::format(", of {}", counted(threads.size(), "thread"));
  if (recording.snapshot) text += ", snapshot mode";
  return text;
}

/// By what the trace and the events of processes are put in order.
std::string_view times_text(const inputs::Capture& capture) {
  return capture.time_source() == inputs::TimeSource::kTimestamps
             ? "timestamps in the trace, converted to the clock of the recording"
             : "those of the AUX records, one for each piece of trace";
}

/// The files of the traced processes on this machine.
std::vector<std::string> found_programs(const inputs::Capture& capture) {
  std::vector<std::string> found = capture.programs()->found();
  std::ranges::sort(found);
  const auto same = std::ranges::unique(found);
  found.erase(same.begin(), same.end());
  return found;
}

struct Missing {
  perf::MissingFile file;
  bool bytes_known = false;
  std::uint64_t bytes = 0;  ///< Of trace.
};

/// The files that were not found, by bytes of trace, the most first.
std::vector<Missing> missing_programs(const inputs::Capture& capture,
                                      const ProcessBytes* processes) {
  std::vector<Missing> all;
  for (perf::MissingFile& file : capture.programs()->missing()) {
    if (!file.is_file) continue;
    Missing missing{.file = std::move(file), .bytes_known = processes != nullptr};
    if (processes != nullptr) {
      const auto at = processes->programs().find({.path = missing.file.path});
      if (at != processes->programs().end()) missing.bytes = at->second;
    }
    all.push_back(std::move(missing));
  }
  // Code that is in no file with this name: the kernel, the vdso, a JIT.
  if (processes != nullptr) {
    for (const auto& [program, bytes] : processes->programs()) {
      const auto same = [&](const Missing& missing) { return missing.file.path == program.text(); };
      if (bytes == 0 || std::ranges::any_of(all, same)) continue;
      all.push_back({.file = {.path = program.text(),
                              .reason = MissingPrograms::reason_of(capture, program),
                              .is_file = false},
                     .bytes_known = true,
                     .bytes = bytes});
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Missing::bytes);
  return all;
}

/// By bytes of trace, the most first.
std::vector<std::pair<std::int32_t, ProcessBytes::Process>> ordered(const ProcessBytes& processes) {
  std::vector<std::pair<std::int32_t, ProcessBytes::Process>> rows(processes.processes().begin(),
                                                                   processes.processes().end());
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.second.bytes; });
  return rows;
}

/// Whose code a JIT compiler made, and what is known of it.
void write_jitted_text(TextBuffer& out, const perf::JittedCode& jitted) {
  if (jitted.processes.empty()) return;
  out.put("\njitted code\n");
  for (const perf::JittedProcess& process : jitted.processes) {
    std::string text = counted(process.functions, "function");
    if (!process.has_code) text = fmt::format("only names, of {}", text);
    if (!process.problem.empty()) text = process.problem;
    out.put(
        fmt::format("  process {:<8} {}: {}\n", process.pid, escaped(process.path), escaped(text)));
  }
}

void put_field(TextBuffer& out, std::string_view name, std::string_view value) {
  out.put(fmt::format(",\"{}\":", name));
  outputs::write_json_string(out, value);
}

}  // namespace

ProcessBytes::ProcessBytes(inputs::Capture& capture)
    : capture_(capture), images_(*capture.processes()), cursor_(images_) {}

void ProcessBytes::on_packet(const PacketRef& packet) {
  const Source* const source = capture_.tree().source(packet.trace_id);
  Context& context = contexts_[packet.trace_id];
  // Facts from before the last reset of the decoder no longer hold.
  const TraceIndex begin = images_.piece_begin(packet.index);
  if (begin > context.since) {
    context.value = {};
    context.program = nullptr;
  }
  context.since = packet.index;
  ContextFields fields(context.value);
  if (packet.bytes.size() > 1) source->visit_fields(packet, fields);
  const TaskId id = cursor_.id(packet.index, packet.trace_id, context.value);
  const perf::Task& task = cursor_.task(id);
  Process& process = processes_[task.pid];
  if (process.bytes == 0 || begin != context.seen_begin) {
    // Looks for the programs of the process.
    (void)images_.image_at(packet.index, packet.trace_id, context.value);
    context.seen_begin = begin;
  }
  if (!task.name.empty() && (process.name.empty() || task.tid == task.pid))
    process.name = task.name;
  process.bytes += packet.bytes.size();
  if (const auto address = fields.address()) {
    const perf::ProgramPlace place = images_.place(id, *address);
    const bool missing = place.mapping != nullptr && place.file == nullptr;
    context.program =
        missing ? &programs_[MissingPrograms::program_at(images_, id, *address)] : nullptr;
  }
  if (context.program != nullptr) *context.program += packet.bytes.size();
}

void write_recording_text(TextBuffer& out, const inputs::Capture& capture,
                          const ProcessBytes* processes) {
  const perf::Recording& recording = *capture.recording();
  const perf::Origin& origin = recording.origin;
  if (!origin.command.empty())
    out.put(fmt::format("recorded  {}\n", escaped(command_text(origin))));
  std::string machine;
  for (const std::string* part : {&origin.host, &origin.kernel, &origin.architecture}) {
    if (!part->empty()) machine += fmt::format("{}{}", machine.empty() ? "" : ", ", *part);
  }
  if (!machine.empty()) out.put(fmt::format("machine   {}\n", escaped(machine)));
  out.put(fmt::format("buffers   {}\n", buffers_text(recording)));
  out.put(fmt::format("times     {}\n", times_text(capture)));
  if (processes == nullptr) return;
  out.put("\nprocesses\n");
  constexpr std::string_view kProcessRow = "  {:>8} {:<16} {:>12}\n";
  out.put(fmt::format(kProcessRow, "pid", "name", "bytes"));
  for (const auto& [pid, process] : ordered(*processes)) {
    out.put(fmt::format(kProcessRow,
                        pid == TaskId::kGuest ? std::string("guest")
                        : pid < 0             ? std::string("unknown")
                                              : std::to_string(pid),
                        escaped(process.name), process.bytes));
  }
  write_jitted_text(out, *capture.jitted_code());
  out.put("\nprograms\n");
  for (const std::string& path : found_programs(capture))
    out.put(fmt::format("  found    {}\n", escaped(path)));
  std::size_t others = 0;
  for (const Missing& file : missing_programs(capture, processes)) {
    if (file.bytes == 0 && file.bytes_known) {
      ++others;
      continue;
    }
    out.put(fmt::format("  missing  {}{}\n", escaped(file.file.path),
                        file.bytes_known ? fmt::format("  {} of trace", counted(file.bytes, "byte"))
                                         : std::string()));
  }
  if (others != 0)
    out.put(fmt::format("  missing  {} without trace\n", counted(others, "other file")));
}

void write_recording_json(TextBuffer& out, const inputs::Capture& capture,
                          const ProcessBytes* processes) {
  const perf::Recording& recording = *capture.recording();
  put_field(out, "command", command_text(recording.origin));
  put_field(out, "host", recording.origin.host);
  put_field(out, "kernel", recording.origin.kernel);
  put_field(out, "architecture", recording.origin.architecture);
  out.put(fmt::format(R"(,"aux_records":{},"snapshot":{})", recording.pieces.size(),
                      recording.snapshot));
  put_field(
      out, "times",
      capture.time_source() == inputs::TimeSource::kTimestamps ? "timestamps" : "aux_records");
  out.put(R"(,"processes":[)");
  std::string_view comma;
  if (processes != nullptr) {
    for (const auto& [pid, process] : ordered(*processes)) {
      out.put(fmt::format(R"({}{{"pid":{})", std::exchange(comma, ","), pid));
      put_field(out, "name", process.name);
      out.put(fmt::format(R"(,"bytes":{}}})", process.bytes));
    }
  }
  out.put(R"(],"jitted_code":[)");
  comma = {};
  for (const perf::JittedProcess& process : capture.jitted_code()->processes) {
    out.put(fmt::format(R"({}{{"pid":{},"functions":{},"has_code":{})", std::exchange(comma, ","),
                        process.pid, process.functions, process.has_code));
    put_field(out, "path", process.path);
    if (!process.problem.empty()) put_field(out, "problem", process.problem);
    out.put('}');
  }
  out.put(R"(],"programs":[)");
  comma = {};
  for (const std::string& path : found_programs(capture)) {
    out.put(std::exchange(comma, ","));
    outputs::write_json_string(out, path);
  }
  out.put(R"(],"missing_programs":[)");
  comma = {};
  for (const Missing& missing : missing_programs(capture, processes)) {
    out.put(std::exchange(comma, ","));
    out.put(R"({"path":)");
    outputs::write_json_string(out, missing.file.path);
    put_field(out, "reason", missing.file.reason);
    if (missing.bytes_known) out.put(fmt::format(R"(,"bytes":{})", missing.bytes));
    out.put('}');
  }
  out.put(']');
}

std::vector<exports::Finding> program_findings(const inputs::Capture& capture,
                                               const ProcessBytes* processes) {
  struct OfReason {
    std::string first;
    std::uint64_t programs = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::string, OfReason> by_reason;
  for (const Missing& missing : missing_programs(capture, processes)) {
    if (missing.bytes_known && missing.bytes == 0) continue;
    OfReason& same = by_reason[missing.file.reason];
    if (same.programs++ == 0) same.first = missing.file.path;
    same.bytes += missing.bytes;
  }
  std::vector<exports::Finding> findings;
  findings.reserve(by_reason.size());
  for (const auto& [reason, same] : by_reason) {
    findings.push_back(
        {.kind = "missing_program",
         .count = same.programs,
         .bytes = same.bytes,
         .text = same.programs == 1
                     ? fmt::format("The program {} is missing. {}", same.first, reason)
                     : fmt::format("{} programs are missing, such as {}. {}", same.programs,
                                   same.first, reason)});
  }
  return findings;
}

}  // namespace waymark::cli
