#include "error_text.h"

#include <array>

#include "core/level.h"

namespace waymark::compat {
namespace {

struct Row {
  std::string_view name;
  std::string_view description;
};

// In order of the numbers, with the spelling of the reference.
constexpr std::array kRows = {
    Row{"OCSD_OK", "No Error."},
    Row{"OCSD_ERR_FAIL", "General failure."},
    Row{"OCSD_ERR_MEM", "Internal memory allocation error."},
    Row{"OCSD_ERR_NOT_INIT", "Component not initialised."},
    Row{"OCSD_ERR_INVALID_ID", "Invalid CoreSight Trace Source ID."},
    Row{"OCSD_ERR_BAD_HANDLE", "Invalid handle passed to component."},
    Row{"OCSD_ERR_INVALID_PARAM_VAL", "Invalid value parameter passed to component."},
    Row{"OCSD_ERR_INVALID_PARAM_TYPE", "Type mismatch on abstract interface."},
    Row{"OCSD_ERR_FILE_ERROR", "File access error"},
    Row{"OCSD_ERR_NO_PROTOCOL", "Trace protocol unsupported"},
    Row{"OCSD_ERR_ATTACH_TOO_MANY", "Cannot attach - attach device limit reached."},
    Row{"OCSD_ERR_ATTACH_INVALID_PARAM", " Cannot attach - invalid parameter."},
    Row{"OCSD_ERR_ATTACH_COMP_NOT_FOUND", "Cannot detach - component not found."},
    Row{"OCSD_ERR_RDR_FILE_NOT_FOUND", "source reader - file not found."},
    Row{"OCSD_ERR_RDR_INVALID_INIT", "source reader - invalid initialisation parameter."},
    Row{"OCSD_ERR_RDR_NO_DECODER", "source reader - not trace decoder set."},
    Row{"OCSD_ERR_DATA_DECODE_FATAL", "A decoder in the data path has returned a fatal error."},
    Row{"OCSD_ERR_DFMTR_NOTCONTTRACE", "Trace input to deformatter none-continuous"},
    Row{"OCSD_ERR_DFMTR_BAD_FHSYNC", "Bad frame or half frame sync in trace deformatter"},
    Row{"OCSD_ERR_BAD_PACKET_SEQ", "Bad packet sequence"},
    Row{"OCSD_ERR_INVALID_PCKT_HDR", "Invalid packet header"},
    Row{"OCSD_ERR_PKT_INTERP_FAIL", "Interpreter failed - cannot recover - bad data or sequence"},
    Row{"OCSD_ERR_UNSUPPORTED_ISA", "ISA not supported in decoder"},
    Row{"OCSD_ERR_HW_CFG_UNSUPP", "Programmed trace configuration not supported by decodUer."},
    Row{"OCSD_ERR_UNSUPP_DECODE_PKT", "Packet not supported in decoder"},
    Row{"OCSD_ERR_BAD_DECODE_PKT", "Reserved or unknown packet in decoder."},
    Row{"OCSD_ERR_COMMIT_PKT_OVERRUN",
        "Overrun in commit packet stack - tried to commit more than available"},
    Row{"OCSD_ERR_MEM_NACC", "Unable to access required memory address."},
    Row{"OCSD_ERR_RET_STACK_OVERFLOW",
        "Internal return stack overflow checks failed - popped more than we pushed."},
    Row{"OCSD_ERR_DCDT_NO_FORMATTER", "No formatter in use - operation not valid."},
    Row{"OCSD_ERR_MEM_ACC_OVERLAP", "Attempted to set an overlapping range in memory access map."},
    Row{"OCSD_ERR_MEM_ACC_FILE_NOT_FOUND", "Memory access file could not be opened."},
    Row{"OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE",
        "Attempt to re-use the same memory access file for a different address range."},
    Row{"OCSD_ERR_MEM_ACC_RANGE_INVALID", "Address range in accessor set to invalid values."},
    Row{"OCSD_ERR_MEM_ACC_BAD_LEN",
        "Memory accessor returned a bad read length value (larger than requested."},
    Row{"OCSD_ERR_TEST_SNAPSHOT_PARSE", "Test snapshot file parse error"},
    Row{"OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO", "Test snapshot file parse information"},
    Row{"OCSD_ERR_TEST_SNAPSHOT_READ", "test snapshot reader error"},
    Row{"OCSD_ERR_TEST_SS_TO_DECODER", "test snapshot to decode tree conversion error"},
    Row{"OCSD_ERR_DCDREG_NAME_REPEAT",
        "Attempted to register a decoder with the same name as another one."},
    Row{"OCSD_ERR_DCDREG_NAME_UNKNOWN",
        "Attempted to find a decoder with a name that is not known in the library."},
    Row{"OCSD_ERR_DCDREG_TYPE_UNKNOWN",
        "Attempted to find a decoder with a type that is not known in the library."},
    Row{"OCSD_ERR_DCDREG_TOOMANY", "Attempted to register too many custom decoders"},
    Row{"OCSD_ERR_DCD_INTERFACE_UNUSED",
        "Attempt to connect or use and interface not supported by this decoder."},
    Row{"OCSD_ERR_INVALID_OPCODE", "Illegal Opode found while decoding program memory."},
    Row{"OCSD_ERR_I_RANGE_LIMIT_OVERRUN",
        "An optional limit on consecutive instructions in range during decode has been exceeded."},
    Row{"OCSD_ERR_BAD_DECODE_IMAGE", "Mismatch between trace packets and decode image."},
    Row{"OCSD_ERR_LAST", "No error - error code end marker"},
};
static_assert(kRows.size() == static_cast<std::size_t>(ErrorNumber::kLast) + 1);

/// The row of a number; nullptr: none.  The table of 1.3.3 is shorter, and out of step with its
/// numbers.
const Row* row_of(std::uint32_t number) {
  if (level_in_use().number < kLevel155) {
    constexpr auto kBadLength = static_cast<std::uint32_t>(ErrorNumber::kMemAccBadLen);
    constexpr auto kTooMany = static_cast<std::uint32_t>(ErrorNumber::kDcdregToomany);
    if (number == kBadLength || number == kBadLength - 1) {
      number = 2 * kBadLength - 1 - number;
    } else if (number == kTooMany) {
      number = kTooMany + 1;
    } else if (number == kTooMany + 1) {
      number = static_cast<std::uint32_t>(ErrorNumber::kLast);
    } else if (number > kTooMany) {
      return nullptr;
    }
  }
  return number < kRows.size() ? &kRows[number] : nullptr;
}

}  // namespace

std::string_view error_name(std::uint32_t number) {
  const Row* const row = row_of(number);
  return row != nullptr ? row->name : std::string_view{};
}

std::string_view error_description(std::uint32_t number) {
  const Row* const row = row_of(number);
  return row != nullptr ? row->description : std::string_view{};
}

ErrorNumber error_number(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return ErrorNumber::kOk;
    case Fault::kBadFrameSync:
      return ErrorNumber::kDfmtrBadFhsync;
    case Fault::kInvalidBlock:
      return ErrorNumber::kInvalidParamVal;
    case Fault::kInvalidHeader:
      return ErrorNumber::kInvalidPcktHdr;
    case Fault::kBadPacketSequence:
      return ErrorNumber::kBadPacketSeq;
    case Fault::kBadPacket:
      return ErrorNumber::kBadDecodePkt;
    case Fault::kUnsupportedPacket:
      return ErrorNumber::kUnsuppDecodePkt;
    case Fault::kUnsupportedConfig:
      return ErrorNumber::kHwCfgUnsupp;
    case Fault::kCommitOverrun:
      return ErrorNumber::kCommitPktOverrun;
    case Fault::kReturnStackUnderrun:
      return ErrorNumber::kRetStackOverflow;
    case Fault::kBadImage:
      return ErrorNumber::kBadDecodeImage;
    case Fault::kInvalidOpcode:
      return ErrorNumber::kInvalidOpcode;
    case Fault::kRangeLimit:
      return ErrorNumber::kIRangeLimitOverrun;
    case Fault::kMemoryAccess:
      return ErrorNumber::kMemNacc;
    case Fault::kUnsupportedIsa:
      return ErrorNumber::kUnsupportedIsa;
    case Fault::kNotSynchronised:
      break;
  }
  return ErrorNumber::kFail;
}

void write_error(TextBuffer& out, ErrorNumber number, TraceIndex index, TraceId trace_id,
                 std::string_view message) {
  const auto value = static_cast<std::uint32_t>(number);
  out.put("0x");
  out.hex(value, 4);
  if (const Row* const row = row_of(value)) {
    out.put(" (");
    out.put(row->name);
    out.put(") [");
    out.put(row->description);
    out.put("]; ");
  } else {
    out.put(" (unknown); ");
  }
  if (index != kNoIndex) {
    out.put("TrcIdx=");
    out.dec(index);
    out.put("; ");
  }
  if (trace_id != kNoTraceId) {
    out.put("CS ID=");
    out.hex(trace_id, 2);
    out.put("; ");
  }
  out.put(message);
}

}  // namespace waymark::compat
