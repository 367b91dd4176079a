// Each member of the classes has the name and the type that programs were written for.  Access
// control is switched off for this test.
#include <gtest/gtest.h>

#include "common/cs_frame_mux_data.h"
#include "common/trc_pkt_decode_base.h"
#include "opencsd.h"

namespace {

using PktProcBase = TrcPktProcBase<EtmV4ITrcPacket, ocsd_etmv4_i_pkt_type, EtmV4Config>;
using PktDecodeBase = TrcPktDecodeBase<EtmV4ITrcPacket, EtmV4Config>;
using DataAttachPt = componentAttachPt<ITrcDataIn>;
using PktDataIn = IPktDataIn<EtmV4ITrcPacket>;
using PktRawDataMon = IPktRawDataMon<EtmV4ITrcPacket>;
using PktIndexer = ITrcPktIndexer<ocsd_etmv4_i_pkt_type>;
using Printer = PacketPrinter<EtmV4ITrcPacket>;

TEST(cpp_api_signatures, are_those_of_1_8_0) {
  std::size_t count = 0;
#define SIGNATURE(MEMBER, ...)                          \
  static_cast<void>(static_cast<__VA_ARGS__>(&MEMBER)); \
  ++count;
#include "signatures.inc"
#undef SIGNATURE
  EXPECT_GE(count, 700U);
}

}  // namespace
