// A packet of a PTM.
#pragma once

#include <string>

#include "common/trc_pkt_elem_base.h"
#include "common/trc_printable_elem.h"
#include "opencsd/ptm/trc_pkt_types_ptm.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Addresses, context and instruction set persist from packet to packet, until ResetState().
class PtmTrcPacket : public TrcPacketBase, public ocsd_ptm_pkt, private trcPrintableElem {
 public:
  PtmTrcPacket();
  ~PtmTrcPacket() {}

  PtmTrcPacket &operator=(const ocsd_ptm_pkt *p_pkt);
  virtual const void *c_pkt() const { return static_cast<const ocsd_ptm_pkt *>(this); }

  /// Begins a new packet.
  void Clear();
  /// Also forgets what persists from packet to packet.
  void ResetState();

  void SetType(const ocsd_ptm_pkt_type p_type) { type = p_type; }
  /// Makes the packet a bad one of type `e_type`; its previous type is its error type.
  void SetErrType(const ocsd_ptm_pkt_type e_type);
  void SetException(const ocsd_armv7_exception type, const uint16_t number);
  void SetISyncReason(const ocsd_iSync_reason reason) { i_sync_reason = reason; }
  void SetCycleCount(const uint32_t cycleCount);
  void SetAtomFromPHdr(const uint8_t pHdr);
  void SetCycleAccAtomFromPHdr(const uint8_t pHdr);
  void UpdateAddress(const ocsd_vaddr_t partAddrVal, const int updateBits);
  void UpdateNS(const int NS);
  void UpdateAltISA(const int AltISA);
  void UpdateHyp(const int Hyp);
  void UpdateISA(const ocsd_isa isa);
  void UpdateContextID(const uint32_t contextID);
  void UpdateVMID(const uint8_t VMID);
  void UpdateTimestamp(const uint64_t tsVal, const uint8_t updateBits);

  const bool isBadPacket() const { return type >= PTM_PKT_BAD_SEQUENCE; }
  const ocsd_ptm_pkt_type getType() const { return type; }

  const ocsd_isa getISA() const { return curr_isa; }
  const bool ISAChanged() const { return curr_isa != prev_isa; }
  const uint8_t getAltISA() const { return context.curr_alt_isa; }
  const uint8_t getNS() const { return context.curr_NS; }
  const uint8_t getHyp() const { return context.curr_Hyp; }

  const ocsd_vaddr_t getAddrVal() const { return addr.val; }

  const bool CtxtIDUpdated() const { return context.updated_c == 1; }
  const bool VMIDUpdated() const { return context.updated_v == 1; }
  const uint32_t getCtxtID() const { return context.ctxtID; }
  const uint8_t getVMID() const { return context.VMID; }
  const bool PEContextUpdated() const { return context.updated == 1; }

  const ocsd_pkt_atom &getAtom() const { return atom; }

  const bool isBranchExcepPacket() const { return exception.bits.present == 1; }
  const ocsd_armv7_exception excepType() const { return exception.type; }
  const uint16_t excepNum() const { return exception.number; }

  const ocsd_iSync_reason iSyncReason() const { return i_sync_reason; }
  const bool hasCC() const { return cc_valid == 1; }
  const uint32_t getCCVal() const { return cycle_count; }

  virtual void toString(std::string &str) const;
  virtual void toStringFmt(const uint32_t fmtFlags, std::string &str) const;
};

#pragma GCC diagnostic pop
