// waymark: the command line.  docs/cli.md.
#include <CLI/CLI.hpp>
#include <exception>

#include "commands.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "version.h"

namespace {

constexpr auto kFooter =
    "Start with `waymark info INPUT`, then `waymark decode INPUT`.\n"
    "INPUT is a snapshot folder or raw trace; what it is, is found out.\n"
    "\n"
    "Exit codes:\n"
    "    0  all is well\n"
    "    1  nothing could be decoded, or damage was met under --strict\n"
    "    2  the command line is wrong\n"
    "    3  the input cannot be read or understood\n"
    "    4  the output cannot be written\n"
    "  130  interrupted; what was decoded before is written in whole lines";

int run(int argc, char** argv) {
  using namespace waymark::cli;
  CLI::App app("Waymark decodes Arm CoreSight trace: what did the cores execute?", "waymark");
  app.set_version_flag("--version", "waymark " WAYMARK_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  int exit_code = kOk;
  add_info(app, exit_code);
  add_packets(app, exit_code);
  add_decode(app, exit_code);
  add_assemble(app, exit_code);
  watch_signals();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    // Only memory can run out here: the library reports its errors as values.
    return waymark::cli::complain(error.what(), waymark::cli::kInput);
  }
}
