#include "waymark/inputs/code_memory.h"

#include "waymark/etmv3/memory_space.h"
#include "waymark/etmv4/memory_space.h"
#include "waymark/image/image_selector.h"
#include "waymark/mtb/memory_space.h"
#include "waymark/ptm/memory_space.h"

namespace waymark::inputs {

CodeMemory::CodeMemory(const Capture& capture) : image_(capture.image()) {
  for (const CaptureSource& source : capture.sources()) {
    if (source.id >= kTraceIdCount) continue;
    profiles_[source.id] = source.profile;
    switch (source.source->protocol()) {
      case Protocol::kEtmV4:
      case Protocol::kEte:
        spaces_[source.id] = etmv4::space_of;
        break;
      case Protocol::kPtm:
        spaces_[source.id] = ptm::space_of;
        break;
      case Protocol::kEtmV3:
        spaces_[source.id] = etmv3::space_of;
        break;
      case Protocol::kMtb:
        spaces_[source.id] = mtb::space_of;
        break;
      case Protocol::kStm:
      case Protocol::kItm:
      case Protocol::kEtmV4Data:
        break;
    }
  }
  // All sources of a live trace have one protocol, and some may appear later.
  if (!capture.live() || capture.sources().empty()) return;
  const TraceId first = capture.sources().front().id;
  if (first >= kTraceIdCount) return;
  for (Space& space : spaces_)
    if (space == nullptr) space = spaces_[first];
}

Bytes CodeMemory::read(const Element& element, std::uint64_t address,
                       std::span<std::uint8_t> scratch) const {
  if (element.trace_id >= kTraceIdCount || spaces_[element.trace_id] == nullptr) return {};
  const image::ImageSelector* const selector = image_.selector();
  const image::Image& image =
      selector == nullptr
          ? image_
          : selector->image_at(element.index, element.trace_id, execution_context(element));
  return image.read(address, spaces_[element.trace_id](element), element.trace_id, scratch);
}

}  // namespace waymark::inputs
