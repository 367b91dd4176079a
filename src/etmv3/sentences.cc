#include "sentences.h"

namespace waymark::etmv3 {

std::string_view sentence_of(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kASync:
      return "The packet before this A-sync is cut short, and its last bytes are zeros of the "
             "synchronisation: its content is wrong.";
    case PacketType::kBadTraceMode:
      return packet.error_type == PacketType::kContextId
                 ? "There is a context ID packet, but the registers allow none."
                 : "There is a data packet, but the registers allow none.";
    case PacketType::kBadSequence:
      break;
    default:
      return packet.error_type == PacketType::kPHeader ? "A P-header is reserved."
                                                       : "A packet header is reserved.";
  }
  switch (packet.error_type) {
    case PacketType::kASync:
      return "There are zeros like those of an A-sync, but no A-sync follows.";
    case PacketType::kBranchAddress:
      return "The bytes of a branch packet are not possible.";
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      return "An I-sync packet is cut short, or longer than possible.";
    default:
      return "A packet is longer than possible.";
  }
}

}  // namespace waymark::etmv3
