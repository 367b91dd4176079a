// waymark etm4 explain: registers in plain language.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "etm4.h"
#include "etm4_json.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "interrupt.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/etm4x/assumed_unit.h"
#include "waymark/etm4x/explain.h"
#include "waymark/inputs/ini.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/perf/recording.h"

namespace waymark::cli {
namespace {

struct ExplainOptions {
  UnitOptions unit;
  std::string input;
  bool as_plan = false;
  bool fields = false;
  bool walk = false;
  Format format = Format::kText;
};

// Registers from any source, under a heading.
struct Subject {
  std::string name;  ///< For --unit.
  std::string heading;
  bool ete = false;
  etm4x::RegisterImage image;
  etm4x::IdRegisters id;
  etm4x::Environment environment;
  std::vector<std::string> notes;
  bool all_comparators = true;  ///< False: only the one that addr_idx selects.
  std::string next_step{};      ///< How to decode the trace; empty: with waymark decode.
};

void ids_from_image(Subject& subject) {
  const etm4x::AssumedUnit unit = etm4x::assumed_unit(subject.image, subject.ete);
  subject.id = unit.id;
  subject.environment = unit.environment;
  if (!unit.known) {
    subject.notes.emplace_back(
        "TRCIDR3 to TRCIDR5 are not all known, so resources are not checked against the unit.");
  }
}

constexpr std::size_t kMostRegisters = 4096;

Result<std::vector<Subject>> subjects_of_snapshot(const std::string& path) {
  std::vector<inputs::Problem> problems;
  const auto snapshot = inputs::read_snapshot(path, problems);
  if (!snapshot) return std::unexpected(snapshot.error());
  std::vector<Subject> subjects;
  for (const inputs::Device& device : snapshot->devices) {
    const bool ete = device.type.starts_with("ETE");
    if (!ete && !device.type.starts_with("ETM4")) continue;
    Subject subject;
    subject.name = device.name;
    subject.heading = fmt::format("{} ({})", device.name, device.type);
    subject.ete = ete;
    if (device.registers.size() > kMostRegisters) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{}: {} has {} registers; at most {} are read.", path, device.name,
                              device.registers.size(), kMostRegisters));
    }
    for (const inputs::Register& item : device.registers) {
      const std::string name = item.name.substr(0, item.name.find('('));
      const bool wide = name.starts_with("TRCACVR") || name.starts_with("TRCACATR") ||
                        name.starts_with("TRCCIDCVR") || name.starts_with("TRCVMIDCVR");
      subject.image.set(name, inputs::ini_number_prefix(item.text), wide);
    }
    subjects.push_back(std::move(subject));
  }
  if (subjects.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} does not describe a trace unit of type ETM4 or ETE.", path));
  }
  return subjects;
}

Result<std::vector<Subject>> subjects_of_perf(const std::string& path) {
  const auto content = open_input(path);
  if (!content) return std::unexpected(content.error());
  const std::string name = inputs::input_name(path);
  const auto file = perf::File::read(content->bytes(), name);
  if (!file) {
    return fail(file.error().code,
                fmt::format("{} INPUT must be a snapshot or perf data.", file.error().detail));
  }
  auto recording = perf::Recording::read(*file);
  if (!recording)
    return fail(recording.error().code, fmt::format("{}: {}", name, recording.error().detail));
  std::vector<Subject> subjects;
  for (const perf::Unit& unit : recording->units) {
    const bool ete = unit.kind == perf::UnitKind::kEte;
    if (!ete && unit.kind != perf::UnitKind::kEtmV4) continue;
    Subject subject;
    subject.name = fmt::format("cpu{}", unit.cpu);
    subject.heading = fmt::format("CPU {} ({})", unit.cpu, ete ? "ETE" : "ETMv4");
    subject.ete = ete;
    for (const auto& [register_name, value] : unit.registers)
      subject.image.set(register_name, value);
    subject.notes.emplace_back(
        "perf computes TRCCONFIGR from the options of the event: the hardware may lack a feature.");
    subject.next_step = fmt::format(
        "waymark decode {} decodes the trace; --symfs names the folder with the files of the "
        "recorded machine.",
        path);
    subjects.push_back(std::move(subject));
  }
  if (subjects.empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: the recording has no ETMv4 or ETE: its units are ETMv3 or PTM.", name));
  }
  return subjects;
}

Result<std::vector<Subject>> subjects_of_tree(const ExplainOptions& options) {
  auto unit = find_unit(options.unit, options.walk);
  if (!unit) return std::unexpected(unit.error());
  Subject subject;
  subject.name = subject.heading = unit->name;
  subject.id = unit->id;
  subject.environment = unit->environment;
  if (!unit->tree)
    return fail(
        ErrorCode::kNotFound,
        "--reg describes a unit, but not its settings; name the folder of a unit with --root.");
  auto settings =
      etm4x::read_settings(*unit->tree, unit->name, unit->id, unit->environment, options.walk);
  if (!settings) return std::unexpected(settings.error());
  subject.image = etm4x::image_of_settings(settings->writes, unit->id, unit->environment);
  subject.notes = std::move(settings->notes);
  subject.all_comparators = settings->complete;
  const auto hardware = [&](std::string_view file) -> std::uint64_t {
    const auto value = etm4x::read_number(*unit->tree, fmt::format("{}/mgmt/{}", unit->name, file));
    // Without power it reads 0.
    return value.value_or(0);
  };
  const std::uint64_t set = subject.image.value("TRCCONFIGR");
  // Bit 0 reads as 1 whatever is written.
  if (const std::uint64_t held = hardware("trcconfig"); held != 0 && (held | 1) != (set | 1)) {
    const auto enabled = etm4x::read_number(*unit->tree, unit->name + "/enable_source", 10);
    if (enabled && *enabled == 0) {
      subject.notes.push_back(
          fmt::format("The hardware still holds TRCCONFIGR 0x{:x}. The settings, 0x{:x}, take "
                      "effect at the next start.",
                      held, set));
    } else {
      subject.image.set("TRCCONFIGR", held);
      subject.notes.push_back(
          fmt::format("The hardware holds TRCCONFIGR 0x{:x}, but the settings give 0x{:x}. Either "
                      "they take effect at the next start, or reset left features switched on.",
                      held, set));
    }
  }
  if (const std::uint64_t id = hardware("trctraceid"); id != 0)
    subject.image.set("TRCTRACEIDR", id);
  std::vector<Subject> subjects;
  subjects.push_back(std::move(subject));
  return subjects;
}

std::string names_of(const std::vector<Subject>& subjects) {
  std::string names;
  for (const Subject& subject : subjects) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", subject.name);
  }
  return names;
}

Result<std::vector<Subject>> subjects_of_input(const ExplainOptions& options) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(options.input, error);
  const auto given = given_registers(options.unit);
  if (!given) return std::unexpected(given.error());
  auto subjects = folder || options.input.ends_with(".ini") ? subjects_of_snapshot(options.input)
                                                            : subjects_of_perf(options.input);
  if (!subjects) return subjects;
  if (!options.unit.unit.empty()) {
    const std::string names = names_of(*subjects);
    std::erase_if(*subjects, [&](const Subject& held) { return held.name != options.unit.unit; });
    if (subjects->empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("There is no {} in {}; there is {}.",
                                                    options.unit.unit, options.input, names));
    }
  }
  for (Subject& subject : *subjects) {
    for (const GivenRegister& item : *given) subject.image.set(item.name, item.value);
    ids_from_image(subject);
    subject.environment.kernel_at_el2 = options.unit.vhe;
  }
  return subjects;
}

etm4x::Explanation explain(const Subject& subject) {
  const auto caps = etm4x::read_capabilities(subject.id, subject.environment);
  auto explanation = etm4x::explain(subject.image, subject.id, caps, subject.all_comparators);
  // The last sentence says what waymark decode needs.
  if (!subject.next_step.empty() && !explanation.decoder.empty()) {
    explanation.decoder.back() = subject.next_step;
  }
  return explanation;
}

Json explanation_json(const Subject& subject, const etm4x::Explanation& explanation) {
  return {{"unit", subject.name},
          {"type", subject.ete ? "ETE" : "ETM4"},
          {"traces", explanation.traces},
          {"decoder", explanation.decoder},
          {"doubts", explanation.problems},
          {"notes", subject.notes},
          {"plan", etm4x::plan_lines(explanation.plan)},
          {"registers", registers_json(subject.image)}};
}

int run(const ExplainOptions& options) {
  const auto subjects =
      options.input.empty() ? subjects_of_tree(options) : subjects_of_input(options);
  if (!subjects)
    return interrupted() ? int{kInterrupted} : complain(subjects.error().detail, kInput);
  if (options.as_plan && subjects->size() > 1) {
    return complain(fmt::format("A plan is for one unit, but {} has {}; choose one with --unit.",
                                options.input, names_of(*subjects)),
                    kUsage);
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  TextBuffer& out = output->text();
  for (const Subject& subject : *subjects) {
    const auto explanation = explain(subject);
    if (options.as_plan) {
      out.put(etm4x::acceptable_plan_text(explanation.plan, subject.id, subject.environment));
      put_lines(out, fmt::format("# {}\n", subject.heading));
      for (const std::string& note : subject.notes) put_lines(out, fmt::format("# {}\n", note));
      continue;
    }
    if (options.format == Format::kJson) {
      put_json(out, explanation_json(subject, explanation));
      continue;
    }
    put_lines(out, fmt::format("{}\n", subject.heading));
    put_lines(out, etm4x::explanation_text(explanation));
    for (const std::string& note : subject.notes) put_lines(out, fmt::format("Note: {}\n", note));
    if (options.fields) put_lines(out, etm4x::register_fields_text(subject.image));
  }
  return finish_output(*output, kOk);
}

}  // namespace

void add_etm4_explain(Command& etm4, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  Command* command =
      etm4.add_subcommand("explain", "Explain what a unit is set up to trace and what looks wrong");
  auto* input = command->add_option(
      "INPUT", options->input,
      "a snapshot, or perf data; - for perf data on standard input; default: the unit in --root");
  add_unit_options(*command, options->unit);
  input->excludes(command->get_option("--root"));
  auto* plan = command->add_flag(
      "--as-plan", options->as_plan,
      "print a plan for `waymark etm4 plan`; registers that it would refuse become comments");
  auto* fields =
      command->add_flag("--fields", options->fields, "also print the fields of every register");
  add_format_option(*command, options->format, false);
  plan->excludes(command->get_option("--format"));
  fields->excludes(command->get_option("--format"));
  auto* walk = command->add_flag(
      "--walk", options->walk,
      "read every comparator by selecting each in turn, then restore the selection");
  input->excludes(walk);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
