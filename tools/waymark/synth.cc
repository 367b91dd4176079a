// waymark synth: captures of any size, with their ground truth.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "commands.h"
#include "etm4_json.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "interrupt.h"
#include "made_capture.h"
#include "option_values.h"
#include "output.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/protocols.h"
#include "waymark/isa/core_names.h"
#include "waymark/synth/capture.h"
#include "waymark/synth/execution_log.h"
#include "waymark/synth/m_profile.h"
#include "waymark/synth/perf_data.h"

namespace waymark::cli {
namespace {

struct SynthOptions {
  std::string directory;
  std::string check;
  std::uint64_t seed = 1;
  std::string elf;
  std::string graph;
  std::string execution_log;
  std::string isa;  ///< Empty: what the protocols usually trace.
  synth::Program::RandomOptions program;
  std::vector<std::string> protocols;  ///< Empty: the one of the core.
  unsigned cores = 1;
  synth::UnitOptions unit;
  synth::ExecutionOptions execution;
  synth::CaptureOptions capture;
  std::string framing = "mem";
  bool no_truth = false;
  bool perf_data = false;
  bool recording_switches = false;
  synth::PerfDataOptions recording;
  std::string recording_form = "file";
  std::string recording_order = "little";
  Format format = Format::kText;
};

/// An MTB is the only source of its capture, writes no frames, and traces T32 code of the M
/// profile.
bool of_mtb(const SynthOptions& options) {
  return options.protocols == std::vector<std::string>{"mtb"};
}

/// The architecture of the M profile for which the program is.
synth::MCode m_code_of(const SynthOptions& options) {
  if (of_mtb(options)) return synth::MCode::kAny;
  const synth::MCore* const core = synth::m_core(options.unit.core);
  return core == nullptr ? synth::MCode::kNone : core->code;
}

/// The core and the protocol, each of which may follow from the other.
void complete_core(SynthOptions& options) {
  options.unit.core = isa::core_spelling(options.unit.core);
  if (!options.protocols.empty()) return;
  const synth::MCore* const core = synth::m_core(options.unit.core);
  options.protocols = {core != nullptr && core->protocol == Protocol::kEtmV3 ? "etmv3" : "etmv4"};
}

/// The instruction set of a random program: --isa, or the usual one of the protocols.
isa::Isa isa_of(const SynthOptions& options) {
  if (options.isa == "A32") return isa::Isa::kA32;
  if (options.isa == "T32") return isa::Isa::kT32;
  if (options.isa == "A64") return isa::Isa::kA64;
  if (m_code_of(options) != synth::MCode::kNone) return isa::Isa::kT32;
  // ETMv3 and PTM are older than A64, and the other choices need code without it.
  const bool is_32_bit = options.program.mixed || options.program.a64_handlers ||
                         std::ranges::any_of(options.protocols, [](const std::string& name) {
                           return name == "etmv3" || name == "ptm";
                         });
  return is_32_bit ? isa::Isa::kA32 : isa::Isa::kA64;
}

Result<synth::Program> make_program(const SynthOptions& options) {
  if (!options.elf.empty()) {
    Result<synth::Program> program = synth::Program::elf(options.elf, m_code_of(options));
    if (!program || options.execution_log.empty()) return program;
    const Result<MappedFile> log = MappedFile::open_text(options.execution_log);
    if (!log) return std::unexpected(log.error());
    if (auto loaded = synth::load_execution_log(log->text(), *program); !loaded) {
      loaded.error().detail = fmt::format("{}: {}", options.execution_log, loaded.error().detail);
      return std::unexpected(loaded.error());
    }
    return program;
  }
  if (!options.graph.empty()) {
    const Result<MappedFile> file = MappedFile::open_text(options.graph);
    if (!file) return std::unexpected(file.error());
    Result<synth::Program> program =
        synth::Program::described(file->text(), synth::Program::kMaxCode, m_code_of(options));
    if (!program)
      program.error().detail = fmt::format("{}: {}", options.graph, program.error().detail);
    return program;
  }
  synth::Program::RandomOptions random = options.program;
  random.seed = options.seed;
  random.isa = isa_of(options);
  if (of_mtb(options)) random.isa = isa::Isa::kT32;
  random.m_code = m_code_of(options);
  random.supervisor_calls =
      random.m_code > synth::MCode::kAny && options.execution.exception_mean != 0;
  // The programs of a recording are in the memory of processes, not of the kernel.
  constexpr std::uint64_t kUserAddress = 0x400000;
  if (options.perf_data && random.isa == isa::Isa::kA64) random.address = kUserAddress;
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
                    fmt::format("There is no protocol '{}'; --protocol takes etmv4, ete, ptm, "
                                "etmv3, stm, itm or mtb.",
                                name));
      synth::UnitOptions unit = options.unit;
      unit.protocol = row->protocol;
      // Software is traced beside the core.
      if (!row->needs_core && options.protocols.size() > 1) unit.core.clear();
      unit.trace_id = static_cast<TraceId>(0x10 + units.size());
      unit.seed = random.fork();
      // perf traces the process, unless it records only one.
      const bool per_cpu = options.perf_data && !options.recording.per_thread;
      unit.context_ids =
          (options.execution.context_ids > 1 || per_cpu) && !options.recording_switches;
      unit.vmids = options.execution.vmids > 1;
      synth::ExecutionOptions execution = options.execution;
      execution.seed = random.fork();
      if (per_cpu && execution.context_ids == 1) execution.processes = {synth::kFirstProcess};
      auto made = synth::make_unit(unit, &program, execution, !options.no_truth);
      if (!made) return std::unexpected(made.error());
      units.push_back(*std::move(made));
    }
  }
  return units;
}

int synthesis_failed(const Error& error) {
  const bool usage = error.code == ErrorCode::kInvalidArgument ||
                     error.code == ErrorCode::kConflict || error.code == ErrorCode::kUnsupported;
  return complain(error.detail, usage ? kUsage : error.code == ErrorCode::kIo ? kOutput : kInput);
}

int check(const std::string& directory, Format format) {
  const auto sources = synth::check_capture(directory, [] { return !interrupted(); });
  if (interrupted()) return kInterrupted;
  if (!sources) return synthesis_failed(sources.error());
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  bool equal = true;
  for (const synth::CheckedSource& source : *sources) {
    equal = equal && source.difference.empty();
    if (format == Format::kJson) {
      put_json(output->text(), {{"device", source.device},
                                {"trace_id", hex_json(source.trace_id)},
                                {"ranges", source.totals.ranges},
                                {"instructions", source.totals.instructions},
                                {"equal", source.difference.empty()},
                                {"difference", source.difference}});
      continue;
    }
    put_lines(
        output->text(),
        fmt::format("{} ID {:#04x}: {} ranges, {} instructions: {}\n", source.device,
                    source.trace_id, source.totals.ranges, source.totals.instructions,
                    source.difference.empty() ? "equal to the ground truth" : source.difference));
  }
  return finish_output(*output, equal ? kOk : kDamaged);
}

synth::CaptureOptions capture_options(const SynthOptions& options) {
  synth::CaptureOptions capture = options.capture;
  capture.seed = options.seed;
  // The log decides how long the trace is.
  if (!options.execution_log.empty()) capture.size = std::numeric_limits<std::uint64_t>::max();
  capture.framing = options.framing == "mem"     ? synth::CaptureFraming::kMemoryAligned
                    : options.framing == "fsync" ? synth::CaptureFraming::kFsync
                                                 : synth::CaptureFraming::kNone;
  if (of_mtb(options)) capture.framing = synth::CaptureFraming::kNone;
  return capture;
}

synth::PerfDataOptions perf_data_options(const SynthOptions& options) {
  using Form = synth::PerfDataOptions::Form;
  synth::PerfDataOptions recording = options.recording;
  recording.form = options.recording_form == "pipe"     ? Form::kPipe
                   : options.recording_form == "folder" ? Form::kFolder
                                                        : Form::kFile;
  if (options.recording_order == "big") recording.order = perf::ByteOrder::kBig;
  recording.times = recording.times || options.recording_switches;
  return recording;
}

std::uint64_t truth_size(const synth::CaptureMaker& maker) {
  std::uint64_t size = 0;
  for (const auto& unit : maker.units()) size += unit->truth().size();
  return size;
}

/// Says how large the ground truth will be, if it is large.  Its beginning is taken as a measure.
void announce_truth(const SynthOptions& options, const synth::Program& program) {
  constexpr std::uint64_t kSample = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMuch = std::uint64_t{16} << 20;
  if (options.no_truth || options.capture.size < kSample) return;
  auto units = make_units(options, program);
  if (!units) return;
  auto maker = synth::CaptureMaker::create(capture_options(options), *std::move(units));
  if (!maker) return;
  while (maker->made() < kSample && !interrupted() && !maker->next().empty()) {
    for (const auto& unit : maker->units()) unit->truth().clear();
  }
  if (maker->made() == 0) return;
  const double ratio = static_cast<double>(truth_size(*maker)) / static_cast<double>(maker->made());
  const double size = ratio * static_cast<double>(options.capture.size);
  if (size < static_cast<double>(kMuch)) return;
  note(
      fmt::format("the ground truth will take about {:.0f} MB in addition to {:.0f} MB of trace; "
                  "leave it out with --no-truth.",
                  size / 1e6, static_cast<double>(options.capture.size) / 1e6));
}

int run(SynthOptions& options) {
  if (!options.check.empty()) return check(options.check, options.format);
  complete_core(options);
  if (options.directory.empty())
    return complain("The folder for the snapshot is missing; name it with --output.", kUsage);
  const Result<synth::Program> program = make_program(options);
  if (!program) return synthesis_failed(program.error());
  auto units = make_units(options, *program);
  if (!units) return synthesis_failed(units.error());
  const synth::CaptureOptions capture = capture_options(options);
  auto maker = synth::CaptureMaker::create(capture, *std::move(units));
  if (!maker) return synthesis_failed(maker.error());
  const synth::PerfDataOptions recording = perf_data_options(options);
  if (options.perf_data) {
    if (const auto fits = synth::check_perf_data(*maker, options.execution.context_ids, recording);
        !fits)
      return synthesis_failed(fits.error());
  }
  std::vector<std::string> read;
  for (const std::string* const path : {&options.elf, &options.graph, &options.execution_log})
    if (!path->empty()) read.push_back(*path);
  if (const auto safe = refuse_inputs_in(options.directory, *maker, &*program, read); !safe)
    return complain(safe.error().detail, kUsage);
  announce_truth(options, *program);

  const auto start = std::chrono::steady_clock::now();
  Progress progress(capture.size);
  bool stopped = false;
  const auto written =
      synth::write_capture(*maker, &*program, options.directory, [&](std::uint64_t done) {
        progress.at(done);
        stopped = interrupted();
        return !stopped;
      });
  if (!written) return synthesis_failed(written.error());
  if (stopped) {
    return complain(fmt::format("Interrupted: no capture was written to {}.", options.directory),
                    kInterrupted);
  }
  if (options.perf_data) {
    std::vector<std::uint32_t> processes(options.execution.context_ids);
    for (std::uint32_t i = 0; i < processes.size(); ++i) processes[i] = synth::kFirstProcess + i;
    const auto recorded =
        synth::write_perf_data(*maker, *program, processes, options.directory, recording);
    if (!recorded) return synthesis_failed(recorded.error());
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::uint64_t instructions = 0;
  for (const auto& unit : maker->units()) instructions += unit->truth().totals().instructions;
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  if (options.format == Format::kJson) {
    put_json(output->text(), {{"directory", options.directory},
                              {"bytes", maker->made()},
                              {"truth_bytes", truth_size(*maker)},
                              {"sources", maker->units().size()},
                              {"instructions", instructions},
                              {"seed", fmt::format("{}", options.seed)}});
    return finish_output(*output, kOk);
  }
  put_lines(output->text(),
            fmt::format("{}: {} bytes of {}, {}, seed {}, {:.1f} MB/s\n", options.directory,
                        maker->made(), counted(maker->units().size(), "source"),
                        counted(instructions, "instruction"), options.seed,
                        static_cast<double>(maker->made()) / 1e6 / seconds));
  return finish_output(*output, kOk);
}

void add_program_options(Command& command, SynthOptions& options) {
  constexpr auto kGroup = "The program";
  auto* elf = command
                  .add_option("--elf", options.elf,
                              "an AArch64 or Arm ELF file; the snapshot gets a copy of it")
                  ->type_name("FILE")
                  ->group(kGroup);
  auto* graph = command
                    .add_option("--graph", options.graph,
                                "a file that describes a control-flow graph; see docs/synth.md")
                    ->type_name("FILE")
                    ->group(kGroup);
  elf->excludes(graph);
  command
      .add_option("--execution", options.execution_log,
                  "replay this log once instead of a random run: the address of every instruction, "
                  "as written by `qemu-aarch64 -singlestep -d exec,nochain -D FILE PROGRAM`")
      ->type_name("FILE")
      ->needs(elf)
      ->group(kGroup);
  command
      .add_option("--isa", options.isa,
                  "the instruction set of a random program; default: A32 for etmv3 and ptm, T32 "
                  "for mtb, else A64")
      ->transform(one_of_any_case({"A64", "A32", "T32"}))
      ->group(kGroup);
  command
      .add_flag("--mixed", options.program.mixed,
                "a random program of A32 and T32 functions that call each other")
      ->group(kGroup);
  command
      .add_flag("--a64-kernel", options.program.a64_handlers,
                "run A32 and T32 code under an A64 kernel")
      ->group(kGroup);
  command
      .add_option("--functions", options.program.functions,
                  "the number of functions of a random program")
      ->capture_default_str()
      ->group(kGroup);
}

void add_event_options(Command& command, SynthOptions& options) {
  constexpr auto kGroup = "Events (N: about every N blocks; 0: never)";
  const auto mean = [&](const char* name, std::uint64_t& value, const char* text) {
    command.add_option(name, value, text)->type_name("N")->capture_default_str()->group(kGroup);
  };
  options.execution.exception_mean = 1000;
  mean("--exceptions", options.execution.exception_mean, "exceptions and returns from them");
  mean("--timestamps", options.unit.timestamp_mean, "timestamps");
  mean("--events", options.unit.event_mean, "events or triggers");
  mean("--mispredicts", options.unit.mispredict_mean, "mispredictions, with --speculation");
  mean("--q", options.unit.q_mean, "Q elements (etmv4, ete)");
  mean("--overflows", options.unit.overflow_mean, "overflows");
  mean("--discards", options.unit.discard_mean, "discards (etmv4, ete)");
  mean("--filter", options.unit.filter_mean, "code that a filter excludes");
  command
      .add_option("--context-ids", options.execution.context_ids,
                  "the number of processes; 1: context IDs are not traced")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--vmids", options.execution.vmids,
                  "the number of virtual machines; 1: VMIDs are not traced")
      ->capture_default_str()
      ->group(kGroup);
  command.add_flag("--secure", options.execution.secure, "run in the Secure state")->group(kGroup);
}

void add_unit_options(Command& command, SynthOptions& options) {
  constexpr auto kGroup = "The trace units";
  command
      .add_option("--protocol", options.protocols,
                  "the protocols; each gets its own trace units; default: that of the core, else "
                  "etmv4")
      ->type_name("NAME[,NAME]...")
      ->check(one_of({"etmv4", "ete", "ptm", "etmv3", "stm", "itm", "mtb"}))
      ->delimiter(',')
      ->group(kGroup);
  command.add_option("--cores", options.cores, "the number of trace units of each protocol")
      ->range(1, 0x60)
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--core", options.unit.core,
                  "the core, such as Cortex-A53, or Cortex-M4, M7, M33, M55 or M85: T32 code with "
                  "exceptions of the M profile")
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_flag("--return-stack", options.unit.return_stack,
                "use a return stack, which saves the addresses of returns")
      ->group(kGroup);
  command.add_flag("--cycle-counts", options.unit.cycle_counts, "count cycles")->group(kGroup);
  command
      .add_option("--cycle-threshold", options.unit.cycle_threshold,
                  "the smallest cycle count (etmv4, ete)")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_flag("--branch-broadcast", options.unit.branch_broadcast,
                "trace an address for every taken branch")
      ->group(kGroup);
  command
      .add_option("--speculation", options.unit.speculation,
                  "the greatest number of uncommitted elements (etmv4, ete)")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--sync-period", options.unit.sync_period, "bytes between synchronisation points")
      ->capture_default_str()
      ->group(kGroup);
}

void add_capture_options(Command& command, SynthOptions& options) {
  constexpr auto kGroup = "The capture";
  command
      .add_option("--size", options.capture.size, "the size of the trace, such as 4096, 64M or 1G")
      ->transform(size_in_bytes({}))
      ->type_name("SIZE")
      ->default_str("1M")
      ->group(kGroup);
  command
      .add_option("--framing", options.framing,
                  "memory-aligned frames, frames with FSYNC packets, or no frames")
      ->check(one_of({"mem", "fsync", "none"}))
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--fsync-period", options.capture.fsync_period, "frames between FSYNC packets")
      ->capture_default_str()
      ->group(kGroup);
  command
      .add_option("--interleave", options.capture.interleave,
                  "the mean number of bytes from one source before those of another")
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--damage", options.capture.damage.change_mean, "change about one byte in N")
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option("--drop", options.capture.damage.drop_mean, "lose some bytes about every N bytes")
      ->type_name("N")
      ->group(kGroup);
  command.add_flag("--cut", options.capture.damage.cut, "end in the middle of a packet")
      ->group(kGroup);
  command.add_flag("--no-truth", options.no_truth, "write only the totals of the ground truth")
      ->group(kGroup);
  command
      .add_flag("--perf-data", options.perf_data,
                "Also write the trace as perf.data; to decode it, name the folder with --symfs")
      ->group(kGroup);
}

void add_recording_options(Command& command, SynthOptions& options) {
  constexpr auto kGroup = "The recording (with --perf-data)";
  Option* const perf_data = command.get_option("--perf-data");
  command
      .add_option("--perf-form", options.recording_form,
                  "the form of the recording: file, pipe (as `perf record -o -` writes it) or "
                  "folder (as `perf record --threads` writes it)")
      ->check(one_of({"file", "pipe", "folder"}))
      ->capture_default_str()
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_option("--perf-order", options.recording_order, "the byte order of numbers in the file")
      ->check(one_of({"little", "big"}))
      ->capture_default_str()
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_flag("--perf-compressed", options.recording.compressed,
                "compress the records of the kernel with zstd")
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_flag("--perf-raw", options.recording.raw,
                "record each CPU in a buffer of its own, without frames, as with TRBE")
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_flag("--perf-per-thread", options.recording.per_thread,
                "record one process instead of CPUs")
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_flag("--perf-times", options.recording.times,
                "make the times of the trace comparable with those of the records, and map the "
                "program into a process only while it runs; use it with --timestamps")
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_flag("--perf-switches", options.recording_switches,
                "like --perf-times, without context IDs: SWITCH records state which process runs "
                "on a CPU")
      ->needs(perf_data)
      ->excludes(command.get_option("--perf-per-thread"))
      ->group(kGroup);
  command
      .add_option("--perf-metadata", options.recording.metadata,
                  "the version of the metadata that describes the trace units, 0 to 2")
      ->range(0, 2)
      ->capture_default_str()
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_option("--perf-pieces", options.recording.pieces,
                  "split each buffer into N pieces, which are decoded separately; each piece "
                  "except the first loses its trace up to a synchronisation point")
      ->type_name("N")
      ->range(1, 1'000'000)
      ->capture_default_str()
      ->needs(perf_data)
      ->group(kGroup);
  command
      .add_flag("--perf-jit", options.recording.jit,
                "treat the program of the first process as the output of a JIT compiler, and also "
                "write a jitdump file")
      ->needs(perf_data)
      ->group(kGroup);
}

}  // namespace

void add_synth(Command& app, int& exit_code) {
  auto options = std::make_shared<SynthOptions>();
  Command* command =
      app.add_subcommand("synth", "Generate a capture of any size with its ground truth");
  auto* output =
      command->add_option("-o,--output", options->directory, "the folder for the snapshot")
          ->type_name("DIR");
  command->add_option("--seed", options->seed, "the same seed gives the same bytes")
      ->capture_default_str();
  command
      ->add_option(
          "--check", options->check,
          "only check: decode this snapshot or recording and compare it with its ground truth")
      ->type_name("PATH")
      ->excludes(output);
  add_format_option(*command, options->format, false);
  add_program_options(*command, *options);
  add_unit_options(*command, *options);
  add_event_options(*command, *options);
  add_capture_options(*command, *options);
  add_recording_options(*command, *options);
  command->footer(
      "Example:\n"
      "  waymark synth -o big --size 64M --protocol etmv4,ptm --isa T32 --timestamps 500\n"
      "  waymark synth --check big\n"
      "  waymark synth -o both --context-ids 2 --perf-data --perf-raw\n"
      "  waymark synth --check both/perf.data");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
