#include "sentences.h"

namespace waymark::itm {

std::string_view contradiction(const Config& config, const Packet& packet) {
  if (!config.itm_tcr.given()) return {};
  switch (packet.type) {
    case PacketType::kLocalTimestamp:
      if (config.local_timestamps()) return {};
      return "ITM_TCR says that local timestamps are off (TSENA), but the stream has them: the "
             "register was read at another time, and the prescaler (TSPrescale) may be wrong too.";
    case PacketType::kHardware:
      if (config.hardware_packets()) return {};
      return "ITM_TCR says that the DWT sends nothing (TXENA), but the stream has its packets: the "
             "register was read at another time.";
    case PacketType::kGlobalTimestamp1:
    case PacketType::kGlobalTimestamp2:
      if (config.global_timestamps()) return {};
      return "ITM_TCR says that global timestamps are off (GTSFREQ), but the stream has them: the "
             "register was read at another time.";
    default:
      return {};
  }
}

std::string_view sentence_of(const Packet& packet) {
  if (packet.type == PacketType::kReserved) return "A packet header is reserved.";
  switch (packet.error_type) {
    case PacketType::kLocalTimestamp:
      return "A local timestamp is longer than possible.";
    case PacketType::kGlobalTimestamp1:
    case PacketType::kGlobalTimestamp2:
      return "A global timestamp is longer than possible.";
    case PacketType::kExtension:
      return "An extension packet is longer than possible.";
    case PacketType::kAsync:
      return "A synchronisation packet must have at least five zeros and then 0x80.";
    default:
      return "The bytes of a packet are not possible.";
  }
}

}  // namespace waymark::itm
