// waymark: the command line.  docs/cli.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "commands.h"
#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "version.h"
#include "waymark/base/standard_streams.h"

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

/// What is wrong with the command line, and where to read on.
std::string usage_sentence(const CLI::App& app, std::string_view what) {
  while (what.ends_with('\n') || what.ends_with('.')) what.remove_suffix(1);
  std::string sentence;
  for (const char c : what) sentence += c == '\n' ? ' ' : c;
  const auto commands = app.get_subcommands();
  return fmt::format("{}; see waymark {}--help.", sentence,
                     commands.empty() ? "" : commands.front()->get_name() + ' ');
}

int run(int argc, char** argv) {
  using namespace waymark::cli;
  CLI::App app("Waymark decodes Arm CoreSight trace: what did the cores execute?", "waymark");
  app.set_version_flag("--version", "waymark " WAYMARK_VERSION);
  app.require_subcommand(0, 1);
  app.footer(kFooter);
  int exit_code = kOk;
  add_info(app, exit_code);
  add_packets(app, exit_code);
  add_decode(app, exit_code);
  add_index(app, exit_code);
  add_find(app, exit_code);
  add_count(app, exit_code);
  add_syst(app, exit_code);
  add_collateral(app, exit_code);
  add_assemble(app, exit_code);
  add_synth(app, exit_code);
  add_etm4(app, exit_code);
  watch_signals();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors.
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(usage_sentence(app, error.what()), kUsage);
  }
  if (app.get_subcommands().empty())
    return complain("A command is missing, such as info or decode; see waymark --help.", kUsage);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  waymark::occupy_standard_descriptors();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    // Only memory can run out here: the library reports its errors as values.
    return waymark::cli::complain(error.what(), waymark::cli::kInput);
  }
}
