#include "waymark/base/diagnostic.h"

#include <array>

namespace waymark {
namespace {

struct Row {
  Finding finding;
  std::string_view text;
};

// In the order of the enumerators.
constexpr std::array<Row, kFindingCount> kRows{{
    {Finding::kNone, ""},

    {Finding::kBlockAfterError, "A block was given after an error of the frame layer."},
    {Finding::kBlockTooEarly, "A block was given before the last one was used up."},
    {Finding::kBlockEmpty, "An empty block was given."},
    {Finding::kBlockNotContinuous, "A block does not begin where the last one ended."},
    {Finding::kBlockSize, "The size of a block is not a multiple that this framing takes."},
    {Finding::kFsyncRun,
     "Frame syncs that reset the decoders come in groups of four, but this group has a different "
     "number of them."},
    {Finding::kFsyncCutShort,
     "Half a frame sync comes before a frame, or the frame has the reserved trace ID 0x7F."},
    {Finding::kFsyncInFrame,
     "A frame sync begins inside a frame, or the frame has the reserved trace ID 0x7F."},
    {Finding::kHsyncInFrame,
     "A frame contains a half sync (FF 7F), although this framing has none."},
    {Finding::kSkippedAfterError,
     "The bytes after a framing error were skipped, up to a frame boundary."},
    {Finding::kSkippedBeforeSync, "The bytes before the first frame sync were skipped."},
    {Finding::kSegmentEmpty, "A frame ends with a trace ID, but has no byte of data for it."},

    {Finding::kReservedHeader, "A packet header is reserved."},
    {Finding::kReservedInConfig,
     "A packet header is reserved with these registers: check that they belong to this trace."},
    {Finding::kNotInThisMode,
     "The registers do not allow this packet: check that they belong to this trace."},
    {Finding::kMalformedPacket, "The bytes do not form a valid packet."},
    {Finding::kPacketTooLong, "A packet is longer than any valid one."},
    {Finding::kUnknownPacket, "A packet has an unknown type."},
    {Finding::kSyncLost, "Synchronisation with the trace was lost."},
    {Finding::kEndsInPacket, "The trace ends inside a packet."},
    {Finding::kAsyncTooShort, "A synchronisation must have at least five zeros and then 0x80."},
    {Finding::kAsyncInPacket,
     "The packet before this synchronisation is cut short. Its last bytes are zeros of the "
     "synchronisation, so its content is wrong."},
    {Finding::kBeforeFirstSync,
     "The bytes before the first synchronisation point cannot be decoded."},
    {Finding::kNoFirstSync,
     "There is no synchronisation point, so none of these bytes can be decoded."},

    {Finding::kReservedPHeader, "A P-header is reserved."},
    {Finding::kMalformedBranch, "The bytes do not form a valid branch packet."},
    {Finding::kMalformedContextId, "The bytes do not form a valid context ID packet."},
    {Finding::kUnknownIsa, "The address of a packet has an unknown instruction set."},
    {Finding::kIsyncLength, "An I-sync packet is cut short, or longer than any valid one."},
    {Finding::kIsyncWithoutContextId, "An I-sync packet ends before its context ID."},
    {Finding::kZerosWithoutAsync, "A run of zeros looks like an A-sync, but its end is missing."},
    {Finding::kExtraZero, "An A-sync has more zeros than it needs."},
    {Finding::kDataPacketRefused, "There is a data packet, but the registers allow none."},
    {Finding::kContextIdRefused, "There is a context ID packet, but the registers allow none."},
    {Finding::kLocalTimeTooLong, "A local timestamp is longer than any valid one."},
    {Finding::kGlobalTime1TooLong, "A global timestamp is longer than any valid one."},
    {Finding::kGlobalTime2TooLong,
     "The upper half of a global timestamp is longer than any valid one."},
    {Finding::kExtensionTooLong, "An extension packet is longer than any valid one."},
    {Finding::kStpReserved,
     "These nibbles are not an STPv2 opcode. Decoding resumes at the next ASYNC."},
    {Finding::kStpUnknownLayout,
     "This is a TIME or PDID packet, which CoreSight hardware does not send and whose length is "
     "not public. Decoding resumes at the next ASYNC."},
    {Finding::kStpBadAsync,
     "FF begins an ASYNC, but fewer than 21 F nibbles and a 0 follow. Decoding resumes at the next "
     "ASYNC."},
    {Finding::kStpAsyncInPacket,
     "This ASYNC begins inside the previous packet. Earlier nibbles are missing or wrong, and the "
     "packets since then were misread."},
    {Finding::kStpTooManyFs,
     "A run of F nibbles this long is not a packet. Decoding resumes at the next ASYNC."},
    {Finding::kStpTimestampSize,
     "The length nibble of the timestamp is F, which is not a valid length. Decoding resumes at "
     "the next "
     "ASYNC."},
    {Finding::kStpTimeEncoding,
     "There are timestamps before the first VERSION packet, which states their encoding. Data "
     "before it has no time."},
    {Finding::kStpVersion,
     "The VERSION packet names an unknown timestamp encoding. Decoding resumes at the "
     "next ASYNC."},
    {Finding::kStpNibbleOrder,
     "This packet shows the nibble order, which was unknown until now. Fields of earlier packets "
     "were read in the wrong order."},
    {Finding::kRecordReturn,
     "A return from an exception or function takes two consecutive records, and one of them is "
     "missing."},
    {Finding::kRecordsUnused,
     "This part of the buffer was never written or was erased: its bits are all 0 or all 1."},
    {Finding::kDataTraceDamaged,
     "The data trace is damaged, and is skipped up to the next synchronisation."},
    {Finding::kDataTraceLayout,
     "The layout of these data trace packets is not public, so they are skipped up to the next "
     "synchronisation. `packets` shows their bytes; --data-layouts can name their lengths."},

    {Finding::kNotDecodable,
     "Packets of data trace and of conditional instructions cannot be decoded here; `packets` "
     "shows them."},
    {Finding::kQueueFull, "Too many elements wait for a commit."},
    {Finding::kCommitsTooMany, "The trace commits more elements than are outstanding."},
    {Finding::kCancelsTooMany, "The trace cancels more elements than are outstanding."},
    {Finding::kNothingMispredicted,
     "The trace corrects the last atom (mispredict), but no atom is outstanding."},
    {Finding::kNoExceptionAddress, "No address follows an exception packet."},
    {Finding::kNoQAddress, "No address follows a Q packet."},

    {Finding::kReturnStackEmpty,
     "An atom stands for a return, but no call is on the return stack."},
    {Finding::kAtomNotFollowed, "The instructions that an atom stands for cannot be followed."},
    {Finding::kBranchNotFollowed, "The instructions before a branch packet cannot be followed."},
    {Finding::kExceptionNotFollowed, "The instructions before an exception cannot be followed."},
    {Finding::kQNotFollowed, "The instructions of a Q packet cannot be followed."},
    {Finding::kSourceNotRead, "The instructions of a source address packet cannot be read."},
    {Finding::kSourceNotFollowed,
     "The instructions of a source address packet cannot be followed."},
    {Finding::kUpdateNotFollowed,
     "The instructions before the address of a waypoint update cannot be followed."},
    {Finding::kIsaNotFollowed, "The code is Jazelle or ThumbEE, which cannot be followed."},
    {Finding::kRangeTooLong, "A range has more instructions than the limit allows."},
    {Finding::kDirectNotTaken,
     "An atom N stands for an unconditional direct branch: trace and code image disagree."},
    {Finding::kIndirectNotTaken,
     "An atom N stands for an unconditional indirect branch: trace and code image disagree."},
    {Finding::kRangeNotContinuous,
     "A range does not begin where the last one ended: trace and code image disagree."},
    {Finding::kReturnInsideInstruction,
     "The return address of an exception is inside an instruction of the image."},
    {Finding::kAtomsBeforeTarget,
     "Atoms come before the target of an indirect branch: trace and code image disagree."},
    {Finding::kUpdateNotReached,
     "The program cannot reach the address of a waypoint update from its last position."},
    {Finding::kWaypointBeforeUpdate,
     "The image has another waypoint before the address of a waypoint update, but the trace has no "
     "atom for it."},
    {Finding::kRecordNotReached,
     "The program cannot reach the source of a record from the last destination: the code image is "
     "not what was executed, or records are missing or not in order (POSITION and MASTER)."},
    {Finding::kRecordNotFollowed,
     "The instructions before the source of a record cannot be followed."},
    {Finding::kRecordNotBranch,
     "The image has no branch at the source of a record: trace and code image disagree."},
    {Finding::kRecordTarget,
     "The branch of a record goes to another place in the image: trace and code image disagree."},
    {Finding::kHaltNotReached,
     "The program cannot reach the PC at which it was halted from the last destination."},
    {Finding::kAtomsOfLoads,
     "Loads or stores are P0 elements (INSTP0 of TRCCONFIGR). It is unknown which instruction an "
     "atom refers to, so there are no instruction ranges."},

    {Finding::kCycleCountsOff,
     "The trace has cycle counts, although ETMCR[12] says that it is not cycle-accurate."},
    {Finding::kCycleCountsMissing,
     "Trace restarts repeatedly without a cycle count, although ETMCR[12] says that it is "
     "cycle-accurate."},
    {Finding::kCycleCountForm,
     "The bytes after branch packets are not cycle counts, although ETMCR[12] says that this trace "
     "is cycle-accurate: the register value seems to be wrong."},
    {Finding::kCycleCountHeaders,
     "Reserved headers look like cycle counts, although ETMCR[12] says that this trace is not "
     "cycle-accurate: the register value seems to be wrong."},
    {Finding::kPHeadersWithCycles,
     "The trace has P-headers that only cycle-accurate trace has, although ETMCR[12] says that it "
     "is not cycle-accurate: the trace is damaged, or the register value is wrong."},
    {Finding::kPHeadersWithoutCycles,
     "The trace has P-headers that cycle-accurate trace does not have, although ETMCR[12] says "
     "that it is cycle-accurate: the trace is damaged, or the register value is wrong."},
    {Finding::kTimestampsOff, "The trace has timestamps, although ETMCR[28] switches them off."},
    {Finding::kTimestampsNewer,
     "The trace has timestamps, which came with ETMv3.5, although ETMIDR[7:4] names an older "
     "version."},
    {Finding::kTimestampsLong,
     "Timestamps are longer than 48 bits: ETMCCER[29] or the version in ETMIDR[7:4] seems to be "
     "wrong."},
    {Finding::kVmidsNewer,
     "The trace has VMIDs, which came with ETMv3.5, although ETMIDR[7:4] names an older version."},
    {Finding::kContextIdsOff,
     "The trace has context ID packets, although ETMCR[15:14] gives context IDs no bytes."},
    {Finding::kDataOff, "The trace has data packets, although ETMCR[3:2] switch data trace off."},
    {Finding::kDataValuesOff,
     "The trace has packets of data values, although ETMCR[2] switches data values off."},
    {Finding::kDataMissing, "ETMCR[3:2] switch data trace on, but the trace has no data packet."},
    {Finding::kReturnStackOff,
     "Atoms stand for indirect branches, although ETMCR[29] or ETMCCER[23] says that the return "
     "stack is off: one of the two seems to be wrong."},
    {Finding::kLocalTimestampsOff,
     "The trace has local timestamps, although ITM_TCR switches them off (TSENA). The register was "
     "read at another time, so its prescaler (TSPrescale) may be wrong too."},
    {Finding::kGlobalTimestampsOff,
     "The trace has global timestamps, although ITM_TCR switches them off (GTSFREQ). The register "
     "was read at another time."},
    {Finding::kHardwareOff,
     "The trace has packets of the DWT, although ITM_TCR switches them off (TXENA). The register "
     "was read at another time."},
    {Finding::kStmTimestampsOff,
     "This packet has a timestamp, although STMTCSR.TSEN is 0: the register value belongs to "
     "another trace."},
    {Finding::kMasterTooHigh,
     "STMDEVID names a lower highest master than the trace uses: the register value belongs to "
     "another trace."},
    {Finding::kChannelTooHigh,
     "STMSPFEAT3R names fewer channels than the trace uses: the register value belongs to another "
     "trace."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].finding) != i) return false;
    if (kRows[i].text.empty() != (i == 0)) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::string_view describe(Finding finding) { return kRows[static_cast<std::size_t>(finding)].text; }

}  // namespace waymark
