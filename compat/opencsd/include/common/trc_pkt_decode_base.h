// Packet decoders: from packets to generic elements.  The base of the library's own and of a
// client's.
#pragma once

#include <string>

#include "common/comp_attach_pt_t.h"
#include "common/ocsd_error.h"
#include "common/trc_component.h"
#include "common/trc_gen_elem.h"
#include "interfaces/trc_gen_elem_in_i.h"
#include "interfaces/trc_instr_decode_i.h"
#include "interfaces/trc_pkt_in_i.h"
#include "interfaces/trc_tgt_mem_access_i.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktDecodeI : public TraceComponent {
 public:
  TrcPktDecodeI(const char *component_name)
      : TraceComponent(component_name),
        m_index_curr_pkt(0),
        m_decode_init_ok(false),
        m_config_init_ok(false),
        m_uses_memaccess(true),
        m_uses_idecode(true) {}
  TrcPktDecodeI(const char *component_name, int instIDNum)
      : TraceComponent(component_name, instIDNum),
        m_index_curr_pkt(0),
        m_decode_init_ok(false),
        m_config_init_ok(false),
        m_uses_memaccess(true),
        m_uses_idecode(true) {}
  virtual ~TrcPktDecodeI() {}

  componentAttachPt<ITrcGenElemIn> *getTraceElemOutAttachPt() { return &m_trace_elem_out; }
  componentAttachPt<ITargetMemAccess> *getMemoryAccessAttachPt() { return &m_mem_access; }
  componentAttachPt<IInstrDecode> *getInstrDecodeAttachPt() { return &m_instr_decode; }

  /// Whether decoding needs the program; a decoder of software trace needs neither.
  void setUsesMemAccess(bool bUsesMemaccess) { m_uses_memaccess = bUsesMemaccess; }
  const bool getUsesMemAccess() const { return m_uses_memaccess; }
  void setUsesIDecode(bool bUsesIDecode) { m_uses_idecode = bUsesIDecode; }
  const bool getUsesIDecode() const { return m_uses_idecode; }

 protected:
  /// Implemented by each protocol.  processPacket() finds its packet in m_curr_packet_in, its index
  /// in m_index_curr_pkt.
  virtual ocsd_datapath_resp_t processPacket() = 0;
  virtual ocsd_datapath_resp_t onEOT() = 0;
  virtual ocsd_datapath_resp_t onReset() = 0;
  virtual ocsd_datapath_resp_t onFlush() = 0;
  virtual ocsd_err_t onProtocolConfig() = 0;
  virtual const uint8_t getCoreSightTraceID() = 0;

  /// True if the configuration and all required interfaces are set; otherwise init_err_msg says
  /// what is not.
  const bool checkInit();
  /// Called once, when checkInit() returns true for the first time.
  virtual void onFirstInitOK() {}

  ocsd_datapath_resp_t outputTraceElement(const OcsdTraceElement &elem) {
    return outputTraceElementIdx(m_index_curr_pkt, elem);
  }
  ocsd_datapath_resp_t outputTraceElementIdx(ocsd_trc_index_t idx, const OcsdTraceElement &elem) {
    ITrcGenElemIn *const sink = m_trace_elem_out.first();
    return sink != 0 ? sink->TraceElemIn(idx, getCoreSightTraceID(), elem)
                     : OCSD_RESP_FATAL_NOT_INIT;
  }

  ocsd_err_t accessMemory(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                          uint32_t *num_bytes, uint8_t *p_buffer) {
    ITargetMemAccess *const memory = m_mem_access.first();
    if (memory == 0) return OCSD_ERR_DCD_INTERFACE_UNUSED;
    return memory->ReadTargetMemory(address, getCoreSightTraceID(), mem_space, num_bytes, p_buffer);
  }
  ocsd_err_t invalidateMemAccCache() {
    ITargetMemAccess *const memory = m_mem_access.first();
    if (memory == 0) return OCSD_ERR_DCD_INTERFACE_UNUSED;
    memory->InvalidateMemAccCache(getCoreSightTraceID());
    return OCSD_OK;
  }
  ocsd_err_t instrDecode(ocsd_instr_info *instr_info) {
    IInstrDecode *const decoder = m_instr_decode.first();
    return decoder != 0 ? decoder->DecodeInstruction(instr_info) : OCSD_ERR_DCD_INTERFACE_UNUSED;
  }

  componentAttachPt<ITrcGenElemIn> m_trace_elem_out;
  componentAttachPt<ITargetMemAccess> m_mem_access;
  componentAttachPt<IInstrDecode> m_instr_decode;

  ocsd_trc_index_t m_index_curr_pkt;
  bool m_decode_init_ok;
  bool m_config_init_ok;
  std::string init_err_msg;

 private:
  bool m_uses_memaccess;
  bool m_uses_idecode;
};

inline const bool TrcPktDecodeI::checkInit() {
  if (m_decode_init_ok) return true;
  if (!m_config_init_ok) {
    init_err_msg = "No decoder configuration information";
  } else if (!m_trace_elem_out.hasAttachedAndEnabled()) {
    init_err_msg = "No element output interface attached and enabled";
  } else if (m_uses_memaccess && !m_mem_access.hasAttachedAndEnabled()) {
    init_err_msg = "No memory access interface attached and enabled";
  } else if (m_uses_idecode && !m_instr_decode.hasAttachedAndEnabled()) {
    init_err_msg = "No instruction decoder interface attached and enabled";
  } else {
    m_decode_init_ok = true;
    onFirstInitOK();
  }
  return m_decode_init_ok;
}

/// `P` is the packet class, `Pc` the configuration class.
template <class P, class Pc>
class TrcPktDecodeBase : public TrcPktDecodeI, public IPktDataIn<P> {
 public:
  TrcPktDecodeBase(const char *component_name)
      : TrcPktDecodeI(component_name), m_config(0), m_curr_packet_in(0) {}
  TrcPktDecodeBase(const char *component_name, int instIDNum)
      : TrcPktDecodeI(component_name, instIDNum), m_config(0), m_curr_packet_in(0) {}
  virtual ~TrcPktDecodeBase() { ClearConfigObj(); }

  virtual ocsd_datapath_resp_t PacketDataIn(const ocsd_datapath_op_t op,
                                            const ocsd_trc_index_t index_sop, const P *p_packet_in);

  /// Copies the configuration.
  ocsd_err_t setProtocolConfig(const Pc *config);
  const Pc *getProtocolConfig() const { return m_config; }

 protected:
  void ClearConfigObj() {
    delete m_config;
    m_config = 0;
  }

  Pc *m_config;
  const P *m_curr_packet_in;
};

template <class P, class Pc>
ocsd_datapath_resp_t TrcPktDecodeBase<P, Pc>::PacketDataIn(const ocsd_datapath_op_t op,
                                                           const ocsd_trc_index_t index_sop,
                                                           const P *p_packet_in) {
  if (!checkInit()) {
    LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_NOT_INIT, init_err_msg));
    return OCSD_RESP_FATAL_NOT_INIT;
  }
  switch (op) {
    case OCSD_OP_DATA:
      if (p_packet_in == 0) {
        LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PARAM_VAL));
        return OCSD_RESP_FATAL_INVALID_PARAM;
      }
      m_curr_packet_in = p_packet_in;
      m_index_curr_pkt = index_sop;
      return processPacket();
    case OCSD_OP_EOT:
      m_index_curr_pkt = index_sop;
      return onEOT();
    case OCSD_OP_FLUSH:
      return onFlush();
    case OCSD_OP_RESET:
      m_index_curr_pkt = index_sop;
      return onReset();
  }
  LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PARAM_VAL));
  return OCSD_RESP_FATAL_INVALID_OP;
}

template <class P, class Pc>
ocsd_err_t TrcPktDecodeBase<P, Pc>::setProtocolConfig(const Pc *config) {
  if (config == 0) return OCSD_ERR_INVALID_PARAM_VAL;
  Pc *const copy = new Pc(*config);
  ClearConfigObj();
  m_config = copy;
  const ocsd_err_t err = onProtocolConfig();
  if (err == OCSD_OK) m_config_init_ok = true;
  return err;
}

#pragma GCC diagnostic pop
