// Elements with and without times, for the tests of this module.
#pragma once

#include "waymark/element/element.h"

namespace waymark::merge {

inline Element plain(TraceId id, TraceIndex index) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.trace_id = id;
  element.index = index;
  return element;
}

inline Element stamp(TraceId id, TraceIndex index, std::uint64_t time) {
  Element element = plain(id, index);
  element.kind = ElementKind::kTimestamp;
  element.timestamp = time;
  element.flags = kElementHasTimestamp;
  return element;
}

inline Element cycles(TraceId id, TraceIndex index, std::uint32_t count) {
  Element element = plain(id, index);
  element.kind = ElementKind::kCycleCount;
  element.cycle_count = count;
  element.flags = kElementHasCycleCount;
  return element;
}

inline Element itm(TraceId id, TraceIndex index, ItmKind kind) {
  Element element = plain(id, index);
  element.kind = ElementKind::kItmTrace;
  element.extra = static_cast<std::uint8_t>(kind);
  return element;
}

inline Element local(TraceId id, TraceIndex index, std::uint64_t ticks) {
  Element element = itm(id, index, ItmKind::kTimestampSync);
  element.start = ticks;
  element.flags = kElementHasTimestamp;
  return element;
}

inline Element global(TraceId id, TraceIndex index, std::uint64_t time) {
  Element element = itm(id, index, ItmKind::kGlobalTimestamp);
  element.timestamp = time;
  element.flags = kElementHasTimestamp;
  return element;
}

}  // namespace waymark::merge
