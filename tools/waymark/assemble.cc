// waymark assemble: a trace script to a snapshot.
#include <fmt/format.h>

#include <filesystem>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "input_options.h"
#include "output.h"
#include "waymark/inputs/input_file.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/inputs/trace_script.h"
#include "waymark/isa/core_names.h"

namespace waymark::cli {
namespace {

struct AssembleOptions {
  std::string script;
  std::string directory;
  std::string core;
};

/// kInvalidArgument: the script or one of its images would be overwritten.
Result<void> keep_inputs(const inputs::ScriptSnapshot& made, const AssembleOptions& options) {
  std::vector<std::string> read{path_of_input(options.script)};
  for (const MappedFile& image : made.images) read.push_back(image.path());
  return refuse_inputs_in(options.directory, made.snapshot, made.files, read);
}

int run(const AssembleOptions& options) {
  const auto text = read_text_input(options.script);
  if (!text) return text.error();
  const std::string name = inputs::input_name(options.script);
  const auto script = inputs::assemble_trace_script(*text, {}, isa::core_spelling(options.core));
  if (!script) return complain(fmt::format("{}: {}", name, script.error().detail), kInput);
  const auto snapshot =
      inputs::to_snapshot(*script, std::filesystem::path(options.script).parent_path().string());
  if (!snapshot) return complain(fmt::format("{}: {}", name, snapshot.error().detail), kInput);
  if (const auto safe = keep_inputs(*snapshot, options); !safe)
    return complain(safe.error().detail, kUsage);
  const auto written =
      inputs::write_snapshot(snapshot->snapshot, snapshot->files, options.directory);
  if (!written) return complain(written.error().detail, kOutput);
  return kOk;
}

}  // namespace

void add_assemble(Command& app, int& exit_code) {
  auto options = std::make_shared<AssembleOptions>();
  Command* command = app.add_subcommand("assemble", "Assemble a snapshot from a trace script");
  command
      ->add_option("FILE", options->script,
                   "the trace script; see docs/trace-scripts.md; - for standard input")
      ->required();
  command->add_option("-o,--output", options->directory, "the folder for the snapshot")
      ->type_name("DIR")
      ->required();
  command
      ->add_option(
          "--core", options->core,
          "the core of all devices that trace one, such as Cortex-M33, in place of the one "
          "that the script names")
      ->type_name("NAME");
  command->footer(
      "Example:\n"
      "  waymark assemble loop.wmt -o loop && waymark decode loop");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
