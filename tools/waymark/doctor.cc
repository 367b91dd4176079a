#include "doctor.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "command.h"
#include "commands.h"
#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "output.h"
#include "program_search.h"
#include "run.h"
#include "waymark/doctor/examination.h"
#include "waymark/doctor/found_snapshot.h"
#include "waymark/inputs/detect.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/outputs/examination.h"

namespace waymark::cli {
namespace {

using inputs::InputKind;

bool is_raw_trace(InputKind kind) {
  switch (kind) {
    case InputKind::kEmpty:
    case InputKind::kSnapshotFolder:
    case InputKind::kSnapshotIni:
    case InputKind::kPerfData:
    case InputKind::kElf:
    case InputKind::kTraceScript:
    case InputKind::kLogicSession:
      return false;
    default:
      return true;
  }
}

/// These decode without any option.
bool describes_itself(InputKind kind) {
  return kind == InputKind::kItmStream || kind == InputKind::kStmStream ||
         kind == InputKind::kMtbRecords || inputs::is_memory_text(kind);
}

/// Prints the reason on failure.
int write_found_snapshot(Bytes content, const doctor::Examination& found,
                         const std::string& folder) {
  const auto snapshot = doctor::snapshot_of(found);
  if (!snapshot) return complain("--write-snapshot: " + snapshot.error().detail, kInput);
  const auto trace = doctor::trace_of(content, found, interrupted);
  if (interrupted()) return kInterrupted;
  if (!trace) return complain("--write-snapshot: " + trace.error().detail, kInput);
  const inputs::SnapshotFile file{.name = std::string(doctor::kTraceFile), .bytes = *trace};
  const auto written = inputs::write_snapshot(*snapshot, {&file, 1}, folder);
  if (!written) return complain("--write-snapshot: " + written.error().detail, kOutput);
  note("The snapshot is in " + folder + "; decode it with `waymark decode " + folder + "`.");
  return kOk;
}

struct DoctorOptions {
  InputOptions input;
  ExamineOptions examine;
  Format format = Format::kText;
  std::string output;
};

int run(const DoctorOptions& options) {
  const auto code =
      examine_input(options.input, options.examine, options.format, options.output, true);
  if (code) return *code;
  return complain(inputs::input_name(options.input.path) +
                      ": it is not a file of raw trace; use `waymark info`.",
                  kInput);
}

}  // namespace

void add_examine_options(Command& command, ExamineOptions& options) {
  command.add_flag("--explain", options.explain,
                   "For raw trace whose protocol is not stated: explain each conclusion");
  command
      .add_option("--write-snapshot", options.snapshot,
                  "For raw trace whose protocol is not stated: write a snapshot with what was "
                  "found")
      ->type_name("DIR");
  add_program_search(command, options.programs);
}

std::optional<Result<MappedFile>> undescribed_file(const InputOptions& input, bool always,
                                                   bool also_plain) {
  if (!input.protocol.empty() || !input.sources.empty() || !input.framing.empty() ||
      !input.registers.empty() || !input.register_text.empty())
    return std::nullopt;
  std::error_code error;
  if (std::filesystem::is_directory(input.path, error)) return std::nullopt;
  auto file = open_input(input.path);
  if (!file) return always ? std::optional(std::move(file)) : std::nullopt;
  const InputKind kind = inputs::detect(*file).kind;
  if (!is_raw_trace(kind) && !(always && kind == InputKind::kEmpty)) return std::nullopt;
  if (describes_itself(kind) && !always && !also_plain) return std::nullopt;
  return file;
}

std::optional<int> examine_input(const InputOptions& input, const ExamineOptions& options,
                                 Format format, const std::string& output, bool always) {
  const auto file = undescribed_file(input, always, options.explain || !options.snapshot.empty());
  if (!file) return std::nullopt;
  if (!*file) return complain(file->error().detail, kInput);
  const Bytes content = (*file)->bytes();
  const auto found = doctor::examine(content);
  if (!found) return complain(inputs::input_name(input.path) + ": " + found.error().detail, kInput);
  const std::string inputs[] = {path_of_input(input.path)};
  auto out = Output::open(output, inputs);
  if (!out)
    return complain(out.error().detail,
                    out.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  if (format == Format::kJson) {
    outputs::write_json(out->text(), input.path, *found);
  } else {
    outputs::write_examination(out->text(), input.path, *found, options.explain);
  }
  const bool nothing = outputs::next_command(input.path, *found).empty();
  int code = nothing ? int{kInput} : int{kOk};
  if (!options.snapshot.empty() && !nothing)
    code = write_found_snapshot(content, *found, options.snapshot);
  if (code == kOk && !options.programs.empty())
    code = search_programs(described_by(*found, input), options.programs, format, out->text());
  code = finish_output(*out, code);
  if (!nothing || code != kInput) return code;
  return complain(inputs::input_name(input.path) +
                      ": no protocol fits; if you know how the trace was made, state it with "
                      "--framing and --source.",
                  kInput);
}

void add_doctor(Command& app, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  Command* command = app.add_subcommand("doctor", "Identify an unknown trace dump");
  command->add_option("INPUT", options->input.path, "Raw trace; - for standard input")->required();
  add_examine_options(*command, options->examine);
  add_format_option(*command, options->format, false);
  command->add_option("-o,--output", options->output, "Write to this file")->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  waymark doctor dump.bin --explain\n"
      "  waymark doctor dump.bin --programs build/\n"
      "  waymark doctor dump.bin --write-snapshot board/");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
