#include "waymark/element/text.h"

#include <array>

namespace waymark {
namespace {

using isa::Isa;

constexpr std::array<std::string_view, kElementKindCount> kNames = {
    "OCSD_GEN_TRC_ELEM_UNKNOWN",        "OCSD_GEN_TRC_ELEM_NO_SYNC",
    "OCSD_GEN_TRC_ELEM_TRACE_ON",       "OCSD_GEN_TRC_ELEM_EO_TRACE",
    "OCSD_GEN_TRC_ELEM_PE_CONTEXT",     "OCSD_GEN_TRC_ELEM_INSTR_RANGE",
    "OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH", "OCSD_GEN_TRC_ELEM_ADDR_NACC",
    "OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN",   "OCSD_GEN_TRC_ELEM_EXCEPTION",
    "OCSD_GEN_TRC_ELEM_EXCEPTION_RET",  "OCSD_GEN_TRC_ELEM_TIMESTAMP",
    "OCSD_GEN_TRC_ELEM_CYCLE_COUNT",    "OCSD_GEN_TRC_ELEM_EVENT",
    "OCSD_GEN_TRC_ELEM_SWTRACE",        "OCSD_GEN_TRC_ELEM_SYNC_MARKER",
    "OCSD_GEN_TRC_ELEM_MEMTRANS",       "OCSD_GEN_TRC_ELEM_INSTRUMENTATION",
    "OCSD_GEN_TRC_ELEM_ITMTRACE",       "OCSD_GEN_TRC_ELEM_CUSTOM",
    "WAYMARK_TRC_ELEM_DATA_ADDRESS",    "WAYMARK_TRC_ELEM_DATA_VALUE",
    "WAYMARK_TRC_ELEM_DATA_EVENT",
};

constexpr std::array<std::string_view, 7> kIsaNames = {"A32", "T32", "A64", "TEE",
                                                       "Jaz", "Cst", "Unk"};
constexpr std::array<std::string_view, 7> kTypeNames = {"--- ",    "BR  ",    "iBR ",  "ISB ",
                                                        "DSB.DMB", "WFI.WFE", "TSTART"};
constexpr std::array<std::string_view, 5> kSubtypeNames = {"", "b+link ", "A64:ret ", "A64:eret ",
                                                           "V7:impl ret"};
constexpr std::array<std::string_view, 8> kUnsyncReasons = {
    " [undefined]", " [init-decoder]", " [reset-decoder]",     " [overflow]",
    " [discard]",   " [bad-packet]",   " [bad-program-image]", " [end-of-trace]"};
constexpr std::array<std::string_view, 3> kTraceOnReasons = {" [begin or filter]", " [overflow]",
                                                             " [debug restart]"};
constexpr std::array<std::string_view, 4> kTransactions = {"Init", "Start", "Commit", "Fail"};
constexpr std::array<std::string_view, 4> kDataEvents = {"pending", "not traced", "suppressed",
                                                         "store failed"};
constexpr std::array<std::string_view, 4> kSecurity = {"S; ", "N; ", "Root; ", "Realm; "};
constexpr std::array<std::string_view, 4> kLocalTimestamps = {"TS Sync", "TS Delay", "Packet Delay",
                                                              "TS and Packet Delay"};

/// Empty for a number that the table does not have.
template <std::size_t Size>
constexpr std::string_view pick(const std::array<std::string_view, Size>& names, std::size_t at) {
  return at < Size ? names[at] : std::string_view{};
}

constexpr bool has(const Element& element, ElementFlag flag) { return (element.flags & flag) != 0; }

/// The longest text of one element with the head of its line: three 64-bit numbers and about 150
/// characters of fixed text.
constexpr std::size_t kRangeRoom = 384;

char* write_range(char* at, const Element& element) {
  at = write_text(at, "OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x");
  at = write_hex(at, element.start);
  at = write_text(at, ":[0x");
  at = write_hex(at, element.end);
  at = write_text(at, "] num_i(");
  at = write_dec(at, element.count);
  at = write_text(at, ") last_sz(");
  at = write_dec(at, element.last_size);
  at = write_text(at, ") (ISA=");
  at = write_text(at, isa_name(element.isa));
  at = write_text(at, has(element, kElementExecuted) ? ") E " : ") N ");
  at = write_text(at, pick(kTypeNames, static_cast<std::size_t>(element.last_type)));
  at = write_text(at, pick(kSubtypeNames, static_cast<std::size_t>(element.last_subtype)));
  if (has(element, kElementConditional)) at = write_text(at, " <cond>");
  if (has(element, kElementHasCycleCount)) [[unlikely]] {
    at = write_text(at, " [CC=");
    at = write_dec(at, element.cycle_count);
    at = write_text(at, "]; ");
  }
  *at++ = ')';
  return at;
}

char* write_line_head(char* at, const Element& element) {
  at = write_text(at, "Idx:");
  at = write_dec(at, element.index);
  at = write_text(at, "; ID:");
  at = write_hex(at, element.trace_id);
  return write_text(at, "; ");
}

/// See trc-pkt-lister.md 3: sets that have a name of their own, otherwise the single names.
void write_space(TextBuffer& out, std::uint8_t space) {
  constexpr std::array<std::string_view, 8> kSingle = {"EL1S", "EL1N", "EL2N", "EL3",
                                                       "EL2S", "EL1R", "EL2R", "Root"};
  switch (space) {
    case 0x19:
      out.put("Any S");
      return;
    case 0x06:
      out.put("Any NS");
      return;
    case 0x60:
      out.put("Any R");
      return;
    case 0xFF:
      out.put("Any");
      return;
    default:
      break;
  }
  const bool several = (space & (space - 1)) != 0;
  for (std::size_t i = 0; i < kSingle.size(); ++i) {
    if ((space >> i & 1) == 0) continue;
    out.put(kSingle[i]);
    if (several) out.put(',');
  }
}

void write_context(TextBuffer& out, const Element& element) {
  out.put("(ISA=");
  out.put(isa_name(element.isa));
  out.put(") ");
  if (has(element, kElementElValid)) {
    out.put("EL");
    out.dec(element.exception_level);
  }
  out.put(pick(kSecurity, static_cast<std::size_t>(element.security)));
  out.put(has(element, kElement64Bit) ? "64-bit; " : "32-bit; ");
  if (has(element, kElementVmidValid)) {
    out.put("VMID=0x");
    out.hex(element.vmid);
    out.put("; ");
  }
  if (has(element, kElementContextIdValid)) {
    out.put("CTXTID=0x");
    out.hex(element.context_id);
    out.put("; ");
  }
}

void write_timestamp(TextBuffer& out, std::uint64_t timestamp) {
  out.put(" [ TS=0x");
  out.hex(timestamp, 12);
  out.put("]; ");
}

void write_exception(TextBuffer& out, const Element& element) {
  if (has(element, kElementReturnAddress)) {
    out.put("pref ret addr:0x");
    out.hex(element.end);
    if (has(element, kElementReturnIsTarget)) out.put(" [addr also prev br tgt]");
    out.put("; ");
  }
  out.put("excep num (0x");
  out.hex(element.number, 2);
  out.put(") ");
}

/// See stm-itm.md 7.  Kinds that the reference does not know have widths of their own.
void write_software_trace(TextBuffer& out, const Element& element) {
  const unsigned flags = element.extra;
  const auto kind = static_cast<SwTraceKind>(element.reason);
  const bool any_width = kind == SwTraceKind::kUser || (flags & kSwFrequency) != 0;
  const bool whole_digits = element.extra_value <= 64 && element.extra_value % 4 == 0;
  if ((flags & kSwGlobalError) != 0) {
    out.put("{Global Error.}");
    return;
  }
  if ((flags & kSwIdValid) != 0) {
    out.put(" (Ma:0x");
    out.hex(element.sw_id.master, 2);
    out.put("; Ch:0x");
    out.hex(element.sw_id.channel, 2);
    out.put(") ");
  } else {
    out.put("(Ma:0x??; Ch:0x?\?) ");  // No trigraph.
  }
  switch (element.extra_value) {
    case 0:
      break;
    case 4:
    case 8:
    case 16:
    case 32:
    case 64:
      out.put("0x");
      out.hex(element.start, element.extra_value / 4);
      out.put("; ");
      break;
    default:
      if (any_width && whole_digits) {
        out.put("0x");
        out.hex(element.start, element.extra_value / 4);
        out.put("; ");
        break;
      }
      out.put("{Data Error : unsupported bit width.}; ");
      break;
  }
  if (kind == SwTraceKind::kUser) out.put("User ");
  if (kind == SwTraceKind::kCrossSync) out.put("XSync ");
  if ((flags & kSwMarker) != 0) out.put("+Mrk ");
  if ((flags & kSwTrigger) != 0) out.put("Trig ");
  if ((flags & kSwTimestamp) != 0) write_timestamp(out, element.timestamp);
  if ((flags & kSwFrequency) != 0) out.put("Freq");
  if ((flags & kSwMasterError) != 0) out.put("{Master Error.}");
  if (kind == SwTraceKind::kChannelError) out.put("{Channel Error.}");
}

/// See stm-itm.md 14.
void write_itm_trace(TextBuffer& out, const Element& element) {
  if ((element.extra & kItmOverflow) != 0) out.put("ITM_OVERFLOW; ");
  const auto kind = static_cast<ItmKind>(element.extra & kItmKindMask);
  switch (kind) {
    case ItmKind::kSoftware:
    case ItmKind::kHardware: {
      out.put(kind == ItmKind::kSoftware ? "ITM_SWIT (ch: 0x" : "ITM_DWT (desc: 0x");
      out.hex(element.number);
      out.put("; Data: 0x");
      out.hex(element.start, element.extra_value <= 8 ? element.extra_value * 2 : 16);
      out.put(") ");
      break;
    }
    case ItmKind::kTimestampSync:
    case ItmKind::kTimestampDelay:
    case ItmKind::kPacketDelay:
    case ItmKind::kBothDelay:
      out.put("ITM_TS_LOCAL ( TS delta: 0x");
      out.hex(element.start, 8);
      out.put(", { ");
      out.put(kLocalTimestamps[static_cast<std::size_t>(kind) -
                               static_cast<std::size_t>(ItmKind::kTimestampSync)]);
      out.put("}; TS cumulative: 0x");
      out.hex(element.timestamp, 16);
      out.put(") ");
      break;
    case ItmKind::kGlobalTimestamp:
      out.put("ITM_TS_GLOBAL ( TS: 0x");
      out.hex(element.timestamp, 16);
      out.put(") ");
      break;
  }
}

/// " 0x1000 (14:0); ": the parentheses appear if not all bits are known.
void write_data_address(TextBuffer& out, const Element& element) {
  const unsigned known = DataPlace::unpack(element.extra_value).known_bits;
  out.put(" 0x");
  out.hex(element.start);
  if (known != 0 && known < 32) {
    out.put(" (");
    out.dec(known - 1);
    out.put(":0)");
  }
  out.put("; ");
}

/// The owner of the transfer, its number, and its special properties.
void write_transfer(TextBuffer& out, const Element& element) {
  const DataPlace place = DataPlace::unpack(element.extra_value);
  const unsigned flags = element.extra;
  if ((flags & kDataOwned) != 0) {
    out.put("by 0x");
    out.hex(element.end);
  } else if ((flags & kDataAccess) != 0) {
    out.put("by access ");
    out.dec(element.end);
  } else if ((flags & kDataStacking) != 0) {
    out.put("by exception entry");
  } else if ((flags & kDataUnstacking) != 0) {
    out.put("by exception return");
  } else {
    out.put("by ?");
  }
  out.put(" #");
  out.dec(place.number);
  out.put("; ");
  if (place.tag != 0) {
    out.put("tag ");
    out.dec(place.tag);
    out.put("; ");
  }
  if ((flags & kDataInferred) != 0) out.put("inferred; ");
  if ((flags & kDataEndianKnown) != 0) out.put((flags & kDataBigEndian) != 0 ? "BE; " : "LE; ");
  if ((flags & kDataCancelled) != 0) out.put("cancelled; ");
}

void write_data_value(TextBuffer& out, const Element& element) {
  out.put(" 0x");
  out.hex(element.value);
  out.put(" sz(");
  out.dec(element.count);
  out.put("); ");
  if (DataPlace::unpack(element.extra_value).known_bits != 0) {
    out.put("at");
    write_data_address(out, element);
  }
  write_transfer(out, element);
}

void write_unknown_path(TextBuffer& out, const Element& element) {
  out.put("first 0x");
  out.hex(element.start);
  out.put(":[next 0x");
  out.hex(element.end);
  out.put("] num_i(");
  out.dec(element.count);
  out.put(") ");
}

void write_missing_code(TextBuffer& out, const Element& element) {
  out.put(" 0x");
  out.hex(element.start);
  out.put("; Memspace [0x");
  out.hex(element.number);
  out.put(':');
  write_space(out, static_cast<std::uint8_t>(element.number));
  out.put("] ");
}

void write_body(TextBuffer& out, const Element& element) {
  switch (element.kind) {
    case ElementKind::kUnknown:
    case ElementKind::kAddrUnknown:
    case ElementKind::kExceptionReturn:
    case ElementKind::kCycleCount:
    case ElementKind::kCustom:
    case ElementKind::kInstrRange:
      break;
    case ElementKind::kNoSync:
    case ElementKind::kEndOfTrace:
      out.put(pick(kUnsyncReasons, element.reason));
      break;
    case ElementKind::kTraceOn:
      out.put(pick(kTraceOnReasons, element.reason));
      break;
    case ElementKind::kPeContext:
      write_context(out, element);
      break;
    case ElementKind::kInstrRangeNoPath:
      write_unknown_path(out, element);
      break;
    case ElementKind::kAddrNacc:
      write_missing_code(out, element);
      break;
    case ElementKind::kException:
      write_exception(out, element);
      break;
    case ElementKind::kTimestamp:
      write_timestamp(out, element.timestamp);
      break;
    case ElementKind::kEvent:
      if (element.reason == static_cast<std::uint8_t>(EventType::kTrigger)) out.put(" Trigger; ");
      if (element.reason == static_cast<std::uint8_t>(EventType::kNumbered)) {
        out.put(" Numbered:");
        out.dec(element.number);
        out.put("; ");
      }
      break;
    case ElementKind::kSwTrace:
      write_software_trace(out, element);
      break;
    case ElementKind::kSyncMarker:
      out.put(element.reason == 0 ? " [Timestamp marker(0x" : " [Data sync marker(0x");
      out.hex(element.number, 8);
      out.put(")]");
      break;
    case ElementKind::kMemTrans:
      out.put(pick(kTransactions, element.reason));
      break;
    case ElementKind::kInstrumentation:
      out.put("EL");
      out.dec(element.exception_level);
      out.put("; 0x");
      out.hex(element.value, 16);
      break;
    case ElementKind::kItmTrace:
      write_itm_trace(out, element);
      break;
    case ElementKind::kDataAddress:
      write_data_address(out, element);
      write_transfer(out, element);
      break;
    case ElementKind::kDataValue:
      write_data_value(out, element);
      break;
    case ElementKind::kDataEvent:
      out.put(' ');
      out.put(pick(kDataEvents, element.reason));
      out.put("; ");
      write_transfer(out, element);
      break;
  }
}

}  // namespace

std::string_view element_name(ElementKind kind) {
  const auto number = static_cast<std::size_t>(kind);
  return number < kNames.size() ? kNames[number] : "OCSD_GEN_TRC_ELEM_UNKNOWN";
}

std::string_view isa_name(Isa isa) {
  const auto number = static_cast<std::size_t>(isa);
  return number < kIsaNames.size() ? kIsaNames[number] : kIsaNames.back();
}

void write_element(TextBuffer& out, const Element& element) {
  if (element.kind == ElementKind::kInstrRange) [[likely]] {
    char* const begin = out.grow(kRangeRoom);
    out.advance(static_cast<std::size_t>(write_range(begin, element) - begin));
    return;
  }
  if (static_cast<std::size_t>(element.kind) >= kNames.size()) {
    out.put("OCSD_GEN_TRC_ELEM??: index out of range.");
    return;
  }
  out.put(element_name(element.kind));
  out.put('(');
  write_body(out, element);
  if (has(element, kElementHasCycleCount)) {
    out.put(" [CC=");
    out.dec(element.cycle_count);
    out.put("]; ");
  }
  out.put(')');
}

void write_element_line(TextBuffer& out, const Element& element) {
  char* const begin = out.grow(kRangeRoom);
  char* at = write_line_head(begin, element);
  if (element.kind == ElementKind::kInstrRange) [[likely]] {
    at = write_range(at, element);
    *at++ = '\n';
    out.advance(static_cast<std::size_t>(at - begin));
    return;
  }
  out.advance(static_cast<std::size_t>(at - begin));
  write_element(out, element);
  out.put('\n');
}

}  // namespace waymark
