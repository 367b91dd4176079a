// Packets as the reference's structures, and back.  See opencsd-c-api.md 8.
#pragma once

#include "opencsd/c_api/ocsd_c_api_types.h"
#include "opencsd/itm/trc_pkt_types_itm.h"
#include "waymark/base/text_buffer.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"
#include "waymark/itm/packet.h"
#include "waymark/protocol/source.h"
#include "waymark/ptm/packet.h"
#include "waymark/stm/packet.h"

namespace waymark::compat {

// Members that the packet's type does not use keep the values of earlier packets, as in the
// reference: any packet has the last address, context and timestamp.
void fill(const etmv4::Packet& from, unsigned version, bool m_profile, ocsd_etmv4_i_pkt& to);
void fill(const etmv3::Packet& from, bool m_profile, ocsd_etmv3_pkt& to);
void fill(const ptm::Packet& from, ocsd_ptm_pkt& to);
void fill(const stm::Packet& from, ocsd_stm_pkt& to);
void fill(const itm::Packet& from, ocsd_itm_pkt& to);

// Only what the text of a packet needs.
void read(const ocsd_etmv4_i_pkt& from, etmv4::Packet& to, etmv4::Config& config);
void read(const ocsd_etmv3_pkt& from, etmv3::Packet& to, etmv3::Config& config);
void read(const ocsd_ptm_pkt& from, ptm::Packet& to);
void read(const ocsd_stm_pkt& from, stm::Packet& to);
void read(const ocsd_itm_pkt& from, itm::Packet& to);

/// One structure, filled again for each packet of a source.
class PacketStruct {
 public:
  /// `version` and `m_profile` come from the registers of the trace unit.
  PacketStruct(Protocol protocol, unsigned version, bool m_profile);

  /// Valid until the next call.
  const void* fill(const PacketRef& packet);

 private:
  Protocol protocol_;
  unsigned version_;
  bool m_profile_;
  union {
    ocsd_etmv4_i_pkt etmv4_;
    ocsd_etmv3_pkt etmv3_;
    ocsd_ptm_pkt ptm_;
    ocsd_stm_pkt stm_;
    ocsd_itm_pkt itm_;
  };
};

/// The listing's text of a structure.  False: not a built-in protocol with packets.
bool write_packet_struct(TextBuffer& out, ocsd_trace_protocol_t protocol, const void* packet);

}  // namespace waymark::compat
