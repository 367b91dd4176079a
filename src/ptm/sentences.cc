#include "sentences.h"

namespace waymark::ptm {

std::string_view sentence_of(Doubt doubt) {
  switch (doubt) {
    case Doubt::kCycleCountForm:
      return "What follows branch packets is not formed like a cycle count: ETMCR[12] says that "
             "this trace is cycle-accurate, and seems to be wrong.";
    case Doubt::kCycleCountsInFlow:
      return "Reserved headers look like cycle counts: ETMCR[12] says that this trace is not "
             "cycle-accurate, and seems to be wrong.";
    case Doubt::kContextIdOff:
      return "There are context ID packets although ETMCR[15:14] says that context IDs have no "
             "bytes: it seems to be wrong.";
    case Doubt::kTimestampTooLong:
      return "Timestamps are longer than 48 bits: ETMCCER[29] or the version in ETMIDR[7:4] seems "
             "to be wrong.";
    case Doubt::kNone:
      break;
  }
  return {};
}

}  // namespace waymark::ptm
