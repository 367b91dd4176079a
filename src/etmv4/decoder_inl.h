// Functions that several of the decoder's files use.
#pragma once

#include <cstddef>

#include "waymark/base/bits.h"
#include "waymark/element/words.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/flow/path_inl.h"

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
  Element& slot = output_.next();
  slot = context_;
  slot.kind = kind;
  slot.index = index;
  return slot;
}

// Writes all of `*to`.
inline void Decoder::write_range(Element* to, TraceIndex index, const flow::Block& block,
                                 bool taken) const {
  static_assert(kElementExecuted == 1 << 0 && kElementConditional == 1 << 1);
  const std::uint32_t flags = std::uint32_t{taken} | std::uint32_t{block.conditional} << 1;
  const auto instruction =
      load_le<std::uint32_t>(reinterpret_cast<const std::uint8_t*>(&block.isa));
  const std::uint64_t described = word_of(context_, offsetof(Element, kind)) & 0xFFFF'FFFF;
  set_words(to, offsetof(Element, index), index, block.start);
  set_words(to, offsetof(Element, end), block.end, 0);
  set_words(to, offsetof(Element, count), block.count,
            word_of(context_, offsetof(Element, context_id)));
  set_words(to, offsetof(Element, kind),
            described | std::uint64_t{flags} << kFlagsShift |
                std::uint64_t{instruction} << kInstructionShift,
            word_of(context_, offsetof(Element, exception_level)));
}

inline void Decoder::emit_range(const flow::Block& block, TraceIndex index, bool executed) {
  write_range(&emit(ElementKind::kInstrRange, index), index, block, executed);
}

}  // namespace waymark::etmv4
