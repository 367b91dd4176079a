#include "sentences.h"

namespace waymark::stm {

tree::PacketFault sentence_of(Defect defect) {
  switch (defect) {
    case Defect::kUnknownLayout:
      return {Fault::kUnsupportedPacket,
              "This is a TIME or PDID packet, which CoreSight hardware does not send and whose "
              "length is not public; decoding resumes at the next ASYNC."};
    case Defect::kBadAsync:
      return {Fault::kBadPacketSequence,
              "FF begins an ASYNC, but fewer than 21 F nibbles and a 0 follow; decoding resumes at "
              "the next ASYNC."};
    case Defect::kTooLong:
      return {Fault::kBadPacketSequence,
              "F nibbles without end are no packet; decoding resumes at the next ASYNC."};
    case Defect::kTimestampSize:
      return {Fault::kBadPacketSequence,
              "The length nibble of the timestamp is F, which means no length; decoding resumes at "
              "the next ASYNC."};
    case Defect::kTimestampEncoding:
      return {Fault::kBadPacketSequence,
              "A timestamp comes before any VERSION packet has said how it is encoded; decoding "
              "resumes at the next ASYNC."};
    case Defect::kVersion:
      return {Fault::kBadPacketSequence,
              "The VERSION packet names a timestamp encoding that is not known; decoding resumes "
              "at the next ASYNC."};
    case Defect::kAsyncInPacket:
      return {Fault::kBadPacketSequence,
              "This ASYNC begins within the packet before it: nibbles are missing or wrong "
              "somewhere before, and packets since then were misread."};
    case Defect::kOrderFound:
      return {Fault::kUnsupportedConfig,
              "This packet shows the order of nibbles in fields, which could not be known before: "
              "fields of packets up to here were read the other way round."};
    case Defect::kNone:
    case Defect::kReservedHeader:
      break;
  }
  return {Fault::kInvalidHeader,
          "These nibbles are no STPv2 opcode; decoding resumes at the next ASYNC."};
}

}  // namespace waymark::stm
