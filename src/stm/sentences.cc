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
              "Endless F nibbles are not a packet; decoding resumes at the next ASYNC."};
    case Defect::kTimestampSize:
      return {Fault::kBadPacketSequence,
              "The length nibble of the timestamp is F, which means no length; decoding resumes at "
              "the next ASYNC."};
    case Defect::kTimestampEncoding:
      return {Fault::kUnsupportedConfig,
              "Timestamps come before any VERSION packet has said how they are encoded: up to the "
              "first VERSION packet, data has no time."};
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
          "These nibbles are not an STPv2 opcode; decoding resumes at the next ASYNC."};
}

Contradiction contradiction(const Config& config, const Packet& packet) {
  const bool channel = packet.type == PacketType::kC8 || packet.type == PacketType::kC16;
  if (packet.type == PacketType::kM8 && config.stmdevid.given() &&
      packet.master > config.highest_master())
    return Contradiction::kMaster;
  if (channel && config.stmspfeat3r.given() && packet.channel >= config.channel_count())
    return Contradiction::kChannel;
  const bool knows_off = config.stmtcsr.given() && !config.timestamps_enabled();
  return knows_off && packet.has_timestamp && packet.timestamp_bits != 0 ? Contradiction::kTimestamp
                                                                         : Contradiction::kNone;
}

std::string_view sentence_of(Contradiction what) {
  switch (what) {
    case Contradiction::kTimestamp:
      return "STMTCSR.TSEN is 0, so timestamps should be empty, but this packet carries one: "
             "the register value is not that of this trace.";
    case Contradiction::kMaster:
      return "STMDEVID names a lower highest master than the trace uses: the register value is "
             "not that of this trace.";
    case Contradiction::kChannel:
      return "STMSPFEAT3R names fewer channels than the trace uses: the register value is not "
             "that of this trace.";
    case Contradiction::kNone:
      break;
  }
  return {};
}

}  // namespace waymark::stm
