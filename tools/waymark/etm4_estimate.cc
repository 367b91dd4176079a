// waymark etm4 plan --estimate: what a plan would trace of a program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "command.h"
#include "etm4.h"
#include "etm4_json.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "made_capture.h"
#include "option_values.h"
#include "percent.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/synth/capture.h"
#include "waymark/synth/estimate.h"
#include "waymark/synth/recording.h"

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

std::uint64_t per_million(std::uint64_t bytes, std::uint64_t instructions) {
  if (instructions == 0) return 0;
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(bytes) * 1e6 / static_cast<double>(instructions)));
}

struct Function {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::string_view name;
};

// By address; of several names of one place the first in the alphabet stays.
std::vector<Function> functions_of(const std::vector<elf::File>& programs) {
  std::vector<Function> all;
  for (const elf::File& file : programs) {
    for (const elf::Symbol& symbol : file.symbols()) {
      if (!symbol.function) continue;
      const std::uint64_t bit = file.machine() == elf::File::kArm ? symbol.address & 1 : 0;
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
                        at.first, at.end, escaped(name_at(functions, at.first))));
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

double share_of(const synth::Estimate& estimate) {
  if (estimate.executed == 0) return 0;
  return static_cast<double>(estimate.traced) / static_cast<double>(estimate.executed);
}

double instructions_to_fill(const etm4x::PlanSink& sink, const synth::Estimate& estimate) {
  // A frame of 16 bytes has 15 of one source.
  const double payload = static_cast<double>(sink.buffer) * 15 / 16;
  return payload / static_cast<double>(estimate.bytes) * static_cast<double>(estimate.executed);
}

/// The least and the largest share of traced instructions in several models of the program.
struct Spread {
  unsigned models = 0;
  double least = 0;
  double most = 0;
};

void put_estimate(TextBuffer& out, const EstimateOptions& options, const PlanFile& file,
                  const synth::Program& program, const synth::Estimate& estimate,
                  const std::optional<Spread>& spread) {
  out.put(fmt::format("A run of {} instructions of {}, {:#x}..{:#x}, at {}, seed {}\n",
                      estimate.executed,
                      options.program == kRandom ? "a random program" : escaped(options.program),
                      program.segments().front().address,
                      program.segments().back().address + program.segments().back().bytes.size(),
                      options.level, options.seed));
  out.put(fmt::format("  traced   {} instructions, {}\n", estimate.traced,
                      percent(estimate.traced, estimate.executed)));
  if (spread) {
    out.put(fmt::format(
        "  models   {:.1f} % to {:.1f} % traced in {} models of the program's branches, whose data "
        "is not known: --replay CAPTURE repeats a trace of the program\n",
        100 * spread->least, 100 * spread->most, spread->models));
  }
  out.put(fmt::format("  bytes    {}: {} per million instructions executed", estimate.bytes,
                      per_million(estimate.bytes, estimate.executed)));
  if (estimate.traced != 0)
    out.put(fmt::format(", {} per million traced", per_million(estimate.bytes, estimate.traced)));
  out.put("\n");
  for (const etm4x::PlanSink& sink : file.plan.sinks) {
    if (sink.buffer == 0 || estimate.bytes == 0) continue;
    out.put(fmt::format("  {} is full after about {:.1f} million instructions\n", sink.name,
                        instructions_to_fill(sink, estimate) / 1e6));
  }
  put_stretches(out, estimate, functions_of(file.programs));
  put_packets(out, estimate);
}

std::vector<std::string> limits_of(const EstimateOptions& options, const synth::Estimate& estimate,
                                   const synth::ProgrammedOptions& programmed,
                                   const synth::ExecutionOptions& execution) {
  std::vector<std::string> limits;
  if (estimate.traced == 0) {
    limits.emplace_back(
        "Nothing is traced: compare the plan's addresses and levels with the program and --level.");
  }
  const std::vector<std::string> model = synth::not_modelled(programmed, execution);
  limits.insert(limits.end(), model.begin(), model.end());
  limits.push_back(options.replay.empty()
                       ? "Branches follow a model of the program, not real data; see docs/synth.md."
                       : fmt::format("Branches repeat those in {}.", options.replay));
  return limits;
}

Json estimate_json(const EstimateOptions& options, const PlanFile& file,
                   const synth::Program& program, const synth::Estimate& estimate,
                   const std::optional<Spread>& spread, const std::vector<std::string>& limits) {
  Json sinks = Json::array();
  for (const etm4x::PlanSink& sink : file.plan.sinks) {
    if (sink.buffer == 0 || estimate.bytes == 0) continue;
    sinks.push_back({{"name", sink.name},
                     {"full_after_instructions",
                      static_cast<std::uint64_t>(instructions_to_fill(sink, estimate))}});
  }
  const std::vector<Function> functions = functions_of(file.programs);
  Json stretches = Json::array();
  for (const synth::Estimate::Stretch& at : estimate.stretches) {
    stretches.push_back({{"start", hex_json(at.first)},
                         {"end", hex_json(at.end)},
                         {"function", name_at(functions, at.first)},
                         {"instructions", at.instructions}});
  }
  Json packets = Json::array();
  for (const auto& kind : estimate.packets) {
    packets.push_back({{"kind", kind.kind}, {"packets", kind.packets}, {"bytes", kind.bytes}});
  }
  const double share = share_of(estimate);
  return {
      {"program", options.program},
      {"start", hex_json(program.segments().front().address)},
      {"end", hex_json(program.segments().back().address + program.segments().back().bytes.size())},
      {"level", options.level},
      {"seed", fmt::format("{}", options.seed)},
      {"replay", options.replay},
      {"executed", estimate.executed},
      {"traced", estimate.traced},
      {"models", spread ? spread->models : 1},
      {"least_share", spread ? spread->least : share},
      {"most_share", spread ? spread->most : share},
      {"bytes", estimate.bytes},
      {"sinks", std::move(sinks)},
      {"addresses", std::move(stretches)},
      {"packets", std::move(packets)},
      {"limits", limits}};
}

void put_limits(TextBuffer& out, const std::vector<std::string>& sentences) {
  out.put("Limits of the model\n");
  for (const std::string& sentence : sentences) put_lines(out, fmt::format("  {}\n", sentence));
}

int estimate_failed(const Error& error) {
  return complain(error.detail, error.code == ErrorCode::kIo ? kOutput : kInput);
}

// kOk, or the exit code after a message.
int use_recording(const EstimateOptions& options, synth::Program& program) {
  auto capture = inputs::Capture::open(options.replay, {});
  if (!capture) return complain(capture.error().detail, kInput);
  synth::Recording recording(program);
  std::vector<Element> elements(1024);
  const auto drain = [&] {
    while (const std::size_t count = capture->tree().next(elements)) {
      recording.add(std::span(elements).first(count));
    }
  };
  while (const std::optional<inputs::TraceBlock> block = capture->next_block()) {
    if (interrupted()) return kInterrupted;
    if (const auto fed = capture->tree().feed(block->index, block->bytes); !fed) {
      return complain(fed.error().detail, kDamaged);
    }
    drain();
  }
  capture->tree().finish();
  drain();
  if (recording.instructions() == 0) {
    return complain(fmt::format("{} shows no instruction of {}: if the program was loaded "
                                "elsewhere, append @ and its load address to --program.",
                                options.replay, options.program),
                    kInput);
  }
  if (recording.cut()) {
    complain(fmt::format("note: only the first {} branches of {} are repeated.",
                         synth::Recording::kMostBranches, options.replay),
             kOk);
  }
  recording.apply(program);
  return kOk;
}

constexpr unsigned kModels = 5;

// Shorter runs of other models; the first model is the estimate itself.
Result<Spread> spread_of(const synth::Estimate& estimate, synth::ProgrammedOptions programmed,
                         const synth::Program& program, synth::ExecutionOptions execution) {
  Spread spread{kModels, share_of(estimate), share_of(estimate)};
  programmed.instructions = std::max<std::uint64_t>(programmed.instructions / (kModels - 1), 1);
  for (unsigned model = 1; model < kModels; ++model) {
    ++execution.seed;
    execution.habits = model;
    const auto other = synth::estimate_trace(programmed, program, execution);
    if (!other) return std::unexpected(other.error());
    spread.least = std::min(spread.least, share_of(*other));
    spread.most = std::max(spread.most, share_of(*other));
  }
  return spread;
}

int write_snapshot(const EstimateOptions& options, const synth::ProgrammedOptions& unit,
                   const synth::ExecutionOptions& execution, const synth::Program& program,
                   const std::vector<elf::File>& programs) {
  auto made = synth::make_programmed_unit(unit, program, execution, true);
  if (!made) return estimate_failed(made.error());
  std::vector<std::unique_ptr<synth::TraceUnit>> units;
  units.push_back(*std::move(made));
  synth::CaptureOptions capture;
  capture.seed = options.seed;
  capture.size = ~std::uint64_t{0};
  auto maker = synth::CaptureMaker::create(capture, std::move(units));
  if (!maker) return estimate_failed(maker.error());
  std::vector<std::string> read{options.program};
  if (!options.replay.empty()) read.push_back(options.replay);
  for (const elf::File& file : programs) read.push_back(file.path());
  if (const auto safe = refuse_inputs_in(options.directory, *maker, &program, read); !safe)
    return complain(safe.error().detail, kUsage);
  const auto written = synth::write_capture(*maker, &program, options.directory,
                                            [](std::uint64_t) { return !interrupted(); });
  if (!written) return estimate_failed(written.error());
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace

void add_estimate_options(Command& command, EstimateOptions& options) {
  constexpr auto kGroup = "What the plan would trace";
  auto* estimate = command
                       .add_flag("--estimate", options.wanted,
                                 "run a program on a model of the unit, and show which addresses "
                                 "it traces and the size of the trace")
                       ->group(kGroup);
  command
      .add_option("--program", options.program,
                  "the program to run, whose symbols the plan may name, or `random`")
      ->type_name("FILE[@ADDRESS]|random")
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command
      .add_option("--instructions", options.instructions, "the length of the run, in instructions")
      ->range(1, std::uint64_t{1} << 40)
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command
      .add_option("--exceptions", options.exceptions, "about one exception in N blocks; 0: none")
      ->type_name("N")
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  std::vector<std::string> names;
  for (const LevelRow& row : kLevels) names.emplace_back(row.name);
  command.add_option("--level", options.level, "the level at which the program runs")
      ->check(one_of(names))
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command.add_option("--seed", options.seed, "the same seed gives the same run")
      ->capture_default_str()
      ->needs(estimate)
      ->group(kGroup);
  command
      .add_option("--replay", options.replay,
                  "repeat the branches in this snapshot, which traced the program")
      ->type_name("CAPTURE")
      ->needs(estimate)
      ->group(kGroup);
  command
      .add_option("-o,--output", options.directory,
                  "write the trace of the run as a snapshot, with a copy of the program")
      ->type_name("DIR")
      ->needs(estimate)
      ->group(kGroup);
}

std::optional<std::string> estimated_file(const EstimateOptions& options) {
  if (!options.wanted || options.program == kRandom) return std::nullopt;
  return options.program;
}

int run_estimate(const EstimateOptions& options, const PlanFile& file, const FoundUnit& unit,
                 Format format) {
  synth::Program::RandomOptions random;
  random.seed = options.seed;
  if (!options.replay.empty() && options.program == kRandom) {
    return complain("--replay needs the program that was traced; name it with --program.", kUsage);
  }
  auto program = options.program == kRandom ? synth::Program::random(random)
                                            : synth::Program::elf(file.programs.back());
  if (!program) return estimate_failed(program.error());
  if (!options.replay.empty()) {
    if (const int code = use_recording(options, *program); code != kOk) return code;
  }
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
  if (!estimate) return estimate_failed(estimate.error());
  if (!options.directory.empty()) {
    const int code = write_snapshot(options, programmed, execution, *program, file.programs);
    if (code != kOk) return code;
  }
  std::optional<Spread> spread;
  if (options.program != kRandom && options.replay.empty()) {
    const auto found = spread_of(*estimate, programmed, *program, execution);
    if (!found) return estimate_failed(found.error());
    spread = *found;
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  const auto limits = limits_of(options, *estimate, programmed, execution);
  if (format == Format::kJson) {
    put_json(output->text(), estimate_json(options, file, *program, *estimate, spread, limits));
    return finish_output(*output, kOk);
  }
  put_estimate(output->text(), options, file, *program, *estimate, spread);
  put_limits(output->text(), limits);
  return finish_output(*output, kOk);
}

}  // namespace waymark::cli
