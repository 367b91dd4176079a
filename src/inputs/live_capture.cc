#include "waymark/inputs/live_capture.h"

#include <fmt/format.h>

#include <chrono>

#include "waymark/base/plural.h"
#include "waymark/inputs/detect.h"
#include "waymark/inputs/protocols.h"

namespace waymark::inputs {
namespace {

using Clock = std::chrono::steady_clock;

/// A pause that is longer means that nothing comes for the moment.
constexpr live::Milliseconds kPause{250};
/// So long is waited for more bytes while they come one after the other.
constexpr live::Milliseconds kBetweenLooks{1000};
constexpr live::Milliseconds kLong{3000};
/// Fewer bytes show nothing.
constexpr std::size_t kLeast = 64;

/// The options say both what the trace is and how it is framed.
bool is_stated(const CaptureOptions& options) {
  const ProtocolRow* const row = protocol_by_name(options.protocol);
  return row != nullptr && (options.framing.has_value() || !row->framed);
}

bool is_stream_of_trace(InputKind kind) {
  switch (kind) {
    case InputKind::kAlignedFrames:
    case InputKind::kTpiuFrames:
    case InputKind::kDstreamFrames:
    case InputKind::kEtmv4Stream:
    case InputKind::kItmStream:
    case InputKind::kPtmStream:
    case InputKind::kStmStream:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<void> read_head(live::Head& head, const CaptureOptions& options,
                       const live::Notify& notify) {
  const bool stated = is_stated(options);
  const auto start = Clock::now();
  auto look = start + kBetweenLooks;
  bool reported = false;
  while (!head.ended() && head.bytes().size() < kDetectWindow) {
    const auto kind = head.read_more(kPause);
    if (!kind) return std::unexpected(kind.error());
    if (stated && !head.bytes().empty()) return {};
    const auto now = Clock::now();
    const std::size_t size = head.bytes().size();
    const bool pauses = *kind == live::PieceKind::kIdle || now > look;
    if (pauses && size >= kLeast) {
      if (detect(head.bytes()).kind != InputKind::kUnknown) return {};
      look = now + kBetweenLooks;
    }
    if (reported || now < start + kLong || head.ended()) continue;
    reported = true;
    notify(size == 0 ? fmt::format("Nothing has arrived from {} yet.", head.name())
                     : fmt::format("{} from {} do not yet show the kind of trace; state it with "
                                   "--protocol and --framing.",
                                   counted(size, "byte"), head.name()));
  }
  return {};
}

bool is_streamable(const live::Head& head, const CaptureOptions& options) {
  const ProtocolRow* const row = protocol_by_name(options.protocol);
  if (row != nullptr && row->protocol == Protocol::kMtb) return false;
  const InputKind kind = detect(head.bytes()).kind;
  return is_stream_of_trace(kind) || (kind == InputKind::kUnknown && options.framing.has_value());
}

}  // namespace waymark::inputs
