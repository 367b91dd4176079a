// What kind of input a path is, detected from its first bytes.  See snapshot-format.md,
// frames.md 1 and 2, etmv4-ete.md, perf-cs-etm.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::inputs {

enum class InputKind : std::uint8_t {
  kUnknown,         ///< None of the kinds below; the sentence says what was looked for.
  kEmpty,           ///< No bytes.
  kSnapshotFolder,  ///< A folder with a snapshot.ini.
  kSnapshotIni,     ///< The snapshot.ini itself.
  kPerfData,        ///< Recorded by perf; not decoded yet.
  kElf,             ///< A program, not trace.
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

/// No more than this is read, from the beginning of a file.
inline constexpr std::size_t kDetectWindow = std::size_t{1} << 20;

/// kNotFound: no such path, or a folder that is not a snapshot; kIo.  Whatever a file contains, it
/// is not an error.
Result<Detection> detect(const std::string& path);

/// The same for a file that is open.
Detection detect(const MappedFile& file);

/// The same for the content of a file.
///
/// Magic numbers are certain.  Raw trace has none.  It counts as
///
/// - frames, if its ID bytes name few sources and hardly any reserved ID, and come as often as
///   hardware sends them;
/// - frames with syncs, if most syncs are whole frames apart;
/// - an ETMv4 stream, if it starts with an alignment synchronisation, or if most long runs of zeros
///   are one and a trace info packet follows;
/// - a PTM stream in the same way, by its own synchronisation and the I-sync packet after it;
/// - an STM stream, if it contains 21 F nibbles and a 0 that a version packet follows, and hardly a
///   bad packet after them;
/// - an ITM stream, if hardly a packet of it is bad and, where it has no synchronisation, few ports
///   and sources send nearly all.
///
/// Hence short captures, and those of other protocols without frames, are kUnknown.  A memory dump
/// that looks like one of these is possible but rare.
Detection detect(Bytes content);

}  // namespace waymark::inputs
