// waymark diff: where two runs diverge.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "commands.h"
#include "compare_runs.h"
#include "complain.h"
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
  if (options.paths.size() != 2) return complain("diff compares two captures; name both.", kUsage);
  CompareOptions compare = options.compare;
  for (std::size_t i = 0; i < diff::kSides; ++i) compare.paths[i] = options.paths[i];
  auto runs = ComparedRuns::open(compare);
  if (!runs) return runs.error();
  auto output = Output::open(options.output, (*runs)->input_files());
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
  return finish_output(*output, (*runs)->are_same() ? kOk : kDifferent);
}

}  // namespace

void add_diff(Command& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  Command* command = app.add_subcommand("diff", "Compare two runs: where they diverge and why");
  add_input_options(*command, options->compare.input, options->paths);
  command->add_flag("--ignore-exceptions", options->compare.ignore_exceptions,
                    "leave out interrupts and faults with their handlers, but keep system calls");
  command
      ->add_option("--ignore-function", options->compare.ignored_functions,
                   "leave out calls of this function, including its callees; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--stacks", options->compare.most_places,
                   "show call stacks for the first N distinct divergences; default: 10")
      ->type_name("N");
  command
      ->add_option("--top", options->most_rows,
                   "in text, show the first N functions and blocks; default: 20")
      ->type_name("N");
  add_format_option(*command, options->format, false);
  command->add_option("-o,--output", options->output, "write to this file")->type_name("FILE");
  command
      ->add_option("--symbols", options->compare.symbols,
                   "A program (ELF file) whose symbols name the functions, if the image has none; "
                   "@ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_run_programs(*command, options->compare.programs);
  command->footer(
      "The first INPUT is A, the second B. Each thread of A is compared with the one of the same\n"
      "name in B. Options that describe the input apply to both, except --elf-a, --elf-b,\n"
      "--symbols-a and --symbols-b.\n"
      "\n"
      "The exit status is 0 if the runs are the same, 1 if they differ, 2 if the command line is\n"
      "wrong, and 3 if an input cannot be read or executed nothing.\n"
      "\n"
      "Examples:\n"
      "  waymark diff good/ bad/\n"
      "  waymark diff before.data after.data --ignore-exceptions\n"
      "  waymark diff good/ bad/ --ignore-function log_message --format json\n"
      "  waymark diff old/ new/ --symbols-a old.elf --symbols-b new.elf");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
