#include "waymark/outputs/json.h"

#include <algorithm>

#include "itm_words.h"
#include "json_object.h"
#include "packet_name.h"
#include "waymark/base/escape.h"
#include "waymark/base/utf8.h"
#include "waymark/element/dwt.h"
#include "waymark/element/text.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

void write_context(Object& object, const Element& element) {
  object.word("isa", isa_name(element.isa));
  if ((element.flags & kElementElValid) != 0) object.number("el", element.exception_level);
  object.word("security", security_word(element.security));
  object.number("bits", (element.flags & kElement64Bit) != 0 ? 64 : 32);
  if ((element.flags & kElementContextIdValid) != 0) object.hex("context_id", element.context_id);
  if ((element.flags & kElementVmidValid) != 0) object.hex("vmid", element.vmid);
}

void write_range(Object& object, const Element& element) {
  object.hex("start", element.start);
  object.hex("end", element.end);
  object.number("instructions", element.count);
  if (element.kind == ElementKind::kInstrRangeNoPath) return;
  object.word("isa", isa_name(element.isa));
  object.flag("taken", (element.flags & kElementExecuted) != 0);
  object.word("last", instruction_word(element.last_type));
  object.word("subtype", subtype_word(element.last_subtype));
  object.flag("conditional", (element.flags & kElementConditional) != 0);
  object.number("last_size", element.last_size);
}

void write_software_trace(Object& object, const Element& element) {
  object.word("what", reason_word(element));
  if ((element.extra & kSwIdValid) != 0) {
    object.number("master", element.sw_id.master);
    object.number("channel", element.sw_id.channel);
  }
  if (element.extra_value != 0) {
    object.number("payload_bits", element.extra_value);
    object.hex("value", element.start);
  }
  if ((element.extra & kSwMarker) != 0) object.flag("marker", true);
  if ((element.extra & kSwTrigger) != 0) object.flag("trigger", true);
  if ((element.extra & kSwFrequency) != 0) object.flag("frequency", true);
  if ((element.extra & kSwMasterError) != 0) object.flag("master_error", true);
  if ((element.extra & kSwGlobalError) != 0) object.flag("global_error", true);
  if ((element.flags & kElementHasTimestamp) == 0) return;
  object.timestamp(element.timestamp);
  if ((element.flags & kElementTimeIsPartial) != 0) object.flag("partial", true);
}

/// If only some low bytes are known, uses the second name and writes all their digits.
void write_fragment(Object& object, std::string_view whole, std::string_view part,
                    const Fragment& fragment) {
  if (fragment.bytes == 4) object.hex(whole, fragment.value);
  if (fragment.bytes == 1 || fragment.bytes == 2)
    object.hex(part, fragment.value, 2 * fragment.bytes);
}

void write_hardware(Object& object, const Element& element) {
  const DwtEvent event = dwt_event_of(element);
  object.number("discriminator", element.number);
  object.number("size", element.extra_value);
  object.hex("value", element.start);
  switch (event.kind) {
    case DwtKind::kException:
      object.number("exception", event.exception);
      object.word("name", exception_word(event.exception));
      object.word("action", action_word(event.action));
      break;
    case DwtKind::kEventCounters:
      object.word("counters", counters_text(event.value).view());
      break;
    case DwtKind::kPcSample:
      object.hex("pc", event.value);
      break;
    case DwtKind::kDataPc:
    case DwtKind::kDataMatch:
    case DwtKind::kDataAddress:
    case DwtKind::kDataRead:
    case DwtKind::kDataWrite:
      object.number("comparator", event.comparator);
      write_fragment(object, "pc", "pc_low_bytes", pc_of(element));
      write_fragment(object, "address", "address_low_bytes", address_of(element));
      break;
    case DwtKind::kSleeping:
    case DwtKind::kNoSample:
    case DwtKind::kPmuOverflow:
    case DwtKind::kReserved:
      break;
  }
}

void write_itm(Object& object, const Element& element) {
  object.word("what", itm_word(element));
  switch (itm_kind(element)) {
    case ItmKind::kSoftware:
      object.number("port", element.number);
      object.number("size", element.extra_value);
      object.hex("value", element.start);
      if (const StimulusText text(element); !text.view().empty()) object.text("text", text.view());
      break;
    case ItmKind::kHardware:
      write_hardware(object, element);
      break;
    case ItmKind::kTimestampSync:
    case ItmKind::kTimestampDelay:
    case ItmKind::kPacketDelay:
    case ItmKind::kBothDelay:
      object.number("delta", element.start);
      object.word("delayed", delay_word(itm_kind(element)));
      object.timestamp(element.timestamp);
      break;
    case ItmKind::kGlobalTimestamp:
      object.timestamp(element.timestamp);
      if ((element.flags & kElementTimeIsPartial) != 0) object.flag("partial", true);
      if ((element.flags & kElementFrequencyChange) != 0) object.flag("frequency_change", true);
      break;
  }
  if ((element.extra & kItmOverflow) != 0) object.flag("overflow", true);
}

void write_transfer(Object& object, const Element& element) {
  const DataPlace place = DataPlace::unpack(element.extra_value);
  const unsigned flags = element.extra;
  object.word("reason", reason_word(element));
  if (element.kind == ElementKind::kDataAddress || place.known_bits != 0) {
    object.hex("address", element.start);
    if (place.known_bits != 0 && place.known_bits < 32)
      object.number("address_bits", place.known_bits);
  }
  if (element.kind == ElementKind::kDataValue) {
    object.hex("value", element.value);
    object.number("size", element.count);
  }
  if ((flags & kDataOwned) != 0) object.hex("instruction", element.end);
  if ((flags & kDataAccess) != 0) object.number("access", element.end);
  if ((flags & kDataStacking) != 0) object.word("by", "exception_entry");
  if ((flags & kDataUnstacking) != 0) object.word("by", "exception_return");
  object.number("transfer", place.number);
  if (place.tag != 0) object.number("tag", place.tag);
  if ((flags & kDataInferred) != 0) object.flag("inferred", true);
  if ((flags & kDataEndianKnown) != 0) object.flag("big_endian", (flags & kDataBigEndian) != 0);
  if ((flags & kDataCancelled) != 0) object.flag("cancelled", true);
}

void write_fields(Object& object, const Element& element) {
  switch (element.kind) {
    case ElementKind::kNoSync:
    case ElementKind::kTraceOn:
    case ElementKind::kEndOfTrace:
    case ElementKind::kMemTrans:
      object.word("reason", reason_word(element));
      break;
    case ElementKind::kPeContext:
      write_context(object, element);
      break;
    case ElementKind::kInstrRange:
    case ElementKind::kInstrRangeNoPath:
      write_range(object, element);
      break;
    case ElementKind::kAddrNacc:
      object.hex("address", element.start);
      object.hex("space", element.number);
      break;
    case ElementKind::kException:
      object.number("number", element.number);
      if ((element.flags & kElementReturnAddress) != 0) object.hex("return_address", element.end);
      if ((element.flags & kElementReturnIsTarget) != 0) object.flag("return_is_target", true);
      if ((element.flags & kElementDataMarker) != 0) object.flag("data_marker", true);
      break;
    case ElementKind::kTimestamp:
      object.timestamp(element.timestamp);
      if ((element.flags & kElementTimeIsPartial) != 0) object.flag("partial", true);
      if ((element.flags & kElementFrequencyChange) != 0) object.flag("frequency_change", true);
      break;
    case ElementKind::kEvent:
      object.word("reason", reason_word(element));
      object.number("number", element.number);
      break;
    case ElementKind::kSyncMarker:
      object.word("reason", reason_word(element));
      object.number("number", element.number);
      break;
    case ElementKind::kInstrumentation:
      object.number("el", element.exception_level);
      object.hex("value", element.value);
      break;
    case ElementKind::kSwTrace:
      write_software_trace(object, element);
      break;
    case ElementKind::kItmTrace:
      write_itm(object, element);
      break;
    case ElementKind::kDataAddress:
    case ElementKind::kDataValue:
    case ElementKind::kDataEvent:
      write_transfer(object, element);
      break;
    case ElementKind::kUnknown:
    case ElementKind::kAddrUnknown:
    case ElementKind::kExceptionReturn:
    case ElementKind::kCycleCount:
    case ElementKind::kCustom:
      break;
  }
  if ((element.flags & kElementHasCycleCount) != 0) object.number("cycles", element.cycle_count);
}

/// Writes the fields of a packet as members of an object.
class FieldMembers final : public FieldVisitor {
 public:
  explicit FieldMembers(TextBuffer& out) : out_(out) {}
  void on_field(const FieldValue& field) override {
    if (!first_) out_.put(',');
    first_ = false;
    out_.put('"');
    out_.put(field.name);
    out_.put("\":");
    // Decimal fields are counts and frequencies, which have at most 53 bits.
    const bool number = field.kind == FieldKind::kFlag || field.kind == FieldKind::kDecimal;
    if (!number) out_.put('"');
    write_field(out_, field);
    if (!number) out_.put('"');
  }

 private:
  TextBuffer& out_;
  bool first_ = true;
};

/// The time in the merged view.
void write_time(Object& object, const merge::TimedRecord* timed) {
  if (timed == nullptr) return;
  if (timed->kind != merge::TimeKind::kUnknown) object.decimal("time", timed->time);
  object.word("time_is", merge::time_kind_word(timed->kind));
}

bool is_range(const Element& element) {
  return element.kind == ElementKind::kInstrRange || element.kind == ElementKind::kInstrRangeNoPath;
}

void write_source(Object& object, const program::Frame& frame) {
  if (!frame.file.empty()) object.text("file", frame.file);
  if (frame.line != 0) object.number("line", frame.line);
  if (frame.column != 0) object.number("column", frame.column);
}

void write_inlines(TextBuffer& out, FunctionNames& functions) {
  out.put(R"(,"inlines":[)");
  bool first = true;
  for (const program::Frame& frame : functions.frames()) {
    if (!first) out.put(',');
    first = false;
    out.put(R"({"function":)");
    write_json_string(out, frame.function);
    out.put(R"(,"demangled":)");
    write_json_string(out, functions.readable(frame));
    if (!frame.file.empty()) {
      out.put(R"(,"file":)");
      write_json_string(out, frame.file);
    }
    if (frame.line != 0) {
      out.put(R"(,"line":)");
      out.dec(frame.line);
    }
    if (frame.column != 0) {
      out.put(R"(,"column":)");
      out.dec(frame.column);
    }
    out.put('}');
  }
  out.put(']');
}

void write_function(TextBuffer& out, Object& object, const Element& element,
                    FunctionNames* functions) {
  const bool is_code = is_range(element) || element.kind == ElementKind::kAddrNacc;
  if (functions == nullptr || !is_code || !functions->find(element)) return;
  if (functions->has_function()) {
    object.text("function", functions->function().name);
    object.text("demangled", functions->readable());
    object.hex("offset", functions->offset());
  }
  if (functions->frames().empty()) return;
  write_source(object, functions->frames().front());
  if (functions->details().inlines) write_inlines(out, *functions);
}

void write_instructions(TextBuffer& out, const Element& element, Instructions* instructions) {
  if (instructions == nullptr || element.kind != ElementKind::kInstrRange) return;
  out.put(",\"disassembly\":[");
  bool first = true;
  for (instructions->begin(element); instructions->next(); first = false) {
    if (!first) out.put(',');
    out.put("{\"address\":\"0x");
    out.hex(instructions->address());
    out.put("\",\"opcode\":\"0x");
    out.hex(instructions->opcode(), 2 * instructions->size());
    out.put("\",\"text\":");
    write_json_string(out, instructions->text());
    if (const program::Frame& source = instructions->source(); !source.file.empty()) {
      out.put(R"(,"file":)");
      write_json_string(out, source.file);
      out.put(R"(,"line":)");
      out.dec(source.line);
    }
    out.put('}');
  }
  out.put(']');
}

void write_element(TextBuffer& out, const Element& element, const merge::TimedRecord* timed,
                   FunctionNames* functions, Instructions* instructions) {
  Object object(out, "element");
  object.number("index", element.index);
  object.number("id", element.trace_id);
  object.word("kind", kind_word(element.kind));
  write_time(object, timed);
  write_fields(object, element);
  write_function(out, object, element, functions);
  write_instructions(out, element, instructions);
  object.end();
}

void write_damage(TextBuffer& out, const Diagnostic& record, const merge::TimedRecord* timed) {
  Object object(out, "damage");
  if (record.index != kNoIndex) object.number("index", record.index);
  if (record.trace_id != kNoTraceId) object.number("id", record.trace_id);
  object.word("fault", fault_word(record.fault));
  write_time(object, timed);
  object.word("severity", severity_word(record.severity));
  object.word("stage", stage_word(record.stage));
  if (record.address != kNoAddress) object.hex("address", record.address);
  if (record.lost != 0) object.number("lost", record.lost);
  object.text("message", message_text(record));
  object.end();
}

}  // namespace

void write_json(TextBuffer& out, const Element& element, FunctionNames* functions,
                Instructions* instructions) {
  write_element(out, element, nullptr, functions, instructions);
}

void write_json(TextBuffer& out, const Diagnostic& record) { write_damage(out, record, nullptr); }

void write_json(TextBuffer& out, const merge::TimedRecord& record, FunctionNames* functions,
                Instructions* instructions) {
  if (record.is_damage) {
    write_damage(out, record.damage, &record);
  } else {
    write_element(out, record.element, &record, functions, instructions);
  }
}

void write_json_string(TextBuffer& out, std::string_view text) {
  out.put('"');
  while (true) {
    const std::size_t plain = plain_length(text, true);
    out.put(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    const Utf8Character character = first_character(text);
    if (c == '"' || c == '\\') {
      out.put('\\');
      out.put(c);
    } else if (character.length == 0 || is_terminal_control(character.code)) {
      out.put("\\u");
      out.hex(character.length == 0 ? byte : character.code, 4);
    } else {
      out.put(text.substr(0, character.length));
    }
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
  out.put('"');
}

void write_json(TextBuffer& out, const PacketRef& packet, const Source& source) {
  Object object(out, "packet");
  object.number("index", packet.index);
  object.number("id", packet.trace_id);
  object.word("protocol", protocol_name(packet.protocol));
  out.put(",\"bytes\":\"");
  for (const std::uint8_t byte : packet.bytes) out.hex(byte, 2);
  // The listing's text is plain ASCII without quotes, so it needs no escape.
  out.put("\",\"text\":\"");
  const std::size_t start = out.size();
  source.write_packet(out, packet);
  const PacketName name(out.view().substr(start));
  out.put('"');
  object.word("name", name.view());
  if (packet.bad) object.flag("bad", true);
  out.put(",\"fields\":{");
  FieldMembers members(out);
  source.visit_fields(packet, members);
  out.put('}');
  object.end();
}

}  // namespace waymark::outputs
