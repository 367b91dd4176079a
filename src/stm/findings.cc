#include "findings.h"

namespace waymark::stm {

protocol::PacketFault fault_of(Defect defect) {
  switch (defect) {
    case Defect::kUnknownLayout:
      return {Fault::kUnsupportedPacket, Finding::kStpUnknownLayout};
    case Defect::kBadAsync:
      return {Fault::kBadPacketSequence, Finding::kStpBadAsync};
    case Defect::kTooLong:
      return {Fault::kBadPacketSequence, Finding::kStpTooManyFs};
    case Defect::kTimestampSize:
      return {Fault::kBadPacketSequence, Finding::kStpTimestampSize};
    case Defect::kTimestampEncoding:
      return {Fault::kUnsupportedConfig, Finding::kStpTimeEncoding};
    case Defect::kVersion:
      return {Fault::kBadPacketSequence, Finding::kStpVersion};
    case Defect::kAsyncInPacket:
      return {Fault::kBadPacketSequence, Finding::kStpAsyncInPacket};
    case Defect::kOrderFound:
      return {Fault::kUnsupportedConfig, Finding::kStpNibbleOrder};
    case Defect::kNone:
    case Defect::kReservedHeader:
      break;
  }
  return {Fault::kInvalidHeader, Finding::kStpReserved};
}

Finding contradiction(const Config& config, const Packet& packet) {
  const bool channel = packet.type == PacketType::kC8 || packet.type == PacketType::kC16;
  if (packet.type == PacketType::kM8 && config.stmdevid.given() &&
      packet.master > config.highest_master())
    return Finding::kMasterTooHigh;
  if (channel && config.stmspfeat3r.given() && packet.channel >= config.channel_count())
    return Finding::kChannelTooHigh;
  const bool is_off = config.stmtcsr.given() && !config.timestamps_enabled();
  return is_off && packet.has_timestamp && packet.timestamp_bits != 0 ? Finding::kStmTimestampsOff
                                                                      : Finding::kNone;
}

}  // namespace waymark::stm
