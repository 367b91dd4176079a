// waymark collateral: the texts of an instrumented program's catalog messages, as XML.
#include <fmt/format.h>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "output.h"
#include "run.h"
#include "waymark/inputs/input_file.h"
#include "waymark/syst/catalog_section.h"

namespace waymark::cli {
namespace {

struct CollateralOptions {
  std::string program;
  std::string output;
  std::string client;
  std::string guid;
};

int run(const CollateralOptions& options) {
  const auto file = open_input(options.program);
  if (!file) return interrupted() ? int{kInterrupted} : complain(file.error().detail, kInput);
  const std::string name = inputs::input_name(options.program);
  const std::string path = path_of_input(options.program);
  auto sites = syst::read_catalog_sites(file->bytes());
  if (!sites) {
    return complain(fmt::format("{}: {}", name, sites.error().detail), kInput);
  }
  if (!options.client.empty()) sites->client = options.client;
  if (!options.guid.empty()) {
    sites->guid = syst::parse_guid(options.guid);
    if (!sites->guid) {
      return complain(
          fmt::format("--guid {}: a GUID has the form {{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}}.",
                      options.guid),
          kUsage);
    }
  }
  if (!sites->guid) {
    return complain(
        fmt::format("{}: the program does not name its client. Name it with --guid, or add "
                    "WAYMARK_SYST_CLIENT to the program.",
                    name),
        kInput);
  }
  const auto xml = syst::write_collateral(*sites);
  if (!xml) return complain(fmt::format("{}: {}", name, xml.error().detail), kInput);
  auto output = Output::open(options.output, std::span(&path, 1));
  if (!output) {
    const bool usage = output.error().code == ErrorCode::kInvalidArgument;
    return complain(output.error().detail, usage ? kUsage : kOutput);
  }
  output->text().put(*xml);
  return finish_output(*output, kOk);
}

}  // namespace

void add_collateral(Command& app, int& exit_code) {
  auto options = std::make_shared<CollateralOptions>();
  Command* command = app.add_subcommand(
      "collateral", "Make SyS-T collateral from a program that sends catalog messages");
  command
      ->add_option("PROGRAM", options->program,
                   "the ELF file of the program, or one of its object files; - for standard input")
      ->required();
  command
      ->add_option("-o,--output", options->output, "write to this file instead of standard output")
      ->type_name("FILE");
  command
      ->add_option("--client", options->client,
                   "the name of the client, instead of the one in the program")
      ->type_name("NAME");
  command
      ->add_option("--guid", options->guid,
                   "the GUID of the client, instead of the one in the program")
      ->type_name("GUID");
  command->footer(
      "Example:\n"
      "  waymark collateral firmware.elf -o firmware.xml && waymark syst board/ -c firmware.xml");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
