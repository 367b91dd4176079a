#include "waymark/count/itm_counts.h"

#include <algorithm>

namespace waymark::count {

void ItmCounts::observe(std::span<const Element> elements) {
  for (const Element& element : elements) {
    if (element.kind == ElementKind::kNoSync) wait({.lost = true});
    if (element.kind != ElementKind::kItmTrace) continue;
    if ((element.extra & kItmOverflow) != 0) {
      ++overflows;
      wait({.lost = true});
    }
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
        give_time(element.timestamp);
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
    wait({.number = event.exception, .action = event.action});
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

void ItmCounts::wait(const Waiting& event) {
  if (waiting_.size() == kMostWaiting) {
    waiting_.clear();
    waiting_.push_back({.lost = true});
  }
  waiting_.push_back(event);
}

void ItmCounts::give_time(std::uint64_t time) {
  const ExceptionStack::Moment now{.time = time};
  const auto left = [this](const ExceptionStack::Handled& handled,
                           const ExceptionStack::Moment& end) {
    if (!handled.whole || end.time < handled.begin.time) return;
    Exception& exception = exceptions[handled.number];
    const std::uint64_t duration = end.time - handled.begin.time;
    exception.shortest =
        exception.measured == 0 ? duration : std::min(exception.shortest, duration);
    exception.longest = std::max(exception.longest, duration);
    exception.deepest = std::max(exception.deepest, handled.depth);
    exception.total += duration;
    exception.own += duration - std::min(duration, handled.preempted);
    ++exception.measured;
  };
  for (const Waiting& event : waiting_) {
    if (event.lost) {
      stack_.lose(now, left);
    } else if (event.action == DwtExceptionAction::kEntered) {
      stack_.enter(event.number, now);
    } else if (event.action == DwtExceptionAction::kExited) {
      stack_.exit(event.number, now, left);
    } else if (event.action == DwtExceptionAction::kReturnedTo) {
      stack_.return_to(event.number, now, left);
    }
  }
  waiting_.clear();
}

bool ItmCounts::empty() const {
  return writes + local_timestamps + global_timestamps == 0 &&
         std::ranges::all_of(dwt, [](std::uint64_t count) { return count == 0; });
}

}  // namespace waymark::count
