// Damaged trace has a channel of its own: a record that says where, what and how much was lost.
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

/// Which layer speaks.
enum class Stage : std::uint8_t { kFrames, kPackets, kElements };

/// `message` has static storage: a record can be kept for as long as one likes.
struct Diagnostic {
  Fault fault = Fault::kNone;
  Severity severity = Severity::kError;
  Stage stage = Stage::kElements;
  bool fatal = false;              ///< The source cannot go on.
  TraceId trace_id = kNoTraceId;   ///< That the registers name; kNoTraceId: not of one source.
  TraceId stream_id = kNoTraceId;  ///< That the source's packets carry; 0 when unformatted.
  TraceIndex index = kNoIndex;     ///< Where; kNoIndex where the record has no place.
  std::string_view message;
  std::uint64_t lost = 0;  ///< Bytes that were passed over, where that is known.
  /// The instruction at which image and trace disagree; kNoAddress where there is none.
  std::uint64_t address = kNoAddress;
};

}  // namespace waymark
