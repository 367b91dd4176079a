// The generic element, printable values and the names of cores.
#include <cstring>

#include "common/trc_core_arch_map.h"
#include "common/trc_gen_elem.h"
#include "common/trc_printable_elem.h"
#include "core/element_struct.h"
#include "core/level_text.h"
#include "waymark/base/bits.h"
#include "waymark/element/text.h"
#include "waymark/isa/instruction.h"

using waymark::TextBuffer;

// -- Values. --------------------------------------------------------------------------------------

void trcPrintableElem::toString(std::string& str) const { str.clear(); }

void trcPrintableElem::toStringFmt(uint32_t /*fmtFlags*/, std::string& str) const { toString(str); }

void trcPrintableElem::getValStr(std::string& valStr, int valTotalBitSize, int valValidBits,
                                 uint64_t value, bool asHex, int updateBits) {
  if (valTotalBitSize < 4 || valTotalBitSize > 64) {
    valStr.clear();
    return;
  }
  const int valid = valValidBits < valTotalBitSize ? valValidBits : valTotalBitSize;
  const auto digits_of = [](int bits) { return static_cast<unsigned>((bits + 3) / 4); };
  const unsigned total_digits = digits_of(valTotalBitSize);
  const unsigned valid_digits = valid > 0 ? digits_of(valid) : 0;
  value &= waymark::low_mask(static_cast<unsigned>(valid > 0 ? valid : 0));
  TextBuffer text;
  if (asHex) {
    text.put("0x");
    for (unsigned i = valid_digits; i < total_digits; ++i) text.put('?');
    if (valid_digits != 0) text.hex_upper(value, valid_digits);
    if (valid < valTotalBitSize) {
      text.put(" (");
      text.dec(static_cast<unsigned>(valid > 0 ? valid - 1 : 0));
      text.put(":0)");
    }
    if (updateBits > 0) {
      text.put(" ~[0x");
      text.hex_upper(value & waymark::low_mask(static_cast<unsigned>(updateBits)),
                     digits_of(updateBits < 64 ? updateBits : 64));
      text.put(']');
    }
  } else {
    if (valid < valTotalBitSize) text.put("?");
    text.dec(value);
    if (valid < valTotalBitSize) {
      text.put(" (");
      text.dec(static_cast<unsigned>(valid > 0 ? valid - 1 : 0));
      text.put(":0)");
    }
    if (updateBits > 0) {
      text.put(" ~[");
      text.dec(value & waymark::low_mask(static_cast<unsigned>(updateBits)));
      text.put(']');
    }
  }
  valStr.assign(text.view());
}

// -- The element. ---------------------------------------------------------------------------------

OcsdTraceElement::OcsdTraceElement() { init(); }

OcsdTraceElement::OcsdTraceElement(ocsd_gen_trc_elem_t type) {
  init();
  elem_type = type;
}

void OcsdTraceElement::init() {
  auto* const plain = static_cast<ocsd_generic_trace_elem*>(this);
  std::memset(static_cast<void*>(plain), 0, sizeof *plain);
  isa = ocsd_isa_unknown;
  context.exception_level = ocsd_EL_unknown;
}

void OcsdTraceElement::clearPerPktData() {
  flag_bits = 0;
  ptr_extended_data = nullptr;
}

void OcsdTraceElement::setType(ocsd_gen_trc_elem_t type) {
  clearPerPktData();
  elem_type = type;
}

void OcsdTraceElement::updateType(ocsd_gen_trc_elem_t type) { elem_type = type; }

void OcsdTraceElement::setISA(ocsd_isa isa_update) {
  isa = isa_update > ocsd_isa_unknown ? ocsd_isa_unknown : isa_update;
}

void OcsdTraceElement::setCycleCount(uint32_t cycleCount) {
  cycle_count = cycleCount;
  has_cc = 1;
}

void OcsdTraceElement::setEvent(event_t ev_type, uint16_t number) {
  trace_event.ev_type = static_cast<uint16_t>(ev_type);
  trace_event.ev_number = ev_type == EVENT_NUMBERED ? number : uint16_t{0};
}

void OcsdTraceElement::setTS(uint64_t ts, bool freqChange) {
  timestamp = ts;
  cpu_freq_change = freqChange ? 1 : 0;
  has_ts = 1;
}

void OcsdTraceElement::setTraceOnReason(trace_on_reason_t reason) { trace_on_reason = reason; }

void OcsdTraceElement::setUnSyncEOTReason(unsync_info_t reason) { unsync_eot_info = reason; }

void OcsdTraceElement::setAddrRange(ocsd_vaddr_t start, ocsd_vaddr_t end, int num_instr) {
  st_addr = start;
  en_addr = end;
  num_instr_range = static_cast<uint32_t>(num_instr);
}

void OcsdTraceElement::setLastInstrInfo(bool exec, ocsd_instr_type type, ocsd_instr_subtype subtype,
                                        uint8_t size) {
  last_instr_exec = exec ? 1 : 0;
  last_instr_sz = size & 7U;
  last_i_type = type;
  last_i_subtype = subtype;
}

void OcsdTraceElement::setExtendedDataPtr(const void* data_ptr) {
  extended_data = 1;
  ptr_extended_data = data_ptr;
}

void OcsdTraceElement::setSyncMarker(const trace_marker_payload_t& marker) { sync_marker = marker; }

void OcsdTraceElement::toString(std::string& str) const {
  if (elem_type > OCSD_GEN_TRC_ELEM_CUSTOM || elem_type < OCSD_GEN_TRC_ELEM_UNKNOWN) {
    str = "OCSD_GEN_TRC_ELEM??: index out of range.";
    return;
  }
  waymark::Element element;
  waymark::compat::read_element(*this, element);
  TextBuffer text;
  waymark::compat::write_at_level(text,
                                  [&](TextBuffer& to) { waymark::write_element(to, element); });
  str.assign(text.view());
}

OcsdTraceElement& OcsdTraceElement::operator=(const ocsd_generic_trace_elem* p_elem) {
  static_cast<ocsd_generic_trace_elem&>(*this) = *p_elem;
  return *this;
}

void OcsdTraceElement::copyPersistentData(const OcsdTraceElement& src) {
  isa = src.isa;
  context = src.context;
}

// -- Cores. ---------------------------------------------------------------------------------------

CoreArchProfileMap::CoreArchProfileMap() = default;

ocsd_arch_profile_t CoreArchProfileMap::getArchProfile(const std::string& coreName) {
  const auto core = waymark::isa::core_by_name(coreName);
  if (!core) return {ARCH_UNKNOWN, profile_Unknown};
  return {static_cast<ocsd_arch_version_t>(core->arch),
          static_cast<ocsd_core_profile_t>(core->profile)};
}
