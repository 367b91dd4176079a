// waymark diff: where two runs diverge.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "commands.h"
#include "compare_runs.h"
#include "complain.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "format.h"
#include "output.h"
#include "run.h"

namespace waymark::cli {
namespace {

struct DiffOptions {
  CompareOptions compare;
  std::vector<std::string> paths;
  Format format = Format::kText;
  std::size_t most_rows = 20;
  std::string output;
};

int run(const DiffOptions& options) {
  if (options.paths.size() != 2)
    return complain("diff compares two INPUTs: name both captures.", kUsage);
  CompareOptions compare = options.compare;
  for (std::size_t i = 0; i < diff::kSides; ++i) compare.paths[i] = options.paths[i];
  auto runs = ComparedRuns::open(compare);
  if (!runs) return runs.error();
  std::vector<std::string> files = (*runs)->input_files();
  for (std::string& path : program_paths(compare.symbols.files)) files.push_back(std::move(path));
  auto output = Output::open(options.output, files);
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  if (const int code = (*runs)->run(); code != kOk) return code;
  outputs::DifferenceReport report = (*runs)->report();
  report.most_rows = options.most_rows;
  if (options.format == Format::kJson) {
    outputs::write_json(output->text(), report);
  } else {
    outputs::write_text(output->text(), report);
  }
  return finish_output(*output, kOk);
}

}  // namespace

void add_diff(Command& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  Command* command = app.add_subcommand("diff", "Compare two runs: where they diverge, and why");
  add_input_options(*command, options->compare.input, options->paths);
  command->add_flag("--ignore-exceptions", options->compare.ignore_exceptions,
                    "leave out interrupts and faults with their handlers, but not the calls of a "
                    "kernel that the program makes");
  command
      ->add_option("--ignore-function", options->compare.ignored_functions,
                   "leave out calls of this function with all that it calls; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--stacks", options->compare.most_places,
                   "show so many divergences with their call stacks; default: 10")
      ->type_name("N");
  command
      ->add_option("--top", options->most_rows,
                   "in text, show so many functions and blocks; default: 20")
      ->type_name("N");
  add_format_option(*command, options->format, false);
  command->add_option("-o,--output", options->output, "write to this file")->type_name("FILE");
  command
      ->add_option("--symbols", options->compare.symbols.files,
                   "A program whose symbols name the functions, if the image is not an ELF file; "
                   "@ADDRESS: how far above its link addresses it was loaded; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  command->footer(
      "The first INPUT is A, the second B. Each thread of A is compared with the one of the same\n"
      "name in B. Options that say what the input is hold for both.\n"
      "\n"
      "Examples:\n"
      "  waymark diff good/ bad/\n"
      "  waymark diff before.data after.data --ignore-exceptions\n"
      "  waymark diff good/ bad/ --ignore-function log_message --format json");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
