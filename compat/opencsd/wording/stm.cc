// The words for STM; stm-itm.md 5 and 6.
#include "wording/wording.h"

namespace waymark::compat {

Words stm_words(const Diagnostic& record, Wording& wording) {
  // A warning is a contradiction of the registers, which the reference does not look for.
  if (record.stage != Stage::kPackets || record.severity == Severity::kWarning) return {};
  Words words;
  switch (record.finding) {
    case Finding::kStpReserved:
    case Finding::kStpUnknownLayout:
      wording.number = ErrorNumber::kInvalidPcktHdr;
      return "STM: Unsupported or Reserved STPv2 Header";
    case Finding::kStpBadAsync:
    case Finding::kStpTooManyFs:
      words = "STM: Invalid ASYNC sequence";
      break;
    case Finding::kStpTimestampSize:
      words = "STM: Invalid timestamp size 0xF";
      break;
    case Finding::kStpTimeEncoding:
      words = "STM: unknown timestamp encoding";
      break;
    case Finding::kStpVersion:
      words = "STM VERSION packet : unrecognised version number.";
      break;
    default:
      return {};
  }
  wording.number = ErrorNumber::kBadPacketSeq;
  return words;
}

}  // namespace waymark::compat
