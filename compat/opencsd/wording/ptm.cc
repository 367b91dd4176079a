// The words for PTM; ptm.md 9.2 to 9.7.
#include "wording/wording.h"

namespace waymark::compat {

Words ptm_words(const Diagnostic& record) {
  const bool unsupported = record.fault == Fault::kUnsupportedIsa;
  switch (record.finding) {
    case Finding::kAsyncTooShort:
      if (record.stage == Stage::kPackets) return "Bad Async packet";
      return {};
    case Finding::kReturnStackEmpty:
      if (record.fatal) return "Return stack error processing atom packet.";
      return {};
    case Finding::kAtomNotFollowed:
      return unsupported ? "Warning: unsupported instruction set processing atom packet."
                         : "Error processing atom packet.";
    case Finding::kBranchNotFollowed:
      return unsupported ? "Warning: unsupported instruction set processing BranchAddr packet."
                         : "Error processing BranchAddr packet.";
    case Finding::kUpdateNotFollowed:
      return unsupported ? "Warning: unsupported instruction set processing WP update packet."
                         : "Error processing WP update packet.";
    default:
      return {};
  }
}

}  // namespace waymark::compat
