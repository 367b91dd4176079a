// A packet of the instruction stream of an ETMv4 or ETE.
#pragma once

#include <string>

#include "common/trc_pkt_elem_base.h"
#include "common/trc_printable_elem.h"
#include "opencsd/etmv4/trc_pkt_types_etmv4.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// The last three addresses, the newest first: address match packets refer to them.
class Etmv4PktAddrStack {
 public:
  Etmv4PktAddrStack() { reset_stack(); }
  ~Etmv4PktAddrStack() {}

  void push(const ocsd_pkt_vaddr vaddr, const uint8_t isa);
  /// Leaves the arguments unchanged for an index above 2.
  void get_idx(const uint8_t idx, ocsd_pkt_vaddr &vaddr, uint8_t &isa);
  void reset_stack();

 private:
  ocsd_pkt_vaddr m_v_addr[3];
  uint8_t m_v_addr_ISA[3];
};

/// Addresses, context and timestamp persist from packet to packet, until initStartState().
class EtmV4ITrcPacket : public TrcPacketBase, public ocsd_etmv4_i_pkt, public trcPrintableElem {
 public:
  EtmV4ITrcPacket();
  ~EtmV4ITrcPacket() {}

  EtmV4ITrcPacket &operator=(const ocsd_etmv4_i_pkt *p_pkt);
  virtual const void *c_pkt() const { return static_cast<const ocsd_etmv4_i_pkt *>(this); }

  void initStartState();
  void initNextPacket();

  void setType(const ocsd_etmv4_i_pkt_type pkt_type) { type = pkt_type; }
  /// Makes the packet a bad one; its previous type is its error type, `val` its header.
  void updateErrType(const ocsd_etmv4_i_pkt_type err_pkt_type, const uint8_t val = 0);

  void clearTraceInfo();
  void setTraceInfo(const uint32_t infoVal);
  void setTraceInfoKey(const uint32_t keyVal);
  void setTraceInfoSpec(const uint32_t specVal);
  void setTraceInfoCyct(const uint32_t cyctVal);

  void setTS(const uint64_t value, const uint8_t bits);
  void setCycleCount(const uint32_t value);
  void setCommitElements(const uint32_t commit_elem);
  void setCancelElements(const uint32_t cancel_elem);
  void setAtomPacket(const ocsd_pkt_atm_type type, const uint32_t En_bits, const uint8_t num);

  void setCondIF1(const uint32_t cond_key);
  void setCondIF2(const uint8_t c_elem_idx);
  void setCondIF3(const uint8_t num_c_elem, const bool finalElem);
  void setCondRF1(const uint32_t *key, const uint8_t *res, const uint8_t *CI, const bool set2Keys);
  void setCondRF2(const uint8_t key_incr, const uint8_t token);
  void setCondRF3(const uint16_t tokens);
  void setCondRF4(const uint8_t token);

  void setContextInfo(const bool update, const uint8_t EL = 0, const uint8_t NS = 0,
                      const uint8_t SF = 0, const uint8_t NSE = 0);
  void setContextVMID(const uint32_t VMID);
  void setContextCID(const uint32_t CID);

  void setExceptionInfo(const uint16_t excep_type, const uint8_t addr_interp,
                        const uint8_t m_fault_pending, const uint8_t m_type);

  void set64BitAddress(const uint64_t addr, const uint8_t IS);
  void set32BitAddress(const uint32_t addr, const uint8_t IS);
  void updateShortAddress(const uint32_t addr, const uint8_t IS, const uint8_t update_bits);
  void setAddressExactMatch(const uint8_t idx);

  void setDataSyncMarker(const uint8_t marker) { dsm_val = marker; }
  void setEvent(const uint8_t event) { event_val = event; }
  void setQType(const bool has_count, const uint32_t count, const bool has_addr,
                const bool addr_match, const uint8_t type);
  void setITE(const uint8_t el, const uint64_t value);

  const ocsd_etmv4_i_pkt_type getType() const { return type; }
  /// ETM4_PKT_I_NO_ERR_TYPE for a packet that is not bad.
  const ocsd_etmv4_i_pkt_type getErrType() const { return err_type; }

  const bool hasCommitElementsCount() const { return pkt_valid.bits.commit_elem_valid != 0; }

  const etmv4_trace_info_t &getTraceInfo() const { return trace_info; }
  const uint32_t getCCThreshold() const {
    return pkt_valid.bits.cc_thresh_valid != 0 ? cc_threshold : 0;
  }
  const uint32_t getP0Key() const { return pkt_valid.bits.p0_key_valid != 0 ? p0_key : 0; }
  const uint32_t getCurrSpecDepth() const {
    return pkt_valid.bits.spec_depth_valid != 0 ? curr_spec_depth : 0;
  }

  const ocsd_pkt_atom &getAtom() const { return atom; }
  const int getNumAtoms() const { return atom.num; }

  const etmv4_context_t &getContext() const { return context; }

  const uint8_t &getAddrMatch() const { return addr_exact_match_idx; }
  const ocsd_vaddr_t &getAddrVal() const { return v_addr.val; }
  const uint8_t &getAddrIS() const { return v_addr_ISA; }
  const bool getAddr64Bit() const { return v_addr.size == VA_64BIT; }

  const uint64_t getTS() const { return pkt_valid.bits.ts_valid != 0 ? ts.timestamp : 0; }
  const uint32_t getCC() const { return pkt_valid.bits.cc_valid != 0 ? cycle_count : 0; }

  const int getCommitElem() const { return static_cast<int>(commit_elements); }
  const int getCancelElem() const { return static_cast<int>(cancel_elements); }

  const uint8_t getITE_EL() const { return ite_pkt.el; }
  const uint64_t getITE_value() const { return ite_pkt.value; }

  const bool isBadPacket() const { return type >= ETM4_PKT_I_BAD_SEQUENCE; }

  virtual void toString(std::string &str) const;
  virtual void toStringFmt(const uint32_t fmtFlags, std::string &str) const;

  /// 0x40 and up: ETMv4; 0x50 and up: ETE.
  void setProtocolVersion(const uint8_t version) { protocol_version = version; }

 private:
  void pushAddr() { m_addr_stack.push(v_addr, v_addr_ISA); }

  Etmv4PktAddrStack m_addr_stack;
};

#pragma GCC diagnostic pop
