// waymark etm4 plan: a description to registers, writes, a script and a perf line.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "etm4.h"
#include "etm4_json.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/etm4x/explain.h"

namespace waymark::cli {
namespace {

struct EtmPlanOptions {
  UnitOptions unit;
  std::string plan;
  std::vector<std::string> programs;
  std::string script;
  bool normal_form = false;
  Format format = Format::kText;
  EstimateOptions estimate;
};

void put_problems(TextBuffer& out, std::string_view heading,
                  const std::vector<etm4x::PlanProblem>& problems) {
  if (problems.empty()) return;
  out.put(fmt::format("{}\n", heading));
  for (const auto& problem : problems) put_lines(out, fmt::format("  {}\n", problem.text()));
}

// Finds symbols in the programs of the plan.
std::optional<etm4x::ProgramPlace> place_in_program(const std::vector<elf::File>& programs,
                                                    std::uint64_t address) {
  for (const elf::File& file : programs) {
    for (const elf::Segment& segment : file.segments()) {
      const std::uint64_t inside = address - segment.address;
      if (address < segment.address || inside >= segment.size) continue;
      std::error_code error;
      const auto path = std::filesystem::absolute(file.path(), error);
      return etm4x::ProgramPlace{error ? file.path() : path.lexically_normal().string(),
                                 segment.offset + inside, segment.size - inside};
    }
  }
  return std::nullopt;
}

etm4x::PerfLine perf_line_of(const PlanFile& file, const FoundUnit& unit) {
  return etm4x::perf_line(file.plan, unit.id, unit.environment, [&](std::uint64_t address) {
    return place_in_program(file.programs, address);
  });
}

Json plan_json(const PlanFile& file, const FoundUnit& unit) {
  const etm4x::PerfLine perf = perf_line_of(file, unit);
  return {{"unit", unit.name},
          {"plan", etm4x::plan_lines(file.plan)},
          {"registers", registers_json(file.compiled.image)},
          {"writes", writes_json(file.compiled.writes)},
          {"decode_options", etm4x::decoder_options(file.compiled.image, unit.id)},
          {"beyond_sysfs", problems_json(file.compiled.beyond_sysfs)},
          {"notes", problems_json(file.compiled.notes)},
          {"perf",
           {{"possible", perf.possible},
            {"command", perf.possible ? perf.command : ""},
            {"differences", perf.differences}}}};
}

void put_plan(TextBuffer& out, const PlanFile& file, const FoundUnit& unit) {
  out.put(fmt::format("Registers of {}\n", unit.name));
  for (const auto& value : file.compiled.image.values()) {
    out.put(fmt::format("  {:<14} {}\n", value.name, etm4x::register_text(value)));
  }
  out.put("Writes\n");
  for (const auto& write : file.compiled.writes) {
    out.put(fmt::format("  {:<24} {}\n", write.file, write.value));
  }
  out.put(fmt::format("For waymark decode\n  {}\n",
                      etm4x::decoder_options(file.compiled.image, unit.id)));
  put_problems(out, "Beyond sysfs", file.compiled.beyond_sysfs);
  put_problems(out, "Note", file.compiled.notes);
  const etm4x::PerfLine perf = perf_line_of(file, unit);
  out.put("With perf\n");
  if (perf.possible) put_lines(out, fmt::format("  {}\n", perf.command));
  for (const std::string& difference : perf.differences) {
    put_lines(out, fmt::format("  {}\n", difference));
  }
}

int run(const EtmPlanOptions& options) {
  const auto unit = find_unit(options.unit);
  if (!unit) return complain(unit.error().detail, kInput);
  std::vector<std::string> programs = options.programs;
  if (const auto program = estimated_file(options.estimate)) programs.push_back(*program);
  const auto file = load_plan(options.plan, programs, *unit);
  if (!file) return file.error();
  if (options.estimate.wanted) {
    return run_estimate(options.estimate, *file, *unit, options.format);
  }
  if (!options.script.empty()) {
    std::vector<std::string> read = program_paths(programs);
    read.push_back(path_of_input(options.plan));
    auto script = Output::open(options.script, read);
    if (!script) {
      const bool is_input = script.error().code == ErrorCode::kInvalidArgument;
      return complain(script.error().detail, is_input ? kUsage : kOutput);
    }
    script->text().put(
        etm4x::shell_script(file->compiled, file->plan, options.unit.root, unit->name));
    if (const int code = finish_output(*script, kOk); code != kOk) return code;
    if (options.script == "-") return kOk;
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  if (options.format == Format::kJson) {
    put_json(output->text(), plan_json(*file, *unit));
  } else if (options.normal_form) {
    output->text().put(etm4x::plan_text(file->plan));
  } else {
    put_plan(output->text(), *file, *unit);
  }
  return finish_output(*output, kOk);
}

}  // namespace

void add_etm4_plan(Command& etm4, int& exit_code) {
  auto options = std::make_shared<EtmPlanOptions>();
  Command* command = etm4.add_subcommand(
      "plan", "Convert a plan of what to trace into registers and sysfs writes");
  command
      ->add_option("PLAN", options->plan,
                   "the plan; see docs/howto/program_etmv4.md; - for standard input")
      ->required();
  add_unit_options(*command, options->unit);
  command->add_option("--elf", options->programs, "a program whose symbols the plan names")
      ->type_name("FILE[@ADDRESS]");
  command
      ->add_option("--script", options->script,
                   "save the writes as a shell script; -: standard output")
      ->type_name("FILE");
  command->add_flag("--normal-form", options->normal_form,
                    "only print the plan with all symbols resolved");
  add_format_option(*command, options->format, false);
  add_estimate_options(*command, options->estimate);
  command->footer(
      "Examples:\n"
      "  waymark etm4 plan sort.plan --elf sort --script program.sh\n"
      "  waymark etm4 plan sort.plan --estimate --program sort -o run && waymark decode run");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
