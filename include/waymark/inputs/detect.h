// What kind of input a path is, told from its first bytes.  See snapshot-format.md,
// frames.md 1 and 2, etmv4-ete.md, perf-cs-etm.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::inputs {

enum class InputKind : std::uint8_t {
  kUnknown,         ///< None of the below; the sentence says what was looked for.
  kEmpty,           ///< No bytes.
  kSnapshotFolder,  ///< A folder with a snapshot.ini.
  kSnapshotIni,     ///< The snapshot.ini itself.
  kPerfData,        ///< Recorded by perf; not decoded yet.
  kElf,             ///< A program image, which is no trace.
  kTraceScript,     ///< Text that starts with the line `waymark-trace`.
  kAlignedFrames,   ///< CoreSight frames as an ETB or ETR stores them.
  kTpiuFrames,      ///< CoreSight frames with frame syncs between them.
  kDstreamFrames,   ///< The same in the 512-byte records of a DSTREAM.
  kEtmv4Stream,     ///< One ETMv4 or ETE stream without frames.
  kItmStream,       ///< One ITM stream without frames: what a probe reads from the SWO pin.
  kPtmStream,       ///< One PTM stream without frames.
  kStmStream,       ///< One STM stream without frames.
};

/// The name of a kind for users: "snapshot folder".
std::string_view input_kind_name(InputKind kind);

struct Detection {
  InputKind kind = InputKind::kUnknown;
  std::string why{};  ///< A whole sentence.
};

/// Looks at no more than this of a file.
inline constexpr std::size_t kDetectWindow = std::size_t{1} << 20;

/// kNotFound: no such path, or a folder that is no snapshot; kIo.  Never an error because of what a
/// file holds.
Result<Detection> detect(const std::string& path);

/// The same for the content of a file that is in memory.
///
/// Magic numbers are certain.  Raw trace has none.  It counts as frames if its size is a multiple
/// of 16 and its ID bytes name few sources, hardly any reserved ID, and come as often as hardware
/// sends them; as frames with syncs if most syncs are whole frames apart; as an ETMv4 stream if it
/// starts with an alignment synchronisation, or if most long runs of zeros are one and a trace info
/// packet follows; as a PTM stream in the same way, by its own synchronisation and the I-sync
/// packet behind it; as an STM stream if it holds 21 F nibbles and a 0 that a version packet
/// follows, and hardly a bad packet after them; as an ITM stream if hardly a packet of it is bad
/// and, where no synchronisation is in it, few ports and sources send nearly all.  Hence short
/// captures, and those of other protocols without frames, are kUnknown; a memory dump that looks
/// like one of these is possible but rare.
Detection detect(Bytes content);

}  // namespace waymark::inputs
