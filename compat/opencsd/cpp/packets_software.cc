// Packets of the STM and the ITM as classes: setters for programs that make packets, and text.
#include <cstring>

#include "opencsd/itm/trc_pkt_elem_itm.h"
#include "opencsd/stm/trc_pkt_elem_stm.h"
#include "packet_text.h"
#include "waymark/base/bits.h"

// -- STM. -----------------------------------------------------------------------------------------

StmTrcPacket::StmTrcPacket() { initStartState(); }

StmTrcPacket& StmTrcPacket::operator=(const ocsd_stm_pkt* p_pkt) {
  static_cast<ocsd_stm_pkt&>(*this) = *p_pkt;
  return *this;
}

void StmTrcPacket::initStartState() {
  auto* const plain = static_cast<ocsd_stm_pkt*>(this);
  std::memset(static_cast<void*>(plain), 0, sizeof *plain);
  type = STM_PKT_NOTSYNC;
  ts_type = STM_TS_UNKNOWN;
  initNextPacket();
}

void StmTrcPacket::initNextPacket() {
  err_type = STM_PKT_NO_ERR_TYPE;
  pkt_ts_bits = 0;
  pkt_has_marker = 0;
  pkt_has_ts = 0;
}

void StmTrcPacket::setPacketType(ocsd_stm_pkt_type pkt_type, bool bMarker) {
  type = pkt_type;
  if (bMarker) pkt_has_marker = 1;
}

void StmTrcPacket::updateErrType(ocsd_stm_pkt_type error) {
  err_type = type;
  type = error;
}

void StmTrcPacket::setMaster(uint8_t master_id) {
  master = master_id;
  channel = 0;
}

void StmTrcPacket::setChannel(uint16_t channel_id, bool b8Bit) {
  channel = b8Bit ? static_cast<uint16_t>((channel & 0xFF00) | (channel_id & 0xFF)) : channel_id;
}

void StmTrcPacket::setTS(uint64_t ts_val, uint8_t updatedBits) {
  const uint64_t mask = waymark::low_mask(updatedBits);
  timestamp = (timestamp & ~mask) | (ts_val & mask);
  pkt_ts_bits = updatedBits;
  pkt_has_ts = 1;
}

void StmTrcPacket::onVersionPkt(ocsd_stm_ts_type version) {
  ts_type = version;
  master = 0;
  channel = 0;
}

void StmTrcPacket::toString(std::string& str) const {
  waymark::compat::packet_text(OCSD_PROTOCOL_STM, c_pkt(), str);
}

void StmTrcPacket::toStringFmt(uint32_t /*fmtFlags*/, std::string& str) const { toString(str); }

// -- ITM. -----------------------------------------------------------------------------------------

ItmTrcPacket::ItmTrcPacket() {
  auto* const plain = static_cast<ocsd_itm_pkt*>(this);
  std::memset(static_cast<void*>(plain), 0, sizeof *plain);
  initPacket();
}

ItmTrcPacket& ItmTrcPacket::operator=(const ocsd_itm_pkt* p_pkt) {
  static_cast<ocsd_itm_pkt&>(*this) = *p_pkt;
  return *this;
}

void ItmTrcPacket::initPacket() {
  type = ITM_PKT_NOTSYNC;
  src_id = 0;
  value = 0;
  val_sz = 0;
  val_ext = 0;
  err_type = ITM_PKT_NO_ERR_TYPE;
}

void ItmTrcPacket::updateErrType(ocsd_itm_pkt_type error) {
  err_type = type;
  type = error;
}

void ItmTrcPacket::setValue(uint32_t pkt_val, uint8_t val_size_bytes) {
  value = pkt_val;
  val_sz = val_size_bytes;
}

void ItmTrcPacket::setExtValue(uint64_t pkt_ext_val) {
  value = static_cast<uint32_t>(pkt_ext_val);
  val_ext = static_cast<uint8_t>(pkt_ext_val >> 32);
}

void ItmTrcPacket::toString(std::string& str) const {
  waymark::compat::packet_text(OCSD_PROTOCOL_ITM, c_pkt(), str);
}

void ItmTrcPacket::toStringFmt(uint32_t /*fmtFlags*/, std::string& str) const { toString(str); }
