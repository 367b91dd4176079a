// waymark etm4: programming the ETMv4 and ETE.
#include "etm4.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "input_options.h"
#include "waymark/base/nearest.h"
#include "waymark/base/number.h"

namespace waymark::cli {
namespace {

// The number after `stem` in a name, if it is `first` to `last`.
std::optional<unsigned> numbered(std::string_view name, std::string_view stem, unsigned first,
                                 unsigned last) {
  if (!name.starts_with(stem)) return std::nullopt;
  const auto number = parse_number(name.substr(stem.size()));
  if (!number || *number < first || *number > last) return std::nullopt;
  return static_cast<unsigned>(*number);
}

/// The registers that --reg takes.
constexpr std::string_view kGivenRegisters[] = {"TRCIDR0",   "TRCIDR1",   "TRCIDR2",    "TRCIDR3",
                                                "TRCIDR4",   "TRCIDR5",   "TRCDEVARCH", "TRCSSCSR0",
                                                "TRCSSCSR1", "TRCSSCSR2", "TRCSSCSR3",  "TRCSSCSR4",
                                                "TRCSSCSR5", "TRCSSCSR6", "TRCSSCSR7"};

Result<void> take_registers(const UnitOptions& options, etm4x::IdRegisters& id,
                            etm4x::Environment& environment) {
  const auto registers = given_registers(options);
  if (!registers) return std::unexpected(registers.error());
  for (const GivenRegister& given : *registers) take_register(given, id, environment);
  return {};
}

/// Those that say what a unit has; TRCIDR1 has only its version.
void note_missing_registers(const UnitOptions& options) {
  std::string missing;
  for (const std::string_view name : {"TRCIDR0", "TRCIDR2", "TRCIDR3", "TRCIDR4", "TRCIDR5"}) {
    const bool given = std::ranges::any_of(options.registers, [&](const std::string& text) {
      return text.starts_with(name) && text.substr(name.size()).starts_with('=');
    });
    if (!given) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  }
  if (missing.empty()) return;
  note(fmt::format("no --reg for {}: the value 0 is used, as of a unit without those features.",
                   missing));
}

}  // namespace

void add_etm4(Command& app, int& exit_code) {
  Command* etm4 = app.add_subcommand("etm4", "Program an ETMv4 or ETE trace unit");
  etm4->require_subcommand();
  add_etm4_caps(*etm4, exit_code);
  add_etm4_plan(*etm4, exit_code);
  add_etm4_explain(*etm4, exit_code);
  add_etm4_simulate(*etm4, exit_code);
  add_etm4_apply(*etm4, exit_code);
  add_etm4_snapshot(*etm4, exit_code);
}

void add_unit_options(Command& command, UnitOptions& options) {
  command.add_option("--root", options.root, "the folder of the CoreSight devices or a copy of it")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--unit", options.unit, "the trace unit; default: the first")
      ->type_name("etmN");
  command
      .add_option("--reg", options.registers,
                  "the value of an ID register, to override the unit's or to describe a unit that "
                  "is not present; such as TRCIDR4=0x11170004")
      ->type_name("NAME=VALUE");
  command.add_flag("--vhe", options.vhe, "the kernel runs at EL2");
}

Result<std::vector<GivenRegister>> given_registers(const UnitOptions& options) {
  std::vector<GivenRegister> given;
  for (const std::string& text : options.registers) {
    const std::size_t at = text.find('=');
    const auto value = at == std::string::npos ? std::nullopt : parse_number(text.substr(at + 1));
    if (!value || *value > 0xFFFFFFFF) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--reg {} is not of the form NAME=VALUE with 32 bits, such as "
                              "TRCIDR4=0x11170004.",
                              text));
    }
    const std::string name = text.substr(0, at);
    if (name != "TRCDEVARCH" && !numbered(name, "TRCIDR", 0, 5) &&
        !numbered(name, "TRCSSCSR", 0, 7)) {
      const auto meant = nearest(name, kGivenRegisters);
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--reg {}: a unit is described by TRCIDR0 to TRCIDR5, TRCDEVARCH and "
                              "TRCSSCSR0 to TRCSSCSR7{}",
                              name, meant ? fmt::format("; did you mean {}?", *meant) : "."));
    }
    given.push_back({name, static_cast<std::uint32_t>(*value)});
  }
  return given;
}

void take_register(const GivenRegister& given, etm4x::IdRegisters& id,
                   etm4x::Environment& environment) {
  if (const auto number = numbered(given.name, "TRCIDR", 0, 5)) {
    id.idr[*number] = given.value;
  } else if (const auto shot = numbered(given.name, "TRCSSCSR", 0, 7)) {
    environment.sscsr[*shot] = given.value;
    environment.unknown_sscsr &= static_cast<std::uint8_t>(~(1U << *shot));
  } else {
    id.devarch = given.value;
  }
}

Result<FoundUnit> find_unit(const UnitOptions& options, bool walk) {
  FoundUnit found;
  auto tree = etm4x::open_device_tree(options.root);
  const auto units = tree ? (*tree)->units() : std::vector<std::string>{};
  const bool described = !options.registers.empty() && options.unit.empty() && units.empty();
  if (described) {
    found.name = "etm0";
    found.environment.unknown_sscsr = 0xFF;
    note_missing_registers(options);
  } else if (!tree) {
    return std::unexpected(tree.error());
  } else if (units.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("There is no etmN or eteN in {}: name the folder with --root, or "
                            "describe a unit with --reg TRCIDR0=VALUE and so on.",
                            options.root));
  } else {
    found.name = options.unit.empty() ? units.front() : options.unit;
    if (std::ranges::find(units, found.name) == units.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("There is no {} in {}; there is {}.", found.name, options.root,
                              fmt::join(units, ", ")));
    }
    auto id = etm4x::read_ids(**tree, found.name);
    if (!id) return std::unexpected(id.error());
    found.id = *id;
    found.environment = etm4x::read_environment(**tree, found.name, *id, walk);
    found.tree = std::move(*tree);
  }
  found.environment.kernel_at_el2 = options.vhe;
  if (auto taken = take_registers(options, found.id, found.environment); !taken) {
    return std::unexpected(taken.error());
  }
  if ((found.id.devarch >> 12 & 0xF) == 5) {
    found.environment.access = etm4x::RegisterAccess::kSystemRegisters;
  }
  return found;
}

std::expected<PlanFile, int> load_plan(const std::string& path,
                                       const std::vector<std::string>& programs,
                                       const FoundUnit& unit) {
  PlanFile file;
  for (const std::string& program : programs) {
    auto elf = open_elf_argument(program);
    if (!elf) return std::unexpected(complain(elf.error().detail, kInput));
    file.programs.push_back(std::move(*elf));
  }
  const auto text = read_text_input(path);
  if (!text) return std::unexpected(text.error());
  std::vector<etm4x::PlanProblem> problems;
  auto plan = etm4x::parse_plan(*text, symbol_resolver(file.programs), problems);
  std::optional<etm4x::CompiledPlan> compiled;
  if (plan) compiled = etm4x::compile_plan(*plan, unit.id, unit.environment, problems);
  for (const etm4x::PlanProblem& problem : problems) {
    complain(fmt::format("{}: {}", inputs::input_name(path), problem.text()), kInput);
  }
  if (!plan || !compiled) return std::unexpected(static_cast<int>(kInput));
  file.plan = std::move(*plan);
  file.compiled = std::move(*compiled);
  return file;
}

}  // namespace waymark::cli
