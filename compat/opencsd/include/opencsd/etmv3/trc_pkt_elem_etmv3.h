// A packet of an ETMv3.
#pragma once

#include <string>

#include "common/trc_pkt_elem_base.h"
#include "common/trc_printable_elem.h"
#include "opencsd/etmv3/trc_pkt_types_etmv3.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Addresses, context and instruction set persist from packet to packet, until ResetState().
class EtmV3TrcPacket : public TrcPacketBase, public trcPrintableElem {
 public:
  EtmV3TrcPacket();
  ~EtmV3TrcPacket() {}

  EtmV3TrcPacket &operator=(const ocsd_etmv3_pkt *p_pkt);
  operator const ocsd_etmv3_pkt *() const { return &m_pkt_data; }
  operator const ocsd_etmv3_pkt &() const { return m_pkt_data; }
  virtual const void *c_pkt() const { return &m_pkt_data; }

  /// Begins a new packet.
  void Clear();
  /// Also forgets what persists from packet to packet.
  void ResetState();

  void SetType(const ocsd_etmv3_pkt_type p_type) { m_pkt_data.type = p_type; }
  /// Makes the packet a bad one of type `e_type`; its previous type is its error type.
  void SetErrType(const ocsd_etmv3_pkt_type e_type);
  void UpdateAddress(const ocsd_vaddr_t partAddrVal, const int updateBits);
  void SetException(const ocsd_armv7_exception type, const uint16_t number, const bool cancel,
                    const bool cm_type, const int irq_n = 0, const int resume = 0);
  void UpdateNS(const int NS);
  void UpdateAltISA(const int AltISA);
  void UpdateHyp(const int Hyp);
  void UpdateISA(const ocsd_isa isa);
  void UpdateContextID(const uint32_t contextID);
  void UpdateVMID(const uint8_t VMID);
  void UpdateTimestamp(const uint64_t tsVal, const uint8_t updateBits);
  /// False: not a P-header.
  bool UpdateAtomFromPHdr(const uint8_t pHdr, const bool cycleAccurate);
  void SetDataOOOTag(const uint8_t tag) { m_pkt_data.data.ooo_tag = tag & 3; }
  void SetDataValue(const uint32_t value);
  void UpdateDataAddress(const uint32_t value, const uint8_t valid_bits);
  void UpdateDataEndian(const uint8_t BE_Val);
  void SetCycleCount(const uint32_t cycleCount) { m_pkt_data.cycle_count = cycleCount; }
  void SetISyncReason(const ocsd_iSync_reason reason) { m_pkt_data.isync_info.reason = reason; }
  void SetISyncHasCC() { m_pkt_data.isync_info.has_cycle_count = 1; }
  void SetISyncIsLSiP() { m_pkt_data.isync_info.has_LSipAddress = 1; }
  void SetISyncNoAddr() { m_pkt_data.isync_info.no_address = 1; }

  const ocsd_etmv3_pkt_type getType() const { return m_pkt_data.type; }
  const bool isBadPacket() const { return m_pkt_data.type >= ETM3_PKT_BAD_SEQUENCE; }

  const int AltISA() const { return m_pkt_data.context.curr_alt_isa; }
  const ocsd_isa ISA() const { return m_pkt_data.curr_isa; }
  const bool changedISA() const { return m_pkt_data.curr_isa != m_pkt_data.prev_isa; }

  const bool isCtxtUpdated() const {
    return isCtxtFlagsUpdated() || isCtxtIDUpdated() || isVMIDUpdated();
  }
  const bool isCtxtFlagsUpdated() const { return m_pkt_data.context.updated == 1; }
  const bool isNS() const { return m_pkt_data.context.curr_NS == 1; }
  const bool isHyp() const { return m_pkt_data.context.curr_Hyp == 1; }
  const bool isCtxtIDUpdated() const { return m_pkt_data.context.updated_c == 1; }
  const uint32_t getCtxtID() const { return m_pkt_data.context.ctxtID; }
  const bool isVMIDUpdated() const { return m_pkt_data.context.updated_v == 1; }
  const uint32_t getVMID() const { return m_pkt_data.context.VMID; }

  const uint32_t getCycleCount() const { return m_pkt_data.cycle_count; }
  const uint64_t getTS() const { return m_pkt_data.timestamp; }

  const bool isExcepPkt() const { return m_pkt_data.exception.bits.present == 1; }
  const ocsd_armv7_exception excepType() const { return m_pkt_data.exception.type; }
  const uint16_t excepNum() const { return m_pkt_data.exception.number; }
  const bool isExcepCancel() const { return isExcepPkt() && m_pkt_data.exception.bits.cancel == 1; }

  const ocsd_iSync_reason getISyncReason() const { return m_pkt_data.isync_info.reason; }
  const bool getISyncHasCC() const { return m_pkt_data.isync_info.has_cycle_count == 1; }
  const bool getISyncIsLSiPAddr() const { return m_pkt_data.isync_info.has_LSipAddress == 1; }
  const bool getISyncNoAddr() const { return m_pkt_data.isync_info.no_address == 1; }

  const ocsd_vaddr_t getAddr() const { return m_pkt_data.addr.val; }
  const ocsd_vaddr_t getDataAddr() const { return m_pkt_data.data.addr.val; }

  const ocsd_pkt_atom &getAtom() const { return m_pkt_data.atom; }
  const uint8_t getPHdrFmt() const { return m_pkt_data.p_hdr_fmt; }

  virtual void toString(std::string &str) const;
  virtual void toStringFmt(const uint32_t fmtFlags, std::string &str) const;

 private:
  ocsd_etmv3_pkt m_pkt_data;
};

#pragma GCC diagnostic pop
