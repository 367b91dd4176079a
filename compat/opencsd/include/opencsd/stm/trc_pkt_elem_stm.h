// A packet of an STM.
#pragma once

#include <string>

#include "common/trc_pkt_elem_base.h"
#include "common/trc_printable_elem.h"
#include "opencsd/stm/trc_pkt_types_stm.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Master, channel and timestamp persist from packet to packet, until initStartState().
class StmTrcPacket : public TrcPacketBase, public ocsd_stm_pkt, public trcPrintableElem {
 public:
  StmTrcPacket();
  ~StmTrcPacket() {}

  StmTrcPacket &operator=(const ocsd_stm_pkt *p_pkt);
  virtual const void *c_pkt() const { return static_cast<const ocsd_stm_pkt *>(this); }

  void initStartState();
  void initNextPacket();

  void setPacketType(const ocsd_stm_pkt_type type, const bool bMarker);
  /// Makes the packet a bad one; its previous type is its error type.
  void updateErrType(const ocsd_stm_pkt_type err_type);
  /// A new master begins with channel 0.
  void setMaster(const uint8_t master);
  void setChannel(const uint16_t channel, const bool b8Bit);
  void setTS(const uint64_t ts_val, const uint8_t updatedBits);
  void onVersionPkt(const ocsd_stm_ts_type type);

  void setD4Payload(const uint8_t value) { payload.D8 = value & 0xF; }
  void setD8Payload(const uint8_t value) { payload.D8 = value; }
  void setD16Payload(const uint16_t value) { payload.D16 = value; }
  void setD32Payload(const uint32_t value) { payload.D32 = value; }
  void setD64Payload(const uint64_t value) { payload.D64 = value; }

  const bool isMarkerPkt() const { return pkt_has_marker != 0; }
  const bool isTSPkt() const { return pkt_has_ts != 0; }
  const ocsd_stm_pkt_type getPktType() const { return type; }
  const ocsd_stm_pkt_type getPktErrType() const { return err_type; }
  const uint8_t getMaster() const { return master; }
  const uint16_t getChannel() const { return channel; }
  const ocsd_stm_ts_type getTSType() const { return ts_type; }
  const uint64_t getTSVal() const { return timestamp; }
  const uint8_t getD4Val() const { return payload.D8; }
  const uint8_t getD8Val() const { return payload.D8; }
  const uint16_t getD16Val() const { return payload.D16; }
  const uint32_t getD32Val() const { return payload.D32; }
  const uint64_t getD64Val() const { return payload.D64; }
  const bool isBadPacket() const { return type >= STM_PKT_BAD_SEQUENCE; }

  virtual void toString(std::string &str) const;
  virtual void toStringFmt(const uint32_t fmtFlags, std::string &str) const;
};

#pragma GCC diagnostic pop
