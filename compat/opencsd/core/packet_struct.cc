#include "packet_struct.h"

#include <cstring>

#include "quirk_choice.h"
#include "waymark/etmv3/quirks.h"
#include "waymark/etmv3/text.h"
#include "waymark/etmv4/text.h"
#include "waymark/itm/text.h"
#include "waymark/ptm/text.h"
#include "waymark/stm/text.h"

namespace waymark::compat {

PacketStruct::PacketStruct(Protocol protocol, unsigned version, bool m_profile)
    : protocol_(protocol), version_(version), m_profile_(m_profile) {
  std::memset(static_cast<void*>(&etmv4_), 0, sizeof etmv4_);
  if (protocol == Protocol::kEtmV3) etmv3_.curr_isa = etmv3_.prev_isa = ocsd_isa_unknown;
  if (protocol == Protocol::kPtm) ptm_.curr_isa = ptm_.prev_isa = ocsd_isa_unknown;
  static_assert(sizeof(ocsd_etmv4_i_pkt) >= sizeof(ocsd_etmv3_pkt));
}

const void* PacketStruct::fill(const PacketRef& packet) {
  switch (protocol_) {
    case Protocol::kEtmV3:
      compat::fill(packet.as<etmv3::Packet>(), m_profile_, etmv3_);
      return &etmv3_;
    case Protocol::kPtm:
      compat::fill(packet.as<ptm::Packet>(), ptm_);
      return &ptm_;
    case Protocol::kEtmV4:
    case Protocol::kEte:
      compat::fill(packet.as<etmv4::Packet>(), version_, m_profile_, etmv4_);
      return &etmv4_;
    case Protocol::kStm:
      compat::fill(packet.as<stm::Packet>(), stm_);
      return &stm_;
    case Protocol::kItm:
      compat::fill(packet.as<itm::Packet>(), itm_);
      return &itm_;
    case Protocol::kEtmV4Data:
    case Protocol::kMtb:
      break;
  }
  return nullptr;
}

namespace {

QuirkSet on(Protocol protocol) { return QuirkChoice::of_environment().on(protocol); }

}  // namespace

bool write_packet_struct(TextBuffer& out, ocsd_trace_protocol_t protocol, const void* packet) {
  switch (protocol) {
    case OCSD_PROTOCOL_ETMV3: {
      etmv3::Packet native;
      etmv3::Config config;
      read(*static_cast<const ocsd_etmv3_pkt*>(packet), native, config);
      etmv3::write_packet(out, native, config, etmv3::ParserQuirks::of(on(Protocol::kEtmV3)));
      return true;
    }
    case OCSD_PROTOCOL_ETMV4I:
    case OCSD_PROTOCOL_ETE: {
      etmv4::Packet native;
      etmv4::Config config;
      read(*static_cast<const ocsd_etmv4_i_pkt*>(packet), native, config);
      etmv4::write_packet(out, native, config);
      return true;
    }
    case OCSD_PROTOCOL_PTM: {
      ptm::Packet native;
      read(*static_cast<const ocsd_ptm_pkt*>(packet), native);
      ptm::write_packet(out, native, ptm::Quirks::of(on(Protocol::kPtm)));
      return true;
    }
    case OCSD_PROTOCOL_STM: {
      stm::Packet native;
      read(*static_cast<const ocsd_stm_pkt*>(packet), native);
      stm::write_packet(out, native);
      return true;
    }
    case OCSD_PROTOCOL_ITM: {
      itm::Packet native;
      read(*static_cast<const ocsd_itm_pkt*>(packet), native);
      itm::write_packet(out, native, itm::Quirks::of(on(Protocol::kItm)));
      return true;
    }
    default:
      return false;
  }
}

}  // namespace waymark::compat
