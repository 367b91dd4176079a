// Writes the inputs that fuzzing starts from: each fuzz target gets pieces of real streams after
// the settings that it takes from the front of its input.
//
//   make_corpus CORPUS SAMPLES [CAPTURE...]
//
// CORPUS/TARGET receives the files.  SAMPLES is the repository's root, whose trace scripts and
// samples are used; synthetic captures of every protocol are made here.  CAPTURE is a further
// snapshot folder, or a perf recording.  A capture that cannot be opened is skipped with a note.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "corpus.h"
#include "waymark/base/mapped_file.h"
#include "waymark/etmv4data/layouts.h"
#include "waymark/frames/splitter.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/inputs/trace_script.h"
#include "waymark/synth/capture.h"
#include "waymark/synth/perf_data.h"

namespace {

using namespace waymark;
using namespace waymark::fuzz;

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
  corpus.add_pieces("doctor_fuzz", 0, trace);
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

constexpr std::uint32_t kProcesses[] = {synth::kFirstProcess, synth::kFirstProcess + 1};

/// The capture as recordings of every form.
void add_recordings(Corpus& corpus, const synth::CaptureMaker& maker, const synth::Program& program,
                    const fs::path& folder) {
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
    if (synth::write_perf_data(maker, program, std::span(kProcesses).first(count), folder.string(),
                               recording))
      add_recording(corpus, folder / "perf.data");
    if (recording.jit)
      add_jitdump(corpus, folder / fmt::format("jit-{}.dump", synth::kFirstProcess));
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
    add_recordings(corpus, *maker, *program, folder);
    // A small one, since there are many records before its trace.
    const fs::path timed = folder / "timed";
    auto small = make(700);
    if (small && synth::write_capture(*small, &*program, timed.string(), {}) &&
        synth::write_perf_data(*small, *program, kProcesses, timed.string(),
                               {.raw = true, .times = true}))
      add_recording(corpus, timed / "perf.data");
  }
}

int run(const fs::path& folder, const fs::path& root, std::span<char* const> captures) {
  Corpus corpus(folder);
  const fs::path scratch = folder / "scratch";
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  add_small_inputs(corpus);
  add_programs(corpus, root);
  add_search(corpus, root);
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
