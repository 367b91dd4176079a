#include "waymark/index/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tally.h"
#include "waymark/base/user_cache.h"
#include "waymark/index/store.h"

namespace waymark::index {
namespace {

void add_counts(LandmarkCounts& to, const LandmarkCounts& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void remove_counts(LandmarkCounts& from, const LandmarkCounts& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= std::min(from[i], what[i]);
}

constexpr std::string_view kSuffix = ".waymark-index";

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
  for (const TallyField& field : kTallyFields)
    found->tally.*field.member += block.tally.*field.member;
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
  for (const TallyField& field : kTallyFields)
    lower(found->tally.*field.member, block.tally.*field.member);
  remove_counts(found->counts, block.counts);
}

std::string store_path(const std::string& trace) { return trace + std::string(kSuffix); }

std::string cached_store_path(const std::string& trace) {
  namespace fs = std::filesystem;
  const std::string folder = user_cache_folder();
  if (folder.empty()) return {};
  std::error_code error;
  fs::path file = fs::weakly_canonical(trace, error);
  if (error) file = fs::absolute(trace, error);
  if (error) return {};
  const std::string whole = file.string();
  FileDigest digest;
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size());
  digest.read(bytes, bytes.size());
  constexpr std::size_t kMostOfName = 80;
  const std::string name =
      fmt::format("{}-{:016x}{}", file.filename().string().substr(0, kMostOfName),
                  digest.value(bytes, bytes.size()), kSuffix);
  return fs::path(folder) / name;
}

bool Want::holds(const StreamBlock& block) const {
  if (kind && block.count(*kind) == 0) return false;
  if (lasting_context && block.lasting_contexts == 0) return false;
  return !timestamp_at_least || (block.count(LandmarkKind::kTimestamp) != 0 &&
                                 block.highest_timestamp >= *timestamp_at_least);
}

Result<void> Index::write_view(const ViewRecords& /*view*/) {
  return fail(ErrorCode::kUnsupported, "An index in memory keeps nothing for viewers.");
}

}  // namespace waymark::index
