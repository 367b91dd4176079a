// What several of the decoder's files use.
#pragma once

#include "waymark/etmv4/decoder.h"

namespace waymark::etmv4 {

inline isa::Isa isa_of(bool sf, unsigned is) {
  if (sf) return isa::Isa::kA64;
  return is != 0 ? isa::Isa::kT32 : isa::Isa::kA32;
}

inline Fault fault_of(flow::BlockEnd ended) {
  switch (ended) {
    case flow::BlockEnd::kInvalidOpcode:
      return Fault::kInvalidOpcode;
    case flow::BlockEnd::kRangeLimit:
      return Fault::kRangeLimit;
    case flow::BlockEnd::kNotAccessible:
      return Fault::kMemoryAccess;
    default:
      return Fault::kUnsupportedConfig;
  }
}

inline Element& Decoder::emit(ElementKind kind, TraceIndex index) {
  Element* slot = out_;
  if (staging_ || out_ == out_end_) [[unlikely]] {
    slot = &staged_.emplace_back();
  } else {
    ++out_;
  }
  *slot = context_;
  slot->kind = kind;
  slot->index = index;
  return *slot;
}

inline void Decoder::emit_range(const flow::Block& block, TraceIndex index, bool executed) {
  Element& range = emit(ElementKind::kInstrRange, index);
  range.start = block.start;
  range.end = block.end;
  range.count = block.count;
  range.isa = block.isa;
  range.last_type = block.type;
  range.last_subtype = block.subtype;
  range.last_size = block.last_size;
  range.flags = static_cast<std::uint16_t>(range.flags | (executed ? kElementExecuted : 0) |
                                           (block.conditional ? kElementConditional : 0));
}

}  // namespace waymark::etmv4
