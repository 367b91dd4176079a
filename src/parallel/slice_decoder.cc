#include "waymark/parallel/slice_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stretches.h"

namespace waymark::parallel {
namespace {

// A warm-up begins with this part of a slice, and becomes longer up to the other.  A shard makes
// two of them, so most shards spend 1/64 of their time on guesses.
constexpr std::size_t kUsualPart = 128;
constexpr std::size_t kMostPart = 4;
constexpr std::size_t kUsualWarmUp = std::size_t{256} << 10;
constexpr std::size_t kStep = std::size_t{1} << 20;

/// A source that found this number of synchronisation points has seen the packets after one.
constexpr std::uint64_t kSyncPoints = 2;

bool has_synchronised(const DecodeTree& tree) {
  return std::ranges::all_of(tree.sources(), [](const Source* source) {
    const SourceStatistics& counts = source->statistics();
    return counts.total_bytes == 0 || counts.sync_points >= kSyncPoints;
  });
}

}  // namespace

Result<void> check_slices(const DecodeTree& tree, std::uint64_t trace_bytes) {
  if (!tree.can_jump()) {
    return fail(ErrorCode::kUnsupported,
                "a source of it can only be decoded from the start of the trace");
  }
  if (trace_bytes % tree.alignment() != 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("its trace has {} bytes, which is not a multiple of {}", trace_bytes,
                            tree.alignment()));
  }
  return {};
}

std::vector<std::uint64_t> slice_limits(std::uint64_t trace_bytes, std::uint64_t slice_bytes) {
  if (slice_bytes >= trace_bytes) return {0, trace_bytes};
  const std::uint64_t step = whole_frames(std::max<std::uint64_t>(slice_bytes, 1));
  std::vector<std::uint64_t> limits{0};
  while (trace_bytes - limits.back() > step) limits.push_back(limits.back() + step);
  limits.push_back(trace_bytes);
  return limits;
}

std::uint64_t most_warm_up(std::uint64_t slice_bytes) {
  return std::max<std::uint64_t>(kLeastWarmUp, whole_frames(slice_bytes / kMostPart));
}

class SliceDecoder::Trace : public Stretches {
 public:
  using Stretches::Stretches;
  std::vector<Element> batch = std::vector<Element>(kDecodedBatch);
};

SliceDecoder::SliceDecoder(const DecodeTree& tree, TraceIndex index, Bytes trace,
                           const std::vector<std::uint64_t>& limits,
                           std::function<bool(TraceIndex)> step)
    : trace_(std::make_unique<Trace>(index, trace)),
      step_(std::move(step)),
      start_(tree.clone()),
      work_(tree.clone()),
      ahead_(tree.clone()) {
  // They are places in the trace, which is in memory.
  for (const std::uint64_t limit : limits) limits_.push_back(static_cast<std::size_t>(limit));
}

SliceDecoder::~SliceDecoder() = default;

void SliceDecoder::guess(DecodeTree& tree, std::size_t number, Consumer* consumer) {
  std::unique_ptr<Piece> piece;
  const auto begin_piece = [&] {
    if (consumer != nullptr) piece = consumer->begin_approach();
    return piece.get();
  };
  const std::size_t begin = limits_[number];
  const std::size_t known_at = std::min(kSliceStart, trace_->size());
  if (begin <= known_at) {
    trace_->approach(tree, *start_, 0, begin, begin, trace_->batch, begin_piece());
    return;
  }
  if (known_ == nullptr) {
    known_ = start_->clone();
    trace_->decode(*known_, 0, known_at, nullptr, trace_->batch);
  }
  const std::size_t slice = whole_frames(limits_[1]);
  const auto most = static_cast<std::size_t>(most_warm_up(slice));
  for (std::size_t warm_up =
           whole_frames(std::clamp(slice / kUsualPart, kLeastWarmUp, kUsualWarmUp));
       ; warm_up *= 2) {
    warm_up = std::min(warm_up, most);
    const std::size_t way =
        trace_->approach(tree, *known_, known_at, begin, warm_up, trace_->batch, begin_piece());
    if (way < warm_up || warm_up == most || has_synchronised(tree)) return;
  }
}

void SliceDecoder::pass(DecodeTree& tree, std::size_t number) {
  trace_->decode(tree, limits_[number], limits_[number + 1], nullptr, trace_->batch);
}

Slice SliceDecoder::decode(std::size_t number, Consumer& consumer) {
  guess(*work_, number, &consumer);
  return decode_from(number, consumer);
}

Slice SliceDecoder::decode_from(std::size_t number, Consumer& consumer) {
  DecodeTree& tree = *work_;
  tree.reset_statistics();
  const std::uint64_t resets = tree.resets();
  const std::size_t end = limits_[number + 1];
  Slice slice;
  slice.pieces.push_back(consumer.begin());
  for (std::size_t at = limits_[number]; at < end && !tree.failed();) {
    Piece& piece = *slice.pieces.back();
    at = trace_->decode(tree, at, std::min(at + kStep, end), &piece, trace_->batch);
    if (step_ && !step_(trace_->index_at(at))) {
      stopped_ = true;
      return slice;
    }
    if (piece.held() >= Piece::kMostHeld && at < end) {
      piece.end();
      slice.pieces.push_back(consumer.begin());
    }
  }
  slice.pieces.back()->end();
  const bool reset = tree.resets() != resets;
  const bool is_last = number + 1 == count();
  end_ = tree.clone();
  if (!is_last) guess(*ahead_, number + 1);
  slice.seam.framing = is_last || end_->same_framing(*ahead_);
  const auto ends = end_->sources();
  const auto guesses = ahead_->sources();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    slice.seam.sources.push_back({.id = ends[i]->trace_id(),
                                  .active = reset || ends[i]->statistics().total_bytes != 0,
                                  .holds = is_last || ends[i]->same_state(*guesses[i])});
  }
  slice.end = consumer.begin();
  trace_->finish(tree, *slice.end, trace_->batch);
  slice.end->end();
  return slice;
}

SliceJoiner::SliceJoiner(SliceDecoder& decoder)
    : decoder_(decoder), origins_(decoder.start_->sources().size()), ends_(origins_.size()) {}

bool Seam::is_of(const DecodeTree& tree) const {
  return std::ranges::equal(sources, tree.sources(), {}, &OfSource::id, &Source::trace_id);
}

bool SliceJoiner::fits(const Seam& seam) const {
  if (framing_.kind != Origin::Kind::kGuess || !seam.is_of(*decoder_.start_)) return false;
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    if (seam.sources[i].active && origins_[i].kind != Origin::Kind::kGuess) return false;
  }
  return true;
}

std::vector<std::size_t> SliceJoiner::slices_before() const {
  std::vector<std::size_t> slices;
  if (framing_.kind == Origin::Kind::kSlice) slices.push_back(framing_.slice);
  for (const Origin& origin : origins_)
    if (origin.kind == Origin::Kind::kSlice) slices.push_back(origin.slice);
  std::ranges::sort(slices);
  slices.erase(std::ranges::unique(slices).begin(), slices.end());
  return slices;
}

std::vector<std::size_t> SliceJoiner::reads() const {
  std::vector<std::size_t> slices = slices_before();
  slices.push_back(next_);
  return slices;
}

void SliceJoiner::take(const Seam& seam) {
  if (!seam.framing) framing_ = {.kind = Origin::Kind::kSlice, .slice = next_};
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    // A source without bytes keeps its state, which was not compared.
    ends_[i] = origins_[i].kind == Origin::Kind::kGuess;
    if (ends_[i] && !seam.sources[i].holds)
      origins_[i] = {.kind = Origin::Kind::kSlice, .slice = next_};
  }
  ++next_;
}

Slice SliceJoiner::decode_again(Consumer& consumer) {
  restore_truth(*decoder_.work_);
  Slice slice = decoder_.decode_from(next_, consumer);
  ++again_;
  ++next_;
  if (decoder_.stopped()) return slice;
  held_ = std::move(decoder_.end_);
  const auto origin = [](bool holds) {
    return Origin{.kind = holds ? Origin::Kind::kGuess : Origin::Kind::kHeld};
  };
  framing_ = origin(slice.seam.framing);
  for (std::size_t i = 0; i < origins_.size(); ++i)
    origins_[i] = origin(slice.seam.sources[i].holds);
  ends_.assign(ends_.size(), true);
  return slice;
}

/// Each slice whose end is needed was decoded from a guess that is right for the sources of which
/// the end is needed, and for the frames.
void SliceJoiner::restore_truth(DecodeTree& tree) {
  std::map<std::size_t, std::unique_ptr<DecodeTree>> after;
  for (const std::size_t slice : slices_before()) {
    auto& state = after[slice] = decoder_.start_->clone();
    decoder_.guess(*state, slice);
    decoder_.pass(*state, slice);
  }
  decoder_.guess(tree, next_);
  const auto guesses = tree.clone();
  // The frames come first, because restore() takes them with all sources.
  if (framing_.kind == Origin::Kind::kHeld) tree.restore(*held_);
  if (framing_.kind == Origin::Kind::kSlice) tree.restore(*after.at(framing_.slice));
  const auto sources = tree.sources();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Origin& origin = origins_[i];
    const DecodeTree& from = origin.kind == Origin::Kind::kGuess  ? *guesses
                             : origin.kind == Origin::Kind::kHeld ? *held_
                                                                  : *after.at(origin.slice);
    sources[i]->restore(*from.sources()[i]);
  }
}

}  // namespace waymark::parallel
