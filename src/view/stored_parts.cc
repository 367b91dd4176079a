#include "stored_parts.h"

#include <algorithm>
#include <array>
#include <limits>

namespace waymark::view {
namespace {

/// The most functions of a bucket.
constexpr std::size_t kMostFunctions = 8;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kAny32 = std::numeric_limits<std::uint32_t>::max();

constexpr std::array kQualityCounts = {
    &stacks::Quality::instructions, &stacks::Quality::unnamed,
    &stacks::Quality::calls,        &stacks::Quality::tail_calls,
    &stacks::Quality::matches,      &stacks::Quality::branch_returns,
    &stacks::Quality::deeper,       &stacks::Quality::empty,
    &stacks::Quality::mismatch,     &stacks::Quality::resyncs,
    &stacks::Quality::unwinds,      &stacks::Quality::switches,
    &stacks::Quality::exceptions,   &stacks::Quality::exception_returns,
    &stacks::Quality::lost_returns, &stacks::Quality::gaps,
    &stacks::Quality::confirmed,    &stacks::Quality::missing_code,
    &stacks::Quality::folded,       &stacks::Quality::pathless,
};
static_assert(sizeof(stacks::Quality) == kQualityCounts.size() * sizeof(std::uint64_t));

std::uint32_t number32(RecordReader& in) { return in.as<std::uint32_t>(kAny32); }

/// A number that is often kNoIndex.
void write_index(RecordWriter& out, TraceIndex index) { out.number(index + 1); }
TraceIndex read_index(RecordReader& in) { return in.number() - 1; }

}  // namespace

StoredFunctions::StoredFunctions(const std::vector<stacks::Code>& codes, FunctionTable& functions) {
  functions_.push_back(FunctionTable::kUnknown);
  for (const stacks::Code& code : codes) {
    stored_.emplace_back(functions.number(code), functions_.size());
    functions_.push_back(stored_.back().first);
  }
  std::ranges::sort(stored_);
}

std::uint64_t StoredFunctions::stored(FunctionNumber function) const {
  const auto found =
      std::ranges::lower_bound(stored_, function, {}, &decltype(stored_)::value_type::first);
  return found == stored_.end() || found->first != function ? 0 : found->second;
}

// ---- Codes ----------------------------------------------------------------------------------

RecordBytes write_code(const stacks::Code& code) {
  RecordWriter out;
  out.number(static_cast<std::uint64_t>(code.kind));
  out.text(code.name);
  out.text(code.program);
  out.number(code.start);
  return out.take();
}

std::optional<stacks::Code> read_code(Bytes bytes) {
  RecordReader in(bytes);
  stacks::Code code;
  code.kind = in.as<stacks::CodeKind>(static_cast<std::uint64_t>(stacks::CodeKind::kProcess));
  code.name = in.text();
  code.program = in.text();
  code.start = in.number();
  if (!in.done()) return std::nullopt;
  return code;
}

// ---- Sums -----------------------------------------------------------------------------------

RecordBytes write_sums(const StoredSums& sums) {
  RecordWriter out;
  out.number(static_cast<std::uint64_t>(sums.axis.unit));
  out.number(sums.axis.origin);
  out.number((sums.axis.has_timestamps ? 1U : 0U) | (sums.axis.has_cycles ? 2U : 0U) |
             (sums.has_tree ? 4U : 0U));
  out.number(sums.bytes);
  out.place(sums.width);
  out.place(sums.length);
  out.number(sums.n.size());
  for (std::size_t i = 0; i < sums.n.size(); ++i) {
    out.number(sums.n[i]);
    for (const auto count : kQualityCounts) out.number(sums.quality[i].*count);
  }
  return out.take();
}

std::optional<StoredSums> read_sums(Bytes bytes) {
  RecordReader in(bytes);
  StoredSums sums;
  sums.axis.unit = in.as<AxisUnit>(static_cast<std::uint64_t>(AxisUnit::kBytes));
  sums.axis.origin = in.number();
  const std::uint64_t flags = in.number(7);
  sums.axis.has_timestamps = (flags & 1) != 0;
  sums.axis.has_cycles = (flags & 2) != 0;
  sums.has_tree = (flags & 4) != 0;
  sums.bytes = in.number();
  sums.width = in.place();
  sums.length = in.place();
  in.require(sums.width > 0 && sums.length / sums.width <= Overview::kMostNumbers);
  const std::size_t sources = in.size();
  for (std::size_t i = 0; i < sources && in.good(); ++i) {
    sums.n.push_back(in.number());
    stacks::Quality& quality = sums.quality.emplace_back();
    for (const auto count : kQualityCounts) quality.*count = in.number();
  }
  if (!in.done()) return std::nullopt;
  return sums;
}

// ---- Tracks ---------------------------------------------------------------------------------

namespace {

void write_bucket(RecordWriter& out, const OverviewBucket& bucket,
                  const StoredFunctions& functions) {
  out.number(bucket.instructions);
  out.number(bucket.cycles);
  out.number(bucket.depth);
  out.number(bucket.exceptions);
  out.number(bucket.messages);
  out.number(bucket.gaps > 0 ? 1 : 0);
  if (bucket.gaps > 0) out.place(bucket.gaps);
  std::vector<TopFunctions::Entry> top = bucket.functions.sorted();
  if (top.size() > kMostFunctions) top.resize(kMostFunctions);
  out.number(top.size());
  for (const TopFunctions::Entry& each : top) {
    out.number(functions.stored(each.function));
    out.number(each.count);
  }
}

OverviewBucket read_bucket(RecordReader& in, const StoredFunctions& functions) {
  OverviewBucket bucket;
  bucket.instructions = in.number();
  bucket.cycles = in.number();
  bucket.depth = number32(in);
  bucket.exceptions = number32(in);
  bucket.messages = number32(in);
  if (in.number(1) != 0) bucket.gaps = in.place();
  const std::uint64_t top = in.number(kMostFunctions);
  for (std::uint64_t i = 0; i < top && in.good(); ++i) {
    const std::uint64_t function = in.number(functions.size() - 1);
    bucket.functions.add(functions.function(function), number32(in));
  }
  return bucket;
}

}  // namespace

RecordBytes write_track(TrackNumber number, const OverviewTrack& track,
                        const StoredFunctions& functions) {
  RecordWriter out;
  out.number(number);
  out.number(track.source);
  out.number(track.thread);
  out.place(track.first);
  out.place(track.last);
  out.number(track.depth);
  out.number(track.buckets.size());
  std::uint64_t next = 0;
  for (const OverviewBucket& each : track.buckets) {
    out.number(each.number - next);
    next = each.number + 1;
    write_bucket(out, each, functions);
  }
  out.number(track.marks.size());
  for (const Mark& each : track.marks) {
    out.place(each.at);
    out.text(each.kind);
    out.text(each.text);
    out.number(each.count);
  }
  return out.take();
}

std::optional<std::pair<TrackNumber, OverviewTrack>> read_track(Bytes bytes,
                                                                const StoredFunctions& functions) {
  RecordReader in(bytes);
  std::pair<TrackNumber, OverviewTrack> made;
  made.first = number32(in);
  OverviewTrack& track = made.second;
  track.source = in.as<TraceId>(0xFF);
  track.thread = in.number();
  track.first = in.place();
  track.last = in.place();
  track.depth = number32(in);
  const std::size_t buckets = in.size();
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < buckets && in.good(); ++i) {
    const std::uint64_t number = next + in.number(Overview::kMostNumbers);
    in.require(number <= Overview::kMostNumbers);
    next = number + 1;
    track.buckets.push_back(read_bucket(in, functions));
    track.buckets.back().number = number;
  }
  const std::size_t marks = in.size();
  for (std::size_t i = 0; i < marks && in.good(); ++i) {
    Mark& mark = track.marks.emplace_back();
    mark.at = in.place();
    mark.kind = in.text();
    mark.text = in.text();
    mark.count = number32(in);
  }
  if (!in.done()) return std::nullopt;
  return made;
}

// ---- Trees ----------------------------------------------------------------------------------

RecordBytes write_tree(const stacks::Tree& tree) {
  RecordWriter out;
  out.number(tree.nodes().size());
  for (std::size_t id = 0; id < tree.nodes().size(); ++id) {
    const stacks::Node& node = tree.nodes()[id];
    out.number(id - node.parent);
    out.number(node.code);
    out.number(node.site);
    out.number(node.instructions);
    out.number(node.cycles);
    out.number(node.calls);
  }
  return out.take();
}

std::optional<stacks::Tree> read_tree(Bytes bytes, std::span<const stacks::Code> codes) {
  RecordReader in(bytes);
  const std::size_t size = in.size();
  if (!in.good() || size == 0 || size > stacks::Tree::kMostNodes || codes.empty())
    return std::nullopt;
  stacks::Tree tree;
  std::vector<stacks::CodeId> own;
  for (const stacks::Code& code : codes) own.push_back(tree.code(code));
  std::vector<stacks::NodeId> nodes;
  for (std::size_t id = 0; id < size && in.good(); ++id) {
    const std::uint64_t distance = in.number(id);
    const stacks::CodeId code = own[static_cast<std::size_t>(in.number(codes.size() - 1))];
    const std::uint64_t site = in.number();
    in.require((distance == 0) == (id == 0));
    if (!in.good()) break;
    nodes.push_back(id == 0 ? stacks::kRootNode
                            : tree.child(nodes[in_memory(id - distance)], code, site));
    stacks::Node& node = tree.node(nodes.back());
    node.instructions = in.number();
    node.cycles = in.number();
    node.calls = in.number();
  }
  if (!in.done()) return std::nullopt;
  return tree;
}

// ---- Keyframes ------------------------------------------------------------------------------

namespace {

constexpr unsigned kHasBelow = 1;
constexpr unsigned kIsSet = 2;
constexpr unsigned kIsAfterGap = 4;
constexpr unsigned kHasNext = 8;

void write_source(RecordWriter& out, const SourceAt& source) {
  const AxisClock::State& clock = source.clock;
  out.number((clock.has_below ? kHasBelow : 0U) | (clock.is_set ? kIsSet : 0U) |
             (clock.is_after_gap ? kIsAfterGap : 0U) | (source.next ? kHasNext : 0U));
  out.number(source.n);
  out.place(source.t);
  out.number(clock.n);
  out.place(clock.t);
  out.number(clock.time);
  out.number(clock.last);
  out.number(clock.shift);
  out.number(clock.below);
  out.number(clock.gap);
  if (source.next) {
    out.number(source.next->n);
    out.place(source.next->t);
  }
  write_index(out, source.resume.index);
  out.number(source.resume.skip);
  write_index(out, source.first);
}

SourceAt read_source(RecordReader& in) {
  SourceAt source;
  const std::uint64_t flags = in.number(15);
  source.n = in.number();
  source.t = in.place();
  source.clock.n = in.number();
  source.clock.t = in.place();
  source.clock.time = in.number();
  source.clock.last = in.number();
  source.clock.shift = in.number();
  source.clock.below = in.number();
  source.clock.gap = in.number();
  source.clock.has_below = (flags & kHasBelow) != 0;
  source.clock.is_set = (flags & kIsSet) != 0;
  source.clock.is_after_gap = (flags & kIsAfterGap) != 0;
  if ((flags & kHasNext) != 0) {
    source.next.emplace();
    source.next->n = in.number();
    source.next->t = in.place();
  }
  source.resume.index = read_index(in);
  source.resume.skip = in.number();
  source.first = read_index(in);
  return source;
}

}  // namespace

RecordBytes write_keyframe(const Keyframe& keyframe) {
  RecordWriter out;
  out.number(keyframe.index);
  out.number((keyframe.at_end ? 1U : 0U) | (keyframe.entry ? 2U : 0U));
  if (keyframe.entry) {
    out.number(keyframe.entry->index);
    out.number(keyframe.entry->current_id);
    out.number(keyframe.entry->from_start ? 1 : 0);
  }
  out.place(keyframe.recent);
  out.number(keyframe.elements);
  for (const SourceAt& each : keyframe.sources) write_source(out, each);
  RecordBytes stacks;
  keyframe.stacks.write(stacks);
  out.bytes(stacks);
  return out.take();
}

std::optional<Keyframe> read_keyframe(Bytes bytes, std::size_t sources, std::size_t codes) {
  RecordReader in(bytes);
  Keyframe keyframe;
  keyframe.index = in.number();
  const std::uint64_t flags = in.number(3);
  keyframe.at_end = (flags & 1) != 0;
  if ((flags & 2) != 0) {
    DecoderEntry& entry = keyframe.entry.emplace();
    entry.index = in.number(keyframe.index);
    entry.current_id = in.as<TraceId>(0xFF);
    entry.from_start = in.number(1) != 0;
    in.require(!entry.from_start || entry.index == 0);
  }
  in.require(keyframe.entry || keyframe.at_end || keyframe.index == 0);
  keyframe.recent = in.place();
  keyframe.elements = in.number(kAny);
  for (std::size_t i = 0; i < sources && in.good(); ++i)
    keyframe.sources.push_back(read_source(in));
  auto stacks = stacks::Engine::State::read(in.bytes(), codes);
  if (!stacks || !in.done()) return std::nullopt;
  keyframe.stacks = std::move(*stacks);
  return keyframe;
}

}  // namespace waymark::view
