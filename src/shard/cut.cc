// One trace that several shards read.
#include <algorithm>

#include "errors.h"
#include "waymark/index/file_digest.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {
namespace {

Result<std::uint64_t> digest_of(Bytes bytes, const Stop& stop) {
  index::FileDigest digest;
  if ((stop && stop()) || !digest.read(bytes, bytes.size(), stop)) return stopped();
  return digest.value(bytes, bytes.size());
}

Bytes start_of(Bytes trace) {
  return trace.first(std::min<std::size_t>(trace.size(), parallel::kSliceStart));
}

/// A slice in two stretches: the shard of the next one reads the second.
struct Halves {
  Bytes head;
  Bytes tail;
};

Halves halves_of(const Cut& cut, const std::vector<std::uint64_t>& limits, std::size_t slice,
                 Bytes trace) {
  const Bytes bytes =
      trace.subspan(in_memory(limits[slice]), in_memory(limits[slice + 1] - limits[slice]));
  const std::size_t tail =
      in_memory(std::min<std::uint64_t>(bytes.size(), parallel::most_warm_up(cut.slice_bytes)));
  return {bytes.first(bytes.size() - tail), bytes.last(tail)};
}

}  // namespace

std::size_t Cut::count() const {
  const std::uint64_t whole = trace_bytes / slice_bytes;
  return in_memory(
      std::max<std::uint64_t>(1, whole * slice_bytes == trace_bytes ? whole : whole + 1));
}

std::vector<std::uint64_t> Cut::limits() const {
  return parallel::slice_limits(trace_bytes, slice_bytes);
}

Result<void> Cut::look_at(Bytes trace_now, const Stop& stop,
                          const std::function<void(TraceIndex)>& passed) {
  const std::vector<std::uint64_t> ends = limits();
  digests.clear();
  const auto add = [&](Bytes stretch) -> Result<void> {
    const auto digest = digest_of(stretch, stop);
    if (!digest) return std::unexpected(digest.error());
    digests.push_back(*digest);
    return {};
  };
  WAYMARK_TRY(add(start_of(trace_now)));
  for (std::size_t i = 0; i < count(); ++i) {
    const auto [head, tail] = halves_of(*this, ends, i, trace_now);
    WAYMARK_TRY(add(head));
    WAYMARK_TRY(add(tail));
    if (passed) passed(ends[i + 1]);
  }
  return {};
}

SliceCheck::SliceCheck(const Cut& cut, std::size_t slice, Bytes trace)
    : same_length_(trace.size() == cut.trace_bytes) {
  if (!same_length_ || cut.digests.empty()) return;
  const std::vector<std::uint64_t> ends = cut.limits();
  begin_ = ends[slice];
  const Halves own = halves_of(cut, ends, slice, trace);
  own_ = {{.bytes = own.head, .expected = cut.digests[2 * slice + 1]},
          {.bytes = own.tail, .expected = cut.digests[2 * slice + 2]}};
  others_ = {{.bytes = start_of(trace), .expected = cut.digests[0]}};
  if (slice != 0) {
    others_.push_back(
        {.bytes = halves_of(cut, ends, slice - 1, trace).tail, .expected = cut.digests[2 * slice]});
  }
}

void SliceCheck::read_to(std::uint64_t offset) {
  std::uint64_t begin = begin_;
  for (Stretch& stretch : own_) {
    if (offset > begin) (void)stretch.digest.read(stretch.bytes, offset - begin);
    begin += stretch.bytes.size();
  }
}

Result<bool> SliceCheck::is_same(const Stop& stop) {
  if (!same_length_) return false;
  for (std::vector<Stretch>* const stretches : {&own_, &others_}) {
    for (Stretch& stretch : *stretches) {
      const std::size_t size = stretch.bytes.size();
      if ((stop && stop()) || !stretch.digest.read(stretch.bytes, size, stop)) return stopped();
      if (stretch.digest.value(stretch.bytes, size) != stretch.expected) return false;
    }
  }
  return true;
}

Result<void> check_slice(const Plan& plan, std::size_t shard, SliceCheck check, const Stop& stop) {
  const auto same = check.is_same(stop);
  if (!same) return std::unexpected(same.error());
  if (!*same) return changed(plan.inputs[plan.shards[shard].first]);
  return {};
}

}  // namespace waymark::shard
