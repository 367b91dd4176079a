#include "pass.h"

#include <algorithm>
#include <cstring>

#include "waymark/frames/splitter.h"

namespace waymark::index {
namespace {

constexpr std::uint64_t kBlocksBeforeAsking = 64;

/// All IDs that can have a source, and the formatter's own IDs except padding.
frames::IdSet counted_ids() {
  frames::IdSet ids;
  for (TraceId id = 1; id < kTraceIdCount - 1; ++id) ids.set(id);
  return ids;
}

}  // namespace

Pass::Pass(inputs::Capture& capture, std::uint64_t granule, PassSink& sink)
    : capture_(capture), granule_(granule), sink_(sink) {
  const bool framed = capture.tree().formatted();
  for (const inputs::CaptureSource& source : capture.sources()) {
    Part part;
    part.id = source.id;
    part.stream = framed ? source.id : TraceId{0};
    part.source = source.source;
    parts_.push_back(part);
  }
  for (Part& part : parts_) {
    part_of_[part.stream] = &part;
    part.source->reset();
    part.source->set_observer(this, part.stream);
  }
  if (const auto options = inputs::frame_options(capture.framing()))
    splitter_.emplace(*options, counted_ids());
}

Pass::~Pass() {
  for (const Part& part : parts_) part.source->set_observer(nullptr, part.stream);
}

void Pass::on_landmark(const Landmark& landmark, TraceId stream) {
  Part& part = *part_of_[stream];
  Landmark shifted = landmark;
  if (shifted.kind == LandmarkKind::kAlign) {
    part.align = shifted.index;
  } else if (shifted.kind == LandmarkKind::kSync) {
    // Decoding cannot start where only the second half is.
    if (!part.align) return;
    shifted.index = *part.align;
    part.align.reset();
  }
  if (accepting_) sink_.on_landmark(part.id, shifted);
}

void Pass::begin_block(std::uint64_t number) {
  present_.block = {};
  present_.block.number = number;
  present_.id_bytes.fill(0);
  if (splitter_) present_.block.place = started_ ? splitter_->place() : entered_;
  started_ = true;
  for (Part& part : parts_) {
    part.bytes = 0;
    part.before = part.source->statistics();
  }
}

Result<bool> Pass::end_block() {
  if (!accepting_) return ++passed_over_ % kBlocksBeforeAsking != 0 || !sink_.stops();
  for (TraceId id = 0; id < kTraceIdCount; ++id)
    if (present_.id_bytes[id] != 0) present_.block.bytes.emplace_back(id, present_.id_bytes[id]);
  present_.counts.clear();
  for (const Part& part : parts_) {
    const SourceStatistics now = part.source->statistics();
    const SourceStatistics& before = part.before;
    const Tally tally{.bytes = part.bytes,
                      .packets = now.packets - before.packets,
                      .sync_points = now.sync_points - before.sync_points,
                      .unsynced_bytes = now.unsynced_bytes - before.unsynced_bytes,
                      .bad_headers = now.bad_headers - before.bad_headers,
                      .bad_sequences = now.bad_sequences - before.bad_sequences};
    if (tally != Tally{}) present_.counts.push_back({part.id, tally});
  }
  return sink_.on_block(present_.block, present_.counts);
}

Result<bool> Pass::run(const Entry& entry, std::uint64_t first, std::uint64_t end) {
  for (Part& part : parts_) part.first = entry.first[part.stream];
  if (splitter_ && !entry.from_start) {
    splitter_->go_on(entry.current_id);
    entered_ = frames::Demux::Place{entry.index, entry.current_id};
  }
  position_ = entry.index;
  return go_on(first, end);
}

Result<bool> Pass::go_on(std::uint64_t first, std::uint64_t end) {
  capture_.seek(position_);
  accepting_ = false;
  bool open = false;
  while (const auto block = capture_.next_block()) {
    Bytes rest = block->bytes;
    while (!rest.empty()) {
      const std::uint64_t number = position_ / granule_;
      if (!open || position_ % granule_ == 0) {
        if (open) {
          const Result<bool> more = end_block();
          if (!more || !*more) return more;
        }
        if (number >= end) return true;
        accepting_ = number >= first;
        begin_block(number);
        open = true;
      }
      const auto size = static_cast<std::size_t>(
          std::min<std::uint64_t>(rest.size(), granule_ - position_ % granule_));
      WAYMARK_TRY(feed(position_, rest.first(size)));
      rest = rest.subspan(size);
      position_ += size;
    }
  }
  if (!open) return true;
  for (const Part& part : parts_) {
    if (part.first == kNoIndex) continue;
    part.source->finish();
    (void)part.source->next({});
  }
  return end_block();
}

Result<void> Pass::feed(TraceIndex index, Bytes bytes) {
  if (!splitter_) {
    if (parts_.empty()) return {};
    parts_.front().bytes += bytes.size();
    const frames::Run run{.position = 0, .index = index};
    parts_.front().source->feed({bytes, {&run, 1}});
    (void)parts_.front().source->next({});
    return {};
  }
  if (capture_.framing() != inputs::Framing::kMemoryAligned) count_frame_syncs(index, bytes);
  WAYMARK_TRY(splitter_->feed(index, bytes));
  frames::Step step = frames::Step::kFrame;
  while (step != frames::Step::kNeedInput) {
    step = splitter_->step();
    drain(*splitter_);
    if (step == frames::Step::kError) {
      ++present_.block.errors;
      splitter_->resync();
    }
    if (step == frames::Step::kReset) {
      ++present_.block.resets;
      for (Part& part : parts_) {
        part.source->finish_piece();
        (void)part.source->next({});
      }
    }
    if (step == frames::Step::kReset || step == frames::Step::kError) reset_sources();
  }
  return {};
}

void Pass::drain(frames::StreamSplitter& splitter) {
  take_triggers(splitter);
  for (TraceId id = 1; id < kTraceIdCount - 1; ++id) {
    frames::StreamBuffer& stream = splitter.stream(id);
    if (stream.empty()) continue;
    present_.id_bytes[id] += static_cast<std::uint32_t>(stream.size());
    if (part_of_[id] != nullptr) {
      part_of_[id]->bytes += stream.size();
      feed_source(*part_of_[id], stream.block());
    }
    stream.clear();
  }
}

void Pass::feed_source(Part& part, const frames::StreamBlock& block) {
  if (part.first == 0) {
    part.source->feed(block);
    (void)part.source->next({});
    return;
  }
  rest_.clear();
  frames::for_each_segment(block, [&](std::size_t at, TraceIndex index, std::size_t size) {
    if (index + size <= part.first) return;
    const std::size_t passed = part.first > index ? in_memory(part.first - index) : 0;
    rest_.append(index + passed, block.bytes.subspan(at + passed, size - passed));
  });
  if (rest_.empty()) return;
  part.first = 0;
  part.source->feed(rest_.block());
  (void)part.source->next({});
}

// In an intact capture the pattern is always a sync.  A sync belongs to the block of its last byte.
void Pass::count_frame_syncs(TraceIndex index, Bytes bytes) {
  const std::uint8_t* const begin = bytes.data();
  const std::uint8_t* const end = begin + bytes.size();
  const auto found = [&](const std::uint8_t* last) {
    if (present_.block.frame_syncs++ == 0)
      present_.block.first_frame_sync = index + static_cast<std::size_t>(last - begin) - 3;
  };
  const std::uint8_t* at = begin;
  while (at != end) {
    if (sync_matched_ == 0) {
      at = static_cast<const std::uint8_t*>(
          std::memchr(at, 0xFF, static_cast<std::size_t>(end - at)));
      if (at == nullptr) return;
    }
    if (*at == 0xFF) {
      sync_matched_ = std::min(sync_matched_ + 1, 3U);
    } else {
      if (*at == 0x7F && sync_matched_ == 3) found(at);
      sync_matched_ = 0;
    }
    ++at;
  }
}

void Pass::take_triggers(frames::StreamSplitter& splitter) {
  const frames::StreamBlock stream = splitter.stream(kTriggerId).block();
  frames::for_each_segment(stream, [&](std::size_t at, TraceIndex index, std::size_t size) {
    if (present_.block.triggers == 0) present_.block.first_trigger = index;
    present_.block.triggers += size;
    if (!accepting_) return;
    for (std::size_t i = 0; i < size; ++i) {
      Landmark landmark;
      landmark.index = index + i;
      landmark.value = stream.bytes[at + i];
      landmark.kind = LandmarkKind::kTrigger;
      sink_.on_landmark(kTriggerId, landmark);
    }
  });
}

void Pass::reset_sources() {
  for (Part& part : parts_) {
    part.source->reset();
    part.align.reset();
  }
}

}  // namespace waymark::index
