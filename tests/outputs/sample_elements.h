// Elements that several tests of this module write.
#pragma once

#include "waymark/element/element.h"

namespace waymark::outputs {

inline Element range_element(std::uint64_t start, std::uint64_t end, TraceId id = 0x10) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.index = 21;
  element.trace_id = id;
  element.start = start;
  element.end = end;
  element.count = static_cast<std::uint32_t>((end - start) / 4);
  element.isa = isa::Isa::kA64;
  element.last_type = isa::InstrType::kBranch;
  element.last_size = 4;
  return element;
}

inline Element call_element(std::uint64_t start, std::uint64_t end, TraceId id = 0x10) {
  Element element = range_element(start, end, id);
  element.flags = kElementExecuted;
  element.last_subtype = isa::InstrSubtype::kBranchLink;
  return element;
}

inline Element element_of(ElementKind kind, TraceId id = 0x10) {
  Element element;
  element.kind = kind;
  element.index = 30;
  element.trace_id = id;
  return element;
}

inline Element itm_element(ItmKind kind, std::uint32_t source, std::uint32_t size,
                           std::uint64_t value) {
  Element element = element_of(ElementKind::kItmTrace);
  element.extra = static_cast<std::uint8_t>(kind);
  element.number = source;
  element.extra_value = size;
  element.start = value;
  return element;
}

inline Element stimulus_element(std::uint32_t port, std::uint8_t character) {
  return itm_element(ItmKind::kSoftware, port, 1, character);
}

}  // namespace waymark::outputs
