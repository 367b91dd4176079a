#include "waymark/frames/aligner.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <functional>
#include <numeric>
#include <ranges>

#include "waymark/frames/demux.h"
#include "waymark/frames/splitter.h"

namespace waymark::frames {
namespace {

constexpr std::size_t kPhases = kFrameSize;
constexpr std::size_t kWindowFrames = 16;
constexpr std::size_t kWindowBytes = kWindowFrames * kFrameSize;
/// The bytes read between two checks whether to stop.
constexpr std::size_t kStopBytes = std::size_t{1} << 20;
constexpr std::size_t kMostSources = 12;
constexpr int kKnownId = 1;
constexpr int kOddId = -4;
/// Markers are rare, but 0xF7 and 0xFB, which would name them, are frequent bytes of ETM traces.
constexpr int kMarkerId = -2;
constexpr int kWholeSync = 12;
/// The evidence that the content must show before another alignment is believed.
constexpr int kChange = 40;

/// Alignment synchronisations of ETM, PTM and ITM have five zeros or more and then 0x80; those of
/// STM have 21 F nibbles and then a zero nibble.
constexpr unsigned kSyncZeros = 5;
constexpr unsigned kSyncOnes = 9;

/// Finds alignment synchronisations in the stream of each ID.  Only whole frames of the right
/// alignment have whole ones.
class SyncCounter {
 public:
  unsigned take(TraceId id, std::uint8_t byte) {
    State& state = states_[id & 0x7F];
    unsigned found = 0;
    if (byte == 0x80 && state.zeros >= kSyncZeros) found = 1;
    if (byte != 0xFF && state.ones > kSyncOnes && (byte == 0x0F || (byte & 0x0F) == 0)) found = 1;
    state.zeros = byte == 0 ? state.zeros + 1 : 0;
    state.ones = byte == 0xFF ? state.ones + 1 : 0;
    return found;
  }

 private:
  struct State {
    std::uint32_t zeros = 0;
    std::uint32_t ones = 0;
  };
  std::array<State, kTraceIdCount> states_{};
};

bool is_barrier(const std::uint8_t* frame) {
  return is_fsync(frame) && is_fsync(frame + 4) && is_fsync(frame + 8) && is_fsync(frame + 12);
}

/// Padding and markers, which are no sources but occur among them; frames.md 1.1.
bool is_marker(TraceId id) { return id == 0 || id == 0x7B || id == 0x7D; }

using IdCounts = std::array<std::size_t, kTraceIdCount>;

/// The bytes of a part of the content, whose ID bytes are counted together.
constexpr std::size_t kPart = std::size_t{2} << 10;

/// The ID bytes of frames that begin at even (or odd) offsets.
IdCounts count_ids(Bytes content, std::size_t parity) {
  IdCounts counts{};
  for (std::size_t at = parity; at + 1 < content.size(); at += 2)
    if ((content[at] & 1) != 0) ++counts[content[at] >> 1];
  return counts;
}

/// The IDs that explain most ID bytes.
IdSet likely_sources(const IdCounts& counts) {
  std::array<TraceId, kTraceIdCount> order{};
  std::ranges::copy(std::views::iota(TraceId{0}, kTraceIdCount), order.begin());
  std::ranges::sort(order, std::greater{}, [&](TraceId id) { return counts[id]; });
  const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  IdSet sources;
  std::size_t explained = 0;
  for (const TraceId id : order) {
    if (counts[id] == 0 || sources.count() == kMostSources || explained * 200 > all * 199) break;
    if (!is_source_id(id) && !is_marker(id)) continue;
    sources.set(id);
    explained += counts[id];
  }
  for (const TraceId id : {TraceId{0}, TraceId{0x7B}, TraceId{0x7D}}) sources.set(id);
  return sources;
}

/// The evidence of a stretch of frames.
struct Evidence {
  std::size_t id_bytes = 0;
  std::size_t odd_ids = 0;
  std::size_t markers = 0;  ///< Those that name a marker.
  std::size_t padding = 0;  ///< Those with ID 0, which zeros and ones of other data look like.
  std::size_t syncs = 0;

  [[nodiscard]] int score() const {
    const auto known = static_cast<int>(id_bytes - odd_ids - markers - padding);
    return known * kKnownId + static_cast<int>(odd_ids) * kOddId +
           static_cast<int>(markers) * kMarkerId + static_cast<int>(syncs) * kWholeSync;
  }
  Evidence& operator+=(const Evidence& more) {
    id_bytes += more.id_bytes;
    odd_ids += more.odd_ids;
    markers += more.markers;
    padding += more.padding;
    syncs += more.syncs;
    return *this;
  }
};

/// Reads frames one after the other with one alignment.
class FrameReader {
 public:
  explicit FrameReader(const IdSet& sources) : sources_(sources) {}

  Evidence read(const std::uint8_t* frame) {
    Evidence found;
    if (is_barrier(frame)) return found;
    for (std::size_t i = 0; i < kFrameSize; i += 2) {
      if ((frame[i] & 1) == 0) continue;
      ++found.id_bytes;
      const auto id = static_cast<TraceId>(frame[i] >> 1);
      if (!sources_.test(id)) ++found.odd_ids;
      if (id == 0) ++found.padding;
      if (id != 0 && is_marker(id)) ++found.markers;
    }
    Frame unpacked;
    unpack(frame, 0, current_, unpacked);
    for (const Segment& segment : unpacked.view())
      for (const std::uint8_t byte : segment.bytes()) found.syncs += syncs_.take(segment.id, byte);
    return found;
  }

 private:
  const IdSet& sources_;
  SyncCounter syncs_;
  TraceId current_ = kNoTraceId;
};

Evidence read_all(Bytes content, std::size_t phase, const IdSet& sources) {
  FrameReader reader(sources);
  Evidence all;
  for (std::size_t at = phase; at + kFrameSize <= content.size(); at += kFrameSize)
    all += reader.read(content.data() + at);
  return all;
}

std::ptrdiff_t distinct(const IdCounts& counts) {
  return std::ranges::count_if(counts, [](std::size_t count) { return count != 0; });
}

/// From each part, the ID bytes of the parity that names fewer IDs: lost bytes change the parity,
/// and ID bytes of the wrong one are any bytes.  A part begins every `step` bytes.
IdSet sources_of(Bytes content, std::size_t step) {
  IdCounts all{};
  for (std::size_t at = 0; at < content.size(); at += step) {
    const Bytes part = content.subspan(at, std::min(kPart, content.size() - at));
    const IdCounts even = count_ids(part, 0);
    const IdCounts odd = count_ids(part, 1);
    const std::ptrdiff_t evens = distinct(even);
    const std::ptrdiff_t odds = distinct(odd);
    const IdCounts& better = odds == 0 || (evens != 0 && evens <= odds) ? even : odd;
    for (std::size_t id = 0; id < kTraceIdCount; ++id) all[id] += better[id];
  }
  return likely_sources(all);
}

/// The alignment of each window: the best sequence, in which a change costs kChange.
class WindowSearch {
 public:
  explicit WindowSearch(Bytes content) : content_(content), sources_(sources_of(content, kPart)) {
    readers_.reserve(kPhases);
    for (std::size_t phase = 0; phase < kPhases; ++phase) readers_.emplace_back(sources_);
  }

  /// One alignment, or kPhases where none fits, per window.  Nothing: `stop` said so.
  std::vector<std::uint8_t> run(const std::function<bool()>& stop) {
    const std::size_t windows = (content_.size() + kWindowBytes - 1) / kWindowBytes;
    came_from_.reserve(windows);
    for (std::size_t window = 0; window < windows; ++window) {
      if (window % (kStopBytes / kWindowBytes) == 0 && stop && stop()) return {};
      step(window);
    }
    std::vector<std::uint8_t> phases(windows);
    std::uint8_t phase = best();
    for (std::size_t window = windows; window-- != 0;) {
      phases[window] = phase;
      phase = came_from_[window][phase];
    }
    return phases;
  }

  [[nodiscard]] const IdSet& sources() const { return sources_; }

 private:
  static constexpr std::uint8_t kNone = kPhases;
  using Scores = std::array<int, kPhases + 1>;

  void step(std::size_t window) {
    const std::uint8_t best_before = best();
    std::array<std::uint8_t, kPhases + 1> from{};
    Scores next{};
    for (std::uint8_t phase = 0; phase <= kNone; ++phase) {
      const bool changed = scores_[best_before] - kChange > scores_[phase];
      from[phase] = changed ? best_before : phase;
      next[phase] = (changed ? scores_[best_before] - kChange : scores_[phase]) +
                    (phase == kNone ? 0 : read_window(window, phase));
    }
    // Only differences count, so the numbers stay small.
    const int most = *std::ranges::max_element(next);
    for (int& score : next) score -= most;
    scores_ = next;
    came_from_.push_back(from);
  }

  int read_window(std::size_t window, std::size_t phase) {
    Evidence all;
    const std::size_t begin = window * kWindowBytes + phase;
    for (std::size_t at = begin; at < begin + kWindowBytes && at + kFrameSize <= content_.size();
         at += kFrameSize)
      all += readers_[phase].read(content_.data() + at);
    return all.score();
  }

  [[nodiscard]] std::uint8_t best() const {
    return static_cast<std::uint8_t>(std::ranges::max_element(scores_) - scores_.begin());
  }

  Bytes content_;
  IdSet sources_;
  std::vector<FrameReader> readers_;
  Scores scores_{};
  std::vector<std::array<std::uint8_t, kPhases + 1>> came_from_;
};

bool names_only(const std::uint8_t* frame, const IdSet& sources) {
  if (is_barrier(frame)) return true;
  for (std::size_t i = 0; i < kFrameSize; i += 2)
    if ((frame[i] & 1) != 0 && !sources.test(frame[i] >> 1)) return false;
  return true;
}

/// Adds the frames of one alignment in [begin, end), and those before and after it that look
/// like more of them.
void add_piece(Bytes content, std::size_t begin, std::size_t end, const IdSet& sources,
               std::vector<FramePiece>& pieces) {
  const std::size_t free = pieces.empty() ? 0 : pieces.back().offset + pieces.back().size;
  while (begin < free) begin += kFrameSize;
  const std::size_t lowest = std::max(free, begin - std::min(begin, 2 * kWindowBytes));
  while (begin >= lowest + kFrameSize && names_only(content.data() + begin - kFrameSize, sources))
    begin -= kFrameSize;
  end = std::min(end, content.size());
  if (begin >= end) return;
  std::size_t size = (end - begin) / kFrameSize * kFrameSize;
  // The following data may have lost bytes in the last frames.
  while (end < content.size() && size != 0 &&
         !names_only(content.data() + begin + size - kFrameSize, sources))
    size -= kFrameSize;
  if (size != 0) pieces.push_back({begin, size});
}

FrameAlignment search(Bytes content, const std::function<bool()>& stop) {
  FrameAlignment result;
  WindowSearch search(content);
  const std::vector<std::uint8_t> phases = search.run(stop);
  for (std::size_t window = 0; window < phases.size();) {
    std::size_t end = window;
    while (end < phases.size() && phases[end] == phases[window]) ++end;
    if (phases[window] < kPhases) {
      const std::size_t last =
          end == phases.size() ? content.size() : end * kWindowBytes + phases[window];
      add_piece(content, window * kWindowBytes + phases[window], last, search.sources(),
                result.pieces);
    }
    window = end;
  }
  for (const FramePiece& piece : result.pieces) {
    FrameReader reader(search.sources());
    for (std::size_t at = 0; at < piece.size; at += kFrameSize) {
      if (at % kStopBytes == 0 && stop && stop()) return {};
      const Evidence found = reader.read(content.data() + piece.offset + at);
      result.id_bytes += found.id_bytes;
      result.odd_ids += found.odd_ids;
      result.syncs += found.syncs;
    }
  }
  return result;
}

/// Whether one of the stretches that are looked at, evenly distributed, is plausible.
bool may_have_frames(Bytes content, const std::function<bool()>& stop) {
  constexpr std::size_t kStretch = std::size_t{256} << 10;
  constexpr std::size_t kDistance = std::size_t{4} << 20;
  for (std::size_t at = 0; at + kStretch <= content.size(); at += kDistance)
    if (search(content.subspan(at, kStretch), stop).plausible()) return true;
  return false;
}

}  // namespace

std::size_t FrameAlignment::left_out(std::size_t size) const {
  for (const FramePiece& piece : pieces) size -= piece.size;
  return size;
}

bool FrameAlignment::plausible() const {
  constexpr std::size_t kMinFrames = 16;
  constexpr std::size_t kMaxFramesPerId = 32;
  std::size_t bytes = 0;
  for (const FramePiece& piece : pieces) bytes += piece.size;
  const std::size_t frames = bytes / kFrameSize;
  return frames >= kMinFrames && id_bytes * kMaxFramesPerId >= frames && odd_ids * 50 <= id_bytes &&
         (syncs != 0 || pieces.size() == 1);
}

bool is_aligned(Bytes content) {
  // At most 2048 windows, distributed over the content, so that the time is bounded.
  constexpr std::size_t kWindow = 2 * kPart;
  const std::size_t step = std::max<std::size_t>((content.size() >> 11) / kWindow, 1) * kWindow;
  const IdSet sources = sources_of(content, step / 2);
  for (std::size_t at = 0; at + kFrameSize <= content.size(); at += step) {
    Evidence window;
    const Bytes part = content.subspan(at, std::min(content.size() - at, kWindow));
    for (std::size_t frame = 0; frame + kFrameSize <= part.size(); frame += kFrameSize) {
      const std::uint8_t* const bytes = part.data() + frame;
      if (is_barrier(bytes)) continue;
      for (std::size_t i = 0; i < kFrameSize; i += 2) {
        if ((bytes[i] & 1) == 0) continue;
        ++window.id_bytes;
        if (!sources.test(bytes[i] >> 1)) ++window.odd_ids;
      }
    }
    if (window.odd_ids > 8 && window.odd_ids * 4 > window.id_bytes) return false;
  }
  const auto fits = [&](Bytes part) {
    const std::size_t here = read_all(part, 0, sources).syncs;
    for (std::size_t phase = 2; phase < kPhases; phase += 2)
      if (const auto other = read_all(part, phase, sources).syncs; other >= 2 && other > 2 * here)
        return false;
    return true;
  };
  const std::size_t window = std::min(content.size(), kAlignmentWindow);
  const std::size_t last = (content.size() - window) / kFrameSize * kFrameSize;
  return fits(content.first(window)) && (last == 0 || fits(content.subspan(last)));
}

FrameAlignment align(Bytes content, const std::function<bool()>& stop) {
  if (content.size() > kMostSearched && !may_have_frames(content, stop)) return {};
  return search(content, stop);
}

}  // namespace waymark::frames
