#include "export_options.h"

#include "command.h"
#include "decode_parallel.h"
#include "option_values.h"
#include "waymark/exports/tables.h"

namespace waymark::cli {
namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const exports::Format& format : exports::formats()) names.emplace_back(format.name);
  names.emplace_back("flamegraph");  // Another name of folded.
  return names;
}

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const exports::Table& table : exports::tables()) names.emplace_back(table.name);
  return names;
}

}  // namespace

void add_export_options(Command& command, ExportOptions& options) {
  command.add_option("FORMAT", options.format, "The format; --list describes each of them")
      ->check(one_of(format_names()));
  add_input_options(command, options.input, options.inputs);
  command.add_flag(
      "--list", options.list,
      "list all formats and the programs that read them; with parquet, its tables and columns");
  command
      .add_option("-o,--output", options.output,
                  "write to this file; DIR/: write a file for each program, or the tables of "
                  "parquet, into this folder; default: standard output")
      ->type_name("FILE|DIR/");
  command
      .add_option("--program", options.programs,
                  "only the program with this path, file name or build ID; may be repeated; "
                  "default for one file: the program with the most instructions")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option_function(
          "--offsets",
          [&options](const std::string& name) { options.writing.file_offsets = name == "file"; },
          "for autofdo, the origin of addresses: segment (the first one; tools up to 0.19) or file "
          "(newer tools, and those of Android); default: segment")
      ->type_name("FROM")
      ->check(one_of({"segment", "file"}));
  command.add_flag("--compress", options.of_format.compress,
                   "for branch-list: compress it with zstd");
  command
      .add_option("--table", options.of_format.tables,
                  "for parquet, write only this table; may be repeated; default: all")
      ->type_name("TABLE")
      ->allow_extra_args(false)
      ->check(one_of(table_names()));
  command
      .add_option("--slice-bytes", options.of_format.slice_bytes,
                  "for parquet: split the trace into slices of this size, such as 64M, and write "
                  "the table `elements` as one file per slice")
      ->type_name("SIZE")
      ->transform(size_in_bytes({.least = 1}));
  // Here, the option names folders of source files; --protocol describes raw trace.
  command.remove_option(command.get_option("--source"));
  command
      .add_option(
          "--source", options.of_format.sources,
          "for lcov and cobertura, write the paths of source files relative to this folder; "
          "OLD=NEW: replace OLD with NEW at the beginning of their paths; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      .add_option("--symbols", options.symbols.files,
                  "A program (ELF file) whose symbols name the functions, if the image has none; "
                  "@ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_stack_export_options(command, options.stacks);
  add_export_message_options(command, options.messages);
  add_selection_options(command, options.selection);
  add_threads_option(command, options.threads);
  add_window_options(command, options.window);
}

StackExport stack_export_of(const ExportOptions& options, const ExportMessages& messages) {
  return {.format = *exports::find_format(options.format),
          .input = options.input,
          .inputs = options.inputs,
          .output = options.output,
          .symbols = options.symbols.files,
          .selection = options.selection,
          .window = options.window,
          .stacks = options.stacks,
          .messages = messages};
}

}  // namespace waymark::cli
