// Packets of ETMv3 and PTM.
#include <algorithm>

#include "packet_struct.h"

namespace waymark::compat {
namespace {

// By the number in the packet; etmv3.md 5.4 and ptm.md 5.4.
constexpr ocsd_armv7_exception kExceptions[16] = {
    Excp_NoException,   Excp_DebugHalt, Excp_SMC,   Excp_Hyp,   Excp_AsyncDAbort, Excp_Jazelle,
    Excp_Reserved,      Excp_Reserved,  Excp_Reset, Excp_Undef, Excp_SVC,         Excp_PrefAbort,
    Excp_SyncDataAbort, Excp_Generic,   Excp_IRQ,   Excp_FIQ};
constexpr unsigned kFirstMNamed = 9;
constexpr ocsd_armv7_exception kExceptionsM[] = {
    Excp_CMUsageFault, Excp_CMNMI,     Excp_SVC,        Excp_CMDebugMonitor, Excp_CMMemManage,
    Excp_CMPendSV,     Excp_CMSysTick, Excp_Reserved,   Excp_Reset,          Excp_Reserved,
    Excp_CMHardFault,  Excp_Reserved,  Excp_CMBusFault, Excp_Reserved,       Excp_Reserved};
constexpr unsigned kFirstMInterrupt = kFirstMNamed + std::size(kExceptionsM);

ocsd_armv7_exception exception_of(unsigned number) {
  return number < std::size(kExceptions) ? kExceptions[number] : Excp_Reserved;
}

ocsd_armv7_exception exception_of_m(unsigned number) {
  if (number == 0) return Excp_NoException;
  if (number < kFirstMNamed || number >= kFirstMInterrupt) return Excp_CMIRQn;
  return kExceptionsM[number - kFirstMNamed];
}

unsigned interrupt_of_m(unsigned number) {
  return number == 8 ? 0 : number < 8 ? number : number - 16;
}

template <class Address>
void fill_address(const Address& from, ocsd_pkt_vaddr& to) {
  to.size = VA_32BIT;
  to.val = from.value;
  to.valid_bits = from.valid_bits;
  to.pkt_bits = from.update_bits;
}

template <class Address>
void read_address(const ocsd_pkt_vaddr& from, Address& to) {
  to.value = static_cast<std::uint32_t>(from.val);
  to.valid_bits = std::min<std::uint8_t>(from.valid_bits, 32);
  to.update_bits = std::min<std::uint8_t>(from.pkt_bits, 32);
}

}  // namespace

// -- ETMv3. ---------------------------------------------------------------------------------------

namespace {

void fill_branch(const etmv3::Packet& from, bool m_profile, ocsd_etmv3_pkt& to) {
  fill_address(from.address, to.addr);
  to.curr_isa = static_cast<ocsd_isa>(from.isa);
  to.prev_isa = static_cast<ocsd_isa>(from.previous_isa);
  if (!from.exception.present) return;
  to.exception.number = from.exception.number;
  to.exception.type =
      m_profile ? exception_of_m(from.exception.number) : exception_of(from.exception.number);
  to.exception.bits.present = 1;
  to.exception.bits.cancel = from.exception.cancel;
  to.exception.bits.cm_type = m_profile;
  to.exception.bits.cm_resume = from.exception.resume & 0xFU;
  if (m_profile && to.exception.type == Excp_CMIRQn)
    to.exception.bits.cm_irq_n = interrupt_of_m(from.exception.number) & 0x1FFU;
  // The state in the information bytes; the old form has none.
  to.context.updated = !from.exception.deprecated;
  to.context.curr_NS = from.context.ns;
  to.context.curr_Hyp = from.context.hyp;
  to.context.curr_alt_isa = from.context.alt_isa;
}

void fill_isync(const etmv3::Packet& from, ocsd_etmv3_pkt& to) {
  fill_address(from.address, to.addr);
  to.curr_isa = static_cast<ocsd_isa>(from.isa);
  to.isync_info.reason = static_cast<ocsd_iSync_reason>(from.reason);
  to.isync_info.has_cycle_count = from.has_cycle_count;
  to.isync_info.has_LSipAddress = from.lsip;
  to.isync_info.no_address = from.no_address;
  if (from.lsip) {
    to.data.addr.val = from.data_instruction;
    to.data.addr.valid_bits = 32;
  }
  to.cycle_count = from.has_cycle_count ? from.cycle_count : 0;
  to.context.updated = 1;
  to.context.curr_NS = from.context.ns;
  to.context.curr_Hyp = from.context.hyp;
  to.context.curr_alt_isa = from.context.alt_isa;
  to.context.updated_c = from.context.updated_context_id;
  if (from.context.updated_context_id) to.context.ctxtID = from.context.context_id;
}

}  // namespace

void fill(const etmv3::Packet& from, bool m_profile, ocsd_etmv3_pkt& to) {
  using etmv3::PacketType;
  to.type = static_cast<ocsd_etmv3_pkt_type>(from.type);
  to.err_type = static_cast<ocsd_etmv3_pkt_type>(from.error_type);
  to.context.updated = to.context.updated_c = to.context.updated_v = 0;
  to.addr.pkt_bits = 0;
  to.exception = {};
  to.data = {};
  to.isync_info = {};
  to.atom = {};
  to.cycle_count = 0;
  to.prev_isa = to.curr_isa;
  switch (from.type) {
    case PacketType::kBranchAddress:
      fill_branch(from, m_profile, to);
      break;
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      fill_isync(from, to);
      break;
    case PacketType::kPHeader:
      to.atom.En_bits = from.atoms;
      to.atom.num = from.atom_count;
      to.p_hdr_fmt = from.format;
      to.cycle_count = from.cycle_count;
      break;
    case PacketType::kCycleCount:
      to.cycle_count = from.cycle_count;
      break;
    case PacketType::kContextId:
      to.context.ctxtID = from.context.context_id;
      to.context.updated_c = 1;
      break;
    case PacketType::kVmid:
      to.context.VMID = from.context.vmid;
      to.context.updated_v = 1;
      break;
    case PacketType::kTimestamp:
      to.timestamp = from.timestamp;
      to.ts_update_bits = from.timestamp_bits;
      break;
    case PacketType::kOooData:
    case PacketType::kOooAddress:
    case PacketType::kNormData:
    case PacketType::kValueNotTraced:
      fill_address(from.transfer.address, to.data.addr);
      to.data.value = from.transfer.value;
      to.data.ooo_tag = from.transfer.tag & 3U;
      to.data.be = from.transfer.big_endian;
      to.data.update_be = from.transfer.has_endianness;
      to.data.update_addr = from.transfer.has_address;
      to.data.update_dval = from.transfer.has_value;
      break;
    default:
      break;
  }
}

void read(const ocsd_etmv3_pkt& from, etmv3::Packet& to, etmv3::Config& config) {
  using etmv3::PacketType;
  config.core.arch = isa::Arch::kV7;
  config.core.profile = from.exception.bits.cm_type != 0 ? isa::Profile::kM : isa::Profile::kA;
  to.type = static_cast<PacketType>(from.type);
  to.error_type = static_cast<PacketType>(from.err_type);
  to.isa = static_cast<isa::Isa>(from.curr_isa);
  to.previous_isa = static_cast<isa::Isa>(from.prev_isa);
  read_address(from.addr, to.address);
  to.context.ns = from.context.curr_NS != 0;
  to.context.hyp = from.context.curr_Hyp != 0;
  to.context.alt_isa = from.context.curr_alt_isa != 0;
  to.context.updated_context_id = from.context.updated_c != 0;
  to.context.context_id = from.context.ctxtID;
  to.context.vmid = from.context.VMID;
  to.reason = static_cast<etmv3::SyncReason>(from.isync_info.reason & 3);
  to.has_cycle_count = from.isync_info.has_cycle_count != 0;
  to.lsip = from.isync_info.has_LSipAddress != 0;
  to.no_address = from.isync_info.no_address != 0;
  to.data_instruction = static_cast<std::uint32_t>(from.data.addr.val);
  to.exception.present = from.exception.bits.present != 0;
  to.exception.number = from.exception.number;
  to.exception.cancel = from.exception.bits.cancel != 0;
  to.exception.resume = static_cast<std::uint8_t>(from.exception.bits.cm_resume);
  to.exception.deprecated = from.context.updated == 0;
  to.atoms = static_cast<std::uint16_t>(from.atom.En_bits);
  to.atom_count = std::min<std::uint8_t>(from.atom.num, 16);
  to.format = from.p_hdr_fmt;
  // The text has a letter for each cycle; this is the most that a packet can have.
  constexpr std::uint32_t kMostHeaderCycles = 8;
  to.cycle_count = to.type == PacketType::kPHeader ? std::min(from.cycle_count, kMostHeaderCycles)
                                                   : from.cycle_count;
  to.timestamp = from.timestamp;
  to.timestamp_bits = from.ts_update_bits;
  read_address(from.data.addr, to.transfer.address);
  to.transfer.value = from.data.value;
  to.transfer.tag = static_cast<std::uint8_t>(from.data.ooo_tag);
  to.transfer.has_address = from.data.update_addr != 0;
  to.transfer.has_value = from.data.update_dval != 0;
  to.transfer.has_endianness = from.data.update_be != 0;
  to.transfer.big_endian = from.data.be != 0;
}

// -- PTM. -----------------------------------------------------------------------------------------

void fill(const ptm::Packet& from, ocsd_ptm_pkt& to) {
  using ptm::PacketType;
  to.type = static_cast<ocsd_ptm_pkt_type>(from.type);
  to.err_type = static_cast<ocsd_ptm_pkt_type>(from.error_type);
  to.context.updated = to.context.updated_c = to.context.updated_v = 0;
  to.addr.pkt_bits = 0;
  to.exception = {};
  to.atom = {};
  to.cc_valid = from.has_cycle_count;
  to.cycle_count = from.has_cycle_count ? from.cycle_count : 0;
  switch (from.type) {
    case PacketType::kBranchAddress:
    case PacketType::kWaypointUpdate:
      fill_address(from.address, to.addr);
      to.prev_isa = from.isa_changed ? to.curr_isa : static_cast<ocsd_isa>(from.isa);
      to.curr_isa = static_cast<ocsd_isa>(from.isa);
      if (from.type == PacketType::kWaypointUpdate || from.info_bytes == 0) break;
      to.exception.bits.present = 1;
      to.exception.number = from.exception;
      to.exception.type = exception_of(from.exception);
      to.context.updated = from.context.updated;
      to.context.curr_NS = from.context.ns;
      to.context.curr_Hyp = from.context.hyp;
      to.context.curr_alt_isa = from.context.alt_isa;
      break;
    case PacketType::kIsync:
      fill_address(from.address, to.addr);
      to.prev_isa = to.curr_isa;
      to.curr_isa = static_cast<ocsd_isa>(from.isa);
      to.i_sync_reason = static_cast<ocsd_iSync_reason>(from.reason);
      to.context.updated = 1;
      to.context.curr_NS = from.context.ns;
      to.context.curr_Hyp = from.context.hyp;
      to.context.curr_alt_isa = from.context.alt_isa;
      to.context.updated_c = from.context.updated_context_id;
      if (from.context.updated_context_id) to.context.ctxtID = from.context.context_id;
      break;
    case PacketType::kContextId:
      to.context.ctxtID = from.context.context_id;
      to.context.updated_c = 1;
      break;
    case PacketType::kVmid:
      to.context.VMID = from.context.vmid;
      to.context.updated_v = 1;
      break;
    case PacketType::kAtom:
      to.atom.En_bits = from.atoms;
      to.atom.num = from.atom_count;
      break;
    case PacketType::kTimestamp:
      to.timestamp = from.timestamp;
      to.ts_update_bits = from.timestamp_bits;
      break;
    default:
      break;
  }
}

void read(const ocsd_ptm_pkt& from, ptm::Packet& to) {
  using ptm::PacketType;
  to.type = static_cast<PacketType>(from.type);
  to.error_type = static_cast<PacketType>(from.err_type);
  to.isa = static_cast<isa::Isa>(from.curr_isa);
  to.isa_changed = from.curr_isa != from.prev_isa;
  read_address(from.addr, to.address);
  to.context.ns = from.context.curr_NS != 0;
  to.context.hyp = from.context.curr_Hyp != 0;
  to.context.updated_context_id = from.context.updated_c != 0;
  to.context.context_id = from.context.ctxtID;
  to.context.vmid = from.context.VMID;
  to.atoms = from.atom.En_bits;
  to.atom_count = std::min<std::uint8_t>(from.atom.num, 32);
  to.reason = static_cast<ptm::IsyncReason>(from.i_sync_reason & 3);
  to.has_cycle_count = from.cc_valid != 0;
  to.cycle_count = from.cycle_count;
  to.timestamp = from.timestamp;
  to.timestamp_bits = std::min<std::uint8_t>(from.ts_update_bits, 64);
  to.info_bytes = from.exception.bits.present != 0 ? 1 : 0;
  to.exception = from.exception.number;
}

}  // namespace waymark::compat
