#include "slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/branch_code.h"
#include "waymark/parallel/counting.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/perf/process_images.h"
#include "waymark/shard/slice_codec.h"
#include "waymark/shard/table_slice_codec.h"

namespace waymark::cli {
namespace {

constexpr std::uint64_t kLeastSlice = 1024;
// By the bytes after those that were decoded last.
constexpr TraceIndex kStillRead = std::size_t{32} << 20;

std::uint64_t in_whole_frames(std::uint64_t slice_bytes) {
  const std::uint64_t step = frames::kFrameSize;
  return (std::max(slice_bytes, kLeastSlice) + step - 1) / step * step;
}

std::uint64_t slice_bytes(const shard::Job& job, std::uint64_t trace_bytes) {
  return in_whole_frames(job.slices != 0 ? (trace_bytes + job.slices - 1) / job.slices
                                         : job.slice_bytes);
}

/// The file of the trace, if its bytes are those of the trace.
std::string trace_file(const inputs::Capture& capture) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(capture.trace().path(), failed);
  return !failed && size == capture.trace().size() ? capture.trace().path() : std::string();
}

std::string why_whole(inputs::Capture& capture, shard::Payload want) {
  if (want == shard::Payload::kTree && !traces_a_core(capture)) return "it traces no core";
  if (!capture.rest()) return "its trace is in records, or arrives while it is read";
  if (const auto good = parallel::check_slices(capture.tree(), capture.trace_bytes()); !good)
    return good.error().detail;
  return {};
}

/// Counts.
class CountWork {
 public:
  using Record = shard::SliceCounts;

  CountWork(inputs::Capture& capture, const std::optional<Selection>& selection)
      : capture_(capture),
        consumer_(capture.tree()),
        sums_(capture.tree().sources().size()),
        ends_(sums_.size()) {
    consumer_.set_tasks(capture.image().selector(), task_filter(selection));
    consumer_.set_targets(inputs::BranchCode(capture).direct_targets());
  }

  [[nodiscard]] parallel::Consumer& consumer() { return consumer_; }

  static Record record_of(const parallel::Slice& slice) {
    Record record{.seam = slice.seam,
                  .parts = parallel::CountingConsumer::take_parts(*slice.pieces.front()),
                  .ends = parallel::CountingConsumer::take_parts(*slice.end)};
    // Nothing was decoded, because the tree had failed before.
    record.parts.resize(record.seam.sources.size());
    record.ends.resize(record.seam.sources.size());
    return record;
  }
  static Result<std::string> encode(const Record& record) { return shard::encode(record); }
  static Result<Record> read(Bytes content) { return shard::read_slice(content); }
  [[nodiscard]] bool is_whole(const Record& record) const {
    const perf::ProcessImages* const processes = capture_.processes();
    return record.seam.is_of(capture_.tree()) && shard::has_only(record, [processes](TaskId task) {
             return processes == nullptr ? task == TaskId{} : processes->has_task(task);
           });
  }
  static constexpr std::string_view kWhyAgain{};
  /// The state of a counter from the trace before is in its part.
  static Result<bool> begins_right(const Record& /*record*/) { return true; }
  static void begin_again() {}

  void add(Record record, const std::vector<bool>& ends) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i].add(std::move(record.parts[i]));
      if (ends[i]) ends_[i] = std::move(record.ends[i]);
    }
  }

  void take(Counted& counted, inputs::Capture& capture, const std::optional<Selection>& selection) {
    const std::vector<Source*> sources = capture.tree().sources();
    const auto filter = task_filter(selection);
    for (const inputs::CaptureSource& source : capture.sources()) {
      const auto at =
          static_cast<std::size_t>(std::ranges::find(sources, source.source) - sources.begin());
      sums_[at].add(std::move(ends_[at]));
      counted.by_source.push_back(sums_[at].take());
      if (filter) counted.by_source.back().keep(filter);
    }
    counted.itm.resize(counted.by_source.size());
    counted.read_to = capture.trace_bytes();
  }

 private:
  inputs::Capture& capture_;
  parallel::CountingConsumer consumer_;
  std::vector<count::Stitcher> sums_;
  std::vector<count::Part> ends_;
};

/// Counts in the parts of tables.
class TableCountWork : public CountWork {
 public:
  using CountWork::CountWork;
  static Result<Record> read(Bytes content) {
    const auto slice = shard::read_table_slice(content);
    if (!slice) return std::unexpected(slice.error());
    const std::string& counts = slice->counts;
    return CountWork::read({reinterpret_cast<const std::uint8_t*>(counts.data()), counts.size()});
  }
};

template <class Work>
Counted join_counts(const shard::Folder& folder, std::size_t first, inputs::Capture& capture,
                    const std::optional<Selection>& selection, bool with_notes) {
  Work work(capture, selection);
  Counted counted;
  counted.code = add_slices(folder, first, capture, work, with_notes);
  if (counted.code == kOk) work.take(counted, capture, selection);
  return counted;
}

}  // namespace

SlicedCapture::SlicedCapture(inputs::Capture& capture, const shard::Cut& cut,
                             const std::function<void(std::uint64_t)>& read_to)
    : whole_(*capture.rest()),
      decoder_(capture.tree(), whole_.index, whole_.bytes, cut.limits(),
               [this, &capture, read_to](TraceIndex at) {
                 if (read_to) read_to(at - whole_.index);
                 if (at > kStillRead) capture.passed(at - kStillRead);
                 return !interrupted();
               }) {}

Bytes trace_of(inputs::Capture& capture) {
  const auto whole = capture.rest();
  return whole && capture.tree().can_jump() ? whole->bytes : Bytes();
}

std::vector<shard::Input> other_files(const inputs::Capture& capture, const std::string& input) {
  std::vector<shard::Input> files;
  std::vector<std::string> paths = capture.input_files();
  std::ranges::sort(paths);
  paths.erase(std::ranges::unique(paths).begin(), paths.end());
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path == input || path.starts_with(input.ends_with('/') ? input : input + "/") ||
        !std::filesystem::is_regular_file(path, ignored))
      continue;
    if (auto file = shard::look_at(path, ".", shard::Check::kContent))
      files.push_back(*std::move(file));
  }
  return files;
}

int FileChecks::check(const std::vector<shard::Input>& files) {
  for (const shard::Input& file : files) {
    const auto [at, is_new] = files_.try_emplace(file.path);
    if (is_new) {
      auto now = shard::look_at(file.path, ".", shard::Check::kContent, interrupted);
      if (!now) return complain_of(now.error());
      at->second = *std::move(now);
    }
    if (at->second != file) {
      return complain(fmt::format("{} is not the program that a shard read; restore that one.",
                                  escaped(file.path)),
                      kInput);
    }
  }
  return kOk;
}

int complain_of(const Error& error) {
  return shard::was_stopped(error) ? int{kInterrupted} : complain(error.detail, kInput);
}

void report_again(const std::string& path, std::size_t again, std::size_t count,
                  std::string_view why) {
  const std::string usual =
      fmt::format("the trace before {} did not reveal the state of the decoder there",
                  one_or(again, "it", "them"));
  note(fmt::format("{}: {} of {} slices {} decoded again, because {}.", escaped(path), again, count,
                   one_or(again, "was", "were"), why.empty() ? usual : why));
}

Result<std::optional<shard::Cut>> cut_input(const ExportOptions& options, const shard::Job& job,
                                            const shard::Plan& plan, const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (!failed && size <= std::max(job.slice_bytes, kLeastSlice)) return std::nullopt;
  InputOptions input = options.input;
  input.path = path;
  // It can be cut if its packets, or its elements, can be: what the shards read.  Its shard says
  // what is wrong with it.
  const shard::Want& want = *shard::find_want(plan.format);
  auto capture =
      try_open_capture(input, {.decode = want.payload != shard::Payload::kBranches}, {}, false);
  if (!capture) return std::nullopt;
  shard::Cut cut{.trace = trace_file(*capture), .trace_bytes = capture->trace_bytes()};
  cut.slice_bytes = slice_bytes(job, cut.trace_bytes);
  if (cut.trace_bytes <= cut.slice_bytes) return std::nullopt;
  if (const std::string why = why_whole(*capture, want.payload); !why.empty()) {
    note(fmt::format("{} is not cut: {}.", escaped(path), why));
    return std::nullopt;
  }
  const inputs::IdBytes& ids = capture->id_bytes();
  for (std::size_t id = 0; id < ids.size(); ++id)
    if (ids[id] != 0) cut.id_bytes.emplace_back(static_cast<TraceId>(id), ids[id]);
  if (plan.check == shard::Check::kContent) {
    WAYMARK_TRY(cut.look_at(capture->rest()->bytes, interrupted,
                            [&](TraceIndex at) { capture->passed(at); }));
  }
  return std::optional(std::move(cut));
}

std::vector<std::uint64_t> cut_limits(inputs::Capture& capture, const std::string& path,
                                      std::uint64_t slice_bytes) {
  if (slice_bytes == 0 || capture.trace_bytes() <= in_whole_frames(slice_bytes)) return {};
  if (const std::string why = why_whole(capture, shard::Payload::kTables); !why.empty()) {
    note(fmt::format("{} is not cut: {}.", escaped(path), why));
    return {};
  }
  return parallel::slice_limits(capture.trace_bytes(), in_whole_frames(slice_bytes));
}

KnownIdBytes known_id_bytes(const shard::Cut& cut) {
  return [&cut](const MappedFile& /*trace*/, inputs::Framing /*framing*/) {
    inputs::IdBytes bytes{};
    for (const auto& [id, count] : cut.id_bytes) bytes[id] = count;
    return std::optional(bytes);
  };
}

int count_slice(const shard::Plan& plan, const ExportOptions& options, const Refuse& refuse,
                shard::Part& part) {
  const shard::Cut& cut = *plan.cut_of(part.shard);
  InputOptions input = options.input;
  input.path = plan.inputs[cut.input].path;
  auto capture = open_capture(input, {}, false, known_id_bytes(cut), false);
  if (!capture) return capture.error();
  const auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  CountWork work(*capture, *selection);
  return make_slice(plan, *capture, work, refuse, part);
}

Counted join_slices(const shard::Folder& folder, std::size_t first, inputs::Capture& capture,
                    const std::optional<Selection>& selection, bool with_notes) {
  return folder.plan().payload_of(first) == shard::Payload::kTableSlice
             ? join_counts<TableCountWork>(folder, first, capture, selection, with_notes)
             : join_counts<CountWork>(folder, first, capture, selection, with_notes);
}

}  // namespace waymark::cli
