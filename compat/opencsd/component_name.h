// The names under which the reference's components register themselves; trc-pkt-lister.md
// 8.
#pragma once

#include <string_view>

#include "waymark/protocol/source.h"

namespace waymark::compat {

struct ComponentNames {
  std::string_view packets;   ///< Packet processor.
  std::string_view elements;  ///< Packet decoder.
};

/// An ETE source has the names of ETMv4.
constexpr ComponentNames component_names(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
      return {"PKTP_ETMV3", "DCD_ETMV3"};
    case Protocol::kPtm:
      return {"PKTP_PTM", "DCD_PTM"};
    case Protocol::kEtmV4:
    case Protocol::kEte:
      return {"PKTP_ETMV4I", "DCD_ETMV4"};
    case Protocol::kStm:
      return {"PKTP_STM", "DCD_STM"};
    case Protocol::kItm:
      return {"PKTP_ITM", "DCD_ITM"};
    case Protocol::kEtmV4Data:
    case Protocol::kMtb:
      break;  // The reference has none.
  }
  return {};
}

}  // namespace waymark::compat
