// waymark etm4 caps: what a unit has.
#include <fmt/format.h>

#include "etm4.h"
#include "exit_code.h"
#include "input_options.h"
#include "run.h"

namespace waymark::cli {
namespace {

int run(const UnitOptions& options) {
  const auto unit = find_unit(options);
  if (!unit) return complain(unit.error().detail, kInput);
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  const auto caps = etm4x::read_capabilities(unit->id, unit->environment, etm4x::kNoQuirks);
  output->text().put(fmt::format("{}\n", unit->name));
  output->text().put(etm4x::capability_text(unit->id, caps));
  const auto accepted = etm4x::check_accepted(unit->id, unit->environment.access);
  if (!accepted) output->text().put(fmt::format("{}\n", accepted.error().detail));
  return finish_output(*output, kOk);
}

}  // namespace

void add_etm4_caps(CLI::App& etm4, int& exit_code) {
  auto options = std::make_shared<UnitOptions>();
  CLI::App* command = etm4.add_subcommand("caps", "Show what a trace unit has");
  add_unit_options(*command, *options);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
