#include "hints.h"

#include <algorithm>

#include "run.h"

namespace waymark::cli {

std::string_view sync_remedy(Protocol protocol) {
  switch (protocol) {
    case Protocol::kItm:
      return "set SYNCENA of ITM_TCR and SYNCTAP of DWT_CTRL, or decode from the first byte with "
             "--assume-sync";
    case Protocol::kStm:
      return "capture more, or make the STM synchronise more often (STMSYNCR, and SYNCEN of "
             "STMTCSR)";
    case Protocol::kPtm:
    case Protocol::kEtmV3:
      return "capture more, or make the trace unit synchronise more often (ETMSYNCFR)";
    case Protocol::kMtb:
      return "the buffer was never written or was erased";
    case Protocol::kEtmV4:
    case Protocol::kEtmV4Data:
    case Protocol::kEte:
      return "capture more, or make the trace unit synchronise more often (TRCSYNCPR)";
  }
  return "capture more";
}

std::string_view bad_packet_reason(const inputs::Capture& capture, Protocol protocol) {
  switch (protocol) {
    case Protocol::kItm:
      return capture.framing() == inputs::Framing::kNone
                 ? "bytes were lost or changed; if this is SWO, check that the probe reads at the "
                   "speed of the target"
                 : "bytes were lost or changed";
    case Protocol::kStm:
    case Protocol::kMtb:
      return "bytes were lost or changed";
    case Protocol::kPtm:
    case Protocol::kEtmV3:
      return "the trace is damaged, or ETMCR, ETMIDR and ETMCCER are not those of this trace unit";
    case Protocol::kEtmV4Data:
      return "the trace is damaged, or the lengths of --data-layouts are wrong";
    case Protocol::kEtmV4:
    case Protocol::kEte:
      return "the trace is damaged, or TRCIDR0, TRCIDR2 and TRCCONFIGR are not those of this trace "
             "unit";
  }
  return "the trace is damaged";
}

std::string nothing_decoded_reason(const inputs::Capture& capture) {
  if (!any_sync_point(capture)) {
    return "no synchronisation point was found; `waymark info` shows what is in the trace.";
  }
  const auto has = [&](Protocol protocol) {
    return std::ranges::any_of(capture.sources(), [&](const inputs::CaptureSource& source) {
      return source.source->protocol() == protocol;
    });
  };
  if (std::ranges::any_of(capture.sources(), &inputs::CaptureSource::needs_image))
    return "no address follows the synchronisation points.";
  if (has(Protocol::kEtmV4Data))
    return "a data stream can only be listed as packets; use `waymark packets`.";
  if (has(Protocol::kItm))
    return "the ITM sent no data: no stimulus port was written, and no event of the DWT was "
           "traced.";
  return "the STM sent no data: its packets only synchronise.";
}

}  // namespace waymark::cli
