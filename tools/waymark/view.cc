// waymark view: serves a page that shows the trace.
#include <memory>

#include "command.h"
#include "commands.h"
#include "index_access.h"
#include "option_values.h"
#include "viewer.h"

namespace waymark::cli {

void add_viewer_options(Command& command, ViewerInput& options) {
  add_index_option(command, options.index);
  // Here, the option names folders of source files; --protocol describes raw trace.
  command.remove_option(command.get_option("--source"));
  command
      .add_option("--source", options.sources,
                  "Look for source files in this folder; OLD=NEW: replace OLD with NEW at the "
                  "beginning of their paths; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      .add_option("--symbols", options.symbols,
                  "A program (ELF file) whose symbols name the functions, if the image has none; "
                  "@ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  command.add_flag("--syst", options.messages.syst,
                   "show SyS-T messages instead of the STM packets that carry them, and after the "
                   "writes to the port of an ITM; see `waymark syst`");
  add_collateral_file_options(command, options.messages.messages);
}

void add_view(Command& app, int& exit_code) {
  auto options = std::make_shared<ViewCommand>();
  Command* command = app.add_subcommand("view", "Explore a capture in the browser");
  add_input_options(*command, options->input.input);
  add_viewer_options(*command, options->input);
  command
      ->add_option("--port", options->port,
                   "serve at this port of 127.0.0.1; default: any free port")
      ->type_name("N");
  command->add_flag("--open", options->open, "open the page in the default browser");
  command->footer(
      "The command prints the address of the page and serves the page until Ctrl-C. Only this "
      "machine can open it.\n"
      "\n"
      "Examples:\n"
      "  waymark view board/ --open\n"
      "  waymark view perf.data --port 8000");
  command->callback([options, &exit_code] { exit_code = run_view(*options); });
}

}  // namespace waymark::cli
