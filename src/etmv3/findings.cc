#include "findings.h"

#include "header_table.h"

namespace waymark::etmv3 {
namespace {

Finding finding_of_sequence(const Packet& packet) {
  switch (packet.error_type) {
    case PacketType::kASync:
      return packet.extra_zero ? Finding::kExtraZero : Finding::kZerosWithoutAsync;
    case PacketType::kBranchAddress:
      return Finding::kMalformedBranch;
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      return Finding::kIsyncLength;
    default:
      return Finding::kPacketTooLong;
  }
}

}  // namespace

Finding finding_of(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kASync:
      return Finding::kAsyncInPacket;
    case PacketType::kBadSequence:
      return finding_of_sequence(packet);
    case PacketType::kBadTraceMode:
      return kHeaders[packet.header].type == PacketType::kContextId ? Finding::kContextIdRefused
                                                                    : Finding::kDataPacketRefused;
    // With quirks, the following keep their type.
    case PacketType::kPHeader:
      return Finding::kReservedPHeader;
    case PacketType::kBranchAddress:
      return Finding::kUnknownIsa;
    case PacketType::kContextId:
      return Finding::kMalformedContextId;
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      // This is about the second address, if there is one.
      if (packet.error_type == PacketType::kBranchAddress) return Finding::kUnknownIsa;
      return packet.no_address ? Finding::kIsyncWithoutContextId : Finding::kIsyncLength;
    default:
      if (is_data(packet.type)) return Finding::kDataPacketRefused;
      return kHeaders[packet.header].type == PacketType::kPHeader ? Finding::kReservedPHeader
                                                                  : Finding::kReservedHeader;
  }
}

protocol::PacketFault fault_of(const Packet& packet) {
  const bool isync = packet.type == PacketType::kISync || packet.type == PacketType::kISyncCycle;
  const bool second_address = isync && packet.error_type == PacketType::kBranchAddress;
  const bool cuts_packet = packet.type == PacketType::kASync && packet.in_packet;
  // With the quirk bad_mode_names_previous, error_type is the type of the previous packet.
  const bool noted = packet.type != PacketType::kBadTraceMode;
  Fault fault = Fault::kNone;
  if (packet.type == PacketType::kBadSequence || cuts_packet || second_address ||
      (noted && packet.error_type == PacketType::kBadSequence)) {
    fault = Fault::kBadPacketSequence;
  } else if (is_bad(packet.type) || (noted && packet.error_type == PacketType::kReserved)) {
    fault = Fault::kInvalidHeader;
  }
  if (fault == Fault::kNone) return {};
  return {fault, finding_of(packet), packet.header};
}

}  // namespace waymark::etmv3
