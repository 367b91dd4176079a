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

void PerSourceDriver::work_all(frames::StreamSplitter& splitter, const SourceWork& work) {
  for (Source* source : sources_) {
    frames::StreamBuffer& stream = splitter.stream(source->trace_id());
    if (stream.empty()) continue;
    source->feed(stream.block());
    work(*source);
    stream.clear();
  }
}

Result<void> PerSourceDriver::decode(TraceIndex index, Bytes capture, const ElementBatch& take) {
  return work(index, capture, [&](Source& source) { drain(source, take); });
}

Result<void> PerSourceDriver::work(TraceIndex index, Bytes capture, const SourceWork& work) {
  while (!capture.empty()) {
    const Bytes block = capture.first(std::min(kBlockSize, capture.size()));
    if (splitter_) {
      WAYMARK_TRY(splitter_->feed(index, block));
      frames::Step step = frames::Step::kFrame;
      while (step != frames::Step::kNeedInput) {
        step = splitter_->step();
        work_all(*splitter_, work);
        if (step == frames::Step::kSkipped || step == frames::Step::kError) {
          if (observer_ != nullptr) observer_->on_diagnostic(splitter_->error());
          if (step == frames::Step::kError) splitter_->resync();
        }
        for (Source* source : sources_) {
          if (step == frames::Step::kReset) {
            source->finish_piece();
            work(*source);
          }
          // A packet that a source had begun does not continue after lost bytes.
          if (step == frames::Step::kReset || step == frames::Step::kError) source->reset();
        }
      }
    } else if (!sources_.empty()) {
      const frames::Run run{.position = 0, .index = index};
      sources_.front()->feed({block, {&run, 1}});
      work(*sources_.front());
    }
    capture = capture.subspan(block.size());
    index += block.size();
  }
  return {};
}

void PerSourceDriver::finish(const ElementBatch& take) {
  finish_work([&](Source& source) { drain(source, take); });
}

void PerSourceDriver::finish_work(const SourceWork& work) {
  for (Source* source : sources_) {
    source->finish();
    work(*source);
  }
}

frames::IdSet PerSourceDriver::seen() const {
  return splitter_ ? splitter_->seen() : frames::IdSet{};
}

frames::Statistics PerSourceDriver::frame_statistics() const {
  return splitter_ ? splitter_->statistics(ids_of(sources_)) : frames::Statistics{};
}

}  // namespace waymark
