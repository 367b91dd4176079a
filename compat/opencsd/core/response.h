// The answers of the data path, by the rules that the C API and the classes have in common.
#pragma once

#include <cstdint>

#include "opencsd/ocsd_if_types.h"
#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/protocol/source.h"

namespace waymark::compat {

using Response = ocsd_datapath_resp_t;

/// The numerically higher answer is the worse one.
constexpr Response worse(Response a, Response b) { return a > b ? a : b; }

/// A decoder's answer to what it reports.  Only those of ETMv4 and ETE answer, to bad packets;
/// etmv4-ete.md 4.11.
constexpr Response answer_to(const Diagnostic& record, Protocol protocol, std::uint32_t flags) {
  if (protocol != Protocol::kEtmV4 && protocol != Protocol::kEte) return OCSD_RESP_CONT;
  if (record.fault != Fault::kBadPacket && record.fault != Fault::kUnsupportedPacket)
    return OCSD_RESP_CONT;
  return (flags & OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS) != 0 ? OCSD_RESP_ERR_CONT : OCSD_RESP_WARN_CONT;
}

/// Both are of the same process in the same state: memory reads have the same answers.
inline bool same_context(const Element& a, const Element& b) {
  constexpr unsigned kStates =
      kElementContextIdValid | kElementVmidValid | kElementElValid | kElement64Bit;
  return a.context_id == b.context_id && a.vmid == b.vmid && a.security == b.security &&
         a.exception_level == b.exception_level && (a.flags & kStates) == (b.flags & kStates);
}

}  // namespace waymark::compat
