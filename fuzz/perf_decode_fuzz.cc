// Perf and simpleperf recordings of any bytes, as an input that is decoded: no crash, bounded
// work, and each element has a place in the trace and a memory.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "waymark/inputs/capture.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/writer.h"
#include "waymark/synth/capture.h"

namespace {

using namespace waymark;
namespace fs = std::filesystem;

/// The program of the synthetic A64 recordings that the corpus has, below a folder of this process.
class Root {
 public:
  Root() : path_(fs::temp_directory_path() / ("perf_decode_fuzz." + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    const auto program = synth::Program::random({});
    if (!program) std::abort();
    for (std::size_t i = 0; i < program->segments().size(); ++i) {
      const auto& bytes = program->segments()[i].bytes;
      std::ofstream(path_ / synth::CaptureMaker::memory_file(i), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
      if (i == 0) write_jitdump(program->segments()[i]);
    }
  }
  ~Root() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  /// All of the code as one function, of the process that has a JIT compiler.
  void write_jitdump(const synth::Segment& segment) const {
    perf::ByteWriter out;
    out.u32(0x4A695444).u32(1).u32(40).u32(183).u32(0).u32(synth::kFirstProcess).words({0, 0});
    out.u32(0).u32(16 + 40 + 2 + segment.bytes.size()).u64(1);
    out.u32(synth::kFirstProcess).u32(synth::kFirstProcess);
    out.words({segment.address, segment.address, segment.bytes.size(), 1});
    out.u16('f').raw(segment.bytes);  // The name with its zero byte.
    std::ofstream(path_ / ("jit-" + std::to_string(synth::kFirstProcess) + ".dump"),
                  std::ios::binary)
        .write(reinterpret_cast<const char*>(out.bytes.data()),
               static_cast<std::streamsize>(out.bytes.size()));
  }

  fs::path path_;
};

/// An unnamed file with these bytes.
Result<MappedFile> as_file(Bytes bytes) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fflush(file) != 0)
    std::abort();
  auto mapped = MappedFile::map(::fileno(file), "perf.data");
  static_cast<void>(std::fclose(file));
  return mapped;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kPerfFile = 8;
  if (size < kPerfFile) return 0;
  static const Root kRoot;
  inputs::CaptureOptions options;
  options.roots = {kRoot.path()};
  if (size % 3 == 0) options.cpus = {data[size - 1] % 2U};
  if (size % 7 == 0) options.ids = {0x10};
  options.virtual_timestamps = size % 2 == 0;
  options.open_file = [&](const std::string&) { return as_file(Bytes(data, size)); };
  auto capture = inputs::Capture::open("perf.data", options);
  if (!capture || capture->recording() == nullptr) return 0;
  static_cast<void>(capture->processes()->known_tasks());
  static_cast<void>(capture->processes()->known_programs());
  perf::TaskCursor cursor(*capture->processes());
  const TraceIndex end = capture->trace_bytes();
  constexpr std::size_t kMost = 20'000;  // Few bytes can repeat a loop very often.
  std::array<Element, 256> elements{};
  std::size_t taken = 0;
  const auto drain = [&] {
    while (taken < kMost) {
      const std::size_t count = capture->tree().next(elements);
      if (count == 0) return;
      taken += count;
      for (std::size_t i = 0; i < count; ++i) {
        const Element& element = elements[i];
        if (element.index != kNoIndex && element.index > end) std::abort();
        const std::uint64_t context = std::uint64_t{element.vmid} << 32 | element.context_id;
        if (element.kind != ElementKind::kInstrRange) continue;
        const image::Image& image =
            capture->processes()->image_at(element.index, element.trace_id, context);
        if (image.regions().empty()) std::abort();
        const TaskId task = cursor.id(element.index, element.trace_id, context);
        static_cast<void>(cursor.task(task));
        const perf::ProgramPlace place = capture->processes()->place(task, element.start);
        if (place.file == nullptr) std::abort();
        static_cast<void>(place.linked());
      }
    }
  };
  while (const auto block = capture->next_block()) {
    if (!capture->tree().feed(block->index, block->bytes)) break;
    drain();
    if (taken >= kMost) return 0;
  }
  capture->tree().finish();
  drain();
  return 0;
}
