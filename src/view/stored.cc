#include "stored.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "stored_parts.h"
#include "waymark/index/seek.h"

namespace waymark::view {
namespace {

/// Records are in the order of kinds.
enum Kind : std::uint64_t { kSums, kCodes, kTracks, kTree, kKeyframes };

/// A record of more bytes begins another one; several pages of a database.
constexpr std::size_t kRecordBytes = std::size_t{64} << 10;
/// The size of the empty tables in a database.
constexpr std::uint64_t kTableBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kLeastLimit = std::uint64_t{8} << 10;

/// Shows damage; not cryptographic.
std::uint64_t digest_of(Bytes sums, std::span<const index::ViewRecord> records) {
  std::uint64_t digest = 0xCBF29CE484222325ULL;
  const auto mix = [&](std::uint64_t value) {
    digest = (digest ^ value) * 0x9E3779B97F4A7C15ULL;
    digest ^= digest >> 29;
  };
  for (const std::uint8_t byte : sums) mix(byte);
  for (const index::ViewRecord& each : records) {
    mix(each.kind);
    mix(each.number);
    mix(each.record.size());
    for (const std::uint8_t byte : each.record) mix(byte);
  }
  return digest;
}

/// The items of one kind, in records.
class Pack {
 public:
  explicit Pack(Kind kind) : kind_(kind) {}

  void add(const RecordBytes& item) {
    if (records_.empty() || records_.back().record.size() + item.size() > kRecordBytes)
      records_.push_back({.kind = kind_, .number = records_.size()});
    RecordWriter size;
    size.number(item.size());
    RecordBytes& to = records_.back().record;
    for (const RecordBytes& part : {size.take(), item})
      to.insert(to.end(), part.begin(), part.end());
    bytes_ += item.size() + kItemBytes;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void move_to(std::vector<index::ViewRecord>& all) {
    for (index::ViewRecord& each : records_) all.push_back(std::move(each));
  }

 private:
  static constexpr std::size_t kItemBytes = 4;  ///< About as much as the size takes.

  Kind kind_;
  std::uint64_t bytes_ = 0;
  std::vector<index::ViewRecord> records_;
};

/// Gives the items of a kind to `take`, which returns whether they are sound.
bool read_items(std::span<const index::ViewRecord> records, Kind kind,
                const std::function<bool(Bytes item)>& take) {
  for (const index::ViewRecord& each : records) {
    if (each.kind != kind) continue;
    RecordReader in(each.record);
    while (in.good() && !in.done())
      if (const Bytes item = in.bytes(); !in.good() || !take(item)) return false;
    if (!in.good()) return false;
  }
  return true;
}

Pack tracks_of(const Overview& overview, const StoredFunctions& functions) {
  Pack pack(kTracks);
  for (const auto& [number, track] : overview.tracks())
    pack.add(write_track(number, track, functions));
  return pack;
}

/// As many as there is room for, with the same distance; the first and the last one in any case.
Pack keyframes_of(const Keyframes& keyframes, std::uint64_t limit) {
  std::vector<RecordBytes> all;
  std::uint64_t bytes = 0;
  for (const KeyframePointer& each : keyframes) {
    all.push_back(write_keyframe(*each));
    bytes += all.back().size() + 4;
  }
  const std::uint64_t step = bytes <= limit ? 1 : bytes / std::max<std::uint64_t>(limit, 1) + 1;
  Pack pack(kKeyframes);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % step == 0 || i + 1 == all.size()) pack.add(all[i]);
  return pack;
}

std::unexpected<Error> damaged() {
  return fail(ErrorCode::kBadData, "The stored data of the capture is damaged.");
}

}  // namespace

std::uint64_t stored_limit(std::uint64_t capture_bytes) {
  // An eighth of what the tables leave is for pages that are not full.
  const std::uint64_t allowed = capture_bytes / 50;
  if (allowed < kTableBytes + kLeastLimit) return 0;
  return (allowed - kTableBytes) / 8 * 7;
}

Result<Keyframes> with_entries(const Keyframes& keyframes, index::Index& index,
                               std::span<const TraceId> ids, const Stop& stop) {
  Keyframes made;
  for (const KeyframePointer& each : keyframes) {
    if (stop && stop()) return fail(ErrorCode::kLimit, "Storing was cancelled.");
    auto copy = std::make_shared<Keyframe>(*each);
    copy->decoders = nullptr;
    if (each->index != 0 && !each->at_end) {
      TraceIndex from = each->index;
      for (const SourceAt& source : each->sources) from = std::min(from, source.resume.index);
      const auto entry = index::seek(index, ids, from);
      if (!entry) return std::unexpected(entry.error());
      if (!entry->unknown.empty()) continue;
      copy->entry = DecoderEntry{
          .index = entry->index, .current_id = entry->current_id, .from_start = entry->from_start};
      for (std::size_t i = 0; i < ids.size(); ++i)
        copy->sources[i].first = entry->first[index.header().framed() ? ids[i] : 0];
    }
    made.push_back(std::move(copy));
  }
  return made;
}

std::optional<std::vector<index::ViewRecord>> to_records(const ToStore& from) {
  const std::vector<stacks::Code> all = from.codes.all();
  const StoredFunctions functions(all, from.functions);
  Pack codes(kCodes);
  for (const stacks::Code& each : all) codes.add(write_code(each));
  Overview overview = from.known.overview;
  Pack tracks = tracks_of(overview, functions);
  while (codes.bytes() + tracks.bytes() > from.limit / 2) {
    if (!overview.coarsen()) return std::nullopt;
    tracks = tracks_of(overview, functions);
  }
  std::uint64_t left = from.limit - codes.bytes() - tracks.bytes();
  Pack tree(kTree);
  if (from.known.tree != nullptr && from.known.tree->codes().size() == all.size())
    tree.add(write_tree(*from.known.tree));
  if (tree.bytes() > left / 4 * 3) tree = Pack(kTree);
  left -= tree.bytes();
  Pack keyframes = keyframes_of(from.known.keyframes, left);
  const RecordBytes sums = write_sums({.axis = from.axis,
                                       .bytes = from.known.bytes,
                                       .width = overview.width(),
                                       .length = overview.length(),
                                       .n = from.known.n,
                                       .quality = from.known.quality,
                                       .has_tree = tree.bytes() != 0});
  if (keyframes.bytes() > left + left / 8) return std::nullopt;
  std::vector<index::ViewRecord> records;
  for (Pack* const each : {&codes, &tracks, &tree, &keyframes}) each->move_to(records);
  RecordWriter first;
  first.number(digest_of(sums, records));
  first.bytes(sums);
  records.insert(records.begin(),
                 index::ViewRecord{.kind = kSums, .number = 0, .record = first.take()});
  return records;
}

Result<Stored> from_records(std::span<const index::ViewRecord> records, const StoredShape& shape,
                            FunctionTable& functions) {
  if (records.empty() || records.front().kind != kSums) return damaged();
  RecordReader first(records.front().record);
  records = records.subspan(1);
  const std::uint64_t digest = first.number();
  const Bytes sum_bytes = first.bytes();
  if (digest != digest_of(sum_bytes, records)) return damaged();
  const auto sums = read_sums(sum_bytes);
  if (!sums || !first.done() || sums->n.size() != shape.sources || sums->bytes != shape.bytes)
    return damaged();
  Stored stored{.axis = sums->axis};
  const bool has_codes = read_items(records, kCodes, [&](Bytes item) {
    auto code = read_code(item);
    if (!code || stored.codes.size() >= stacks::Tree::kMostCodes) return false;
    stored.codes.push_back(std::move(*code));
    return true;
  });
  if (!has_codes) return damaged();
  const StoredFunctions numbers(stored.codes, functions);
  Known& known = stored.known;
  known.overview.set_width(sums->width);
  known.overview.reach(sums->length);
  const bool has_tracks = read_items(records, kTracks, [&](Bytes item) {
    auto track = read_track(item, numbers);
    if (track) known.overview.track(track->first) = std::move(track->second);
    return track.has_value();
  });
  const bool has_tree = read_items(records, kTree, [&](Bytes item) {
    auto tree = read_tree(item, stored.codes);
    if (tree) known.tree = std::make_shared<const stacks::Tree>(std::move(*tree));
    return tree.has_value();
  });
  const bool has_keyframes = read_items(records, kKeyframes, [&](Bytes item) {
    auto keyframe = read_keyframe(item, shape.sources, stored.codes.size());
    if (!keyframe || keyframe->index > shape.bytes) return false;
    const bool is_first = known.keyframes.empty();
    if (is_first ? keyframe->index != 0 : keyframe->index < known.keyframes.back()->index)
      return false;
    const TraceIndex entry = keyframe->entry ? keyframe->entry->index : 0;
    if (!keyframe->at_end && (keyframe->index | entry) % shape.alignment != 0) return false;
    known.keyframes.push_back(std::make_shared<const Keyframe>(std::move(*keyframe)));
    return true;
  });
  if (!has_tracks || !has_tree || !has_keyframes || known.keyframes.empty() ||
      !known.keyframes.back()->at_end || sums->has_tree != (known.tree != nullptr))
    return damaged();
  known.n = sums->n;
  known.quality = sums->quality;
  known.bytes = sums->bytes;
  known.complete = true;
  return stored;
}

}  // namespace waymark::view
