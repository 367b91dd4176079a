#include "waymark/index/index.h"

#include <algorithm>

#include "waymark/index/store.h"

namespace waymark::index {
namespace {

void add_counts(LandmarkCounts& to, const LandmarkCounts& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void remove_counts(LandmarkCounts& from, const LandmarkCounts& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= std::min(from[i], what[i]);
}

constexpr std::uint64_t Tally::* kTally[] = {&Tally::bytes,       &Tally::packets,
                                             &Tally::sync_points, &Tally::unsynced_bytes,
                                             &Tally::bad_headers, &Tally::bad_sequences};

void lower(std::uint64_t& value, std::uint64_t by) { value -= std::min(value, by); }

}  // namespace

std::string_view form_name(Form form) { return form == Form::kFull ? "full" : "sparse"; }

void StreamBlock::add(const Landmark& landmark, Form form) {
  const bool first = counts[static_cast<std::size_t>(landmark.kind)]++ == 0;
  if (landmark.kind == LandmarkKind::kSync) {
    if (first) first_sync = landmark.index;
    last_sync = landmark.index;
  } else if (landmark.kind == LandmarkKind::kTimestamp) {
    if (first) first_timestamp = landmark.value;
    last_timestamp = landmark.value;
    highest_timestamp = first ? landmark.value : std::max(highest_timestamp, landmark.value);
    whole_timestamps += landmark.whole ? 1 : 0;
  } else if (landmark.kind == LandmarkKind::kContext) {
    lasting_contexts += landmark.whole ? 0 : 1;
  }
  if (form == Form::kFull && landmark.kind != LandmarkKind::kAlign) landmarks.push_back(landmark);
}

const Stream* Header::stream(TraceId id) const {
  const auto found = std::ranges::find(streams, id, &Stream::id);
  return found == streams.end() ? nullptr : &*found;
}

void Header::add(const SourceBlock& block) {
  frame_syncs += block.frame_syncs;
  triggers += block.triggers;
  resets += block.resets;
  errors += block.errors;
  for (const auto& [id, bytes] : block.bytes)
    if (id < kTraceIdCount) id_bytes[id] += bytes;
}

void Header::add(TraceId id, const StreamBlock& block) {
  const auto found = std::ranges::find(streams, id, &Stream::id);
  if (found == streams.end()) return;
  for (const auto member : kTally) found->tally.*member += block.tally.*member;
  add_counts(found->counts, block.counts);
}

void Header::remove(const SourceBlock& block) {
  lower(frame_syncs, block.frame_syncs);
  lower(triggers, block.triggers);
  lower(resets, block.resets);
  lower(errors, block.errors);
  for (const auto& [id, bytes] : block.bytes)
    if (id < kTraceIdCount) lower(id_bytes[id], bytes);
}

void Header::remove(TraceId id, const StreamBlock& block) {
  const auto found = std::ranges::find(streams, id, &Stream::id);
  if (found == streams.end()) return;
  for (const auto member : kTally) lower(found->tally.*member, block.tally.*member);
  remove_counts(found->counts, block.counts);
}

std::uint64_t sample_hash(Bytes file) {
  constexpr std::size_t kSamples = 16;
  constexpr std::size_t kSampleSize = 4096;
  constexpr std::uint64_t kBasis = 0xCBF2'9CE4'8422'2325;
  constexpr std::uint64_t kPrime = 0x0000'0100'0000'01B3;
  std::uint64_t hash = kBasis;
  const auto take = [&](Bytes bytes) {
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * kPrime;
  };
  if (file.size() <= kSamples * kSampleSize) {
    take(file);
    return hash;
  }
  const std::size_t last = file.size() - kSampleSize;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::size_t at = last / (kSamples - 1) * i;
    take(file.subspan(i + 1 == kSamples ? last : at, kSampleSize));
  }
  return hash;
}

std::string store_path(const std::string& trace) { return trace + ".waymark-index"; }

bool Want::holds(const StreamBlock& block) const {
  if (kind && block.count(*kind) == 0) return false;
  if (lasting_context && block.lasting_contexts == 0) return false;
  return !timestamp_at_least || (block.count(LandmarkKind::kTimestamp) != 0 &&
                                 block.highest_timestamp >= *timestamp_at_least);
}

}  // namespace waymark::index
