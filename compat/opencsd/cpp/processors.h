// The differences between the five packet processors.
#pragma once

#include "core/builtin.h"
#include "engine.h"
#include "opencsd/etmv3/etmv3_decoder.h"
#include "opencsd/etmv4/etmv4_decoder.h"
#include "opencsd/itm/itm_decoder.h"
#include "opencsd/ptm/ptm_decoder.h"
#include "opencsd/stm/stm_decoder.h"

namespace waymark::compat {

struct EtmV3Parts {
  using Processor = TrcPktProcEtmV3;
  using Packet = EtmV3TrcPacket;
  using PacketType = ocsd_etmv3_pkt_type;
  using Config = EtmV3Config;
  using ConfigStruct = ocsd_etmv3_cfg;
  using Struct = ocsd_etmv3_pkt;
  static constexpr Protocol kProtocol = Protocol::kEtmV3;
};

struct EtmV4Parts {
  using Processor = TrcPktProcEtmV4I;
  using Packet = EtmV4ITrcPacket;
  using PacketType = ocsd_etmv4_i_pkt_type;
  using Config = EtmV4Config;
  using ConfigStruct = ocsd_etmv4_cfg;
  using Struct = ocsd_etmv4_i_pkt;
  static constexpr Protocol kProtocol = Protocol::kEtmV4;
};

struct PtmParts {
  using Processor = TrcPktProcPtm;
  using Packet = PtmTrcPacket;
  using PacketType = ocsd_ptm_pkt_type;
  using Config = PtmConfig;
  using ConfigStruct = ocsd_ptm_cfg;
  using Struct = ocsd_ptm_pkt;
  static constexpr Protocol kProtocol = Protocol::kPtm;
};

struct StmParts {
  using Processor = TrcPktProcStm;
  using Packet = StmTrcPacket;
  using PacketType = ocsd_stm_pkt_type;
  using Config = STMConfig;
  using ConfigStruct = ocsd_stm_cfg;
  using Struct = ocsd_stm_pkt;
  static constexpr Protocol kProtocol = Protocol::kStm;
};

struct ItmParts {
  using Processor = TrcPktProcItm;
  using Packet = ItmTrcPacket;
  using PacketType = ocsd_itm_pkt_type;
  using Config = ITMConfig;
  using ConfigStruct = ocsd_itm_cfg;
  using Struct = ocsd_itm_pkt;
  static constexpr Protocol kProtocol = Protocol::kItm;
};

/// Passes the data of `processor` on to `decoder`.
void join(TrcPktProcEtmV3& processor, BuiltinDecoder& decoder);
void join(TrcPktProcEtmV4I& processor, BuiltinDecoder& decoder);
void join(TrcPktProcPtm& processor, BuiltinDecoder& decoder);
void join(TrcPktProcStm& processor, BuiltinDecoder& decoder);
void join(TrcPktProcItm& processor, BuiltinDecoder& decoder);

}  // namespace waymark::compat
