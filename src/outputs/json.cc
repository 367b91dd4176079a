#include "waymark/outputs/json.h"

#include <algorithm>
#include <array>
#include <utility>

#include "element_fields.h"
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

/// `,"name":` and `after`, made at compile time.
template <const auto& kFields, std::size_t kAt, char... kAfter>
inline constexpr auto kKey = [] {
  constexpr std::string_view kName = kFields[kAt].name;
  std::array<char, kName.size() + 4 + sizeof...(kAfter)> key{',', '"'};
  char* at = std::ranges::copy(kName, key.begin() + 2).out;
  for (const char c : {'"', ':', kAfter...}) *at++ = c;
  return key;
}();
template <const auto& kFields, std::size_t kAt, char... kAfter>
[[gnu::always_inline]] inline void put_key(TextBuffer& out) {
  constexpr const auto& kText = kKey<kFields, kAt, kAfter...>;
  // Not put(): a copy of a constant length is a few stores.
  std::ranges::copy(kText, out.grow(kText.size()));
  out.advance(kText.size());
}

template <const auto& kFields, std::size_t kAt>
[[gnu::always_inline]] inline void put_field(TextBuffer& out, Object& object,
                                             const Element& element) {
  constexpr const ElementField& kField = kFields[kAt];
  if constexpr (kField.members != nullptr) {
    kField.members(object, element);
  } else if constexpr (!kField.name.empty()) {
    if (!kField.present(element)) return;
    if constexpr (kField.form == FieldForm::kWord) {
      const std::string_view word = kField.word(element);
      if (word.empty()) return;
      put_key<kFields, kAt, '"'>(out);
      out.put(word);
      out.put('"');
    } else if constexpr (kField.form == FieldForm::kHex) {
      put_key<kFields, kAt, '"', '0', 'x'>(out);
      out.hex(kField.value(element));
      out.put('"');
    } else if constexpr (kField.form == FieldForm::kNumber) {
      put_key<kFields, kAt>(out);
      out.dec(kField.value(element));
    } else if constexpr (kField.form == FieldForm::kTimestamp) {
      object.timestamp(kField.value(element));
    } else if (kField.value(element) != 0) {
      put_key<kFields, kAt, 't', 'r', 'u', 'e'>(out);
    } else {
      put_key<kFields, kAt, 'f', 'a', 'l', 's', 'e'>(out);
    }
  }
}

template <const auto& kFields>
void put_fields(TextBuffer& out, Object& object, const Element& element) {
  [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
    (put_field<kFields, kAt>(out, object, element), ...);
  }(std::make_index_sequence<kFields.size()>());
}

void write_fields(TextBuffer& out, Object& object, const Element& element) {
  with_fields(element, [&]<const auto & kFields>() { put_fields<kFields>(out, object, element); });
}

/// If only some low bytes are known, uses the second name and writes all their digits.
void write_fragment(Object& object, std::string_view whole, std::string_view part,
                    const Fragment& fragment) {
  if (fragment.bytes == 4) object.hex(whole, fragment.value);
  if (fragment.bytes == 1 || fragment.bytes == 2)
    object.hex(part, fragment.value, 2 * fragment.bytes);
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
  if (functions == nullptr || !functions->find(element)) return;
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
    out.put(R"({"address":"0x)");
    out.hex(instructions->address());
    out.put(R"(","opcode":"0x)");
    out.hex(instructions->opcode(), 2 * instructions->size());
    out.put(R"(","text":)");
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
  write_fields(out, object, element);
  write_function(out, object, element, functions);
  write_instructions(out, element, instructions);
  object.end();
}

void write_damage(TextBuffer& out, const Diagnostic& record, const merge::TimedRecord* timed) {
  // A note is about trace without a fault.
  const bool is_note = !record.is_damage();
  Object object(out, is_note ? "note" : "damage");
  if (record.index != kNoIndex) object.number("index", record.index);
  if (record.trace_id != kNoTraceId) object.number("id", record.trace_id);
  object.word(is_note ? "kind" : "fault", fault_word(record.fault));
  write_time(object, timed);
  object.word("severity", severity_word(record.severity));
  object.word("stage", stage_word(record.stage));
  if (record.address != kNoAddress) object.hex("address", record.address);
  if (record.lost != 0) object.number("lost", record.lost);
  object.text("message", describe(record));
  object.end();
}

}  // namespace

void write_stimulus_text(Object& object, const Element& element) {
  if (const StimulusText text(element); !text.view().empty()) object.text("text", text.view());
}

void write_dwt_event(Object& object, const Element& element) {
  const DwtEvent event = dwt_event_of(element);
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
  out.put(R"(,"bytes":")");
  for (const std::uint8_t byte : packet.bytes) out.hex(byte, 2);
  // The listing's text is plain ASCII without quotes, so it needs no escape.
  out.put(R"(","text":")");
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
