// waymark synth: captures made to measure, with the truth beside them.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "commands.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "option_values.h"
#include "output.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/base/mapped_file.h"
#include "waymark/inputs/protocols.h"
#include "waymark/synth/capture.h"

namespace waymark::cli {
namespace {

struct SynthOptions {
  std::string directory;
  std::string check;
  std::uint64_t seed = 1;
  std::string elf;
  std::string graph;
  std::string isa = "A64";
  synth::Program::RandomOptions program;
  std::vector<std::string> protocols = {"etmv4"};
  unsigned cores = 1;
  synth::UnitOptions unit;
  synth::ExecutionOptions execution;
  synth::CaptureOptions capture;
  std::string framing = "mem";
  bool no_truth = false;
};

isa::Isa isa_by_name(std::string_view name) {
  if (name == "A32") return isa::Isa::kA32;
  return name == "T32" ? isa::Isa::kT32 : isa::Isa::kA64;
}

Result<synth::Program> make_program(const SynthOptions& options) {
  if (!options.elf.empty()) return synth::Program::elf(options.elf);
  if (!options.graph.empty()) {
    const Result<MappedFile> file = MappedFile::open(options.graph);
    if (!file) return std::unexpected(file.error());
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->size());
    Result<synth::Program> program = synth::Program::described(text);
    if (!program)
      program.error().detail = fmt::format("{}: {}", options.graph, program.error().detail);
    return program;
  }
  synth::Program::RandomOptions random = options.program;
  random.seed = options.seed;
  random.isa = isa_by_name(options.isa);
  return synth::Program::random(random);
}

Result<std::vector<std::unique_ptr<synth::TraceUnit>>> make_units(const SynthOptions& options,
                                                                  const synth::Program& program) {
  std::vector<std::unique_ptr<synth::TraceUnit>> units;
  synth::Random random(options.seed);
  for (unsigned core = 0; core < options.cores; ++core) {
    for (const std::string& name : options.protocols) {
      const inputs::ProtocolRow* row = inputs::protocol_by_name(name);
      if (row == nullptr)
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("There is no protocol '{}'; take etmv4, ete, ptm, etmv3, stm or "
                                "itm.",
                                name));
      synth::UnitOptions unit = options.unit;
      unit.protocol = row->protocol;
      unit.trace_id = static_cast<TraceId>(0x10 + units.size());
      unit.seed = random.fork();
      unit.context_ids = options.execution.context_ids > 1;
      unit.vmids = options.execution.vmids > 1;
      synth::ExecutionOptions execution = options.execution;
      execution.seed = random.fork();
      auto made = synth::make_unit(unit, &program, execution, !options.no_truth);
      if (!made) return std::unexpected(made.error());
      units.push_back(*std::move(made));
    }
  }
  return units;
}

int fail_with(const Error& error) {
  const bool usage = error.code == ErrorCode::kInvalidArgument ||
                     error.code == ErrorCode::kConflict || error.code == ErrorCode::kUnsupported;
  return complain(error.detail, usage ? kUsage : error.code == ErrorCode::kIo ? kOutput : kInput);
}

int check(const std::string& directory) {
  const auto sources = synth::check_capture(directory);
  if (!sources) return fail_with(sources.error());
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  bool equal = true;
  for (const synth::CheckedSource& source : *sources) {
    equal = equal && source.difference.empty();
    output->text().put(
        fmt::format("{} ID {:#04x}: {} ranges, {} instructions: {}\n", escaped(source.device),
                    source.trace_id, source.totals.ranges, source.totals.instructions,
                    source.difference.empty() ? "as it happened" : escaped(source.difference)));
  }
  return finish_output(*output, equal ? kOk : kDamaged);
}

int run(const SynthOptions& options) {
  if (!options.check.empty()) return check(options.check);
  if (options.directory.empty())
    return complain("Say where the snapshot goes: --output DIR.", kUsage);
  const Result<synth::Program> program = make_program(options);
  if (!program) return fail_with(program.error());
  auto units = make_units(options, *program);
  if (!units) return fail_with(units.error());
  synth::CaptureOptions capture = options.capture;
  capture.seed = options.seed;
  capture.framing = options.framing == "mem"     ? synth::CaptureFraming::kMemoryAligned
                    : options.framing == "fsync" ? synth::CaptureFraming::kFsync
                                                 : synth::CaptureFraming::kNone;
  auto maker = synth::CaptureMaker::create(capture, *std::move(units));
  if (!maker) return fail_with(maker.error());

  const auto start = std::chrono::steady_clock::now();
  Progress progress(capture.size);
  const auto written =
      synth::write_capture(*maker, &*program, options.directory, [&](std::uint64_t done) {
        progress.at(done);
        return !interrupted();
      });
  if (!written) return fail_with(written.error());
  if (interrupted()) return kInterrupted;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::uint64_t instructions = 0;
  for (const auto& unit : maker->units()) instructions += unit->truth().totals().instructions;
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  output->text().put(
      fmt::format("{}: {} bytes of {} sources, {} instructions, seed {}, {:.1f} MB/s\n",
                  escaped(options.directory), maker->made(), maker->units().size(), instructions,
                  options.seed, static_cast<double>(maker->made()) / 1e6 / seconds));
  return finish_output(*output, kOk);
}

void add_program_options(CLI::App& command, SynthOptions& options) {
  constexpr auto kGroup = "The program";
  auto* elf = command.add_option("--elf", options.elf, "An AArch64 or Arm ELF file")
                  ->type_name("FILE")
                  ->group(kGroup);
  auto* graph =
      command
          .add_option("--graph", options.graph, "A described control-flow graph; see docs/synth.md")
          ->type_name("FILE")
          ->group(kGroup);
  elf->excludes(graph);
  command.add_option("--isa", options.isa, "Of a random program: A64, A32 or T32")
      ->check(one_of({"A64", "A32", "T32"}))
      ->capture_default_str()
      ->group(kGroup);
  command.add_flag("--mixed", options.program.mixed, "A32 and T32 functions that call each other")
      ->group(kGroup);
  command
      .add_flag("--a64-kernel", options.program.a64_handlers,
                "A32 and T32 code runs under an A64 kernel")
      ->group(kGroup);
  command.add_option("--functions", options.program.functions, "Of a random program")
      ->capture_default_str()
      ->group(kGroup);
}

void add_event_options(CLI::App& command, SynthOptions& options) {
  constexpr auto kGroup = "What happens (N: about every N blocks; 0: never)";
  const auto mean = [&](const char* name, std::uint64_t& value, const char* text) {
    command.add_option(name, value, text)->type_name("N")->capture_default_str()->group(kGroup);
  };
  options.execution.exception_mean = 1000;
  mean("--exceptions", options.execution.exception_mean, "Exceptions, and returns from them");
  mean("--timestamps", options.unit.timestamp_mean, "Timestamps");
  mean("--events", options.unit.event_mean, "Events or triggers");
  mean("--mispredicts", options.unit.mispredict_mean, "Mispredictions, with --speculation");
  mean("--q", options.unit.q_mean, "Q elements (etmv4, ete)");
  mean("--overflows", options.unit.overflow_mean, "Overflows");
  mean("--discards", options.unit.discard_mean, "Discards (etmv4, ete)");
  mean("--filter", options.unit.filter_mean, "Stretches that a filter leaves out");
  command.add_option("--context-ids", options.execution.context_ids, "Processes; 1: not traced")
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--vmids", options.execution.vmids, "Virtual machines; 1: not traced")
      ->capture_default_str()
      ->group(kGroup);
  command.add_flag("--secure", options.execution.secure, "Run in the Secure state")->group(kGroup);
}

void add_unit_options(CLI::App& command, SynthOptions& options) {
  constexpr auto kGroup = "The trace units";
  command
      .add_option("--protocol", options.protocols,
                  "The protocols; each gets trace units of its own")
      ->type_name("NAME[,NAME]...")
      ->check(one_of({"etmv4", "ete", "ptm", "etmv3", "stm", "itm"}))
      ->delimiter(',')
      ->group(kGroup);
  command.add_option("--cores", options.cores, "So many times each protocol")
      ->check(CLI::Range(1, 0x60))
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--core", options.unit.core, "The core, such as Cortex-A53")
      ->type_name("NAME")
      ->group(kGroup);
  command.add_flag("--return-stack", options.unit.return_stack, "Returns need no address")
      ->group(kGroup);
  command.add_flag("--cycle-counts", options.unit.cycle_counts, "Count cycles")->group(kGroup);
  command.add_option("--cycle-threshold", options.unit.cycle_threshold, "Least count (etmv4, ete)")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_flag("--branch-broadcast", options.unit.branch_broadcast,
                "Addresses for direct branches too")
      ->group(kGroup);
  command
      .add_option("--speculation", options.unit.speculation,
                  "Elements that may be uncommitted (etmv4, ete)")
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--sync-period", options.unit.sync_period, "Bytes between synchronisations")
      ->capture_default_str()
      ->group(kGroup);
}

void add_capture_options(CLI::App& command, SynthOptions& options) {
  constexpr auto kGroup = "The capture";
  command.add_option("--size", options.capture.size, "Bytes of trace: 4096, 64M, 1G")
      ->transform(size_in_bytes())
      ->type_name("SIZE")
      ->default_str("1M")
      ->group(kGroup);
  command.add_option("--framing", options.framing, "mem, fsync or none")
      ->check(one_of({"mem", "fsync", "none"}))
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--fsync-period", options.capture.fsync_period, "Frames between syncs")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--interleave", options.capture.interleave,
                  "Bytes of a source before the next, in the mean")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--damage", options.capture.damage.change_mean,
                  "Change a byte about every N bytes")
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option("--drop", options.capture.damage.drop_mean, "Lose a stretch about every N bytes")
      ->type_name("N")
      ->group(kGroup);
  command.add_flag("--cut", options.capture.damage.cut, "End in the middle of something")
      ->group(kGroup);
  command.add_flag("--no-truth", options.no_truth, "Write only the totals of the truth")
      ->group(kGroup);
}

}  // namespace

void add_synth(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command =
      app.add_subcommand("synth", "Make a capture of any size, with the truth beside it");
  auto* output = command->add_option("-o,--output", options->directory, "Folder for the snapshot")
                     ->type_name("DIR");
  command->add_option("--seed", options->seed, "The same seed gives the same bytes")
      ->capture_default_str();
  command
      ->add_option("--check", options->check,
                   "Make nothing: decode the snapshot DIR and compare it with its truth")
      ->type_name("DIR")
      ->excludes(output);
  add_program_options(*command, *options);
  add_unit_options(*command, *options);
  add_event_options(*command, *options);
  add_capture_options(*command, *options);
  command->footer(
      "Example:\n"
      "  waymark synth -o big --size 64M --protocol etmv4,ptm --isa T32 --timestamps 500\n"
      "  waymark synth --check big");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
