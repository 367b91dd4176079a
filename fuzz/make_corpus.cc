// Writes the inputs that fuzzing starts from: each fuzz target gets pieces of real streams after
// the settings that it takes from the front of its input.
//
//   make_corpus CORPUS SAMPLES [CAPTURE...]
//
// CORPUS/TARGET receives the files.  SAMPLES is the repository's root, whose trace scripts and
// samples are used; synthetic captures of every protocol are made here.  CAPTURE is a further
// snapshot folder, or a recording of perf.  A capture that cannot be opened is skipped with a note.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/kernel_elf.h"
#include "support/random.h"
#include "waymark/base/mapped_file.h"
#include "waymark/etmv4data/layouts.h"
#include "waymark/exports/branch_list.h"
#include "waymark/frames/splitter.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/inputs/trace_script.h"
#include "waymark/perf/writer.h"
#include "waymark/synth/capture.h"
#include "waymark/synth/perf_data.h"

namespace {

using namespace waymark;
namespace fs = std::filesystem;

/// A target that decodes the stream of one protocol.
struct StreamTarget {
  Protocol protocol;
  std::string_view name;
  std::size_t settings;  ///< Bytes of settings at the front of its input.
};

constexpr std::array kStreamTargets = {
    StreamTarget{Protocol::kEtmV4, "etmv4_packets_fuzz", 27},
    StreamTarget{Protocol::kEtmV4, "etmv4_decode_fuzz", 9},
    StreamTarget{Protocol::kEte, "etmv4_packets_fuzz", 27},
    StreamTarget{Protocol::kEte, "etmv4_decode_fuzz", 9},
    StreamTarget{Protocol::kPtm, "ptm_packets_fuzz", 15},
    StreamTarget{Protocol::kPtm, "ptm_decode_fuzz", 9},
    StreamTarget{Protocol::kEtmV3, "etmv3_packets_fuzz", 16},
    StreamTarget{Protocol::kEtmV3, "etmv3_decode_fuzz", 6},
    StreamTarget{Protocol::kStm, "stm_packets_fuzz", 4},
    StreamTarget{Protocol::kStm, "stm_decode_fuzz", 11},
    StreamTarget{Protocol::kStm, "syst_framing_fuzz", 1},
    StreamTarget{Protocol::kItm, "itm_packets_fuzz", 3},
    StreamTarget{Protocol::kItm, "itm_decode_fuzz", 7},
    StreamTarget{Protocol::kMtb, "mtb_packets_fuzz", 2},
    StreamTarget{Protocol::kMtb, "mtb_decode_fuzz", 9},
    StreamTarget{Protocol::kEtmV4Data, "etmv4data_fuzz", 3 + 2 * etmv4data::Layouts::kCount},
};

constexpr std::size_t kPiece = 3000;  // Bytes of stream in an input: the targets take about 4096.
constexpr std::size_t kPieces = 6;    // Of one stream.
constexpr std::size_t kChoices = 3;   // Of settings for each piece.

class Corpus {
 public:
  explicit Corpus(fs::path folder) : folder_(std::move(folder)) {}

  /// `bytes` after `settings` bytes of settings, with several choices of these.
  void add_pieces(std::string_view target, std::size_t settings, Bytes bytes) {
    const std::size_t step = std::max<std::size_t>(bytes.size() / kPieces, kPiece);
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      const Bytes piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
      for (std::size_t choice = 0; choice < kChoices; ++choice) {
        std::vector<std::uint8_t> input(settings);
        for (std::uint8_t& byte : input) byte = choice == 0 ? std::uint8_t{0} : random_.byte();
        input.insert(input.end(), piece.begin(), piece.end());
        add(target, input);
      }
    }
  }

  void add(std::string_view target, Bytes input) {
    const fs::path folder = folder_ / target;
    fs::create_directories(folder);
    std::ofstream file(folder / fmt::format("seed-{:05}", count_++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    if (!file) throw fs::filesystem_error("cannot write an input", folder, {});
  }

  /// A file as it is, after `prefix`.
  void add_file(std::string_view target, const fs::path& path, std::string_view prefix = {}) {
    const auto file = MappedFile::open(path.string());
    if (!file) return;
    std::vector<std::uint8_t> input(prefix.begin(), prefix.end());
    input.insert(input.end(), file->bytes().begin(), file->bytes().end());
    add(target, input);
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  fs::path folder_;
  support::Random random_{1};
  std::size_t count_ = 0;
};

std::string text_of(const fs::path& path) {
  const auto file = MappedFile::open(path.string());
  if (!file) return {};
  return {reinterpret_cast<const char*>(file->bytes().data()), file->size()};
}

void replace(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

/// The texts of a snapshot as snapshot_ini_fuzz takes them: in one, device files by numbers from 2.
void add_ini(Corpus& corpus, const fs::path& folder) {
  constexpr std::string_view kCut = "\n---\n";
  std::string first = text_of(folder / "snapshot.ini");
  std::string devices;
  unsigned number = 2;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".ini" || name == "snapshot.ini" || name == "trace.ini")
      continue;
    replace(first, name, std::to_string(number++));
    devices += kCut;
    devices += text_of(entry.path());
  }
  const std::string text = first + std::string(kCut) + text_of(folder / "trace.ini") + devices;
  corpus.add("snapshot_ini_fuzz",
             Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

/// The streams of a capture, by trace ID; of a capture without frames, its bytes.
void add_streams(Corpus& corpus, inputs::Capture& capture) {
  const auto framing = inputs::frame_options(capture.framing());
  std::unique_ptr<frames::StreamSplitter> splitter;
  if (framing) splitter = std::make_unique<frames::StreamSplitter>(*framing);
  std::vector<std::uint8_t> plain;
  while (const auto block = capture.next_block()) {
    if (splitter == nullptr) {
      plain.insert(plain.end(), block->bytes.begin(), block->bytes.end());
      continue;
    }
    if (!splitter->feed(block->index, block->bytes)) return;
    while (true) {
      const frames::Step step = splitter->step();
      if (step == frames::Step::kNeedInput) break;
      if (step == frames::Step::kError) splitter->resync();
    }
  }
  for (const inputs::CaptureSource& source : capture.sources()) {
    const Bytes bytes =
        splitter == nullptr ? Bytes(plain) : splitter->stream(source.id).block().bytes;
    for (const StreamTarget& target : kStreamTargets) {
      if (target.protocol == source.source->protocol())
        corpus.add_pieces(target.name, target.settings, bytes);
    }
  }
}

void add_index(Corpus& corpus, inputs::Capture& capture, const fs::path& scratch) {
  const std::string path = (scratch / "seed.waymark-index").string();
  fs::remove(path);
  {
    auto store = index::open_store(path, {.mode = index::StoreMode::kBuild, .wait = {}});
    if (!store || !index::build(capture, **store, {})) return;
  }
  corpus.add_file("index_store_fuzz", path, std::string_view("\0", 1));
}

void add_snapshot(Corpus& corpus, const fs::path& folder, const fs::path& scratch) {
  const auto open = [&] {
    inputs::CaptureOptions options;
    options.source.decode = false;
    return inputs::Capture::open(folder.string(), options);
  };
  auto capture = open();
  if (!capture) {
    fmt::print(stderr, "make_corpus: skipped: {}\n", capture.error().detail);
    return;
  }
  const Bytes trace = capture->trace().bytes();
  corpus.add_pieces("frames_fuzz", 4, trace);
  corpus.add_pieces("index_build_fuzz", 5, trace);
  add_ini(corpus, folder);
  add_streams(corpus, *capture);
  if (trace.size() > (std::size_t{1} << 20)) return;
  if (auto again = open()) add_index(corpus, *again, scratch);
}

void add_scripts(Corpus& corpus, const fs::path& root, const fs::path& scratch) {
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "tests" / "scripts")) {
    if (entry.path().extension() != ".trace") continue;
    corpus.add_file("trace_script_fuzz", entry.path());
    const auto file = MappedFile::open(entry.path().string());
    if (!file) continue;
    const auto script = inputs::assemble_trace_script(
        {reinterpret_cast<const char*>(file->bytes().data()), file->size()});
    if (!script) continue;
    const auto made = inputs::to_snapshot(*script, entry.path().parent_path().string());
    if (!made) continue;
    const fs::path folder = scratch / entry.path().stem();
    if (inputs::write_snapshot(made->snapshot, made->files, folder.string()))
      add_snapshot(corpus, folder, scratch);
  }
}

/// The records, and the first bytes of the trace.
void add_recording(Corpus& corpus, const fs::path& path) {
  constexpr std::size_t kMost = 8000;
  const auto file = MappedFile::open(path.string());
  if (!file) return;
  const Bytes bytes = file->bytes().first(std::min(file->size(), kMost));
  corpus.add("perf_data_fuzz", bytes);
  corpus.add("perf_decode_fuzz", bytes);
}

/// Branch lists in all forms, with a program that has a branch at address 0.
void add_branch_lists(Corpus& corpus) {
  exports::BranchList list;
  exports::BranchBits bits;
  for (const bool taken : {true, true, false, true, false}) bits.add(taken);
  list[{.path = "/bin/a", .build_id = "00ff"}][0] = {{bits, 3}};
  list[{.path = "[kernel.kallsyms]",
        .build_id = "",
        .kind = exports::BinaryKind::kKernel,
        .kernel_start = 0x1000}][0x1010] = {{bits, 1}};
  list[{.path = "m.ko", .build_id = "", .kind = exports::BinaryKind::kModule}][1] = {{bits, 2}};
  for (const bool compressed : {false, true}) {
    const auto file = exports::written_branch_list(list, compressed);
    if (!file) continue;
    corpus.add("branch_list_fuzz",
               {reinterpret_cast<const std::uint8_t*>(file->data()), file->size()});
  }
  constexpr std::string_view kOld =
      "\x0a\x18simpleperf:EtmBranchList"
      "\x12\x12\x0a\x01k\x1a\x0b\x08\x10\x12\x07\x0a\x01\x01\x10\x01\x18\x02\x20\x01"
      "\x18\x80\x20";
  corpus.add("branch_list_fuzz", {reinterpret_cast<const std::uint8_t*>(kOld.data()), kOld.size()});
}

/// Elements, as tests/support/stack_checks.h makes them of bytes.
void add_elements(Corpus& corpus) {
  // Calls, returns, an exception and a gap.
  constexpr std::array<std::uint8_t, 64> kElements = {
      1,  0x77, 0, 0,    0, 0,    0, 0, 0,  0, 0, 1,    9, 1,    0, 0,  0,  0x10, 0, 1,    9, 1,
      0,  0,    0, 0x20, 0, 2,    0, 1, 0,  0, 5, 0x22, 0, 14,   0, 16, 0,  0,    0, 0x60, 0, 1,
      26, 1,    0, 0,    0, 0x22, 0, 1, 18, 1, 0, 0,    0, 0x11, 0, 1,  18, 1,    0, 0};
  corpus.add("stacks_fuzz", kElements);
}

/// A jitdump file that was written beside a recording, and the first of its records.
void add_jitdump(Corpus& corpus, const fs::path& path) {
  const auto file = MappedFile::open(path.string());
  if (!file) return;
  for (const std::size_t most : {std::size_t{2000}, std::size_t{20000}})
    corpus.add("jitdump_fuzz", file->bytes().first(std::min(file->size(), most)));
}

/// Small programs, with and without debug information.
void add_programs(Corpus& corpus, const fs::path& root) {
  std::vector<fs::path> paths{root / "samples/quicksort/quicksort.elf"};
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "tests/program/programs"))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    const auto file = MappedFile::open(path.string());
    if (!file || !file->text().starts_with("\x7f"
                                           "ELF"))
      continue;
    corpus.add("program_symbols_fuzz", file->bytes());
    corpus.add("program_lines_fuzz", file->bytes());
  }
}

/// The sample with its program.
void add_search(Corpus& corpus, const fs::path& root) {
  constexpr std::uint8_t kAlignedEtmv4 = 1;
  const auto trace = MappedFile::open((root / "samples/quicksort/trace.bin").string());
  const auto program = MappedFile::open((root / "samples/quicksort/quicksort.elf").string());
  if (!trace || !program) return;
  const std::size_t size = std::min<std::size_t>(trace->size(), 0xFFFF);
  std::vector<std::uint8_t> input{kAlignedEtmv4, static_cast<std::uint8_t>(size & 0xFF),
                                  static_cast<std::uint8_t>(size >> 8)};
  const Bytes head = trace->bytes().first(size);
  input.insert(input.end(), head.begin(), head.end());
  input.insert(input.end(), program->bytes().begin(), program->bytes().end());
  corpus.add("locate_fuzz", input);
}

/// A kernel and a module with code that is changed in memory.
void add_kernels(Corpus& corpus) {
  using namespace waymark::support;
  ChangedCode kernel;
  kernel.text.assign(0x11, a64::kRet);
  for (const std::size_t nop : {0U, 3U}) kernel.text[nop] = a64::kNop;
  for (const std::size_t branch : {2U, 4U, 5U}) kernel.text[branch] = a64::b(2);
  kernel.replacements = {a64::cbz(1), a64::b(8), a64::adrp(2), a64::tbz(3)};
  const std::uint64_t text = ChangedCode::kText;
  const std::uint64_t replacements = ChangedCode::kReplacements;
  kernel.keys = {{text, text + 16, ChangedCode::kKeys},
                 {text + 8, text + 16, (ChangedCode::kKeys + 16) | 1},
                 {text + 12, text + 4, ChangedCode::kKeys}};
  kernel.alternatives = {{text + 16, replacements, 1, 8, 8},
                         {text + 20, replacements + 8, 2},
                         {text + 8, ChangedCode::kCallbacks, 0x8003, 4, 0}};
  for (const bool named : {false, true}) corpus.add("program_symbols_fuzz", kernel.kernel(named));

  constexpr std::uint32_t kRelative64 = 260;
  constexpr std::uint32_t kRelative32 = 261;
  ElfFile module;
  const std::uint32_t code = module.section(
      ".text", ElfFile::kCode, 0, ElfFile::words({a64::kNop, a64::b(2), a64::kAdd, a64::kRet}));
  const std::uint32_t keys =
      module.section("__jump_table", ElfFile::kData, 0, std::vector<std::uint8_t>(16));
  std::vector<std::uint8_t> patch(8);
  ElfFile::put(patch, 0x04040001, 4);
  const std::uint32_t patches = module.section(".altinstructions", ElfFile::kData, 0, patch);
  const std::uint32_t plain =
      module.section(".altinstr_replacement", ElfFile::kCode, 0, ElfFile::words({a64::kAdd}));
  const std::uint32_t in_code = module.symbol("function", code, 0);
  const std::uint32_t in_plain = module.symbol("", plain, 0);
  const std::uint32_t key = module.symbol("kernel_key", 0, 0);
  module.relocate(keys, 0, kRelative32, in_code, 0);
  module.relocate(keys, 4, kRelative32, in_code, 12);
  module.relocate(keys, 8, kRelative64, key, 1);
  module.relocate(patches, 0, kRelative32, in_code, 4);
  module.relocate(patches, 4, kRelative32, in_plain, 0);
  corpus.add("program_symbols_fuzz", module.bytes(true));
}

/// Every kind of record, in both byte orders and both forms.
void add_records(Corpus& corpus) {
  using namespace waymark::perf;
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    const Stamp stamp{.pid = 7, .tid = 7, .time = 5, .cpu = 1};
    RecordBytes records(order);
    records.units(2).comm(stamp, "sort").comm(stamp, "exec", kMiscExec);
    records.mmap2(stamp, 0x400000, 0x1000, 0, "/usr/bin/sort");
    records.add(RecordType::kMmap, 2,
                records.body().u32(7).u32(7).words({0x5000, 0x1000, 0}).name("/lib"), stamp);
    records.add(RecordType::kFork, 0, records.body().u32(8).u32(7).u32(8).u32(7).u64(6), stamp);
    records.add(RecordType::kExit, 0, records.body().u32(8).u32(7).u32(8).u32(7).u64(9), stamp);
    records.add(RecordType::kItraceStart, 0, records.body().u32(7).u32(7), stamp);
    records.add(RecordType::kSwitch, kMiscSwitchOut, records.body(), stamp);
    records.add(RecordType::kSwitchCpuWide, 0, records.body().u32(7).u32(7), stamp);
    records.aux(stamp, 0, 32).aux(stamp, 32, 32, kAuxTruncated | kAuxRaw);
    const std::vector<std::uint8_t> trace(64);
    const std::vector<std::uint8_t> text = feature_text(order, "6.1.0");
    records.auxtrace(0, trace, 0, kNone32, 1);
    constexpr std::string_view kNames =
        "ffff800008000000 T _text\nffff800008000010 t f\t[module]\n0000000000000000 t hidden\n";
    corpus.add("kallsyms_fuzz",
               {reinterpret_cast<const std::uint8_t*>(kNames.data()), kNames.size()});
    constexpr std::string_view kMap = "1000 100 old code\n0x1040 0x10 new code\nf00 1000 all\n";
    corpus.add("jitdump_fuzz", {reinterpret_cast<const std::uint8_t*>(kMap.data()), kMap.size()});
    corpus.add("perf_data_fuzz", pipe_bytes(records));
    corpus.add("perf_data_fuzz",
               file_bytes(records, {{Feature::kHostname, text}, {Feature::kOsRelease, text}}));
  }
}

void add_synthetic(Corpus& corpus, const fs::path& scratch) {
  struct Choice {
    Protocol protocol;
    isa::Isa isa;
    bool rich;  ///< Cycle counts, a return stack and speculation, where the protocol has them.
  };
  for (const Choice& choice :
       {Choice{Protocol::kEtmV4, isa::Isa::kA64, false},
        Choice{Protocol::kEtmV4, isa::Isa::kT32, true},
        Choice{Protocol::kEte, isa::Isa::kA64, true}, Choice{Protocol::kPtm, isa::Isa::kA32, false},
        Choice{Protocol::kPtm, isa::Isa::kT32, true},
        Choice{Protocol::kEtmV3, isa::Isa::kA32, false},
        Choice{Protocol::kEtmV3, isa::Isa::kT32, true},
        Choice{Protocol::kStm, isa::Isa::kA64, false},
        Choice{Protocol::kItm, isa::Isa::kA64, false},
        Choice{Protocol::kMtb, isa::Isa::kT32, false}}) {
    const bool mtb = choice.protocol == Protocol::kMtb;
    synth::Program::RandomOptions random;
    random.isa = choice.isa;
    random.m_profile = mtb;
    const auto program = synth::Program::random(random);
    if (!program) continue;
    const bool etmv4 = choice.protocol == Protocol::kEtmV4 || choice.protocol == Protocol::kEte;
    synth::UnitOptions unit;
    unit.protocol = choice.protocol;
    unit.trace_id = 0x10;
    unit.timestamp_mean = mtb ? 0 : 40;
    unit.event_mean = mtb ? 0 : 60;
    unit.overflow_mean = mtb ? 0 : 400;
    unit.sync_period = 512;
    unit.cycle_counts = choice.rich;
    unit.return_stack = choice.rich && choice.protocol != Protocol::kEtmV3;
    unit.speculation = choice.rich && etmv4 ? 6 : 0;
    synth::ExecutionOptions execution;
    execution.exception_mean = 50;
    const auto make = [&](std::uint64_t size) -> Result<synth::CaptureMaker> {
      auto made = synth::make_unit(unit, &*program, execution, false);
      if (!made) return std::unexpected(made.error());
      std::vector<std::unique_ptr<synth::TraceUnit>> units;
      units.push_back(*std::move(made));
      const auto framing =
          mtb ? synth::CaptureFraming::kNone : synth::CaptureFraming::kMemoryAligned;
      return synth::CaptureMaker::create({.size = size, .framing = framing}, std::move(units));
    };
    auto maker = make(std::uint64_t{64} << 10);
    if (!maker) {
      fmt::print(stderr, "make_corpus: skipped: {}\n", maker.error().detail);
      continue;
    }
    const fs::path folder =
        scratch / fmt::format("synthetic-{}", static_cast<int>(choice.protocol));
    if (!synth::write_capture(*maker, &*program, folder.string(), {})) continue;
    add_snapshot(corpus, folder, scratch);
    if (mtb) continue;
    constexpr std::uint32_t kProcesses[] = {synth::kFirstProcess, synth::kFirstProcess + 1};
    using Form = synth::PerfDataOptions::Form;
    constexpr unsigned kManyPieces = 24;  // So that the first are in the part that becomes a seed.
    for (const synth::PerfDataOptions& recording :
         {synth::PerfDataOptions{.per_thread = true, .pieces = kManyPieces},
          synth::PerfDataOptions{.pieces = kManyPieces},
          synth::PerfDataOptions{.form = Form::kPipe, .compressed = true, .pieces = kManyPieces},
          synth::PerfDataOptions{
              .order = perf::ByteOrder::kBig, .raw = true, .metadata = 2, .pieces = kManyPieces},
          synth::PerfDataOptions{
              .form = Form::kPipe, .raw = true, .per_thread = true, .pieces = kManyPieces},
          synth::PerfDataOptions{.pieces = kManyPieces, .jit = true},
          synth::PerfDataOptions{
              .order = perf::ByteOrder::kBig, .pieces = kManyPieces, .jit = true}}) {
      const std::size_t count = recording.per_thread ? 1 : 2;
      if (synth::write_perf_data(*maker, *program, std::span(kProcesses).first(count),
                                 folder.string(), recording))
        add_recording(corpus, folder / "perf.data");
      if (recording.jit)
        add_jitdump(corpus, folder / fmt::format("jit-{}.dump", synth::kFirstProcess));
    }
    // A small one, since there are many records before its trace.
    const fs::path timed = folder / "timed";
    auto small = make(700);
    if (small && synth::write_capture(*small, &*program, timed.string(), {}) &&
        synth::write_perf_data(*small, *program, kProcesses, timed.string(),
                               {.raw = true, .times = true}))
      add_recording(corpus, timed / "perf.data");
  }
}

/// Every line of docs/howto_program_etmv4.md.
constexpr std::string_view kPlans[] = {
    "sink tmc_etr0 buffer 4194304\ninclude 0x400000..0x400400\nlevels el0\ntrace-context-id\n"
    "cycles 64\ntimestamps\n",
    "exclude 0x400000+0x40 context-id 5/3 at el0+el1\ntrace-vmid contextidr-el2\nreturn-stack\n"
    "branch-broadcast outside 0x1000/0x100\nstall level 3\nno-overflow\nsync 1024\n",
    "start 0x1000 vmid 2/1\nstop 0x2000\nbegin started\nwhen not counter 0 and external 0\n"
    "branch-broadcast inside 0..0x100\nq-elements counted\nconditional loads\np0 stores\n",
    "start-input 0\nstop-input 1\nbranch-broadcast everywhere\nq-elements all\nconditional all\n"
    "p0 loads-stores\nstall\nstall-priority\ntrace-reset\ntrace-error\nsync never\n",
    "event 0 sequencer 2 and not counter 0\nevent 1 address 0x4005c0, address 0x400610\n"
    "event-output 2 range 0x1000..0x2000\ntimestamps always\ncounter 0 value 100\n"
    "counter 0 reload 50\ncounter 0 self-reload\ncounter 0 count always\n"
    "counter 1 chain\ncounter 1 reload-on single-shot 0\n",
    "sequencer 0 forward context-id 7\nsequencer 0 back vmid 3\nsequencer reset never\n"
    "sequencer state 1\nsingle-shot 0 address 0x1000\nsingle-shot 0 repeat\nevent 0 single-shot "
    "0\n",
    "single-shot 0 range 0x1000..0x1100\nevent 0 single-shot 0 or pe-input 0\n"
    "strobe window 1000 period 100\natb-trigger\nlow-power-override\npe 0\nlevels el0 el1 el2\n",
    "include all\nexclude 0x10..0x20\nlevels s-el0 s-el1 s-el3\ncycles\nwhen address 0x100\n"};

void add_texts(Corpus& corpus) {
  const auto text = [&](std::string_view target, std::string_view input) {
    corpus.add(target, Bytes(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()));
  };
  // The first byte chooses one of three units.
  for (const std::string unit : {"0", "1", "2"}) {
    for (const std::string_view plan : kPlans)
      text("etm4x_plan_fuzz", unit + "etm4-plan 1\n" + std::string(plan));
  }
  for (const std::string_view question :
       {"capture", "tracks?cancel=a-b", "health",
        "timeline?from=0&to=1e3&width=1280&tracks=1,2&format=binary", "at?track=1&t=0.5",
        "at?source=16&n=9", "instructions?source=16&n=9&before=5&after=512",
        "step?source=16&n=9&by=same_line&direction=back&count=3", "code?function=7&from=1&to=2",
        "functions?from=1&to=2&limit=50", "callers?function=7", "flame?limit=100", "measure",
        "find?what=text&text=a+%3Cb%3E&source=16&limit=5"}) {
    text("view_request_fuzz", std::string(question));
    text("view_http_fuzz",
         "GET /0123/api/1/" + std::string(question) +
             " HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://localhost:80\r\nRange: "
             "bytes=0-5\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  }
  text("syst_lines_fuzz", "\x10SYS-T RAW DATA: 0b000040000b48656c6c6f20776f726c6421\nboot\n");
  text("syst_collateral_fuzz",
       "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
       "<syst:Collateral xmlns:syst=\"http://www.mipi.org/1.0/sys-t\">\n"
       "<syst:Client Name=\"Probe\"><syst:Guids><syst:Guid ID=\"{494e5443-8a9c-4014-a65a-"
       "2f36a36d96e4}\" Mask=\"{ffffffff-ffff-ffff-ff00-ffffffffffff}\"/></syst:Guids>\n"
       "<syst:Short32><syst:Format ID=\"0x1\">value %d</syst:Format></syst:Short32>\n"
       "<syst:Catalog32><syst:Format ID=\"0x2\"><![CDATA[%s and %x]]></syst:Format>"
       "</syst:Catalog32></syst:Client></syst:Collateral>\n");
  text("syst_collateral_fuzz",
       "<Collateral><Client Name=\"a\"><Options><Option Name=\"syst:timestamp\">displayAsField"
       "</Option></Options><Builds><Build ID=\"1\" Mask=\"0xff\">b %u</Build></Builds>\n"
       "<Modules><Module ID=\"2\">m</Module></Modules><SourceFiles><File ID=\"3\">f.c</File>"
       "</SourceFiles><Catalog64><Format ID=\"0x123456789\" File=\"3\" Line=\"7\">%p %lld %-5.3f %c"
       "</Format><Format ID=\"0x123456789\">twice</Format></Catalog64>\n"
       "<Short64><Format ID=\"5\">%016llx %%</Format></Short64><Write><Protocol ID=\"6\">raw"
       "</Protocol></Write></Client></Collateral>\n");
  text("syst_collateral_fuzz",
       "<Collateral><Client><Guids><Guid ID=\"{1}\"/></Guids></Client></Collateral>");
  constexpr std::string_view kProblems[] = {"ID=\"1\" Mask=\"z\"", "ID=\"1\" File=\"-\"", "ID=\"\"",
                                            "ID=\"0x10\" Mask=\"0xf0\" Line=\"9\""};
  for (const std::string_view attributes : kProblems) {
    text("syst_collateral_fuzz",
         fmt::format("<Collateral><Client Name=\"c\"><Guids><Guid ID=\"{{494e5443-8a9c-4014-a65a-"
                     "2f36a36d96e4}}\"/></Guids><Catalog32><Format {}>x</Format></Catalog32>"
                     "</Client></Collateral>",
                     attributes));
  }
  text("syst_collateral_fuzz",
       "<Collateral><Client><Catalog32><Format ID=\"0x1ffffffff\" "
       "Line=\"x\">late</Format></Catalog32>"
       "</Client></Collateral>");
}

/// Calls of the C API that decode a legal stream each, then calls by random bytes.
void add_calls(Corpus& corpus) {
  constexpr std::size_t kSettings = 68;
  constexpr std::uint8_t kLegal = 18;  // The cases in capi_fuzz.
  constexpr std::uint8_t kCustom = 19;
  support::Random random(7);
  for (unsigned i = 0; i < 100; ++i) {
    std::vector<std::uint8_t> input(kSettings);
    for (std::uint8_t& byte : input) byte = random.byte();
    for (unsigned j = 0; j < 1 + i % 3; ++j) {
      input.insert(input.end(), {0, 0, 0, kLegal});
      for (unsigned k = 0; k < 6; ++k) input.push_back(random.byte());
      input.push_back(1);  // All quirks.
      input.push_back(0);
    }
    if (i % 4 == 0) {
      input.insert(input.end(), {0, 0, 0, kCustom, random.byte(), 1, 0, 1, 40, 0});
      for (unsigned k = 0; k < 40; ++k) input.push_back(random.byte());
    }
    for (unsigned j = 0; j < 60; ++j) input.push_back(random.byte());
    corpus.add("capi_fuzz", input);
  }
}

int run(const fs::path& folder, const fs::path& root, std::span<char* const> captures) {
  Corpus corpus(folder);
  const fs::path scratch = folder / "scratch";
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  add_texts(corpus);
  add_calls(corpus);
  add_records(corpus);
  add_programs(corpus, root);
  add_search(corpus, root);
  add_branch_lists(corpus);
  add_elements(corpus);
  add_kernels(corpus);
  add_scripts(corpus, root, scratch);
  add_synthetic(corpus, scratch);
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "samples"))
    if (entry.is_directory()) add_snapshot(corpus, entry.path(), scratch);
  for (const char* capture : captures) {
    if (fs::is_directory(capture)) {
      add_snapshot(corpus, capture, scratch);
    } else {
      add_recording(corpus, capture);
    }
  }
  fs::remove_all(scratch);
  fmt::print("{} inputs\n", corpus.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: make_corpus CORPUS SAMPLES [CAPTURE...]\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::span(argv + 3, static_cast<std::size_t>(argc - 3)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_corpus: {}\n", error.what());
    return 1;
  }
}
