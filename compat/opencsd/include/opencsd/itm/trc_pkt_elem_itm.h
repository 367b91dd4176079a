// A packet of an ITM.
#pragma once

#include <string>

#include "common/trc_pkt_elem_base.h"
#include "common/trc_printable_elem.h"
#include "opencsd/itm/trc_pkt_types_itm.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ItmTrcPacket : public TrcPacketBase, public ocsd_itm_pkt, public trcPrintableElem {
 public:
  ItmTrcPacket();
  ~ItmTrcPacket() {}

  ItmTrcPacket &operator=(const ocsd_itm_pkt *p_pkt);
  virtual const void *c_pkt() const { return static_cast<const ocsd_itm_pkt *>(this); }

  void initPacket();
  void setPktType(const ocsd_itm_pkt_type pkt_type) { type = pkt_type; }
  /// Makes the packet a bad one; its previous type is its error type.
  void updateErrType(const ocsd_itm_pkt_type err_type);
  void setSrcID(const uint8_t pkt_src_id) { src_id = pkt_src_id; }
  void setValue(const uint32_t pkt_val, const uint8_t val_size_bytes);
  /// 40 bits: the low bits are in the value, the rest in its extension.
  void setExtValue(const uint64_t pkt_ext_val);

  const ocsd_itm_pkt_type getPktType() const { return type; }
  const uint8_t getSrcID() const { return src_id; }
  const uint8_t getValSize() const { return val_sz; }
  const uint32_t getValue() const { return value; }
  const uint64_t getExtValue() const {
    return static_cast<uint64_t>(val_ext) << 32 | static_cast<uint64_t>(value);
  }

  virtual void toString(std::string &str) const;
  virtual void toStringFmt(const uint32_t fmtFlags, std::string &str) const;

  const bool isBadPacket() const { return type >= ITM_PKT_BAD_SEQUENCE; }
};

#pragma GCC diagnostic pop
