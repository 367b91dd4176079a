// Groups of similar trace protocols.
#pragma once

#include "waymark/protocol/source.h"

namespace waymark::synth {

constexpr bool is_etmv4(Protocol protocol) {
  return protocol == Protocol::kEtmV4 || protocol == Protocol::kEte;
}
constexpr bool is_message(Protocol protocol) {
  return protocol == Protocol::kStm || protocol == Protocol::kItm;
}
constexpr bool is_mtb(Protocol protocol) { return protocol == Protocol::kMtb; }
constexpr bool is_pft(Protocol protocol) {
  return protocol == Protocol::kPtm || protocol == Protocol::kEtmV3;
}

}  // namespace waymark::synth
