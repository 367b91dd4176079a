#include "source_kinds.h"

#include <algorithm>

namespace waymark::view {
namespace {

bool traces_instructions(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
    case Protocol::kPtm:
    case Protocol::kEtmV4:
    case Protocol::kEte:
    case Protocol::kMtb:
      return true;
    default:
      return false;
  }
}

bool has_time(const Element& element) {
  if ((element.flags & kElementTimeIsPartial) != 0) return false;
  switch (element.kind) {
    case ElementKind::kTimestamp:
      return true;
    case ElementKind::kSwTrace:
      return (element.extra & kSwTimestamp) != 0;
    case ElementKind::kItmTrace:
      return static_cast<ItmKind>(element.extra & kItmKindMask) == ItmKind::kGlobalTimestamp;
    default:
      return false;
  }
}

}  // namespace

SourceKinds::SourceKinds(const inputs::Capture& capture) {
  for (const inputs::CaptureSource& source : capture.sources()) {
    executes_[source.id] = traces_instructions(source.source->protocol());
    all_execute_ = all_execute_ && executes_[source.id];
  }
  local_times_ =
      capture.sources().size() == 1 && capture.sources()[0].source->protocol() == Protocol::kItm;
}

std::optional<ElementTime> SourceKinds::time_of(const Element& element) const {
  if (local_times_ ? is_local_timestamp(element) : has_time(element))
    return ElementTime{.time = element.timestamp, .is_of_those_before = local_times_};
  return std::nullopt;
}

}  // namespace waymark::view
