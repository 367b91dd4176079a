// Damaged trace has a separate channel: a record of where, what and how much was lost.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/types.h"

namespace waymark {

/// The kind of damage or doubt.
enum class Fault : std::uint8_t {
  kNone,
  kBadFrameSync,         ///< The frame layer met a sync pattern where none may be.
  kInvalidBlock,         ///< A block of zero length, of a wrong size, or not continuous.
  kInvalidHeader,        ///< A header that is reserved, or not legal for this configuration.
  kBadPacketSequence,    ///< A packet whose bytes, or whose place among others, is not possible.
  kBadPacket,            ///< The decoder cannot use this packet and must resynchronise.
  kUnsupportedPacket,    ///< Valid, but this decoder has no meaning for it.
  kUnsupportedConfig,    ///< The registers ask for a mode that cannot be decoded.
  kCommitOverrun,        ///< More P0 elements were resolved than are outstanding.
  kReturnStackUnderrun,  ///< A return was to be taken from an empty return stack.
  kBadImage,             ///< Trace and program image disagree.
  kInvalidOpcode,        ///< The image holds an opcode that cannot be one.
  kRangeLimit,           ///< More consecutive instructions without a waypoint than allowed.
  kMemoryAccess,         ///< The image could not answer.
  kUnsupportedIsa,       ///< No classifier for the instruction set that the trace names.
};
inline constexpr std::size_t kFaultCount = 15;

enum class Severity : std::uint8_t { kError = 1, kWarning = 2, kInfo = 3 };

/// The layer that reports it.
enum class Stage : std::uint8_t { kFrames, kPackets, kElements };

/// `message` has static storage, so that a record can be kept.
struct Diagnostic {
  Fault fault = Fault::kNone;
  Severity severity = Severity::kError;
  Stage stage = Stage::kElements;
  bool fatal = false;              ///< The source cannot continue.
  TraceId trace_id = kNoTraceId;   ///< In the registers; kNoTraceId: it concerns no single source.
  TraceId stream_id = kNoTraceId;  ///< In the source's packets; 0 if unformatted.
  TraceIndex index = kNoIndex;     ///< The place; kNoIndex if there is none.
  std::string_view message;
  std::uint64_t lost = 0;  ///< Skipped bytes, if their number is known.
  /// The instruction at which image and trace disagree; kNoAddress where there is none.
  std::uint64_t address = kNoAddress;
};

}  // namespace waymark
