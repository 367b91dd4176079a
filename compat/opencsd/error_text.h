// Error codes of the reference's interface and their printed texts (version 1.8.0); see
// opencsd-c-api.md 5.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/base/text_buffer.h"

namespace waymark::compat {

enum class ErrorNumber : std::uint32_t {
  kOk = 0,
  kFail = 1,
  kMem = 2,
  kNotInit = 3,
  kInvalidId = 4,
  kBadHandle = 5,
  kInvalidParamVal = 6,
  kInvalidParamType = 7,
  kFileError = 8,
  kNoProtocol = 9,
  kAttachTooMany = 10,
  kAttachInvalidParam = 11,
  kAttachCompNotFound = 12,
  kRdrFileNotFound = 13,
  kRdrInvalidInit = 14,
  kRdrNoDecoder = 15,
  kDataDecodeFatal = 16,
  kDfmtrNotconttrace = 17,
  kDfmtrBadFhsync = 18,
  kBadPacketSeq = 19,
  kInvalidPcktHdr = 20,
  kPktInterpFail = 21,
  kUnsupportedIsa = 22,
  kHwCfgUnsupp = 23,
  kUnsuppDecodePkt = 24,
  kBadDecodePkt = 25,
  kCommitPktOverrun = 26,
  kMemNacc = 27,
  kRetStackOverflow = 28,
  kDcdtNoFormatter = 29,
  kMemAccOverlap = 30,
  kMemAccFileNotFound = 31,
  kMemAccFileDiffRange = 32,
  kMemAccRangeInvalid = 33,
  kMemAccBadLen = 34,
  kTestSnapshotParse = 35,
  kTestSnapshotParseInfo = 36,
  kTestSnapshotRead = 37,
  kTestSsToDecoder = 38,
  kDcdregNameRepeat = 39,
  kDcdregNameUnknown = 40,
  kDcdregTypeUnknown = 41,
  kDcdregToomany = 42,
  kDcdInterfaceUnused = 43,
  kInvalidOpcode = 44,
  kIRangeLimitOverrun = 45,
  kBadDecodeImage = 46,
  kLast = 47,
};

/// "OCSD_ERR_BAD_DECODE_PKT"; empty beyond the table.
std::string_view error_name(std::uint32_t number);

/// "Reserved or unknown packet in decoder."; empty beyond the table.
std::string_view error_description(std::uint32_t number);

/// The code with which the reference reports this kind of damage.
ErrorNumber error_number(Fault fault);

/// "0x0019 (OCSD_ERR_BAD_DECODE_PKT) [...]; TrcIdx=24; CS ID=01; message": index and ID are left
/// out if they are not known (kNoIndex, kNoTraceId).  No newline.
void write_error(TextBuffer& out, ErrorNumber number, TraceIndex index, TraceId trace_id,
                 std::string_view message);

}  // namespace waymark::compat
