// The words for ETMv3; etmv3.md 8 and 9.2.
#include "wording/wording.h"

namespace waymark::compat {
namespace {

// By the header of the packet; etmv3.md 3.
std::string_view refused_words(std::uint8_t header) {
  if (header == 0b0101'0000)
    return "Invalid data trace header (store failed) - not tracing data values.";
  if (header == 0b0110'0010)
    return "Invalid data trace header (data suppressed) - not tracing data.";
  if ((header & 0b1110'1111) == 0b0110'1010)
    return "Invalid data trace header (value not traced) - not tracing data.";
  if ((header & 0b1101'0011) == 0b0000'0010)
    return "Invalid data trace header (normal data) - not tracing data.";
  if ((header & 0b1101'0011) == 0b0101'0000)
    return "Invalid data trace header (out of order placeholder) - not tracing data.";
  return "Invalid data trace header (out of order data) - not tracing data values.";
}

// An error of the decoder, after which nothing more is decoded.
std::string_view fatal_words(Finding finding, Wording& wording) {
  wording.number = ErrorNumber::kBadPacketSeq;
  switch (finding) {
    case Finding::kReservedHeader:
    case Finding::kReservedPHeader:
      return "Reserved or unknown packet ID.";
    case Finding::kDataPacketRefused:
    case Finding::kContextIdRefused:
      wording.number = ErrorNumber::kHwCfgUnsupp;
      return "Invalid packet type : Data Tracing decode not supported.";
    default:
      return "Bad Packet sequence.";
  }
}

Words packet_words(const Diagnostic& record) {
  switch (record.finding) {
    case Finding::kReservedPHeader:
      return "Invalid P-Header.";
    case Finding::kReservedHeader:
      return (record.number & 3) == 0 ? "Packet header reserved encoding"
                                      : "Packet header reserved encoding.";
    case Finding::kUnknownIsa:
      return "Malformed Packet - Unknown ISA.";
    case Finding::kMalformedContextId:
    case Finding::kContextIdRefused:
      return "Malformed context id packet.";
    case Finding::kIsyncWithoutContextId:
      return "Too few bytes to extract context ID.";
    case Finding::kIsyncLength:
    case Finding::kMalformedBranch:
    case Finding::kPacketTooLong:
      return "Malformed Packet - oversized packet.";
    case Finding::kExtraZero:
      return "A-Sync ?: Extra 0x00 in sequence";
    case Finding::kZerosWithoutAsync:
      return "A-Sync ? : Unexpected byte in sequence";
    case Finding::kDataPacketRefused:
      return refused_words(record.number);
    default:
      return {};
  }
}

}  // namespace

Words etmv3_words(const Diagnostic& record, Wording& wording) {
  if (record.stage == Stage::kPackets) return packet_words(record);
  if (record.fatal) return fatal_words(record.finding, wording);
  if (record.finding == Finding::kSyncLost) return "Trace Packet Synchronisation Lost";
  return {};
}

}  // namespace waymark::compat
