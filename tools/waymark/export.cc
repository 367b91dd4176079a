// waymark export: what was executed, in the formats of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "branch_lists.h"
#include "command.h"
#include "commands.h"
#include "complain.h"
#include "exit_code.h"
#include "export_events.h"
#include "export_options.h"
#include "export_stacks.h"
#include "export_tables.h"
#include "findings.h"
#include "output.h"
#include "profile_collector.h"
#include "profile_files.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/exports/tables.h"

namespace waymark::cli {
namespace {

int list_formats() {
  std::string text;
  std::size_t width = 0;
  for (const exports::Format& format : exports::formats())
    width = std::max(width, format.name.size());
  for (const exports::Format& format : exports::formats()) {
    text += fmt::format("{:<{}}  for {}\n{:<{}}  read by: {}\n", format.name, width, format.purpose,
                        "", width, format.readers);
  }
  return print_text(text);
}

/// The tables of a folder, with their columns.
int list_tables() {
  std::string text;
  for (const exports::Table& table : exports::tables()) {
    text += fmt::format("{}{}  one row for {}\n", text.empty() ? "" : "\n", table.name, table.rows);
    for (const exports::TableColumn& column : table.columns) {
      text += fmt::format("  {:<17} {:<7} {}\n", column.stored.name,
                          exports::type_word(column.stored.type), column.meaning);
    }
  }
  return print_text(text);
}

int write_database(const exports::Format& format, const Collector& collected,
                   const ExportOptions& options, const EventExport& events) {
  const auto programs = choose_any(collected.profile(), options);
  if (!programs) return programs.error();
  auto output = Output::open_whole(options.output, collected.files());
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  if (output->temporary().empty())
    return complain(fmt::format("{} is written to a file; name it with -o.", format.name), kUsage);
  auto database = format.make_database(output->temporary(), options.output);
  if (!database) {
    return complain(database.error().detail,
                    database.error().code == ErrorCode::kUnsupported ? kUsage : kOutput);
  }
  (*database)->add(collected.profile(), *programs);
  for (const std::string& path : collected.traces()) {
    (*database)->begin_input(path);
    if (const int code = add_events(events, path, **database, *output); code == kInterrupted)
      return code;
  }
  if (const auto closed = (*database)->close(); !closed)
    return complain(closed.error().detail, kOutput);
  database->reset();
  return output->commit() ? kOk : finish_output(*output, kOk);
}

/// The output made from the sum of all inputs.
int export_counts(const exports::Format& format, const ExportOptions& options,
                  const EventExport& events) {
  Collector collected(options, needs_of(format));
  for (const std::string& path : options.inputs) {
    const int code = collected.add(path);
    if (code == kInterrupted || code == kUsage) return collected.code();
  }
  if (collected.used() == 0) return collected.code();
  if (collected.used() < options.inputs.size()) {
    note(fmt::format("this is the sum of {} of {}.", collected.used(),
                     counted(options.inputs.size(), "input")));
  }
  const ProfileSum sum{.profile = collected.profile(), .files = collected.files()};
  const auto write = [&] {
    if (format.make_database != nullptr) return write_database(format, collected, options, events);
    return format.write_profile != nullptr ? write_profile(format, sum, options)
                                           : write_programs(format, sum, options);
  };
  const int code = write();
  return code == kOk ? collected.code() : code;
}

int run(const ExportOptions& options) {
  if (options.list) return options.format == "parquet" ? list_tables() : list_formats();
  if (options.format.empty())
    return complain("FORMAT is missing; `waymark export --list` shows all.", kUsage);
  if (options.inputs.empty()) return complain("INPUT is missing.", kUsage);
  if (options.inputs.size() > 1 && options.window.given())
    return complain("--from, --to and the like select a part of a single INPUT.", kUsage);
  const exports::Format& format = *exports::find_format(options.format);
  if (!options.of_format.tables.empty() && !format.is_tables)
    return complain(fmt::format("--table: {} has no tables; only parquet has tables.", format.name),
                    kUsage);
  if (options.of_format.slice_bytes != 0 && !format.is_tables) {
    return complain(
        fmt::format("--slice-bytes: {} has no tables; only parquet has tables.", format.name),
        kUsage);
  }
  if (format.write_program == nullptr && !format.is_tables && is_folder(options.output)) {
    return complain(fmt::format("-o {}: {} is one file for all programs, not a folder.",
                                escaped(options.output), format.name),
                    kUsage);
  }
  ExportMessageOptions messages = options.messages;
  messages.messages.frequency = options.stacks.frequency;
  if (messages.given() && format.make_timeline == nullptr && format.make_database == nullptr &&
      !format.is_tables) {
    return complain(
        fmt::format("--syst: {} does not show messages; timelines, sqlite and parquet do.",
                    format.name),
        kUsage);
  }
  const auto shown = ExportMessages::make(messages);
  if (!shown) return shown.error();
  if (format.is_tables) return export_tables(options, *shown);
  const EventExport events{.format = format,
                           .input = options.input,
                           .inputs = options.inputs,
                           .output = options.output,
                           .selection = options.selection,
                           .window = options.window,
                           .messages = *shown};
  if (format.make_events != nullptr) return export_events(events);
  if (format.write_findings != nullptr) {
    if (options.window.given() || options.selection.given() || !options.programs.empty()) {
      return complain(fmt::format("{}: findings cover whole inputs; leave out --from, "
                                  "--to, --pid, --program and the like.",
                                  format.name),
                      kUsage);
    }
    return export_findings(format, options);
  }
  if (format.write_branches != nullptr) {
    if (options.window.given() || options.selection.given() || !options.programs.empty()) {
      return complain(
          "branch-list: it contains all packets of its inputs; use --from, --to, --pid, --program "
          "and the like when you make a profile of it.",
          kUsage);
    }
    return export_branch_list({.input = options.input,
                               .inputs = options.inputs,
                               .output = options.output,
                               .symbols = options.symbols,
                               .compress = options.of_format.compress});
  }
  if (format.write_tree != nullptr || format.make_timeline != nullptr) {
    return export_stacks(stack_export_of(options, *shown));
  }
  return export_counts(format, options, events);
}

}  // namespace

void add_export(Command& app, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  Command* command = app.add_subcommand(
      "export", "Export profiles, coverage, timelines and tables for other programs");
  add_export_options(*command, *options);
  command->footer(
      "Counts of several inputs are added up. Programs are identified by their build IDs.\n"
      "\n"
      "Examples:\n"
      "  waymark export --list\n"
      "  waymark export autofdo perf.data --symfs sysroot/ -o app.afdo.txt\n"
      "  waymark export bolt run*/perf.data --program app -o app.bolt.txt\n"
      "  waymark export llvm-sample perf.data --symfs sysroot/ -o app.prof\n"
      "  waymark export lcov board/ --elf firmware.elf --source /build=. -o coverage.info\n"
      "  waymark export folded board/ --elf firmware.elf | flamegraph.pl > flames.svg\n"
      "  waymark export parquet runs/*/perf.data --symfs sysroot/ -o tables/\n"
      "  waymark export perfetto perf.data --symfs sysroot/ -o app.perfetto-trace\n"
      "  waymark export llvm-unsymbolized board/ --elf firmware.elf -o profiles/");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
