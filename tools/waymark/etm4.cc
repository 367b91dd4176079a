// waymark etm4: programming the ETMv4 and ETE.
#include "etm4.h"

#include "commands.h"

namespace waymark::cli {

void add_etm4(CLI::App& app, int& exit_code) {
  CLI::App* etm4 = app.add_subcommand(
      "etm4", "Program an ETMv4 or ETE: plan, explain, simulate and apply its settings");
  etm4->require_subcommand(1);
  add_etm4_simulate(*etm4, exit_code);
}

}  // namespace waymark::cli
