// waymark etm4 plan --estimate: what a plan would trace of a program.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "etm4.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "option_values.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/synth/capture.h"
#include "waymark/synth/estimate.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostStretches = 20;
constexpr std::string_view kRandom = "random";

struct LevelRow {
  std::string_view name;
  std::uint8_t el;
  bool secure;
};
constexpr LevelRow kLevels[] = {{"el0", 0, false},  {"el1", 1, false},  {"el2", 2, false},
                                {"s-el0", 0, true}, {"s-el1", 1, true}, {"s-el2", 2, true}};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double share =
      whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", share);
}

std::uint64_t per_million(std::uint64_t bytes, std::uint64_t instructions) {
  if (instructions == 0) return 0;
  return static_cast<std::uint64_t>(
      static_cast<double>(bytes) * 1e6 / static_cast<double>(instructions) + 0.5);
}

struct Function {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::string_view name;
};

// By address; of several names of one place the first in the alphabet stays.
std::vector<Function> functions_of(const std::vector<image::ElfFile>& programs) {
  std::vector<Function> all;
  for (const image::ElfFile& file : programs) {
    for (const image::ElfSymbol& symbol : file.symbols()) {
      if (!symbol.function) continue;
      const std::uint64_t bit = file.machine() == image::ElfFile::kArm ? symbol.address & 1 : 0;
      const std::uint64_t first = symbol.address - bit;
      all.push_back({first, first + symbol.size, symbol.name});
    }
  }
  std::ranges::sort(all, {}, [](const Function& at) { return std::pair(at.first, at.name); });
  const auto same = std::ranges::unique(all, {}, &Function::first);
  all.erase(same.begin(), same.end());
  return all;
}

std::string name_at(const std::vector<Function>& functions, std::uint64_t address) {
  auto at = std::ranges::upper_bound(functions, address, {}, &Function::first);
  if (at == functions.begin()) return {};
  --at;
  if (address >= std::max(at->end, at->first + 1)) return {};
  return address == at->first ? std::string(at->name)
                              : fmt::format("{}+{:#x}", at->name, address - at->first);
}

void put_stretches(TextBuffer& out, const synth::Estimate& estimate,
                   const std::vector<Function>& functions) {
  if (estimate.stretches.empty()) return;
  std::vector<synth::Estimate::Stretch> stretches = estimate.stretches;
  std::ranges::sort(stretches, std::ranges::greater{}, &synth::Estimate::Stretch::instructions);
  const std::size_t shown = std::min(stretches.size(), kMostStretches);
  out.put("Addresses, by their share of what is traced\n");
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const synth::Estimate::Stretch& at = stretches[i];
    if (i >= shown) {
      rest += at.instructions;
      continue;
    }
    out.put(fmt::format("  {:>8}  {:#x}..{:#x}  {}\n", percent(at.instructions, estimate.traced),
                        at.first, at.end - 1, escaped(name_at(functions, at.first))));
  }
  if (rest != 0)
    out.put(fmt::format("  {:>8}  {} more\n", percent(rest, estimate.traced),
                        stretches.size() - shown));
}

void put_packets(TextBuffer& out, const synth::Estimate& estimate) {
  out.put("Packets             number        bytes  bytes per million executed\n");
  for (const auto& kind : estimate.packets) {
    out.put(fmt::format("  {:<15} {:>8} {:>12} {:>12}  {:>7}\n", kind.kind, kind.packets,
                        kind.bytes, per_million(kind.bytes, estimate.executed),
                        percent(kind.bytes, estimate.bytes)));
  }
}

void put_estimate(TextBuffer& out, const EstimateOptions& options, const PlanFile& file,
                  const synth::Program& program, const synth::Estimate& estimate) {
  out.put(fmt::format(
      "A run of {} instructions of {}, {:#x}..{:#x}, at {}, seed {}\n", estimate.executed,
      options.program == kRandom ? "a random program" : escaped(options.program),
      program.segments().front().address,
      program.segments().back().address + program.segments().back().bytes.size() - 1, options.level,
      options.seed));
  out.put(fmt::format("  traced   {} instructions, {}\n", estimate.traced,
                      percent(estimate.traced, estimate.executed)));
  out.put(fmt::format("  bytes    {}: {} per million instructions executed", estimate.bytes,
                      per_million(estimate.bytes, estimate.executed)));
  if (estimate.traced != 0)
    out.put(fmt::format(", {} per million traced", per_million(estimate.bytes, estimate.traced)));
  out.put("\n");
  for (const etm4x::PlanSink& sink : file.plan.sinks) {
    if (sink.buffer == 0 || estimate.bytes == 0) continue;
    // A frame of 16 bytes has 15 of one source.
    const double room = static_cast<double>(sink.buffer) * 15 / 16;
    out.put(fmt::format(
        "  {} is full after about {:.1f} million instructions\n", sink.name,
        room / static_cast<double>(estimate.bytes) * static_cast<double>(estimate.executed) / 1e6));
  }
  put_stretches(out, estimate, functions_of(file.programs));
  put_packets(out, estimate);
}

void put_limits(TextBuffer& out, const std::vector<std::string>& sentences) {
  out.put("The run is a model's\n");
  for (const std::string& sentence : sentences) out.put(fmt::format("  {}\n", escaped(sentence)));
  out.put(
      "  Branches go where the program's model sends them, not where real data would; see "
      "docs/synth.md.\n");
}

int fail_with(const Error& error) {
  return complain(error.detail, error.code == ErrorCode::kIo ? kOutput : kInput);
}

int write_snapshot(const EstimateOptions& options, const synth::ProgrammedOptions& unit,
                   const synth::ExecutionOptions& execution, const synth::Program& program) {
  auto made = synth::make_programmed_unit(unit, program, execution, true);
  if (!made) return fail_with(made.error());
  std::vector<std::unique_ptr<synth::TraceUnit>> units;
  units.push_back(*std::move(made));
  synth::CaptureOptions capture;
  capture.seed = options.seed;
  capture.size = ~std::uint64_t{0};
  auto maker = synth::CaptureMaker::create(capture, std::move(units));
  if (!maker) return fail_with(maker.error());
  const auto written = synth::write_capture(*maker, &program, options.directory,
                                            [](std::uint64_t) { return !interrupted(); });
  if (!written) return fail_with(written.error());
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace

void add_estimate_options(CLI::App& command, EstimateOptions& options) {
  constexpr auto kGroup = "What the plan would trace";
  auto* estimate = command
                       .add_flag("--estimate", options.wanted,
                                 "Run a program on a model: addresses, bytes per million "
                                 "instructions")
                       ->group(kGroup);
  command
      .add_option("--program", options.program,
                  "That program, whose symbols the plan may name; or random")
      ->type_name("FILE[@ADDRESS]|random")
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command.add_option("--instructions", options.instructions, "Of the run")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command.add_option("--exceptions", options.exceptions, "One in about N blocks; 0: none")
      ->type_name("N")
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  std::vector<std::string> names;
  for (const LevelRow& row : kLevels) names.emplace_back(row.name);
  command.add_option("--level", options.level, "Where the program runs")
      ->check(one_of(names))
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command.add_option("--seed", options.seed, "The same seed gives the same run")
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command.add_option("-o,--output", options.directory, "Write the run as a snapshot that decodes")
      ->type_name("DIR")
      ->needs(estimate)
      ->group(kGroup);
}

std::optional<std::string> estimated_file(const EstimateOptions& options) {
  if (!options.wanted || options.program == kRandom) return std::nullopt;
  return options.program;
}

int run_estimate(const EstimateOptions& options, const PlanFile& file, const FoundUnit& unit) {
  synth::Program::RandomOptions random;
  random.seed = options.seed;
  const auto program = options.program == kRandom ? synth::Program::random(random)
                                                  : synth::Program::elf(file.programs.back());
  if (!program) return fail_with(program.error());
  synth::ProgrammedOptions programmed;
  programmed.image = file.compiled.image;
  programmed.id = unit.id;
  programmed.environment = unit.environment;
  programmed.seed = options.seed;
  programmed.instructions = options.instructions;
  synth::ExecutionOptions execution;
  execution.seed = options.seed;
  execution.exception_mean = options.exceptions;
  const auto* level = std::ranges::find(kLevels, options.level, &LevelRow::name);
  execution.el = level->el;
  execution.secure = level->secure;
  synth::add_contexts(programmed, execution);

  std::vector<std::uint64_t> bounds;
  for (const Function& function : functions_of(file.programs)) bounds.push_back(function.first);
  const auto estimate = synth::estimate_trace(programmed, *program, execution, bounds);
  if (!estimate) return fail_with(estimate.error());
  if (!options.directory.empty()) {
    const int code = write_snapshot(options, programmed, execution, *program);
    if (code != kOk) return code;
  }
  std::vector<std::string> limits = synth::not_modelled(programmed, execution);
  if (estimate->traced == 0) {
    limits.insert(limits.begin(),
                  "Nothing is traced: compare the plan's addresses and levels with the program and "
                  "--level.");
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  put_estimate(output->text(), options, file, *program, *estimate);
  put_limits(output->text(), limits);
  return finish_output(*output, kOk);
}

}  // namespace waymark::cli
