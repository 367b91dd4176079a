// Elements as the reference's structure, and back.  See opencsd-c-api.md 7 and 8.
#pragma once

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

  /// The same for a structure of the caller.  Adjacent members are written together; most elements
  /// need nothing else.
  static void fill_range(const Element& element, ocsd_generic_trace_elem& to) {
    const unsigned flags = element.flags;
    const unsigned bits = (flags & kElementExecuted) << bit_place(0) |
                          (element.last_size & 7U) << bit_place(1, 3) |
                          (flags & kElementHasCycleCount) << (bit_place(4) - 2) |
                          (flags & kElementConditional) << (bit_place(10) - 1);
    put_pair(to.elem_type, OCSD_GEN_TRC_ELEM_INSTR_RANGE, static_cast<unsigned>(element.isa));
    to.st_addr = element.start;
    to.en_addr = element.end;
    put_pair(to.cycle_count, element.cycle_count, static_cast<unsigned>(element.last_type));
    put_pair(to.last_i_subtype, static_cast<unsigned>(element.last_subtype), bits);
    to.num_instr_range = element.count;
  }

 private:
  /// Two adjacent members of 32 bits each.
  template <class Member>
  static void put_pair(Member& member, std::uint32_t first, std::uint32_t second) {
    static_assert(sizeof member == sizeof first);
    std::uint64_t both = first | std::uint64_t{second} << 32;
    if constexpr (std::endian::native == std::endian::big) both = both << 32 | both >> 32;
    std::memcpy(static_cast<void*>(&member), &both, sizeof both);
  }

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

// Members that fill_range() writes as adjacent ones.
static_assert(offsetof(ocsd_generic_trace_elem, isa) == 4);
static_assert(offsetof(ocsd_generic_trace_elem, cycle_count) + 4 ==
              offsetof(ocsd_generic_trace_elem, last_i_type));
static_assert(offsetof(ocsd_generic_trace_elem, last_i_subtype) + 4 ==
              offsetof(ocsd_generic_trace_elem, flag_bits));
// fill_range() shifts flags by constants; these are their places.
static_assert(kElementExecuted == 1 << 0);       // last_instr_exec, bit 0
static_assert(kElementHasCycleCount == 1 << 2);  // has_cc, bit 4
static_assert(kElementConditional == 1 << 1);    // last_instr_cond, bit 10

/// The element that the structure describes; index and trace ID do not change.
void read_element(const ocsd_generic_trace_elem& from, Element& to);

}  // namespace waymark::compat
