// Elements as the reference's structure, and back.  See opencsd-c-api.md 7 and 8.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "opencsd/trc_gen_elem_types.h"
#include "waymark/element/element.h"

namespace waymark::compat {

/// Where a bit field of 32 bits has the member that begins after `first` bits: bit fields begin at
/// the lowest bit on little-endian machines, and at the highest on big-endian ones.
constexpr unsigned bit_place(unsigned first, unsigned width = 1) {
  return std::endian::native == std::endian::little ? first : 32 - first - width;
}

/// flag_bits of a range without the size of the last instruction, by the lowest flags of its
/// element.
inline constexpr std::array kRangeBits = [] {
  static_assert((kElementExecuted | kElementConditional | kElementHasCycleCount) == 7);
  std::array<std::uint32_t, 8> bits{};
  for (std::uint32_t flags = 0; flags != bits.size(); ++flags) {
    if ((flags & kElementExecuted) != 0) bits[flags] |= 1U << bit_place(0);
    if ((flags & kElementHasCycleCount) != 0) bits[flags] |= 1U << bit_place(4);
    if ((flags & kElementConditional) != 0) bits[flags] |= 1U << bit_place(10);
  }
  return bits;
}();

/// One structure, filled again for each element of a source.  Ranges repeat the members of the
/// context, so only kPeContext and other elements write them.
class ElementStruct {
 public:
  ElementStruct();

  /// Valid until the next call.  nullptr: the reference has no such element (data trace).
  const ocsd_generic_trace_elem* fill(const Element& element) {
    if (element.kind == ElementKind::kInstrRange) [[likely]] {
      return fill_range(element);
    }
    return fill_other(element);
  }

  const ocsd_generic_trace_elem* fill_range(const Element& element) {
    fill_range(element, elem_);
    return &elem_;
  }

  /// The same for a structure of the caller.
  static void fill_range(const Element& element, ocsd_generic_trace_elem& to) {
    const std::uint32_t bits = kRangeBits[element.flags % kRangeBits.size()] |
                               std::uint32_t{element.last_size} << bit_place(1, 3);
    to.elem_type = OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    to.isa = static_cast<ocsd_isa>(element.isa);
    to.st_addr = element.start;
    to.en_addr = element.end;
    to.cycle_count = element.cycle_count;
    to.last_i_type = static_cast<ocsd_instr_type>(element.last_type);
    to.last_i_subtype = static_cast<ocsd_instr_subtype>(element.last_subtype);
    to.flag_bits = bits;
    to.num_instr_range = element.count;
  }

 private:
  const ocsd_generic_trace_elem* fill_other(const Element& element);
  void fill_context(const Element& element);
  void fill_software_trace(const Element& element);
  void fill_itm_trace(const Element& element);

  ocsd_generic_trace_elem elem_;
  // The context in it, as words of the element that it is from.
  std::uint64_t context_ids_ = 0;
  std::uint32_t context_state_ = ~std::uint32_t{0};  ///< No element has this one.
  std::uint64_t payload_ = 0;                        ///< What ptr_extended_data points to.
};

/// The element that the structure describes; index and trace ID do not change.
void read_element(const ocsd_generic_trace_elem& from, Element& to);

}  // namespace waymark::compat
