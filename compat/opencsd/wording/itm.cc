// The words for ITM; stm-itm.md 12 and 13.
#include "wording/wording.h"

namespace waymark::compat {

Words itm_words(const Diagnostic& record) {
  if (record.stage != Stage::kPackets) return {};
  switch (record.finding) {
    case Finding::kReservedHeader:
    case Finding::kMalformedPacket:
      return "";
    case Finding::kLocalTimeTooLong:
      return "Local TS packet: Payload continuation value too long";
    case Finding::kGlobalTime1TooLong:
      return "GTS1 packet: Payload continuation value too long";
    case Finding::kGlobalTime2TooLong:
      return "GTS2 packet: Payload continuation value too long";
    case Finding::kExtensionTooLong:
      return "Extension packet: Payload continuation value too long";
    case Finding::kAsyncTooShort:
      return "Async Packet: unexpected none zero value";
    default:
      return {};
  }
}

}  // namespace waymark::compat
