// The words for ETMv4 and ETE; etmv4-ete.md 4.11.
#include "core/level.h"
#include "wording/wording.h"

namespace waymark::compat {

Words etmv4_words(const Diagnostic& record, Wording& wording) {
  if (record.stage == Stage::kPackets) return "";
  switch (record.finding) {
    case Finding::kReservedHeader:
      return "Reserved packet header";
    case Finding::kMalformedPacket:
      return "Bad byte sequence in packet.";
    case Finding::kNotInThisMode:
      return "Invalid packet type for trace mode.";
    case Finding::kReservedInConfig:
      return level_in_use().number < kLevel181
                 ? "Unknown packet type."
                 : "Packet header reserved for current configuration.";
    case Finding::kUnknownPacket:
    case Finding::kEndsInPacket:
      return "Unknown packet type.";
    case Finding::kNotDecodable:
      return "Data trace related, unsupported packet type.";
    case Finding::kCommitsTooMany:
      return "Not enough elements to commit";
    case Finding::kCancelsTooMany:
      return "Not enough elements to cancel";
    case Finding::kNothingMispredicted:
      return "Not found mispredict atom";
    case Finding::kReturnStackEmpty:
      wording.index = kNoIndex;
      return "Trace Return Stack Overflow.";
    case Finding::kNoExceptionAddress:
      return "Address missing in exception packet.";
    case Finding::kNoQAddress:
      return "Address missing in Q packet.";
    case Finding::kAtomNotFollowed:
      return "Error processing atom packet.";
    case Finding::kExceptionNotFollowed:
      return "Error processing exception packet.";
    case Finding::kQNotFollowed:
      return "Error processing Q packet";
    case Finding::kSourceNotRead:
      return "Mem access error processing source address packet.";
    case Finding::kSourceNotFollowed:
      return "Instruction decode error processing source address packet.";
    case Finding::kRangeTooLong:
      return "Decode Instruction Range Limit Overrun";
    case Finding::kDirectNotTaken:
      return "Bad program image - N Atom on unconditional direct BR.\n";
    case Finding::kIndirectNotTaken:
      return "Bad program image - N Atom on unconditional indirect BR.\n";
    case Finding::kRangeNotContinuous:
      return "Discontinuous ranges - Inconsistent program image for decode\n";
    default:
      return {};
  }
}

}  // namespace waymark::compat
