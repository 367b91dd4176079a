#include "sentences.h"

namespace waymark::etmv3 {

std::string_view sentence_of(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kASync:
      return "The packet before this A-sync is cut, and took its first zeros: what it says is "
             "wrong.";
    case PacketType::kBadTraceMode:
      return packet.error_type == PacketType::kContextId
                 ? "A context ID packet where the registers allow none."
                 : "A data packet where the registers allow none.";
    case PacketType::kBadSequence:
      break;
    default:
      return packet.error_type == PacketType::kPHeader ? "A reserved P-header."
                                                       : "A reserved packet header.";
  }
  switch (packet.error_type) {
    case PacketType::kASync:
      return "Zeros as at the front of an A-sync, but the A-sync is not there.";
    case PacketType::kBranchAddress:
      return "A branch packet whose bytes cannot be one.";
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      return "An I-sync packet that is cut, or longer than it can be.";
    default:
      return "A packet longer than it can be.";
  }
}

}  // namespace waymark::etmv3
