// Registers that belong to another trace.
#pragma once

#include "waymark/base/diagnostic.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

constexpr Finding finding_of(RegisterConflict conflict) {
  switch (conflict) {
    case RegisterConflict::kCycleCountForm:
      return Finding::kCycleCountForm;
    case RegisterConflict::kCycleCountsInFlow:
      return Finding::kCycleCountHeaders;
    case RegisterConflict::kContextIdOff:
      return Finding::kContextIdsOff;
    case RegisterConflict::kTimestampTooLong:
      return Finding::kTimestampsLong;
    case RegisterConflict::kNone:
      break;
  }
  return Finding::kNone;
}

}  // namespace waymark::ptm
