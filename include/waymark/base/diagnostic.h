// Damaged trace has a separate channel: a record of where, what and how much was lost.
#pragma once

#include <cstddef>
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
  kNotSynchronised,      ///< Bytes where no packet begins: `lost` is their number.
};
inline constexpr std::size_t kFaultCount = 16;

/// The exact finding: the fact that a Fault classifies.  describe() has its sentence.
enum class Finding : std::uint8_t {
  kNone,

  // Frames.
  kBlockAfterError,
  kBlockTooEarly,  ///< The block before was not used up.
  kBlockEmpty,
  kBlockNotContinuous,
  kBlockSize,  ///< `number`: the size of a block must be a multiple of it.
  kFsyncRun,
  kFsyncCutShort,
  kFsyncInFrame,
  kHsyncInFrame,
  kSkippedAfterError,
  kSkippedBeforeSync,
  kSegmentEmpty,

  // Packets of several protocols.  `number` is the header byte (ETMv3).
  kReservedHeader,
  kReservedInConfig,  ///< Not reserved with other registers.
  kNotInThisMode,
  kMalformedPacket,
  kPacketTooLong,
  kUnknownPacket,
  kSyncLost,
  kEndsInPacket,
  kAsyncTooShort,
  kAsyncInPacket,
  kBeforeFirstSync,
  kNoFirstSync,

  // Packets of one protocol.
  kReservedPHeader,
  kMalformedBranch,
  kMalformedContextId,
  kUnknownIsa,
  kIsyncLength,
  kIsyncWithoutContextId,
  kZerosWithoutAsync,
  kExtraZero,
  kDataPacketRefused,
  kContextIdRefused,
  kLocalTimeTooLong,
  kGlobalTime1TooLong,
  kGlobalTime2TooLong,
  kExtensionTooLong,
  kStpReserved,
  kStpUnknownLayout,
  kStpBadAsync,
  kStpAsyncInPacket,
  kStpTooManyFs,
  kStpTimestampSize,
  kStpTimeEncoding,
  kStpVersion,
  kStpNibbleOrder,
  kRecordReturn,
  kRecordsUnused,
  kDataTraceDamaged,
  kDataTraceLayout,

  // The queue of elements that may be cancelled.
  kNotDecodable,
  kQueueFull,
  kCommitsTooMany,
  kCancelsTooMany,
  kNothingMispredicted,
  kNoExceptionAddress,
  kNoQAddress,

  // Following the program.  `address` is the instruction.
  kReturnStackEmpty,
  kAtomNotFollowed,
  kBranchNotFollowed,
  kExceptionNotFollowed,
  kQNotFollowed,
  kSourceNotRead,
  kSourceNotFollowed,
  kUpdateNotFollowed,
  kIsaNotFollowed,
  kRangeTooLong,
  kDirectNotTaken,
  kIndirectNotTaken,
  kRangeNotContinuous,
  kReturnInsideInstruction,
  kAtomsBeforeTarget,
  kUpdateNotReached,
  kWaypointBeforeUpdate,
  kRecordNotReached,
  kRecordNotFollowed,
  kRecordNotBranch,
  kRecordTarget,
  kHaltNotReached,
  kAtomsOfLoads,

  // The trace contradicts the registers: they belong to another trace.
  kCycleCountsOff,
  kCycleCountsMissing,
  kCycleCountForm,
  kCycleCountHeaders,
  kPHeadersWithCycles,
  kPHeadersWithoutCycles,
  kTimestampsOff,
  kTimestampsNewer,
  kTimestampsLong,
  kVmidsNewer,
  kContextIdsOff,
  kDataOff,
  kDataValuesOff,
  kDataMissing,
  kReturnStackOff,
  kLocalTimestampsOff,
  kGlobalTimestampsOff,
  kHardwareOff,
  kStmTimestampsOff,
  kMasterTooHigh,
  kChannelTooHigh,
};
inline constexpr std::size_t kFindingCount = 103;

/// Records of kInfo are notes about whole trace; all others are damage, or doubt of the image.
enum class Severity : std::uint8_t { kError = 1, kWarning = 2, kInfo = 3 };

/// The layer that reports it.
enum class Stage : std::uint8_t { kFrames, kPackets, kElements };

/// A record of facts; text is made of it where it is shown.
struct Diagnostic {
  Fault fault = Fault::kNone;
  Finding finding = Finding::kNone;
  Severity severity = Severity::kError;
  Stage stage = Stage::kElements;
  bool fatal = false;              ///< The source cannot continue.
  TraceId trace_id = kNoTraceId;   ///< In the registers; kNoTraceId: it concerns no single source.
  TraceId stream_id = kNoTraceId;  ///< In the source's packets; 0 if unformatted.
  std::uint8_t number = 0;         ///< What `finding` says it is.
  TraceIndex index = kNoIndex;     ///< The place; kNoIndex if there is none.
  std::uint64_t lost = 0;          ///< Skipped bytes, if their number is known.
  /// The instruction at which image and trace disagree; kNoAddress where there is none.
  std::uint64_t address = kNoAddress;

  /// False for a note about whole trace.  Every count and every mark of damage asks this.
  [[nodiscard]] constexpr bool is_damage() const { return severity != Severity::kInfo; }
};
static_assert(sizeof(Diagnostic) == 32);

/// The finding in a whole sentence, with the remedy where there is one; static storage.  Only
/// kNone has none.  The place is not in it: the record's index, trace ID and address name it.
std::string_view describe(Finding finding);
inline std::string_view describe(const Diagnostic& record) { return describe(record.finding); }

}  // namespace waymark
