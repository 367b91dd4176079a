#include "waymark/count/itm_counts.h"

#include <algorithm>

namespace waymark::count {

void ItmCounts::observe(std::span<const Element> elements) {
  for (const Element& element : elements) {
    if (element.kind != ElementKind::kItmTrace) continue;
    overflows += (element.extra & kItmOverflow) != 0 ? 1 : 0;
    switch (static_cast<ItmKind>(element.extra & kItmKindMask)) {
      case ItmKind::kSoftware: {
        Port& port = ports[element.number];
        ++port.writes;
        port.bytes += element.extra_value;
        ++writes;
        break;
      }
      case ItmKind::kHardware:
        observe_dwt(element);
        break;
      case ItmKind::kGlobalTimestamp:
        ++global_timestamps;
        break;
      default:
        ++local_timestamps;
        break;
    }
  }
}

void ItmCounts::observe_dwt(const Element& element) {
  const DwtEvent event =
      dwt_event(element.number, element.extra_value, static_cast<std::uint32_t>(element.start));
  ++dwt[static_cast<std::size_t>(event.kind)];
  if (event.kind == DwtKind::kException) {
    Exception& exception = exceptions[event.exception];
    exception.entered += event.action == DwtExceptionAction::kEntered ? 1 : 0;
    exception.exited += event.action == DwtExceptionAction::kExited ? 1 : 0;
    exception.returned += event.action == DwtExceptionAction::kReturnedTo ? 1 : 0;
  } else if (event.kind == DwtKind::kPcSample) {
    if (const auto known = samples.find(event.value); known != samples.end()) {
      ++known->second;
    } else if (samples.size() < kMaxSamples) {
      samples.emplace(event.value, 1);
    } else {
      ++unlisted_samples;
    }
  }
}

bool ItmCounts::empty() const {
  return writes + local_timestamps + global_timestamps == 0 &&
         std::ranges::all_of(dwt, [](std::uint64_t count) { return count == 0; });
}

}  // namespace waymark::count
