#include "waymark/index/window_end.h"

namespace waymark::index {

bool WindowEnd::reached(TraceIndex index, std::span<const SourceProgress> sources,
                        const std::function<bool(TraceId)>& has_more,
                        const std::function<void(TraceId)>& leave) {
  if (index < to_) return false;
  if (bytes_at_end_.empty())
    for (const SourceProgress& source : sources) bytes_at_end_.push_back(source.bytes);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const SourceProgress& source = sources[i];
    if (passed_[source.id & (kTraceIdCount - 1)] || source.bytes - bytes_at_end_[i] > kHeldBack) {
      // This source is done, while others may need much more of the trace.
      leave(source.id);
    } else if (has_more(source.id)) {
      return false;
    }
  }
  return true;
}

bool WindowEnd::reached(TraceIndex index, inputs::Capture& capture, Index& of_capture) {
  if (index < to_) return false;
  std::vector<SourceProgress> sources;
  for (const inputs::CaptureSource& source : capture.sources())
    sources.push_back({source.id, source.source->statistics().total_bytes});
  const auto has_more = [&](TraceId id) {
    const Header& header = of_capture.header();
    if (!header.complete) return true;
    const auto more = of_capture.find(id, index / header.granule, Walk::kForward, {});
    return more && *more;
  };
  return reached(index, sources, has_more,
                 [&](TraceId id) { capture.tree().begin_at(id, kNoIndex); });
}

}  // namespace waymark::index
