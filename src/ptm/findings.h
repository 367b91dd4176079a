// Registers that belong to another trace.
#pragma once

#include "waymark/base/diagnostic.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

constexpr Finding finding_of(Doubt doubt) {
  switch (doubt) {
    case Doubt::kCycleCountForm:
      return Finding::kCycleCountForm;
    case Doubt::kCycleCountsInFlow:
      return Finding::kCycleCountHeaders;
    case Doubt::kContextIdOff:
      return Finding::kContextIdsOff;
    case Doubt::kTimestampTooLong:
      return Finding::kTimestampsLong;
    case Doubt::kNone:
      break;
  }
  return Finding::kNone;
}

}  // namespace waymark::ptm
