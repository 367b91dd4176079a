// waymark etm4 apply: writes a plan to a unit, completely or not at all.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "etm4.h"
#include "etm4_json.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "run.h"
#include "waymark/base/escape.h"

namespace waymark::cli {
namespace {

struct ApplyCommandOptions {
  UnitOptions unit;
  std::string plan;
  std::vector<std::string> programs;
  bool dry_run = false;
  bool start = false;
  Format format = Format::kText;
};

int print_writes(Output& output, const ApplyCommandOptions& options, const std::string& unit,
                 const std::vector<etm4x::SysfsWrite>& writes) {
  const bool dry = options.dry_run;
  if (options.format == Format::kJson) {
    put_json(output.text(), {{"unit", unit}, {"applied", !dry}, {"writes", writes_json(writes)}});
    return finish_output(output, kOk);
  }
  for (const auto& write : writes) {
    output.text().put(fmt::format("{} <- {}\n", escaped(write.file), write.value));
  }
  output.text().put(
      fmt::format("{} writes {}\n", writes.size(), dry ? "would be made" : "made and read back"));
  return finish_output(output, kOk);
}

int run(const ApplyCommandOptions& options) {
  const auto unit = find_unit(options.unit, !options.dry_run);
  if (!unit) return complain(unit.error().detail, kInput);
  if (!unit->tree)
    return complain("--reg only describes a unit, but apply needs a real one in --root.", kUsage);
  const auto file = load_plan(options.plan, options.programs, *unit);
  if (!file) return file.error();
  for (const auto& note : file->compiled.notes) {
    cli::note(fmt::format("{}: {}", inputs::input_name(options.plan), note.text()));
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  etm4x::ApplyOptions how{.start = options.start};
  if (options.dry_run) {
    for (const auto& problem : file->compiled.beyond_sysfs) {
      complain(fmt::format("{}: {}", inputs::input_name(options.plan), problem.text()), kInput);
    }
    return print_writes(*output, options, unit->name,
                        etm4x::apply_order(file->compiled, file->plan, unit->name, how));
  }
  int printed = kOk;
  how.confirm = [&](const etm4x::ApplyReport& report) {
    printed = print_writes(*output, options, unit->name, report.done);
    return printed != kOutput;
  };
  const auto report = etm4x::apply_plan(*unit->tree, unit->name, unit->id, unit->environment,
                                        file->compiled, file->plan, how);
  if (!report) {
    return complain(fmt::format("{}: {}", inputs::input_name(options.plan), report.error().detail),
                    kOutput);
  }
  return printed;
}

}  // namespace

void add_etm4_apply(Command& etm4, int& exit_code) {
  auto options = std::make_shared<ApplyCommandOptions>();
  Command* command =
      etm4.add_subcommand("apply", "Apply a plan to a unit, completely or not at all");
  command
      ->add_option("PLAN", options->plan,
                   "the plan; see docs/howto/program_etmv4.md; - for standard input")
      ->required();
  add_unit_options(*command, options->unit);
  command->add_option("--elf", options->programs, "a program whose symbols the plan names")
      ->type_name("FILE[@ADDRESS]");
  command->add_flag("--dry-run", options->dry_run, "only show the writes");
  command->add_flag("--start", options->start, "start tracing afterwards");
  add_format_option(*command, options->format, false);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
