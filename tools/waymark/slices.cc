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
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/parallel/counting.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/slice_codec.h"

namespace waymark::cli {
namespace {

constexpr std::uint64_t kLeastSlice = 1024;
// By the bytes after those that were decoded last.
constexpr TraceIndex kStillRead = std::size_t{32} << 20;

std::uint64_t slice_bytes(const shard::Job& job, std::uint64_t trace_bytes) {
  const std::uint64_t wanted =
      job.slices != 0 ? (trace_bytes + job.slices - 1) / job.slices : job.slice_bytes;
  const std::uint64_t step = frames::kFrameSize;
  return (std::max(wanted, kLeastSlice) + step - 1) / step * step;
}

/// The file of the trace, if its bytes are those of the trace.
std::string trace_file(const inputs::Capture& capture) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(capture.trace().path(), failed);
  return !failed && size == capture.trace().size() ? capture.trace().path() : std::string();
}

std::string why_whole(inputs::Capture& capture) {
  if (!capture.rest()) return "its trace is in records, or arrives while it is read";
  if (const auto good = parallel::check_slices(capture.tree(), capture.trace_bytes()); !good)
    return good.error().detail;
  return {};
}

/// A capture with the decoder of its slices.
class SliceCounter {
 public:
  /// `read_to` is called with offsets of the trace.
  SliceCounter(inputs::Capture& capture, const std::optional<Selection>& selection,
               const shard::Cut& cut, const std::function<void(std::uint64_t)>& read_to = {})
      : whole_(*capture.rest()),
        consumer_(capture.tree()),
        decoder_(capture.tree(), whole_.index, whole_.bytes, cut.limits(),
                 [this, &capture, read_to](TraceIndex at) {
                   if (read_to) read_to(at - whole_.index);
                   if (at > kStillRead) capture.passed(at - kStillRead);
                   return !interrupted();
                 }) {
    consumer_.set_tasks(capture.image().selector(), task_filter(selection));
  }

  [[nodiscard]] Bytes trace() const { return whole_.bytes; }
  [[nodiscard]] parallel::SliceDecoder& decoder() { return decoder_; }
  [[nodiscard]] parallel::CountingConsumer& consumer() { return consumer_; }

  static shard::SliceCounts counts_of(const parallel::Slice& slice) {
    shard::SliceCounts counts{
        .seam = slice.seam,
        .parts = parallel::CountingConsumer::take_parts(*slice.pieces.front()),
        .ends = parallel::CountingConsumer::take_parts(*slice.end)};
    // Nothing was decoded, because the tree had failed before.
    counts.parts.resize(counts.seam.sources.size());
    counts.ends.resize(counts.seam.sources.size());
    return counts;
  }

 private:
  inputs::TraceBlock whole_;
  parallel::CountingConsumer consumer_;
  parallel::SliceDecoder decoder_;
};

/// What the decoder read besides the input, as it is now.
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

/// The trace of a capture; empty: it cannot be cut, and so it is not what it was.
Bytes trace_of(inputs::Capture& capture) {
  const auto whole = capture.rest();
  return whole && capture.tree().can_jump() ? whole->bytes : Bytes();
}

int complain_of(const Error& error) {
  return shard::was_stopped(error) ? int{kInterrupted} : complain(error.detail, kInput);
}

/// Adds up the slices of one capture.
class SliceSum {
 public:
  /// `first`: the shard of the first slice.
  SliceSum(const shard::Plan& plan, std::size_t first, inputs::Capture& capture,
           const std::optional<Selection>& selection)
      : plan_(plan),
        cut_(*plan.cut_of(first)),
        first_(first),
        counter_(capture, selection, cut_),
        joiner_(counter_.decoder()),
        sums_(capture.tree().sources().size()),
        ends_(sums_.size()) {}

  /// kOk, or the exit code; the sentence is printed.
  int add(shard::SliceCounts counts) {
    if (const int code = check_files(counts.files); code != kOk) return code;
    if (joiner_.fits(counts.seam)) {
      joiner_.take(counts.seam);
    } else {
      for (const std::size_t slice : joiner_.reads()) {
        const auto same =
            shard::check_slice(plan_, first_ + slice, {cut_, slice, counter_.trace()}, interrupted);
        if (!same) return complain_of(same.error());
      }
      counts = SliceCounter::counts_of(joiner_.decode_again(counter_.consumer()));
      if (counter_.decoder().stopped()) return kInterrupted;
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i].add(std::move(counts.parts[i]));
      if (joiner_.ends()[i]) ends_[i] = std::move(counts.ends[i]);
    }
    return kOk;
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
    counted.read_to = counter_.trace().size();
  }

  [[nodiscard]] std::size_t again() const { return joiner_.again(); }

 private:
  /// What is decoded again must be decoded with the same programs.
  int check_files(const std::vector<shard::Input>& files) {
    for (const shard::Input& file : files) {
      const auto [at, is_new] = files_.try_emplace(file.path);
      if (is_new) {
        auto now = shard::look_at(file.path, ".", shard::Check::kContent, interrupted);
        if (!now) return complain_of(now.error());
        at->second = *std::move(now);
      }
      if (at->second != file) {
        return complain(fmt::format("{} is not the program that a shard read; put that one in its "
                                    "place.",
                                    escaped(file.path)),
                        kInput);
      }
    }
    return kOk;
  }

  const shard::Plan& plan_;
  const shard::Cut& cut_;
  std::size_t first_;
  std::map<std::string, shard::Input> files_;  ///< As they are now, by path.
  SliceCounter counter_;
  parallel::SliceJoiner joiner_;
  std::vector<count::Stitcher> sums_;
  std::vector<count::Part> ends_;
};

}  // namespace

Result<std::optional<shard::Cut>> cut_input(const ExportOptions& options, const shard::Job& job,
                                            const shard::Plan& plan, const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (!failed && size <= std::max(job.slice_bytes, kLeastSlice)) return std::nullopt;
  InputOptions input = options.input;
  input.path = path;
  // Its shard says what is wrong with it.
  auto capture = try_open_capture(input, {}, {}, false);
  if (!capture) return std::nullopt;
  shard::Cut cut{.trace = trace_file(*capture), .trace_bytes = capture->trace_bytes()};
  cut.slice_bytes = slice_bytes(job, cut.trace_bytes);
  if (cut.trace_bytes <= cut.slice_bytes) return std::nullopt;
  if (const std::string why = why_whole(*capture); !why.empty()) {
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

KnownIdBytes known_id_bytes(const shard::Cut& cut) {
  return [&cut](const MappedFile& /*trace*/, inputs::Framing /*framing*/) {
    inputs::IdBytes bytes{};
    for (const auto& [id, count] : cut.id_bytes) bytes[id] = count;
    return std::optional(bytes);
  };
}

int count_slice(const shard::Plan& plan, const ExportOptions& options,
                const std::function<int(const Error&)>& refuse, shard::Part& part) {
  const shard::Cut& cut = *plan.cut_of(part.shard);
  InputOptions input = options.input;
  input.path = plan.inputs[cut.input].path;
  auto capture = open_capture(input, {}, false, known_id_bytes(cut), false);
  if (!capture) return capture.error();
  const auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  const std::size_t slice = *plan.shards[part.shard].slice;
  const Bytes trace = trace_of(*capture);
  shard::SliceCheck check(cut, slice, trace);
  if (trace.size() != cut.trace_bytes)
    return refuse(shard::check_slice(plan, part.shard, std::move(check)).error());
  SliceCounter counter(*capture, *selection, cut,
                       [&check](std::uint64_t offset) { check.read_to(offset); });
  const auto counted = counter.decoder().decode(slice, counter.consumer());
  if (counter.decoder().stopped()) return kInterrupted;
  if (const auto same = shard::check_slice(plan, part.shard, std::move(check), interrupted); !same)
    return refuse(same.error());
  part.codes.push_back(kOk);
  shard::SliceCounts counts = SliceCounter::counts_of(counted);
  counts.files = other_files(*capture, input.path);
  part.content = shard::encode(counts);
  return kOk;
}

Counted join_slices(const shard::Folder& folder, std::size_t first, inputs::Capture& capture,
                    const std::optional<Selection>& selection) {
  const shard::Plan& plan = folder.plan();
  const shard::Cut& cut = *plan.cut_of(first);
  Counted counted;
  if (trace_of(capture).size() != cut.trace_bytes) {
    counted.code =
        complain_of(shard::check_slice(plan, first, {cut, 0, trace_of(capture)}).error());
    return counted;
  }
  SliceSum sum(plan, first, capture, selection);
  const std::size_t count = cut.count();
  for (std::size_t i = 0; i < count; ++i) {
    if (interrupted()) {
      counted.code = kInterrupted;
      return counted;
    }
    const auto refuse = [&](const std::string& why) {
      counted.code = std::max(counted.code, complain(why, kInput));
    };
    const auto part = folder.part(first + i);
    if (!part) {
      refuse(part.error().detail);
    } else if (!*part) {
      refuse(fmt::format("part {} is missing.", first + i));
    } else if (counted.code == kOk) {
      auto counts = shard::read_slice(shard::content_of(**part));
      if (!counts || counts->parts.size() != capture.tree().sources().size()) {
        refuse(fmt::format("{}: the content of the part does not fit together",
                           escaped(folder.part_path(first + i))));
      } else {
        counted.code = sum.add(*std::move(counts));
      }
    }
  }
  if (counted.code != kOk) return counted;
  sum.take(counted, capture, selection);
  if (sum.again() != 0) {
    note(
        fmt::format("{}: {} of {} slices {} decoded again, because the trace before {} did not "
                    "show the state of the decoder there.",
                    escaped(plan.inputs[cut.input].path), sum.again(), count,
                    one_or(sum.again(), "was", "were"), one_or(sum.again(), "it", "them")));
  }
  return counted;
}

}  // namespace waymark::cli
