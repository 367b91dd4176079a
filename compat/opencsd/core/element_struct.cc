#include "element_struct.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "payload.h"

namespace waymark::compat {
namespace {

constexpr bool has(const Element& element, ElementFlag flag) { return (element.flags & flag) != 0; }

/// Where structures up to version 1.3.3 had ptr_extended_data.  For software trace nothing else is
/// at this offset, so callers of either version find the pointer.
constexpr std::size_t kOldExtendedData = 80;
static_assert(offsetof(ocsd_generic_trace_elem, ptr_extended_data) >=
              kOldExtendedData + sizeof(const void*));
static_assert(offsetof(ocsd_generic_trace_elem, sw_trace_info) + sizeof(ocsd_swt_info_t) <=
              kOldExtendedData);

std::uint64_t payload_mask(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// -- The members of the structure, each once, in both directions. ---------------------------------

using Struct = ocsd_generic_trace_elem;

using Kinds = std::uint32_t;  ///< A bit for each ElementKind.
template <class... Kind>
constexpr Kinds kinds(Kind... kind) {
  return ((Kinds{1} << static_cast<unsigned>(kind)) | ...);
}
constexpr Kinds kAllKinds = ~Kinds{0};

struct Member {
  Kinds filled;  ///< The kinds of which the structure has a value here.
  Kinds taken;   ///< The kinds that take it back: a client may leave other members uninitialised.
  void (*fill)(const Element& from, Struct& to);
  void (*take)(const Struct& from, Element& to);
};

template <auto kFirst, auto... kRest>
constexpr auto& at(auto& object) {
  if constexpr (sizeof...(kRest) == 0) {
    return object.*kFirst;
  } else {
    return at<kRest...>(object.*kFirst);
  }
}

/// A member of the element, and the way to its place in the structure.
template <auto kElement, auto... kPlace>
constexpr Member member(Kinds filled, Kinds taken) {
  return {filled, taken,
          [](const Element& from, Struct& to) {
            auto& place = at<kPlace...>(to);
            place = static_cast<std::remove_reference_t<decltype(place)>>(from.*kElement);
          },
          [](const Struct& from, Element& to) {
            auto& value = to.*kElement;
            value = static_cast<std::remove_reference_t<decltype(value)>>(at<kPlace...>(from));
          }};
}
template <auto kElement, auto... kPlace>
constexpr Member member(Kinds both) {
  return member<kElement, kPlace...>(both, both);
}

constexpr std::array kMembers = {
    member<&Element::reason, &Struct::unsync_eot_info>(
        kinds(ElementKind::kNoSync, ElementKind::kEndOfTrace)),
    member<&Element::reason, &Struct::trace_on_reason>(kinds(ElementKind::kTraceOn)),
    member<&Element::start, &Struct::st_addr>(
        kinds(ElementKind::kInstrRangeNoPath, ElementKind::kAddrNacc), kAllKinds),
    member<&Element::end, &Struct::en_addr>(kinds(ElementKind::kInstrRangeNoPath), kAllKinds),
    member<&Element::count, &Struct::num_instr_range>(
        kinds(ElementKind::kInstrRangeNoPath),
        kinds(ElementKind::kInstrRange, ElementKind::kInstrRangeNoPath)),
    member<&Element::number, &Struct::exception_number>(
        kinds(ElementKind::kAddrNacc, ElementKind::kException)),
    member<&Element::timestamp, &Struct::timestamp>(
        kinds(ElementKind::kTimestamp),
        kinds(ElementKind::kTimestamp, ElementKind::kSwTrace, ElementKind::kItmTrace)),
    member<&Element::reason, &Struct::trace_event, &trace_event_t::ev_type>(
        kinds(ElementKind::kEvent)),
    member<&Element::number, &Struct::trace_event, &trace_event_t::ev_number>(
        kinds(ElementKind::kEvent)),
    member<&Element::reason, &Struct::sync_marker, &trace_marker_payload_t::type>(
        kinds(ElementKind::kSyncMarker)),
    member<&Element::number, &Struct::sync_marker, &trace_marker_payload_t::value>(
        kinds(ElementKind::kSyncMarker)),
    member<&Element::reason, &Struct::mem_trans>(kinds(ElementKind::kMemTrans)),
    member<&Element::exception_level, &Struct::sw_ite, &trace_sw_ite_t::el>(
        kinds(ElementKind::kInstrumentation)),
    member<&Element::value, &Struct::sw_ite, &trace_sw_ite_t::value>(
        kinds(ElementKind::kInstrumentation)),
};

/// A bit of Element::flags or Element::extra, and that of flag_bits or swt_flag_bits, which is a
/// bit field.
struct Bit {
  unsigned flag;
  unsigned place;
  Kinds filled;  ///< Every kind takes it back.
};
constexpr std::array kFlagBits = {
    Bit{kElementExecuted, 0, 0},               // last_instr_exec: by fill_range()
    Bit{kElementHasCycleCount, 4, kAllKinds},  // has_cc
    Bit{kElementFrequencyChange, 5, kinds(ElementKind::kTimestamp)},  // cpu_freq_change
    Bit{kElementReturnAddress, 6, kinds(ElementKind::kException)},    // excep_ret_addr
    Bit{kElementDataMarker, 7, kinds(ElementKind::kException)},       // excep_data_marker
    Bit{kElementHasTimestamp, 9, kinds(ElementKind::kTimestamp)},     // has_ts
    Bit{kElementConditional, 10, 0},     // last_instr_cond: by fill_range()
    Bit{kElementReturnIsTarget, 11, 0},  // excep_ret_addr_br_tgt: only with a return address
    Bit{kElementTailChain, 12, kinds(ElementKind::kException)},  // excep_M_tail_chain
};
constexpr std::array kSoftwareBits = {
    Bit{kSwMarker, 16, kAllKinds},       // swt_marker_packet
    Bit{kSwTimestamp, 17, kAllKinds},    // swt_has_timestamp
    Bit{kSwMasterError, 19, kAllKinds},  // swt_master_err
    Bit{kSwGlobalError, 20, kAllKinds},  // swt_global_err
    Bit{kSwTrigger, 21, kAllKinds},      // swt_trigger_event
    Bit{kSwFrequency, 22, kAllKinds},    // swt_frequency
    Bit{kSwIdValid, 23, kAllKinds},      // swt_id_valid
};

constexpr int shift_of(const Bit& bit) {
  return static_cast<int>(bit_place(bit.place)) - std::countr_zero(bit.flag);
}
/// The flags of a kind that move by this number of places.
template <const auto& kBits, Kinds kKind>
constexpr unsigned moved_by(int shift) {
  unsigned flags = 0;
  for (const Bit& bit : kBits)
    if ((bit.filled & kKind) != 0 && shift_of(bit) == shift) flags |= bit.flag;
  return flags;
}
/// The bits of the structure for an element of one kind.
template <const auto& kBits, Kinds kKind, int kShift = -8>
[[gnu::always_inline]] inline std::uint32_t bits_of(unsigned flags) {
  constexpr int kMostPlaces = 31;
  if constexpr (kShift > kMostPlaces) {
    return 0;
  } else {
    constexpr unsigned kMoved = moved_by<kBits, kKind>(kShift);
    const unsigned moved = kShift < 0 ? (flags & kMoved) >> (kShift < 0 ? -kShift : 0)
                                      : (flags & kMoved) << (kShift < 0 ? 0 : kShift);
    return moved | bits_of<kBits, kKind, kShift + 1>(flags);
  }
}
/// The flags of the element for bits of the structure.
template <const auto& kBits>
constexpr unsigned flags_of(std::uint32_t bits) {
  unsigned flags = 0;
  for (const Bit& bit : kBits)
    if ((bits >> bit_place(bit.place) & 1) != 0) flags |= bit.flag;
  return flags;
}

/// The entries of the tables for one kind.
template <Kinds kKind, std::size_t kAt = 0>
[[gnu::always_inline]] inline void fill_kind(const Element& from, Struct& to) {
  if constexpr (kAt != kMembers.size()) {
    constexpr const Member& kMember = kMembers[kAt];
    if constexpr ((kMember.filled & kKind) != 0) kMember.fill(from, to);
    fill_kind<kKind, kAt + 1>(from, to);
  } else {
    to.flag_bits = bits_of<kFlagBits, kKind>(from.flags);
  }
}
/// By kind.
constexpr auto kFill = []<std::size_t... kKind>(std::index_sequence<kKind...>) {
  return std::array{
      +[](const Element& from, Struct& to) { fill_kind<Kinds{1} << kKind>(from, to); }...};
}(std::make_index_sequence<kElementKindCount>());

}  // namespace

ElementStruct::ElementStruct() {
  std::memset(static_cast<void*>(&elem_), 0, sizeof elem_);
  elem_.isa = ocsd_isa_unknown;
  elem_.context.exception_level = ocsd_EL_unknown;
}

/// Most elements repeat the context of the one before.
void ElementStruct::fill_context(const Element& element) {
  constexpr unsigned kStates =
      kElementContextIdValid | kElementVmidValid | kElementElValid | kElement64Bit;
  const std::uint64_t ids = element.context_id | std::uint64_t{element.vmid} << 32;
  const std::uint32_t state = (element.flags & kStates) |
                              std::uint32_t{element.exception_level} << 16 |
                              static_cast<std::uint32_t>(element.security) << 24;
  if (ids == context_ids_ && state == context_state_) [[likely]]
    return;
  context_ids_ = ids;
  context_state_ = state;
  ocsd_pe_context& context = elem_.context;
  context.security_level = static_cast<ocsd_sec_level>(element.security);
  context.exception_level = has(element, kElementElValid)
                                ? static_cast<ocsd_ex_level>(element.exception_level)
                                : ocsd_EL_unknown;
  context.context_id = element.context_id;
  context.vmid = element.vmid;
  context.bits64 = has(element, kElement64Bit);
  context.ctxt_id_valid = has(element, kElementContextIdValid);
  context.vmid_valid = has(element, kElementVmidValid);
  context.el_valid = has(element, kElementElValid);
}

void ElementStruct::fill_software_trace(const Element& element) {
  ocsd_swt_info_t& info = elem_.sw_trace_info;
  info.swt_master_id = element.sw_id.master;
  info.swt_channel_id = element.sw_id.channel;
  info.swt_flag_bits = bits_of<kSoftwareBits, kAllKinds>(element.extra);
  info.swt_payload_pkt_bitsize = element.extra_value & 0xFF;
  info.swt_payload_num_packets = element.extra_value != 0 ? 1 : 0;
  if ((element.extra & kSwTimestamp) != 0) {
    elem_.timestamp = element.timestamp;
    elem_.has_ts = 1;
  }
  if (element.extra_value == 0) return;
  payload_ = (element.start & payload_mask(element.extra_value))
             << payload_shift(element.extra_value);
  const void* const payload = &payload_;
  elem_.extended_data = 1;
  elem_.ptr_extended_data = payload;
  std::memcpy(reinterpret_cast<char*>(&elem_) + kOldExtendedData,
              static_cast<const void*>(&payload), sizeof payload);
}

void ElementStruct::fill_itm_trace(const Element& element) {
  swt_itm_info& info = elem_.swt_itm;
  info.pkt_type = static_cast<swt_itm_type>(element.extra & kItmKindMask);
  info.payload_src_id = static_cast<std::uint8_t>(element.number);
  info.payload_size = static_cast<std::uint8_t>(element.extra_value);
  info.value = static_cast<std::uint32_t>(element.start);
  info.overflow = (element.extra & kItmOverflow) != 0;
  if (info.pkt_type >= TS_SYNC) {
    elem_.timestamp = element.timestamp;
    elem_.has_ts = has(element, kElementHasTimestamp);
    elem_.cpu_freq_change = has(element, kElementFrequencyChange);
  }
}

const ocsd_generic_trace_elem* ElementStruct::fill_other(const Element& element) {
  elem_.elem_type = static_cast<ocsd_gen_trc_elem_t>(element.kind);
  elem_.isa = static_cast<ocsd_isa>(element.isa);
  elem_.ptr_extended_data = nullptr;
  if (has(element, kElementHasCycleCount)) elem_.cycle_count = element.cycle_count;
  if (element.kind != ElementKind::kInstrumentation) fill_context(element);
  if (element.kind >= ElementKind::kDataAddress) return nullptr;
  kFill[static_cast<std::size_t>(element.kind)](element, elem_);
  if (element.kind == ElementKind::kException && has(element, kElementReturnAddress)) {
    elem_.en_addr = element.end;
    elem_.excep_ret_addr_br_tgt = has(element, kElementReturnIsTarget);
  }
  if (element.kind == ElementKind::kSwTrace) fill_software_trace(element);
  if (element.kind == ElementKind::kItmTrace) fill_itm_trace(element);
  return &elem_;
}

// -- Back, for the text of an element. ------------------------------------------------------------

namespace {

void read_context(const ocsd_generic_trace_elem& from, Element& to) {
  const ocsd_pe_context& context = from.context;
  to.context_id = context.context_id;
  to.vmid = context.vmid;
  to.security = static_cast<Security>(context.security_level & 3);
  unsigned flags = to.flags;
  if (context.el_valid != 0 && context.exception_level > ocsd_EL_unknown) {
    to.exception_level = static_cast<std::uint8_t>(context.exception_level);
    flags |= kElementElValid;
  }
  if (context.bits64 != 0) flags |= kElement64Bit;
  if (context.ctxt_id_valid != 0) flags |= kElementContextIdValid;
  if (context.vmid_valid != 0) flags |= kElementVmidValid;
  to.flags = static_cast<std::uint16_t>(flags);
}

void read_software_trace(const ocsd_generic_trace_elem& from, Element& to) {
  const ocsd_swt_info_t& info = from.sw_trace_info;
  to.sw_id = {info.swt_master_id, info.swt_channel_id};
  to.extra = static_cast<std::uint8_t>(flags_of<kSoftwareBits>(info.swt_flag_bits));
  to.extra_value = info.swt_payload_pkt_bitsize;
  const unsigned bytes = payload_bytes(info.swt_payload_pkt_bitsize);
  if (from.ptr_extended_data == nullptr || bytes == 0 || bytes > sizeof to.start) return;
  std::memcpy(&to.start, from.ptr_extended_data, bytes);
  to.start >>= payload_shift(info.swt_payload_pkt_bitsize);
}

void read_itm_trace(const ocsd_generic_trace_elem& from, Element& to) {
  const swt_itm_info& info = from.swt_itm;
  to.extra = static_cast<std::uint8_t>((static_cast<unsigned>(info.pkt_type) & kItmKindMask) |
                                       (info.overflow != 0 ? kItmOverflow : 0U));
  to.number = info.payload_src_id;
  to.extra_value = info.payload_size;
  to.start = info.value;
}

}  // namespace

void read_element(const ocsd_generic_trace_elem& from, Element& to) {
  const auto kind = static_cast<std::uint32_t>(from.elem_type);
  // Numbers that the reference does not know have no text.
  constexpr std::uint32_t kNoKind = 0xFF;
  to.kind = static_cast<ElementKind>(kind <= OCSD_GEN_TRC_ELEM_CUSTOM ? kind : kNoKind);
  to.isa = static_cast<isa::Isa>(from.isa);
  to.flags = static_cast<std::uint16_t>(flags_of<kFlagBits>(from.flag_bits));
  to.cycle_count = from.cycle_count;
  to.last_type = static_cast<isa::InstrType>(from.last_i_type);
  to.last_subtype = static_cast<isa::InstrSubtype>(from.last_i_subtype);
  to.last_size = from.last_instr_sz;
  const Kinds bit = kind <= OCSD_GEN_TRC_ELEM_CUSTOM ? Kinds{1} << kind : 0;
  for (const Member& member : kMembers)
    if (member.taken == kAllKinds || (member.taken & bit) != 0) member.take(from, to);
  if (to.kind == ElementKind::kPeContext) read_context(from, to);
  if (to.kind == ElementKind::kSwTrace) read_software_trace(from, to);
  if (to.kind == ElementKind::kItmTrace) read_itm_trace(from, to);
}

}  // namespace waymark::compat
