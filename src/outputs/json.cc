#include "waymark/outputs/json.h"

#include "packet_name.h"
#include "waymark/element/text.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

/// A JSON number is exact below this; larger values are text.
constexpr std::uint64_t kExactNumbers = std::uint64_t{1} << 53;

/// Writes the members of one object.  Names are literals and need no escape.
class Object {
 public:
  Object(TextBuffer& out, std::string_view type) : out_(out) {
    out_.put(R"({"type":")");
    out_.put(type);
    out_.put('"');
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { out_.put("}\n"); }

  void number(std::string_view name, std::uint64_t value) {
    key(name);
    out_.dec(value);
  }
  /// A number as long as that is exact, then text.
  void wide(std::string_view name, std::uint64_t value) {
    if (value < kExactNumbers) {
      number(name, value);
    } else {
      hex(name, value);
    }
  }
  /// 64-bit values are text: a JSON number is exact to 53 bits only.
  void hex(std::string_view name, std::uint64_t value) {
    key(name);
    out_.put("\"0x");
    out_.hex(value);
    out_.put('"');
  }
  void flag(std::string_view name, bool value) {
    key(name);
    out_.put(value ? std::string_view("true") : std::string_view("false"));
  }
  /// A word of ours, or nothing at all if it is empty.
  void word(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    key(name);
    out_.put('"');
    out_.put(value);
    out_.put('"');
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    write_json_string(out_, value);
  }

 private:
  void key(std::string_view name) {
    out_.put(",\"");
    out_.put(name);
    out_.put("\":");
  }
  TextBuffer& out_;
};

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
  if ((element.extra & kSwTimestamp) != 0) object.wide("timestamp", element.timestamp);
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
      break;
    case ElementKind::kTimestamp:
      object.wide("timestamp", element.timestamp);
      break;
    case ElementKind::kEvent:
      object.word("reason", reason_word(element));
      object.number("number", element.number);
      break;
    case ElementKind::kSyncMarker:
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
      object.hex("value", element.value);
      break;
    case ElementKind::kDataAddress:
      object.hex("address", element.start);
      break;
    case ElementKind::kDataValue:
      object.hex("address", element.start);
      object.hex("value", element.value);
      object.number("size", element.count);
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

/// Bytes of the UTF-8 character at the front of `text`; 0: none that is well formed.
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[length] || code > 0x10FFFF || surrogate ? 0 : length;
}

/// The members of the object of a packet's fields.
class FieldMembers final : public FieldVisitor {
 public:
  explicit FieldMembers(TextBuffer& out) : out_(out) {}
  void on_field(const FieldValue& field) override {
    if (!first_) out_.put(',');
    first_ = false;
    out_.put('"');
    out_.put(field.name);
    out_.put("\":");
    const bool number = field.kind == FieldKind::kFlag || field.kind == FieldKind::kDecimal;
    const bool quoted = !number || field.value >= kExactNumbers;
    if (quoted) out_.put('"');
    write_field(out_, field);
    if (quoted) out_.put('"');
  }

 private:
  TextBuffer& out_;
  bool first_ = true;
};

}  // namespace

void write_json(TextBuffer& out, const Element& element) {
  Object object(out, "element");
  object.number("index", element.index);
  object.number("id", element.trace_id);
  object.word("kind", kind_word(element.kind));
  write_fields(object, element);
}

void write_json(TextBuffer& out, const Diagnostic& record) {
  Object object(out, "damage");
  if (record.index != kNoIndex) object.number("index", record.index);
  if (record.trace_id != kNoTraceId) object.number("id", record.trace_id);
  object.word("fault", fault_word(record.fault));
  object.word("severity", severity_word(record.severity));
  object.word("stage", stage_word(record.stage));
  if (record.address != kNoAddress) object.hex("address", record.address);
  object.text("message", record.message);
}

void write_json_string(TextBuffer& out, std::string_view text) {
  out.put('"');
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      out.put('\\');
      out.put(c);
    } else if (byte < 0x20 || byte == 0x7F || length == 0) {
      out.put("\\u");
      out.hex(byte, 4);
    } else {
      out.put(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
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
  // The listing's wording is plain ASCII without quotes: it needs no escape.
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
}

}  // namespace waymark::outputs
