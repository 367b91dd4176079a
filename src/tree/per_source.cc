#include "waymark/tree/per_source.h"

#include <algorithm>

namespace waymark {
namespace {

frames::IdSet ids_of(std::span<Source* const> sources) {
  frames::IdSet ids;
  for (const Source* source : sources) ids.set(source->trace_id() & 0x7F);
  return ids;
}

}  // namespace

PerSourceDriver::PerSourceDriver(std::optional<frames::Options> formatted,
                                 std::vector<Source*> sources, Observer* observer,
                                 std::size_t batch)
    : sources_(std::move(sources)), observer_(observer), batch_(std::max<std::size_t>(batch, 1)) {
  std::ranges::sort(sources_, {}, [](const Source* source) { return source->trace_id(); });
  if (formatted) splitter_.emplace(*formatted, ids_of(sources_));
}

void PerSourceDriver::drain(Source& source, const ElementBatch& take) {
  while (const std::size_t count = source.next(batch_))
    take(source, std::span<const Element>(batch_).first(count));
}

void PerSourceDriver::drain_all(frames::StreamSplitter& splitter, const ElementBatch& take) {
  for (Source* source : sources_) {
    frames::StreamBuffer& stream = splitter.stream(source->trace_id());
    if (stream.empty()) continue;
    source->feed(stream.block());
    drain(*source, take);
    stream.clear();
  }
}

Result<void> PerSourceDriver::decode(TraceIndex index, Bytes capture, const ElementBatch& take) {
  while (!capture.empty()) {
    const Bytes block = capture.first(std::min(kBlockSize, capture.size()));
    if (splitter_) {
      WAYMARK_TRY(splitter_->feed(index, block));
      frames::Step step = frames::Step::kFrame;
      while (step != frames::Step::kNeedInput) {
        step = splitter_->step();
        drain_all(*splitter_, take);
        if (step == frames::Step::kSkipped || step == frames::Step::kError) {
          if (observer_ != nullptr) observer_->on_diagnostic(splitter_->error());
          if (step == frames::Step::kError) splitter_->resync();
        }
        // What a source had begun does not go on behind lost bytes.
        if (step == frames::Step::kReset || step == frames::Step::kError)
          for (Source* source : sources_) source->reset();
      }
    } else if (!sources_.empty()) {
      const frames::Run run{.position = 0, .index = index};
      sources_.front()->feed({block, {&run, 1}});
      drain(*sources_.front(), take);
    }
    capture = capture.subspan(block.size());
    index += block.size();
  }
  return {};
}

void PerSourceDriver::finish(const ElementBatch& take) {
  for (Source* source : sources_) {
    source->finish();
    drain(*source, take);
  }
}

frames::IdSet PerSourceDriver::seen() const {
  return splitter_ ? splitter_->seen() : frames::IdSet{};
}

frames::Statistics PerSourceDriver::frame_statistics() const {
  return splitter_ ? splitter_->statistics(ids_of(sources_)) : frames::Statistics{};
}

}  // namespace waymark
