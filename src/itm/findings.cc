#include "findings.h"

namespace waymark::itm {

Finding contradiction(const Config& config, const Packet& packet) {
  if (!config.itm_tcr.given()) return Finding::kNone;
  switch (packet.type) {
    case PacketType::kLocalTimestamp:
      return config.local_timestamps() ? Finding::kNone : Finding::kLocalTimestampsOff;
    case PacketType::kHardware:
      return config.hardware_packets() ? Finding::kNone : Finding::kHardwareOff;
    case PacketType::kGlobalTimestamp1:
    case PacketType::kGlobalTimestamp2:
      return config.global_timestamps() ? Finding::kNone : Finding::kGlobalTimestampsOff;
    default:
      return Finding::kNone;
  }
}

Finding finding_of(const Packet& packet) {
  if (packet.type == PacketType::kReserved) return Finding::kReservedHeader;
  if (packet.type == PacketType::kAsync) return Finding::kAsyncInPacket;
  switch (packet.error_type) {
    case PacketType::kLocalTimestamp:
      return Finding::kLocalTimeTooLong;
    case PacketType::kGlobalTimestamp1:
      return Finding::kGlobalTime1TooLong;
    case PacketType::kGlobalTimestamp2:
      return Finding::kGlobalTime2TooLong;
    case PacketType::kExtension:
      return Finding::kExtensionTooLong;
    case PacketType::kAsync:
      return Finding::kAsyncTooShort;
    default:
      return Finding::kMalformedPacket;
  }
}

}  // namespace waymark::itm
