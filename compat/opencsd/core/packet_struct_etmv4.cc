// Packets of ETMv4 and ETE.
#include <algorithm>

#include "packet_struct.h"

namespace waymark::compat {
namespace {

using etmv4::Packet;
using etmv4::PacketType;

constexpr std::uint32_t kInfoMask = 0xFFFF;

bool has_context(PacketType type) {
  return type == PacketType::kContext || is_address_context(type);
}

bool has_address(PacketType type) {
  return is_address_context(type) || is_target_address(type) || type == PacketType::kQ ||
         is_source_address(type);
}

void fill_address(const etmv4::Address& from, ocsd_etmv4_i_pkt& to) {
  to.v_addr.size = from.size_bits == 64 ? VA_64BIT : VA_32BIT;
  to.v_addr.val = from.value;
  to.v_addr.valid_bits = from.valid_bits;
  to.v_addr.pkt_bits = from.update_bits;
  to.v_addr_ISA = from.is;
}

void fill_context(const etmv4::Context& from, ocsd_etmv4_i_pkt& to) {
  to.context.EL = from.el & 3U;
  to.context.SF = from.sf;
  to.context.NS = from.ns;
  to.context.NSE = from.nse;
  to.context.updated = from.updated;
  to.context.updated_c = from.updated_context_id;
  to.context.updated_v = from.updated_vmid;
  to.context.ctxtID = from.context_id;
  to.context.VMID = from.vmid;
  to.pkt_valid.bits.context_valid = 1;
}

void fill_trace_info(const Packet& from, ocsd_etmv4_i_pkt& to) {
  const etmv4::TraceInfo& info = from.trace_info;
  to.trace_info.val = info.info & kInfoMask;
  to.trace_info.bits.initial_t_info = info.initial;
  to.trace_info.bits.spec_field_present = info.has_spec;
  to.pkt_valid.bits.trace_info_valid = 1;
  to.curr_spec_depth = info.spec_depth;
  to.pkt_valid.bits.spec_depth_valid = info.has_spec;
  to.cc_threshold = from.cc_threshold;
  to.pkt_valid.bits.cc_thresh_valid = info.info & 1U;
}

void fill_q(const Packet& from, ocsd_etmv4_i_pkt& to) {
  to.Q_pkt.q_count = from.q.has_count ? from.q.count : 0;
  to.Q_pkt.count_present = from.q.has_count;
  to.Q_pkt.q_type = from.q.type & 0xFU;
  to.Q_pkt.addr_match = from.q.is_match();
  to.Q_pkt.addr_present = from.q.has_address();
  to.addr_exact_match_idx = from.match_index;
}

// Members that only one type has.
void fill_own(const Packet& from, ocsd_etmv4_i_pkt& to) {
  switch (from.type) {
    case PacketType::kTraceInfo:
      fill_trace_info(from, to);
      break;
    case PacketType::kTimestamp:
      to.ts.timestamp = from.timestamp;
      to.ts.bits_changed = from.timestamp_bits;
      to.pkt_valid.bits.ts_valid = 1;
      if (from.has_count) {
        to.cycle_count = from.cycle_count;
        to.pkt_valid.bits.cc_valid = 1;
      }
      break;
    case PacketType::kCycleCountF1:
    case PacketType::kCycleCountF2:
    case PacketType::kCycleCountF3:
      to.cycle_count = from.cycle_count;
      to.pkt_valid.bits.cc_valid = 1;
      if (from.has_commit) {
        to.commit_elements = from.commit;
        to.pkt_valid.bits.commit_elem_valid = 1;
      }
      break;
    case PacketType::kCommit:
      to.commit_elements = from.commit;
      to.pkt_valid.bits.commit_elem_valid = 1;
      break;
    case PacketType::kCancelF1:
    case PacketType::kCancelF1Mispredict:
    case PacketType::kCancelF2:
    case PacketType::kCancelF3:
      to.cancel_elements = from.cancel;
      to.pkt_valid.bits.cancel_elem_valid = 1;
      break;
    case PacketType::kException:
    case PacketType::kPeReset:
    case PacketType::kTransactionFail:
      to.exception_info.exceptionType = from.exception & 0x3FFU;
      to.exception_info.addr_interp = static_cast<unsigned>(from.exception_address) & 3U;
      to.exception_info.m_fault_pending = from.fault_pending;
      break;
    case PacketType::kInstrumentation:
      to.ite_pkt.el = from.instrumentation.el;
      to.ite_pkt.value = from.instrumentation.payload;
      break;
    case PacketType::kAddressMatch:
    case PacketType::kSourceMatch:
      to.addr_exact_match_idx = from.match_index;
      break;
    case PacketType::kQ:
      fill_q(from, to);
      break;
    case PacketType::kEvent:
      to.event_val = from.value;
      break;
    case PacketType::kNumberedDataSync:
    case PacketType::kUnnumberedDataSync:
      to.dsm_val = from.value;
      break;
    default:
      break;
  }
}

}  // namespace

void fill(const Packet& from, unsigned version, bool m_profile, ocsd_etmv4_i_pkt& to) {
  to.type = static_cast<ocsd_etmv4_i_pkt_type>(from.type);
  to.err_type = static_cast<ocsd_etmv4_i_pkt_type>(from.error_type);
  to.err_hdr_val = 0;
  to.protocol_version = static_cast<std::uint8_t>(version);
  to.pkt_valid.val = 0;
  to.atom.En_bits = from.atom_count != 0 ? from.atoms : 0;
  to.atom.num = from.atom_count;
  if (is_atoms(from.type)) return;
  to.exception_info.m_type = m_profile;
  to.v_addr.pkt_bits = 0;
  to.context.updated = to.context.updated_c = to.context.updated_v = 0;
  if (has_address(from.type)) fill_address(from.address, to);
  if (has_context(from.type)) fill_context(from.context, to);
  fill_own(from, to);
}

void read(const ocsd_etmv4_i_pkt& from, Packet& to, etmv4::Config& config) {
  config.ete = (from.protocol_version & 0xF0) == 0x50;
  config.trcdevarch = static_cast<std::uint32_t>(from.protocol_version & 0xF0U) << 8;
  if (from.exception_info.m_type != 0) config.core.profile = isa::Profile::kM;
  to.type = static_cast<PacketType>(from.type);
  to.error_type = static_cast<PacketType>(from.err_type);
  to.atoms = from.atom.En_bits;
  to.atom_count = std::min<std::uint8_t>(from.atom.num, 32);
  to.address = {.value = from.v_addr.val,
                .valid_bits = std::min<std::uint8_t>(from.v_addr.valid_bits, 64),
                .update_bits = std::min<std::uint8_t>(from.v_addr.pkt_bits, 64),
                .size_bits = static_cast<std::uint8_t>(from.v_addr.size == VA_64BIT ? 64 : 32),
                .is = from.v_addr_ISA};
  to.context = {.context_id = from.context.ctxtID,
                .vmid = from.context.VMID,
                .el = static_cast<std::uint8_t>(from.context.EL),
                .sf = from.context.SF != 0,
                .ns = from.context.NS != 0,
                .nse = from.context.NSE != 0,
                .updated = from.context.updated != 0,
                .updated_context_id = from.context.updated_c != 0,
                .updated_vmid = from.context.updated_v != 0};
  to.cc_threshold = from.cc_threshold;
  to.has_count = from.pkt_valid.bits.cc_valid != 0;
  to.cycle_count = from.cycle_count;
  to.has_commit = from.pkt_valid.bits.commit_elem_valid != 0;
  to.commit = from.commit_elements;
  to.cancel = from.cancel_elements;
  to.exception = static_cast<std::uint16_t>(from.exception_info.exceptionType);
  to.exception_address = static_cast<etmv4::ExceptionAddress>(from.exception_info.addr_interp);
  to.fault_pending = from.exception_info.m_fault_pending != 0;
  to.match_index = from.addr_exact_match_idx;
  switch (to.type) {
    case PacketType::kTraceInfo:
      to.trace_info.info = from.trace_info.val & kInfoMask;
      to.trace_info.spec_depth = from.curr_spec_depth;
      to.trace_info.initial = from.trace_info.bits.initial_t_info != 0;
      to.trace_info.has_spec = from.trace_info.bits.spec_field_present != 0;
      break;
    case PacketType::kInstrumentation:
      to.instrumentation = {.payload = from.ite_pkt.value, .el = from.ite_pkt.el};
      break;
    case PacketType::kQ:
      to.q = {.count = from.Q_pkt.q_count,
              .type = static_cast<std::uint8_t>(from.Q_pkt.q_type),
              .has_count = from.Q_pkt.count_present != 0};
      break;
    default:
      to.timestamp = from.ts.timestamp;
  }
}

}  // namespace waymark::compat
