// The generic trace element as a class: the C structure, its setters and its text.
#pragma once

#include "common/ocsd_pe_context.h"
#include "common/trc_printable_elem.h"
#include "opencsd/trc_gen_elem_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// The class has a table of virtual functions: a pointer to it is not a pointer to the structure.
/// Convert with static_cast.
class OcsdTraceElement : public trcPrintableElem, public ocsd_generic_trace_elem {
 public:
  OcsdTraceElement();
  OcsdTraceElement(ocsd_gen_trc_elem_t type);
  OcsdTraceElement(const OcsdTraceElement &) = default;
  OcsdTraceElement &operator=(const OcsdTraceElement &) = default;
  virtual ~OcsdTraceElement() {}

  /// Resets everything, including the context.
  void init();

  /// Begins a new element of this type: flags and extended data are cleared; updateType() keeps
  /// them.
  void setType(const ocsd_gen_trc_elem_t type);
  void updateType(const ocsd_gen_trc_elem_t type);

  void setContext(const ocsd_pe_context &new_context) { context = new_context; }
  void setISA(const ocsd_isa isa_update);
  void setCycleCount(const uint32_t cycleCount);
  void setEvent(const event_t ev_type, const uint16_t number);
  void setTS(const uint64_t ts, const bool freqChange = false);
  void setExcepMarker() { excep_data_marker = 1; }
  void setExceptionNum(uint32_t excepNum) { exception_number = excepNum; }
  void setTraceOnReason(const trace_on_reason_t reason);
  void setUnSyncEOTReason(const unsync_info_t reason);
  void setTransactionType(const trace_memtrans_t trans) { mem_trans = trans; }
  void setAddrRange(const ocsd_vaddr_t st_addr, const ocsd_vaddr_t en_addr,
                    const int num_instr = 1);
  void setLastInstrInfo(const bool exec, const ocsd_instr_type last_i_type,
                        const ocsd_instr_subtype last_i_subtype, const uint8_t size);
  void setAddrStart(const ocsd_vaddr_t start) { st_addr = start; }
  void setLastInstrCond(const int is_cond) { last_instr_cond = is_cond != 0 ? 1 : 0; }
  void setSWTInfo(const ocsd_swt_info_t swt_info) { sw_trace_info = swt_info; }
  /// The caller owns the data, which must live as long as the element is used.
  void setExtendedDataPtr(const void *data_ptr);
  void setITEInfo(const trace_sw_ite_t sw_instrumentation) { sw_ite = sw_instrumentation; }
  void setSWT_ITMInfo(const swt_itm_info itm_info) { swt_itm = itm_info; }
  void setSyncMarker(const trace_marker_payload_t &marker);

  virtual void toString(std::string &str) const;

  OcsdTraceElement &operator=(const ocsd_generic_trace_elem *p_elem);

  const ocsd_gen_trc_elem_t getType() const { return elem_type; }
  const ocsd_pe_context &getContext() const { return context; }

  /// Copies what persists from element to element: instruction set and context.
  void copyPersistentData(const OcsdTraceElement &src);

 private:
  void clearPerPktData();
};

#pragma GCC diagnostic pop
