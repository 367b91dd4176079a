// Packets of the ETMv3 and the PTM as classes: setters for programs that make packets, and text.
#include <cstring>

#include "core/packet_struct.h"
#include "opencsd/etmv3/trc_pkt_elem_etmv3.h"
#include "opencsd/ptm/trc_pkt_elem_ptm.h"
#include "packet_text.h"
#include "waymark/base/bits.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/ptm/atoms.h"

namespace {

/// Takes the low `bits` bits of an address, and records how many are known.
void update_address(ocsd_pkt_vaddr& address, ocsd_vaddr_t value, int bits) {
  const auto width = static_cast<unsigned>(bits < 0 ? 0 : bits > 64 ? 64 : bits);
  const uint64_t mask = waymark::low_mask(width);
  address.pkt_bits = static_cast<uint8_t>(width);
  address.val = (address.val & ~mask) | (value & mask);
  if (width > address.valid_bits) address.valid_bits = static_cast<uint8_t>(width);
}

/// A timestamp whose low bits were sent; the upper bits stay.
void update_timestamp(uint64_t& timestamp, uint8_t& update_bits, uint64_t value, uint8_t bits) {
  const uint64_t mask = waymark::low_mask(bits);
  timestamp = (timestamp & ~mask) | (value & mask);
  update_bits = bits;
}

}  // namespace

// -- ETMv3. ---------------------------------------------------------------------------------------

EtmV3TrcPacket::EtmV3TrcPacket() : m_pkt_data() { ResetState(); }

EtmV3TrcPacket& EtmV3TrcPacket::operator=(const ocsd_etmv3_pkt* p_pkt) {
  m_pkt_data = *p_pkt;
  return *this;
}

void EtmV3TrcPacket::Clear() {
  m_pkt_data.type = ETM3_PKT_NOERROR;
  m_pkt_data.err_type = ETM3_PKT_NOERROR;
  m_pkt_data.context.updated = 0;
  m_pkt_data.context.updated_c = 0;
  m_pkt_data.context.updated_v = 0;
  m_pkt_data.prev_isa = m_pkt_data.curr_isa;
  m_pkt_data.addr.pkt_bits = 0;
  m_pkt_data.cycle_count = 0;
  m_pkt_data.p_hdr_fmt = 0;
  m_pkt_data.ts_update_bits = 0;
  m_pkt_data.atom = {};
  m_pkt_data.exception = {};
  m_pkt_data.isync_info = {};
  const ocsd_pkt_vaddr data_address = m_pkt_data.data.addr;
  const auto big_endian = m_pkt_data.data.be;
  m_pkt_data.data = {};
  m_pkt_data.data.addr = data_address;
  m_pkt_data.data.addr.pkt_bits = 0;
  m_pkt_data.data.be = big_endian & 1U;
}

void EtmV3TrcPacket::ResetState() {
  std::memset(static_cast<void*>(&m_pkt_data), 0, sizeof m_pkt_data);
  m_pkt_data.curr_isa = m_pkt_data.prev_isa = ocsd_isa_unknown;
  m_pkt_data.addr.size = VA_32BIT;
  Clear();
}

void EtmV3TrcPacket::SetErrType(ocsd_etmv3_pkt_type e_type) {
  m_pkt_data.err_type = m_pkt_data.type;
  m_pkt_data.type = e_type;
}

void EtmV3TrcPacket::UpdateAddress(ocsd_vaddr_t partAddrVal, int updateBits) {
  update_address(m_pkt_data.addr, partAddrVal, updateBits);
}

void EtmV3TrcPacket::SetException(ocsd_armv7_exception type, uint16_t number, bool cancel,
                                  bool cm_type, int irq_n, int resume) {
  ocsd_etmv3_excep& exception = m_pkt_data.exception;
  exception.bits.present = 1;
  exception.bits.cancel = cancel ? 1 : 0;
  exception.bits.cm_irq_n = static_cast<unsigned>(irq_n) & 0x1FFU;
  exception.bits.cm_resume = static_cast<unsigned>(resume) & 0xFU;
  exception.bits.cm_type = cm_type ? 1 : 0;
  exception.number = number;
  exception.type = type;
}

void EtmV3TrcPacket::UpdateNS(int NS) {
  m_pkt_data.context.curr_NS = static_cast<unsigned>(NS) & 1U;
  m_pkt_data.context.updated = 1;
}

void EtmV3TrcPacket::UpdateAltISA(int AltISA) {
  m_pkt_data.context.curr_alt_isa = static_cast<unsigned>(AltISA) & 1U;
  m_pkt_data.context.updated = 1;
}

void EtmV3TrcPacket::UpdateHyp(int Hyp) {
  m_pkt_data.context.curr_Hyp = static_cast<unsigned>(Hyp) & 1U;
  m_pkt_data.context.updated = 1;
}

void EtmV3TrcPacket::UpdateISA(ocsd_isa isa) {
  m_pkt_data.prev_isa = m_pkt_data.curr_isa;
  m_pkt_data.curr_isa = isa;
}

void EtmV3TrcPacket::UpdateContextID(uint32_t contextID) {
  m_pkt_data.context.updated_c = 1;
  m_pkt_data.context.ctxtID = contextID;
}

void EtmV3TrcPacket::UpdateVMID(uint8_t VMID) {
  m_pkt_data.context.updated_v = 1;
  m_pkt_data.context.VMID = VMID;
}

void EtmV3TrcPacket::UpdateTimestamp(uint64_t tsVal, uint8_t updateBits) {
  update_timestamp(m_pkt_data.timestamp, m_pkt_data.ts_update_bits, tsVal, updateBits);
}

bool EtmV3TrcPacket::UpdateAtomFromPHdr(uint8_t pHdr, bool cycleAccurate) {
  if (!waymark::etmv3::is_p_header(pHdr)) return false;
  const waymark::etmv3::PHeader& header = waymark::etmv3::p_headers(cycleAccurate, true)[pHdr];
  if (!header.valid) return false;
  m_pkt_data.atom.En_bits = header.atoms;
  m_pkt_data.atom.num = header.atom_count;
  m_pkt_data.p_hdr_fmt = header.format;
  m_pkt_data.cycle_count = header.cycle_count;
  return true;
}

void EtmV3TrcPacket::SetDataValue(uint32_t value) {
  m_pkt_data.data.value = value;
  m_pkt_data.data.update_dval = 1;
}

void EtmV3TrcPacket::UpdateDataAddress(uint32_t value, uint8_t valid_bits) {
  update_address(m_pkt_data.data.addr, value, valid_bits);
  m_pkt_data.data.update_addr = 1;
}

void EtmV3TrcPacket::UpdateDataEndian(uint8_t BE_Val) {
  m_pkt_data.data.be = BE_Val & 1U;
  m_pkt_data.data.update_be = 1;
}

void EtmV3TrcPacket::toString(std::string& str) const {
  waymark::compat::packet_text(OCSD_PROTOCOL_ETMV3, &m_pkt_data, str);
}

void EtmV3TrcPacket::toStringFmt(uint32_t /*fmtFlags*/, std::string& str) const { toString(str); }

// -- PTM. -----------------------------------------------------------------------------------------

PtmTrcPacket::PtmTrcPacket() { ResetState(); }

PtmTrcPacket& PtmTrcPacket::operator=(const ocsd_ptm_pkt* p_pkt) {
  static_cast<ocsd_ptm_pkt&>(*this) = *p_pkt;
  return *this;
}

void PtmTrcPacket::Clear() {
  type = PTM_PKT_NOERROR;
  err_type = PTM_PKT_NOERROR;
  addr.pkt_bits = 0;
  prev_isa = curr_isa;
  cycle_count = 0;
  cc_valid = 0;
  context.updated = 0;
  context.updated_c = 0;
  context.updated_v = 0;
  ts_update_bits = 0;
  atom = {};
  exception = {};
}

void PtmTrcPacket::ResetState() {
  auto* const plain = static_cast<ocsd_ptm_pkt*>(this);
  std::memset(static_cast<void*>(plain), 0, sizeof *plain);
  curr_isa = prev_isa = ocsd_isa_unknown;
  addr.size = VA_32BIT;
  Clear();
}

void PtmTrcPacket::SetErrType(ocsd_ptm_pkt_type e_type) {
  err_type = type;
  type = e_type;
}

void PtmTrcPacket::SetException(ocsd_armv7_exception excep_type, uint16_t number) {
  exception.bits.present = 1;
  exception.number = number;
  exception.type = excep_type;
}

void PtmTrcPacket::SetCycleCount(uint32_t cycleCount) {
  cycle_count = cycleCount;
  cc_valid = 1;
}

void PtmTrcPacket::SetAtomFromPHdr(uint8_t pHdr) {
  const waymark::ptm::AtomPacket& atoms = waymark::ptm::atom_packet(pHdr);
  atom.En_bits = atoms.atoms;
  atom.num = atoms.atom_count;
}

void PtmTrcPacket::SetCycleAccAtomFromPHdr(uint8_t pHdr) {
  // One atom, in bit 1: 0 is E.
  atom.num = 1;
  atom.En_bits = (pHdr & 0x2) != 0 ? 0 : 1;
}

void PtmTrcPacket::UpdateAddress(ocsd_vaddr_t partAddrVal, int updateBits) {
  update_address(addr, partAddrVal, updateBits);
}

void PtmTrcPacket::UpdateNS(int NS) {
  context.curr_NS = static_cast<unsigned>(NS) & 1U;
  context.updated = 1;
}

void PtmTrcPacket::UpdateAltISA(int AltISA) {
  context.curr_alt_isa = static_cast<unsigned>(AltISA) & 1U;
  context.updated = 1;
}

void PtmTrcPacket::UpdateHyp(int Hyp) {
  context.curr_Hyp = static_cast<unsigned>(Hyp) & 1U;
  context.updated = 1;
}

void PtmTrcPacket::UpdateISA(ocsd_isa isa) {
  prev_isa = curr_isa;
  curr_isa = isa;
}

void PtmTrcPacket::UpdateContextID(uint32_t contextID) {
  context.updated_c = 1;
  context.ctxtID = contextID;
}

void PtmTrcPacket::UpdateVMID(uint8_t VMID) {
  context.updated_v = 1;
  context.VMID = VMID;
}

void PtmTrcPacket::UpdateTimestamp(uint64_t tsVal, uint8_t updateBits) {
  update_timestamp(timestamp, ts_update_bits, tsVal, updateBits);
}

void PtmTrcPacket::toString(std::string& str) const {
  waymark::compat::packet_text(OCSD_PROTOCOL_PTM, c_pkt(), str);
}

void PtmTrcPacket::toStringFmt(uint32_t /*fmtFlags*/, std::string& str) const { toString(str); }
