// waymark report: the page of the viewer in one file, with a part of the data.
#include <memory>

#include "command.h"
#include "commands.h"
#include "option_values.h"
#include "viewer.h"

namespace waymark::cli {

void add_report(Command& app, int& exit_code) {
  auto options = std::make_shared<ReportCommand>();
  Command* command = app.add_subcommand("report", "Save the viewer's page as a single HTML file");
  add_input_options(*command, options->input.input, options->paths);
  add_viewer_options(*command, options->input);
  add_run_programs(*command, options->programs);
  command->add_option("-o,--output", options->output, "write to this file; -: standard output")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--max-size", options->most_bytes,
                   "leave out details to keep the file within this size; default: 10,000,000 bytes")
      ->type_name("SIZE")
      ->transform(size_in_bytes({}));
  command
      ->add_option("--window", options->windows,
                   "include all details of this part of the time axis; its ends are places of the "
                   "page or t:TIMESTAMP; all: the whole capture; may be repeated; default: the "
                   "first part and the busiest")
      ->type_name("FROM..TO|all")
      ->allow_extra_args(false);
  command->footer(
      "The file opens in a browser without a server. With a second INPUT, it also compares "
      "the\nfunctions of both captures.\n"
      "\n"
      "Examples:\n"
      "  waymark report board/ -o report.html\n"
      "  waymark report before.data after.data -o changes.html --max-size 2M\n"
      "  waymark report old/ new/ -o changes.html --symbols-a old.elf --symbols-b new.elf\n"
      "  waymark report board/ -o report.html --window t:8123456..t:8200000");
  command->callback([options, &exit_code] { exit_code = run_report(*options); });
}

}  // namespace waymark::cli
