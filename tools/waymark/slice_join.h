// Slices of a capture, whatever a job makes of them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "waymark/base/escape.h"
#include "waymark/inputs/capture.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/folder.h"

namespace waymark::cli {

/// Returns the exit code for an error of shard::check_slice().
using Refuse = std::function<int(const Error&)>;

/// A capture with the decoder of its slices.
class SlicedCapture {
 public:
  /// `read_to` is called with offsets of the trace.
  SlicedCapture(inputs::Capture& capture, const shard::Cut& cut,
                const std::function<void(std::uint64_t)>& read_to = {});

  [[nodiscard]] Bytes trace() const { return whole_.bytes; }
  [[nodiscard]] parallel::SliceDecoder& decoder() { return decoder_; }

 private:
  inputs::TraceBlock whole_;
  parallel::SliceDecoder decoder_;
};

/// The trace of a capture; empty: it cannot be cut, and so it is not what it was.
Bytes trace_of(inputs::Capture& capture);

/// The files that the decoder read besides the input, as they are now.
std::vector<shard::Input> other_files(const inputs::Capture& capture, const std::string& input);

/// Files that must be what shards read.
class FileChecks {
 public:
  /// kOk, or the exit code after the sentence.
  int check(const std::vector<shard::Input>& files);

 private:
  std::map<std::string, shard::Input> files_;  ///< As they are now, by path.
};

/// The exit code for an error, whose sentence is printed.
int complain_of(const Error& error);

/// Says that slices were decoded again.  `why`: empty for the usual reason.
void report_again(const std::string& path, std::size_t again, std::size_t count,
                  std::string_view why = {});

// `Work` is what a job makes of slices, of one capture.  It has
//   Record                  what a part has of a slice, with a `seam` and `files`
//   consumer()              that of the decoder
//   record_of(Slice&)       a Record, without files
//   encode(Record)          Result<std::string>
//   read(Bytes)             Result<Record>; it may be of another capture
//   is_whole(Record)        it is of the sources and tasks of the capture
//   begins_right(Record)    its slice was begun with the state that add() left; kBadData: the
//                           content of the part does not fit together
//   kWhyAgain               why begins_right() can say no; empty: as for the decoder
//   begin_again()           the next slice begins with that state
//   add(Record, ends)       `ends`: SliceJoiner::ends()

/// The codes and the content of the part of a slice.  kOk, or why there is none.
template <class Work>
int make_slice(const shard::Plan& plan, inputs::Capture& capture, Work& work, const Refuse& refuse,
               shard::Part& part) {
  const shard::Cut& cut = *plan.cut_of(part.shard);
  const std::size_t slice = *plan.shards[part.shard].slice;
  const Bytes trace = trace_of(capture);
  shard::SliceCheck check(cut, slice, trace);
  if (trace.size() != cut.trace_bytes)
    return refuse(shard::check_slice(plan, part.shard, std::move(check)).error());
  SlicedCapture sliced(capture, cut, [&check](std::uint64_t offset) { check.read_to(offset); });
  const parallel::Slice decoded = sliced.decoder().decode(slice, work.consumer());
  if (sliced.decoder().stopped()) return kInterrupted;
  if (const auto same = shard::check_slice(plan, part.shard, std::move(check), interrupted); !same)
    return refuse(same.error());
  part.codes.push_back(kOk);
  typename Work::Record record = work.record_of(decoded);
  record.files = other_files(capture, plan.inputs[cut.input].path);
  auto content = work.encode(record);
  if (!content) return complain(content.error().detail, kOutput);
  part.content = *std::move(content);
  return kOk;
}

/// Adds up the slices of one capture.
template <class Work>
class SliceSum {
 public:
  using Record = typename Work::Record;

  /// `first`: the shard of the first slice.
  SliceSum(const shard::Folder& folder, std::size_t first, inputs::Capture& capture, Work& work)
      : folder_(folder),
        cut_(*folder.plan().cut_of(first)),
        first_(first),
        work_(work),
        sliced_(capture, cut_),
        joiner_(sliced_.decoder()) {}

  /// kOk, or the exit code; the sentences are printed.  `tells`: see add_slices().
  int add_all(bool with_notes) {
    int worst = kOk;
    const std::size_t count = cut_.count();
    for (std::size_t i = 0; i < count; ++i) {
      if (interrupted()) return kInterrupted;
      const auto refuse = [&](const std::string& why) {
        worst = std::max(worst, complain(why, kInput));
      };
      const auto part = folder_.part(first_ + i);
      if (!part) {
        refuse(part.error().detail);
      } else if (!*part) {
        refuse(fmt::format("part {} is missing.", first_ + i));
      } else if (worst == kOk) {
        auto record = work_.read(shard::content_of(**part));
        if (!record || !work_.is_whole(*record)) {
          refuse(bad(first_ + i));
        } else {
          worst = add(first_ + i, *std::move(record));
        }
      }
    }
    if (worst != kOk || !with_notes) return worst;
    const std::string& path = folder_.plan().inputs[cut_.input].path;
    const std::size_t others = Work::kWhyAgain.empty() ? 0 : begun_wrong_;
    if (joiner_.again() != others) report_again(path, joiner_.again() - others, count);
    if (others != 0) report_again(path, others, count, Work::kWhyAgain);
    return kOk;
  }

 private:
  [[nodiscard]] std::string bad(std::size_t shard) const {
    return fmt::format("{}: the content of the part is inconsistent",
                       escaped(folder_.part_path(shard)));
  }

  int add(std::size_t shard, Record record) {
    if (const int code = files_.check(record.files); code != kOk) return code;
    const bool fits = joiner_.fits(record.seam);
    const Result<bool> good = fits ? work_.begins_right(record) : Result<bool>(false);
    if (!good) return complain(bad(shard), kInput);
    if (fits && !*good) ++begun_wrong_;
    if (*good) {
      joiner_.take(record.seam);
    } else {
      for (const std::size_t slice : joiner_.reads()) {
        const auto same = shard::check_slice(folder_.plan(), first_ + slice,
                                             {cut_, slice, sliced_.trace()}, interrupted);
        if (!same) return complain_of(same.error());
      }
      work_.begin_again();
      record = work_.record_of(joiner_.decode_again(work_.consumer()));
      if (sliced_.decoder().stopped()) return kInterrupted;
    }
    work_.add(std::move(record), joiner_.ends());
    return kOk;
  }

  const shard::Folder& folder_;
  const shard::Cut& cut_;
  std::size_t first_;
  Work& work_;
  FileChecks files_;
  SlicedCapture sliced_;
  parallel::SliceJoiner joiner_;
  std::size_t begun_wrong_ = 0;  ///< Slices of which only begins_right() said no.
};

/// Adds the slices of a capture, the first of which is the shard `first`, to what the work has.
/// Where the parts do not fit together, it decodes again, and a note says so if `tells`.  kOk, or
/// the exit code; the sentences of errors are printed.
template <class Work>
int add_slices(const shard::Folder& folder, std::size_t first, inputs::Capture& capture, Work& work,
               bool with_notes = true) {
  const shard::Cut& cut = *folder.plan().cut_of(first);
  if (const Bytes trace = trace_of(capture); trace.size() != cut.trace_bytes)
    return complain_of(shard::check_slice(folder.plan(), first, {cut, 0, trace}).error());
  return SliceSum<Work>(folder, first, capture, work).add_all(with_notes);
}

}  // namespace waymark::cli
