// Captures as folders: writes them, and compares them with the ground truth.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "output_file.h"
#include "waymark/base/mapped_file.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/synth/capture.h"

namespace waymark::synth {
namespace {

namespace fs = std::filesystem;

std::string totals_text(const CaptureMaker& maker) {
  std::string text =
      fmt::format("; The ground truth of waymark synth; seed {}.\n", maker.options().seed);
  for (std::size_t i = 0; i < maker.units().size(); ++i) {
    const TruthTotals& totals = maker.units()[i]->truth().totals();
    text += fmt::format(
        "[{}]\nid={:#04x}\nranges={}\ninstructions={}\nhidden_instructions={}\nevents={}\n"
        "digest={:#018x}\n",
        maker.device_name(i), maker.units()[i]->options().trace_id, totals.ranges,
        totals.instructions, totals.hidden_instructions, totals.events, totals.digest);
  }
  return text;
}

Bytes as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

namespace {

/// Removes the files of a capture that was not completed.
class Unfinished {
 public:
  explicit Unfinished(fs::path folder) : folder_(std::move(folder)) {
    std::error_code code;
    existed_ = fs::exists(folder_, code);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (whole_) return;
    std::error_code code;
    for (const fs::path& file : files_) fs::remove(file, code);
    // This removes only empty folders.
    fs::remove(folder_ / "truth", code);
    if (!existed_) fs::remove(folder_, code);
  }
  fs::path add(fs::path file) {
    files_.push_back(file);
    return file;
  }
  void keep() { whole_ = true; }

 private:
  fs::path folder_;
  std::vector<fs::path> files_;
  bool existed_ = false;
  bool whole_ = false;
};

}  // namespace

Result<void> write_capture(CaptureMaker& maker, const Program* program,
                           const std::string& directory,
                           const std::function<bool(std::uint64_t)>& progress) {
  const fs::path folder(directory);
  Unfinished unfinished(folder);
  std::error_code code;
  fs::create_directories(folder / "truth", code);
  if (code)
    return fail(ErrorCode::kIo, fmt::format("Cannot create the folder '{}': {}.",
                                            (folder / "truth").string(), code.message()));
  // The folder is not a snapshot until it is complete.
  fs::remove(folder / "snapshot.ini", code);

  Result<OutputFile> trace = OutputFile::open(unfinished.add(folder / "trace.bin"));
  if (!trace) return std::unexpected(trace.error());
  std::vector<std::optional<OutputFile>> truths;
  for (std::size_t i = 0; i < maker.units().size(); ++i) {
    const fs::path path = unfinished.add(folder / "truth" / (maker.device_name(i) + ".truth"));
    truths.emplace_back();
    if (!maker.units()[i]->truth().keeps()) {
      fs::remove(path, code);
      continue;
    }
    Result<OutputFile> file = OutputFile::open(path);
    if (!file) return std::unexpected(file.error());
    truths.back() = *std::move(file);
  }
  while (true) {
    const Bytes block = maker.next();
    WAYMARK_TRY(trace->write(block));
    for (std::size_t i = 0; i < maker.units().size(); ++i) {
      TraceUnit& unit = *maker.units()[i];
      WAYMARK_TRY(unit.status());
      if (auto& truth = truths[i]) WAYMARK_TRY(truth->write(unit.truth().bytes()));
      unit.truth().clear();
    }
    if (block.empty()) break;
    if (progress && !progress(maker.made())) return {};
  }
  WAYMARK_TRY(trace->close());
  for (std::optional<OutputFile>& file : truths)
    if (file) WAYMARK_TRY(file->close());
  Result<OutputFile> totals = OutputFile::open(unfinished.add(folder / "truth" / "totals.ini"));
  if (!totals) return std::unexpected(totals.error());
  WAYMARK_TRY(totals->write(as_bytes(totals_text(maker))));
  WAYMARK_TRY(totals->close());
  std::vector<inputs::SnapshotFile> files;
  for (std::size_t i = 0; program != nullptr && i < program->segments().size(); ++i)
    if (const Segment& segment = program->segments()[i]; segment.origin.file.empty())
      files.push_back({CaptureMaker::memory_file(i), segment.bytes});
  MappedFile elf;
  if (const std::string path = program == nullptr ? "" : program->file(); !path.empty()) {
    const std::string name = CaptureMaker::program_file(path);
    if (!fs::equivalent(path, folder / name, code)) {
      Result<MappedFile> opened = MappedFile::open(path);
      if (!opened) return std::unexpected(std::move(opened).error());
      elf = *std::move(opened);
      files.push_back({name, elf.bytes()});
    }
  }
  const inputs::Snapshot snapshot = maker.snapshot(program, "trace.bin");
  for (const inputs::SnapshotFile& file : files) unfinished.add(folder / file.name);
  const auto texts = inputs::snapshot_texts(snapshot);
  if (!texts) return std::unexpected(texts.error());
  for (const inputs::SnapshotText& text : *texts) unfinished.add(folder / text.name);
  WAYMARK_TRY(inputs::write_snapshot(snapshot, files, directory));
  unfinished.keep();
  return {};
}

namespace {

/// The file with the ground truth of a source.  A recording names the CPUs of its units, which are
/// their numbers in the snapshot.
fs::path truth_of(const fs::path& folder, const inputs::CaptureSource& source, bool snapshot) {
  const fs::path truth = folder / "truth";
  if (snapshot) return truth / (source.device + ".truth");
  constexpr std::string_view kCpu = "cpu";
  const std::string end = source.core.starts_with(kCpu)
                              ? fmt::format("_{}.truth", source.core.substr(kCpu.size()))
                              : source.device;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(truth, error))
    if (entry.path().filename().string().ends_with(end)) return entry.path();
  return truth / (source.device + ".truth");
}

}  // namespace

Result<std::vector<CheckedSource>> check_capture(const std::string& path,
                                                 const std::function<bool()>& go_on) {
  std::error_code error;
  const fs::path given(path);
  const bool snapshot = fs::exists(given / "snapshot.ini", error) || !fs::exists(given, error);
  const fs::path folder = snapshot ? given : given.parent_path();
  inputs::CaptureOptions options;
  options.stop = [&] { return go_on && !go_on(); };
  if (!snapshot) options.roots = {folder.empty() ? "." : folder.string()};
  // Only units of some kinds say so themselves.
  options.virtual_timestamps = true;
  Result<inputs::Capture> capture = inputs::Capture::open(path, options);
  if (!capture) return std::unexpected(capture.error());
  struct Pair {
    MappedFile file;
    TruthChecker checker;
  };
  std::vector<CheckedSource> sources;
  std::map<TraceId, std::unique_ptr<Pair>> pairs;
  for (const inputs::CaptureSource& source : capture->sources()) {
    Result<MappedFile> file = MappedFile::open(truth_of(folder, source, snapshot).string());
    if (!file)
      return fail(ErrorCode::kNotFound,
                  fmt::format("There is no ground truth to compare '{}' with: {}", source.device,
                              file.error().detail));
    const Bytes bytes = file->bytes();
    pairs[source.id] = std::make_unique<Pair>(
        Pair{*std::move(file), TruthChecker(bytes, source.source->protocol() == Protocol::kEtmV3)});
    sources.push_back({.device = source.device, .trace_id = source.id});
  }
  std::ranges::sort(sources, {}, &CheckedSource::trace_id);
  std::vector<Element> elements(1024);
  const auto drain = [&] {
    while (const std::size_t count = capture->tree().next(elements))
      for (const Element& element : std::span(elements).first(count))
        if (const auto pair = pairs.find(element.trace_id); pair != pairs.end())
          pair->second->checker.take({&element, 1});
  };
  while (const std::optional<inputs::TraceBlock> block = capture->next_block()) {
    if (go_on && !go_on()) return sources;
    WAYMARK_TRY(capture->tree().feed(block->index, block->bytes));
    drain();
  }
  capture->tree().finish();
  drain();
  for (CheckedSource& source : sources) {
    TruthChecker& checker = pairs[source.trace_id]->checker;
    checker.finish();
    source.totals = checker.totals();
    source.difference = checker.difference();
  }
  return sources;
}

}  // namespace waymark::synth
