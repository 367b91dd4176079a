#include "element_struct.h"

#include <bit>
#include <cstring>

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

}  // namespace

ElementStruct::ElementStruct() {
  std::memset(static_cast<void*>(&elem_), 0, sizeof elem_);
  elem_.isa = ocsd_isa_unknown;
  elem_.context.exception_level = ocsd_EL_unknown;
}

void ElementStruct::fill_context(const Element& element) {
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
  info.swt_flag_bits = 0;
  info.swt_payload_pkt_bitsize = element.extra_value & 0xFF;
  info.swt_payload_num_packets = element.extra_value != 0 ? 1 : 0;
  info.swt_marker_packet = (element.extra & kSwMarker) != 0;
  info.swt_has_timestamp = (element.extra & kSwTimestamp) != 0;
  info.swt_master_err = (element.extra & kSwMasterError) != 0;
  info.swt_global_err = (element.extra & kSwGlobalError) != 0;
  info.swt_trigger_event = (element.extra & kSwTrigger) != 0;
  info.swt_frequency = (element.extra & kSwFrequency) != 0;
  info.swt_id_valid = (element.extra & kSwIdValid) != 0;
  if ((element.extra & kSwTimestamp) != 0) {
    elem_.timestamp = element.timestamp;
    elem_.has_ts = 1;
  }
  if (element.extra_value == 0) return;
  payload_ = element.start & payload_mask(element.extra_value);
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
  elem_.flag_bits = 0;
  elem_.ptr_extended_data = nullptr;
  elem_.has_cc = has(element, kElementHasCycleCount);
  if (elem_.has_cc != 0) elem_.cycle_count = element.cycle_count;
  if (element.kind != ElementKind::kInstrumentation) fill_context(element);
  switch (element.kind) {
    case ElementKind::kUnknown:
    case ElementKind::kPeContext:
    case ElementKind::kInstrRange:
    case ElementKind::kAddrUnknown:
    case ElementKind::kExceptionReturn:
    case ElementKind::kCycleCount:
    case ElementKind::kCustom:
      break;
    case ElementKind::kNoSync:
    case ElementKind::kEndOfTrace:
      elem_.unsync_eot_info = static_cast<unsync_info_t>(element.reason);
      break;
    case ElementKind::kTraceOn:
      elem_.trace_on_reason = static_cast<trace_on_reason_t>(element.reason);
      break;
    case ElementKind::kInstrRangeNoPath:
      elem_.st_addr = element.start;
      elem_.en_addr = element.end;
      elem_.num_instr_range = element.count;
      break;
    case ElementKind::kAddrNacc:
      elem_.st_addr = element.start;
      elem_.exception_number = element.number;
      break;
    case ElementKind::kException:
      elem_.exception_number = element.number;
      elem_.excep_data_marker = has(element, kElementDataMarker);
      elem_.excep_M_tail_chain = has(element, kElementTailChain);
      if (has(element, kElementReturnAddress)) {
        elem_.en_addr = element.end;
        elem_.excep_ret_addr = 1;
        elem_.excep_ret_addr_br_tgt = has(element, kElementReturnIsTarget);
      }
      break;
    case ElementKind::kTimestamp:
      elem_.timestamp = element.timestamp;
      elem_.has_ts = has(element, kElementHasTimestamp);
      elem_.cpu_freq_change = has(element, kElementFrequencyChange);
      break;
    case ElementKind::kEvent:
      elem_.trace_event.ev_type = element.reason;
      elem_.trace_event.ev_number = static_cast<std::uint16_t>(element.number);
      break;
    case ElementKind::kSwTrace:
      fill_software_trace(element);
      break;
    case ElementKind::kSyncMarker:
      elem_.sync_marker.type = static_cast<trace_sync_marker_t>(element.reason);
      elem_.sync_marker.value = element.number;
      break;
    case ElementKind::kMemTrans:
      elem_.mem_trans = static_cast<trace_memtrans_t>(element.reason);
      break;
    case ElementKind::kInstrumentation:
      elem_.sw_ite.el = element.exception_level;
      elem_.sw_ite.value = element.value;
      break;
    case ElementKind::kItmTrace:
      fill_itm_trace(element);
      break;
    case ElementKind::kDataAddress:
    case ElementKind::kDataValue:
    case ElementKind::kDataEvent:
      return nullptr;
  }
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

void read_flags(const ocsd_generic_trace_elem& from, Element& to) {
  unsigned flags = to.flags;
  if (from.last_instr_exec != 0) flags |= kElementExecuted;
  if (from.last_instr_cond != 0) flags |= kElementConditional;
  if (from.has_cc != 0) flags |= kElementHasCycleCount;
  if (from.has_ts != 0) flags |= kElementHasTimestamp;
  if (from.excep_ret_addr != 0) flags |= kElementReturnAddress;
  if (from.excep_ret_addr_br_tgt != 0) flags |= kElementReturnIsTarget;
  if (from.excep_M_tail_chain != 0) flags |= kElementTailChain;
  if (from.excep_data_marker != 0) flags |= kElementDataMarker;
  if (from.cpu_freq_change != 0) flags |= kElementFrequencyChange;
  to.flags = static_cast<std::uint16_t>(flags);
}

void read_software_trace(const ocsd_generic_trace_elem& from, Element& to) {
  const ocsd_swt_info_t& info = from.sw_trace_info;
  to.sw_id = {info.swt_master_id, info.swt_channel_id};
  unsigned extra = 0;
  if (info.swt_marker_packet != 0) extra |= kSwMarker;
  if (info.swt_has_timestamp != 0) extra |= kSwTimestamp;
  if (info.swt_master_err != 0) extra |= kSwMasterError;
  if (info.swt_global_err != 0) extra |= kSwGlobalError;
  if (info.swt_trigger_event != 0) extra |= kSwTrigger;
  if (info.swt_frequency != 0) extra |= kSwFrequency;
  if (info.swt_id_valid != 0) extra |= kSwIdValid;
  to.extra = static_cast<std::uint8_t>(extra);
  to.extra_value = info.swt_payload_pkt_bitsize;
  to.timestamp = from.timestamp;
  const unsigned bytes = (info.swt_payload_pkt_bitsize + 7U) / 8;
  if (from.ptr_extended_data == nullptr || bytes == 0 || bytes > sizeof to.start) return;
  static_assert(std::endian::native == std::endian::little, "payloads are little endian");
  std::memcpy(&to.start, from.ptr_extended_data, bytes);
}

void read_itm_trace(const ocsd_generic_trace_elem& from, Element& to) {
  const swt_itm_info& info = from.swt_itm;
  to.extra = static_cast<std::uint8_t>((static_cast<unsigned>(info.pkt_type) & kItmKindMask) |
                                       (info.overflow != 0 ? kItmOverflow : 0U));
  to.number = info.payload_src_id;
  to.extra_value = info.payload_size;
  to.start = info.value;
  to.timestamp = from.timestamp;
}

}  // namespace

void read_element(const ocsd_generic_trace_elem& from, Element& to) {
  const auto kind = static_cast<std::uint32_t>(from.elem_type);
  // Numbers that the reference does not know have no text.
  constexpr std::uint32_t kNoKind = 0xFF;
  to.kind = static_cast<ElementKind>(kind <= OCSD_GEN_TRC_ELEM_CUSTOM ? kind : kNoKind);
  to.isa = static_cast<isa::Isa>(from.isa);
  to.flags = 0;
  to.cycle_count = from.cycle_count;
  to.last_type = static_cast<isa::InstrType>(from.last_i_type);
  to.last_subtype = static_cast<isa::InstrSubtype>(from.last_i_subtype);
  to.last_size = from.last_instr_sz;
  to.start = from.st_addr;
  to.end = from.en_addr;
  read_flags(from, to);
  // A client may leave fields that its element does not have uninitialised.
  switch (to.kind) {
    case ElementKind::kPeContext:
      read_context(from, to);
      break;
    case ElementKind::kNoSync:
    case ElementKind::kEndOfTrace:
      to.reason = static_cast<std::uint8_t>(from.unsync_eot_info);
      break;
    case ElementKind::kTraceOn:
      to.reason = static_cast<std::uint8_t>(from.trace_on_reason);
      break;
    case ElementKind::kInstrRange:
    case ElementKind::kInstrRangeNoPath:
      to.count = from.num_instr_range;
      break;
    case ElementKind::kAddrNacc:
    case ElementKind::kException:
      to.number = from.exception_number;
      break;
    case ElementKind::kTimestamp:
      to.timestamp = from.timestamp;
      break;
    case ElementKind::kEvent:
      to.reason = static_cast<std::uint8_t>(from.trace_event.ev_type);
      to.number = from.trace_event.ev_number;
      break;
    case ElementKind::kSwTrace:
      read_software_trace(from, to);
      break;
    case ElementKind::kSyncMarker:
      to.reason = static_cast<std::uint8_t>(from.sync_marker.type);
      to.number = from.sync_marker.value;
      break;
    case ElementKind::kMemTrans:
      to.reason = static_cast<std::uint8_t>(from.mem_trans);
      break;
    case ElementKind::kInstrumentation:
      to.exception_level = from.sw_ite.el;
      to.value = from.sw_ite.value;
      break;
    case ElementKind::kItmTrace:
      read_itm_trace(from, to);
      break;
    default:
      break;
  }
}

}  // namespace waymark::compat
