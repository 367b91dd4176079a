// The kind of an input, detected from its first bytes.  See snapshot-format.md,
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
  kUnknown,         ///< None of the kinds below; the sentence names what was tried.
  kEmpty,           ///< No bytes.
  kSnapshotFolder,  ///< A folder with a snapshot.ini.
  kSnapshotIni,     ///< The snapshot.ini itself.
  kPerfData,        ///< Recorded by perf or simpleperf, a file or a folder.
  kElf,             ///< A program, not trace.
  kTraceScript,     ///< Text that starts with the line `waymark-trace`.
  kDebuggerText,    ///< Memory as a debugger prints it; see debugger_text.h.
  kIntelHex,        ///< Memory as records; see memory_records.h.
  kSRecords,        ///< The same.
  kLogicSession,    ///< What a logic analyser sampled, as a session of sigrok.
  kAlignedFrames,   ///< CoreSight frames as an ETB or ETR stores them.
  kTpiuFrames,      ///< CoreSight frames with frame syncs between them.
  kDstreamFrames,   ///< The same in the 512-byte records of a DSTREAM.
  kEtmv4Stream,     ///< One ETMv4 or ETE stream without frames.
  kItmStream,       ///< One ITM stream without frames: what a probe reads from the SWO pin.
  kPtmStream,       ///< One PTM stream without frames.
  kStmStream,       ///< One STM stream without frames.
  kMtbRecords,      ///< The records of an MTB, as a dump of its buffer.
};

/// The name of a kind for users: "snapshot folder".
std::string_view input_kind_name(InputKind kind);

/// Whether it is text that shows memory.
bool is_memory_text(InputKind kind);

struct Detection {
  InputKind kind = InputKind::kUnknown;
  std::string why{};  ///< A whole sentence.
};

/// The maximum number of bytes that is read, from the beginning of a file.
inline constexpr std::size_t kDetectWindow = std::size_t{1} << 20;

/// kNotFound: no such path, or a folder that is not a snapshot; kIo.  No content of a file is an
/// error.
Result<Detection> detect(const std::string& path);

/// The same for an open file.
Detection detect(const MappedFile& file);

/// The same for the content of a file.
///
/// Magic numbers are certain.  Raw trace has none.  It counts as
///
/// - frames, if its ID bytes name few sources and hardly any reserved ID, and are as frequent as
///   in hardware's frames;
/// - frames with syncs, if the distance of most syncs is a number of whole frames;
/// - an ETMv4 stream, if it starts with an alignment synchronisation, or if most long runs of zeros
///   are one and a trace info packet follows;
/// - a PTM stream in the same way, by its own synchronisation and the I-sync packet after it;
/// - an STM stream, if it contains 21 F nibbles and a 0 that a version packet follows, and hardly a
///   bad packet after them;
/// - records of an MTB, if nearly every source is a little after the destination before it;
/// - an ITM stream, if hardly any of its packets is bad and, without a synchronisation, nearly all
///   packets come from few ports and sources.
///
/// Therefore short captures, and captures of other protocols without frames, are kUnknown.  In rare
/// cases a memory dump looks like one of these.
Detection detect(Bytes content);

}  // namespace waymark::inputs
