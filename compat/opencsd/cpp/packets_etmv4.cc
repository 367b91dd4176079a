// Packets of the ETMv4 and ETE as a class: setters for programs that make packets, and text.
#include <algorithm>
#include <cstring>

#include "opencsd/etmv4/trc_pkt_elem_etmv4i.h"
#include "packet_text.h"
#include "waymark/base/bits.h"

using waymark::low_mask;

// -- The last addresses. --------------------------------------------------------------------------

void Etmv4PktAddrStack::push(const ocsd_pkt_vaddr vaddr, uint8_t isa) {
  m_v_addr[2] = m_v_addr[1];
  m_v_addr[1] = m_v_addr[0];
  m_v_addr[0] = vaddr;
  m_v_addr_ISA[2] = m_v_addr_ISA[1];
  m_v_addr_ISA[1] = m_v_addr_ISA[0];
  m_v_addr_ISA[0] = isa;
}

void Etmv4PktAddrStack::get_idx(uint8_t idx, ocsd_pkt_vaddr& vaddr, uint8_t& isa) {
  if (idx >= 3) return;
  vaddr = m_v_addr[idx];
  isa = m_v_addr_ISA[idx];
}

void Etmv4PktAddrStack::reset_stack() {
  for (int i = 0; i < 3; ++i) {
    m_v_addr[i] = {};
    m_v_addr[i].size = OCSD_MAX_VA_BITSIZE == 64 ? VA_64BIT : VA_32BIT;
    m_v_addr_ISA[i] = 0;
  }
}

// -- The packet. ----------------------------------------------------------------------------------

EtmV4ITrcPacket::EtmV4ITrcPacket() {
  auto* const plain = static_cast<ocsd_etmv4_i_pkt*>(this);
  std::memset(static_cast<void*>(plain), 0, sizeof *plain);
  protocol_version = 0x42;
  initStartState();
}

EtmV4ITrcPacket& EtmV4ITrcPacket::operator=(const ocsd_etmv4_i_pkt* p_pkt) {
  static_cast<ocsd_etmv4_i_pkt&>(*this) = *p_pkt;
  return *this;
}

void EtmV4ITrcPacket::initStartState() {
  const uint8_t version = protocol_version;
  auto* const plain = static_cast<ocsd_etmv4_i_pkt*>(this);
  std::memset(static_cast<void*>(plain), 0, sizeof *plain);
  protocol_version = version;
  type = ETM4_PKT_I_NOTSYNC;
  v_addr.size = OCSD_MAX_VA_BITSIZE == 64 ? VA_64BIT : VA_32BIT;
  m_addr_stack.reset_stack();
  initNextPacket();
}

void EtmV4ITrcPacket::initNextPacket() {
  atom.num = 0;
  pkt_valid.val = 0;
  context.updated = 0;
  context.updated_c = 0;
  context.updated_v = 0;
  err_type = ETM4_PKT_I_NO_ERR_TYPE;
}

void EtmV4ITrcPacket::updateErrType(ocsd_etmv4_i_pkt_type err_pkt_type, uint8_t val) {
  err_type = type;
  type = err_pkt_type;
  err_hdr_val = val;
}

void EtmV4ITrcPacket::clearTraceInfo() {
  pkt_valid.bits.ts_valid = 0;
  pkt_valid.bits.trace_info_valid = 0;
  pkt_valid.bits.p0_key_valid = 0;
  pkt_valid.bits.spec_depth_valid = 0;
  pkt_valid.bits.cc_thresh_valid = 0;
  pkt_valid.bits.ts_valid = 0;
  trace_info.val = 0;
  v_addr.pkt_bits = 0;
  v_addr.valid_bits = 0;
  v_addr_ISA = 0;
  v_addr.val = 0;
  m_addr_stack.reset_stack();
}

void EtmV4ITrcPacket::setTraceInfo(uint32_t infoVal) {
  trace_info.val &= ~uint32_t{0x3F};
  trace_info.val |= infoVal & 0x7F;
  pkt_valid.bits.trace_info_valid = 1;
}

void EtmV4ITrcPacket::setTraceInfoKey(uint32_t keyVal) {
  p0_key = keyVal;
  pkt_valid.bits.p0_key_valid = 1;
}

void EtmV4ITrcPacket::setTraceInfoSpec(uint32_t specVal) {
  curr_spec_depth = specVal;
  pkt_valid.bits.spec_depth_valid = 1;
  trace_info.bits.spec_field_present = 1;
}

void EtmV4ITrcPacket::setTraceInfoCyct(uint32_t cyctVal) {
  cc_threshold = cyctVal;
  pkt_valid.bits.cc_thresh_valid = 1;
}

void EtmV4ITrcPacket::setTS(uint64_t value, uint8_t bits) {
  const uint64_t mask = low_mask(bits);
  ts.timestamp = (ts.timestamp & ~mask) | (value & mask);
  ts.bits_changed = bits;
  pkt_valid.bits.ts_valid = 1;
}

void EtmV4ITrcPacket::setCycleCount(uint32_t value) {
  pkt_valid.bits.cc_valid = 1;
  cycle_count = value;
}

void EtmV4ITrcPacket::setCommitElements(uint32_t commit_elem) {
  pkt_valid.bits.commit_elem_valid = 1;
  commit_elements = commit_elem;
}

void EtmV4ITrcPacket::setCancelElements(uint32_t cancel_elem) {
  pkt_valid.bits.cancel_elem_valid = 1;
  cancel_elements = cancel_elem;
}

void EtmV4ITrcPacket::setAtomPacket(ocsd_pkt_atm_type atom_type, uint32_t En_bits, uint8_t num) {
  atom.num = num;
  if (atom_type == ATOM_REPEAT) {
    atom.En_bits = En_bits != 0 ? static_cast<uint32_t>(low_mask(num)) : 0;
  } else {
    atom.En_bits = En_bits;
  }
}

void EtmV4ITrcPacket::setCondIF1(uint32_t cond_key) {
  cond_instr.cond_key_set = 1;
  cond_instr.f3_final_elem = 0;
  cond_instr.f2_cond_incr = 0;
  cond_instr.num_c_elem = 1;
  cond_instr.cond_c_key = cond_key;
}

void EtmV4ITrcPacket::setCondIF2(uint8_t c_elem_idx) {
  cond_instr.cond_key_set = 0;
  cond_instr.f3_final_elem = 0;
  cond_instr.f2_cond_incr = c_elem_idx == 0 || c_elem_idx == 2 ? 1 : 0;
  cond_instr.num_c_elem = c_elem_idx == 2 ? 2 : 1;
}

void EtmV4ITrcPacket::setCondIF3(uint8_t num_c_elem, bool finalElem) {
  cond_instr.cond_key_set = 0;
  cond_instr.f3_final_elem = finalElem ? 1 : 0;
  cond_instr.f2_cond_incr = 0;
  cond_instr.num_c_elem = num_c_elem;
}

void EtmV4ITrcPacket::setCondRF1(const uint32_t* key, const uint8_t* res, const uint8_t* CI,
                                 bool set2Keys) {
  cond_result.key_res_0_set = 1;
  cond_result.cond_r_key_0 = key[0];
  cond_result.res_0 = res[0] & 0xFU;
  cond_result.ci_0 = CI[0] & 1U;
  cond_result.key_res_1_set = set2Keys ? 1 : 0;
  if (!set2Keys) return;
  cond_result.cond_r_key_1 = key[1];
  cond_result.res_1 = res[1] & 0xFU;
  cond_result.ci_1 = CI[1] & 1U;
}

void EtmV4ITrcPacket::setCondRF2(uint8_t key_incr, uint8_t token) {
  cond_result.key_res_0_set = 0;
  cond_result.key_res_1_set = 0;
  cond_result.f2_key_incr = key_incr & 3U;
  cond_result.f2f4_token = token & 3U;
}

void EtmV4ITrcPacket::setCondRF3(uint16_t tokens) {
  cond_result.key_res_0_set = 0;
  cond_result.key_res_1_set = 0;
  cond_result.f3_tokens = tokens & 0xFFFU;
}

void EtmV4ITrcPacket::setCondRF4(uint8_t token) {
  cond_result.key_res_0_set = 0;
  cond_result.key_res_1_set = 0;
  cond_result.f2f4_token = token & 3U;
}

void EtmV4ITrcPacket::setContextInfo(bool update, uint8_t EL, uint8_t NS, uint8_t SF, uint8_t NSE) {
  pkt_valid.bits.context_valid = 1;
  if (!update) return;
  context.updated = 1;
  context.EL = EL & 3U;
  context.NS = NS & 1U;
  context.SF = SF & 1U;
  context.NSE = NSE & 1U;
}

void EtmV4ITrcPacket::setContextVMID(uint32_t VMID) {
  pkt_valid.bits.context_valid = 1;
  context.updated_v = 1;
  context.VMID = VMID;
}

void EtmV4ITrcPacket::setContextCID(uint32_t CID) {
  pkt_valid.bits.context_valid = 1;
  context.updated_c = 1;
  context.ctxtID = CID;
}

void EtmV4ITrcPacket::setExceptionInfo(uint16_t excep_type, uint8_t addr_interp,
                                       uint8_t m_fault_pending, uint8_t m_type) {
  exception_info.exceptionType = excep_type & 0x3FFU;
  exception_info.addr_interp = addr_interp & 3U;
  exception_info.m_fault_pending = m_fault_pending & 1U;
  exception_info.m_type = m_type & 1U;
}

void EtmV4ITrcPacket::set64BitAddress(uint64_t addr, uint8_t IS) {
  v_addr.pkt_bits = 64;
  v_addr.valid_bits = 64;
  v_addr.size = VA_64BIT;
  v_addr.val = static_cast<ocsd_vaddr_t>(addr);
  v_addr_ISA = IS;
  pushAddr();
}

void EtmV4ITrcPacket::set32BitAddress(uint32_t addr, uint8_t IS) {
  v_addr.pkt_bits = 32;
  // In AArch64 state the upper half stays.
  if (pkt_valid.bits.context_valid != 0 && context.SF != 0) {
    v_addr.size = VA_64BIT;
    v_addr.val = (v_addr.val & ~low_mask(32)) | addr;
  } else {
    v_addr.val = addr;
    v_addr.size = VA_32BIT;
  }
  v_addr.valid_bits = std::max<uint8_t>(v_addr.valid_bits, 32);
  v_addr_ISA = IS;
  pushAddr();
}

void EtmV4ITrcPacket::updateShortAddress(uint32_t addr, uint8_t IS, uint8_t update_bits) {
  const uint64_t mask = low_mask(update_bits);
  v_addr.pkt_bits = update_bits;
  v_addr.valid_bits = std::max(v_addr.valid_bits, update_bits);
  v_addr.val = (v_addr.val & ~mask) | (addr & mask);
  v_addr_ISA = IS;
  pushAddr();
}

void EtmV4ITrcPacket::setAddressExactMatch(uint8_t idx) {
  m_addr_stack.get_idx(idx, v_addr, v_addr_ISA);
  v_addr.pkt_bits = 0;
  addr_exact_match_idx = idx;
  pushAddr();
}

void EtmV4ITrcPacket::setQType(bool has_count, uint32_t count, bool has_addr, bool addr_match,
                               uint8_t q_type) {
  Q_pkt.q_count = count;
  Q_pkt.q_type = q_type & 0xFU;
  Q_pkt.count_present = has_count ? 1 : 0;
  Q_pkt.addr_present = has_addr ? 1 : 0;
  Q_pkt.addr_match = addr_match ? 1 : 0;
}

void EtmV4ITrcPacket::setITE(uint8_t el, uint64_t value) {
  ite_pkt.el = el;
  ite_pkt.value = value;
}

void EtmV4ITrcPacket::toString(std::string& str) const {
  waymark::compat::packet_text(OCSD_PROTOCOL_ETMV4I, c_pkt(), str);
}

void EtmV4ITrcPacket::toStringFmt(uint32_t /*fmtFlags*/, std::string& str) const { toString(str); }
