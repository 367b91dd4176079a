#include "waymark/view/json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "json_writer.h"
#include "waymark/base/cut_text.h"
#include "waymark/base/escape.h"
#include "waymark/base/utf8.h"

namespace waymark::view {
namespace {

template <class Enum, std::size_t kCount>
std::string_view word(const std::array<std::string_view, kCount>& words, Enum value) {
  const auto at = static_cast<std::size_t>(value);
  return at < kCount ? words[at] : std::string_view();
}

// In the order of the enumerations.
constexpr std::array<std::string_view, 5> kUnits{"ticks", "nanoseconds", "cycles", "instructions",
                                                 "bytes"};
constexpr std::array<std::string_view, 5> kUnitWords{
    "ticks of the timestamp generator", "nanoseconds", "cycles", "instructions", "bytes of trace"};
constexpr std::array<std::string_view, 4> kTrackKinds{"thread", "messages", "events", "counter"};
constexpr std::array<std::string_view, 8> kCodeKinds{
    "unknown", "function", "address", "unknown", "exception", "signal", "lost_callers", "inlined"};
constexpr std::array<std::string_view, 3> kSeverities{"error", "warning", "note"};

void put_code_unit(TextBuffer& out, char32_t unit) {
  out.put("\\u");
  out.hex(unit, 4);
}

void put_escaped_character(TextBuffer& out, char32_t code) {
  constexpr char32_t kFirstPair = 0x10000;
  if (code < kFirstPair) {
    put_code_unit(out, code);
  } else {
    put_code_unit(out, 0xD800 + ((code - kFirstPair) >> 10));
    put_code_unit(out, 0xDC00 + ((code - kFirstPair) & 0x3FF));
  }
}

void put_source(JsonWriter& to, const SourceFacts& source) {
  to.begin_object();
  to.key("id").number(source.id);
  to.key("name").name(source.name);
  to.key("protocol").name(source.protocol);
  to.key("core").name(source.core);
  to.key("executes").flag(source.executes);
  to.key("instructions").number(source.instructions);
  to.end_object();
}

/// A line of a file; 0 where it is not known.
void put_line(JsonWriter& to, std::string_view file, std::uint32_t line) {
  to.key("file").name(file);
  to.key("line").number(line);
}

template <class T>
void put_optional(JsonWriter& to, const std::optional<T>& value) {
  if (!value) {
    to.null();
  } else if constexpr (std::is_same_v<T, bool>) {
    to.flag(*value);
  } else if constexpr (std::is_same_v<T, double>) {
    to.real(*value);
  } else {
    to.number(*value);
  }
}

void put_place(JsonWriter& to, const Place& place) {
  to.key("n").number(place.instant.n);
  to.key("t").real(place.at);
  to.key("track").number(place.track);
  to.key("address").address(place.address);
  to.key("isa").name(place.isa);
  to.key("text").name(place.text);
  to.key("bytes").name(place.bytes);
  to.key("function").number(place.function);
  to.key("offset").number(place.offset);
  put_line(to, place.file, place.line);
  put_optional(to.key("taken"), place.taken);
  to.key("target");
  if (place.target != 0) {
    to.address(place.target);
  } else {
    to.name("");
  }
  to.key("event").message(place.event);
}

void put_calls(JsonWriter& to, const std::vector<CallRow>& rows) {
  to.begin_array();
  for (const CallRow& row : rows) {
    to.begin_array();
    to.number(row.function);
    to.number(row.calls);
    to.number(row.instructions);
    to.end_array();
  }
  to.end_array();
}

void put_cycles(JsonWriter& to, bool known, std::uint64_t cycles) {
  if (known) {
    to.number(cycles);
  } else {
    to.null();
  }
}

void put_instruction(JsonWriter& to, const CodeInstruction& instruction) {
  to.begin_object();
  to.key("address").address(instruction.address);
  to.key("text").name(instruction.text);
  to.key("bytes").name(instruction.bytes);
  to.key("count").number(instruction.count);
  put_optional(to.key("taken"), instruction.taken);
  put_optional(to.key("not_taken"), instruction.not_taken);
  to.key("line").number(instruction.line);
  to.key("file_number").number(instruction.file);
  to.end_object();
}

void put_code_line(JsonWriter& to, const CodeLine& line) {
  to.begin_object();
  to.key("number").number(line.number);
  to.key("text");
  if (line.text) {
    to.message(*line.text);
  } else {
    to.null();
  }
  to.key("count").number(line.count);
  to.end_object();
}

}  // namespace

void write_string(TextBuffer& out, std::string_view text, std::size_t most) {
  const std::string cut = text.size() > most ? cut_text(text, most) : std::string();
  if (!cut.empty()) text = cut;
  out.put('"');
  while (!text.empty()) {
    if (const std::size_t plain = plain_length(text, true); plain != 0) {
      // `<` begins what HTML could take for its own.
      const std::size_t before = std::min(plain, text.substr(0, plain).find('<'));
      out.put(text.substr(0, before));
      text.remove_prefix(before);
      if (before == plain) continue;
    }
    const Utf8Character character = first_character(text);
    if (character.length == 0) {
      out.put("\\ufffd");
      text.remove_prefix(1);
      continue;
    }
    if (character.code == '"' || character.code == '\\') {
      out.put('\\');
      out.put(static_cast<char>(character.code));
    } else if (character.code == '<' || is_terminal_control(character.code)) {
      put_escaped_character(out, character.code);
    } else {
      out.put(text.substr(0, character.length));
    }
    text.remove_prefix(character.length);
  }
  out.put('"');
}

void write_number(TextBuffer& out, double value) {
  if (!std::isfinite(value)) {
    out.put("null");
    return;
  }
  constexpr std::size_t kLongest = 32;
  char* at = out.grow(kLongest);
  const auto [end, error] = std::to_chars(at, at + kLongest, value);
  out.advance(static_cast<std::size_t>(end - at));
}

void put_functions(JsonWriter& to, const std::vector<FunctionName>& functions) {
  to.key("functions").begin_array();
  for (const FunctionName& function : functions) {
    to.begin_array();
    to.number(function.number);
    to.name(function.name);
    to.name(function.program);
    to.name(word(kCodeKinds, function.kind));
    to.end_array();
  }
  to.end_array();
}

void write_json(TextBuffer& out, const CaptureFacts& facts, std::string_view version) {
  JsonWriter to(out);
  to.begin_object();
  to.key("name").name(facts.name);
  to.key("path").message(facts.path);
  to.key("bytes").number(facts.bytes);
  to.key("version").name(version);
  to.key("kind").name(facts.kind);
  to.key("axis").begin_object();
  to.key("unit").name(word(kUnits, facts.axis.unit));
  to.key("words").name(word(kUnitWords, facts.axis.unit));
  to.key("origin").name(fmt::format("{}", facts.axis.origin));
  to.key("length").real(facts.axis.length);
  to.end_object();
  to.key("sources").begin_array();
  for (const SourceFacts& source : facts.sources) put_source(to, source);
  to.end_array();
  const bool ready = facts.stage == Stage::kReady;
  to.key("progress").begin_object();
  to.key("done").number(facts.done);
  to.key("total").number(facts.bytes);
  to.key("complete").flag(ready);
  to.key("stage").name(ready ? "ready" : "overview");
  to.key("failure").message(facts.failure);
  to.end_object();
  to.key("limits").begin_object();
  to.key("span_bytes").number(facts.span_bytes);
  to.end_object();
  to.key("has").begin_object();
  to.key("timestamps").flag(facts.has_timestamps);
  to.key("cycles").flag(facts.has_cycles);
  to.key("symbols").flag(facts.has_symbols);
  to.key("lines").flag(facts.has_lines);
  to.end_object();
  to.key("programs").begin_array();
  for (const ProgramFacts& program : facts.programs) {
    to.begin_object();
    to.key("path").message(program.path);
    to.key("build_id").name(program.build_id);
    to.key("found").flag(program.found);
    to.end_object();
  }
  to.end_array();
  to.end_object();
}

void write_json(TextBuffer& out, const std::vector<Track>& tracks) {
  JsonWriter to(out);
  to.begin_object();
  to.key("tracks").begin_array();
  for (const Track& track : tracks) {
    to.begin_object();
    to.key("number").number(track.number);
    to.key("kind").name(word(kTrackKinds, track.kind));
    to.key("source").number(track.source);
    to.key("thread").name(track.thread);
    to.key("name").name(track.name);
    to.key("group").name(track.group);
    to.key("first").real(track.first);
    to.key("last").real(track.last);
    to.key("depth").number(track.depth);
    to.end_object();
  }
  to.end_array();
  to.end_object();
}

void write_json(TextBuffer& out, const PlaceAnswer& answer) {
  JsonWriter to(out);
  to.begin_object();
  to.key("source").number(answer.place.instant.source);
  put_place(to, answer.place);
  to.key("stack").begin_array();
  std::uint64_t depth = answer.stack.size();
  for (const StackEntry& entry : answer.stack) {
    to.begin_object();
    to.key("function").number(entry.function);
    to.key("call_address");
    if (entry.call_address != 0) {
      to.address(entry.call_address);
    } else {
      to.name("");
    }
    put_line(to, entry.file, entry.line);
    to.key("depth").number(--depth);
    to.end_object();
  }
  to.end_array();
  to.key("element_index");
  if (answer.trace_index == kNoIndex) {
    to.null();
  } else {
    to.number(answer.trace_index);
  }
  to.key("context").name(answer.context);
  to.key("moved").flag(answer.moved);
  to.key("reason").message(answer.reason);
  put_functions(to, answer.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const PlacesAnswer& answer) {
  JsonWriter to(out);
  to.begin_object();
  to.key("instructions").begin_array();
  for (const Place& place : answer.places) {
    to.begin_object();
    put_place(to, place);
    to.end_object();
  }
  to.end_array();
  put_functions(to, answer.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const Code& code) {
  JsonWriter to(out);
  to.begin_object();
  to.key("function").number(code.function);
  std::string_view program;
  for (const FunctionName& name : code.functions) {
    if (name.number == code.function) program = name.program;
  }
  to.key("program").name(program);
  to.key("file").name(code.files.empty() ? std::string_view() : code.files.front());
  to.key("exact").flag(code.exact);
  to.key("executions").number(code.executions);
  to.key("instructions").begin_array();
  for (const CodeInstruction& instruction : code.instructions) put_instruction(to, instruction);
  to.end_array();
  to.key("files").begin_array();
  for (const std::string& file : code.files) to.name(file);
  to.end_array();
  to.key("lines").begin_array();
  for (const CodeLine& line : code.lines) put_code_line(to, line);
  to.end_array();
  to.key("note").message(code.note);
  put_functions(to, code.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const Functions& functions) {
  JsonWriter to(out);
  to.begin_object();
  to.key("exact").flag(functions.exact);
  to.key("instructions").number(functions.instructions);
  put_cycles(to.key("cycles"), functions.has_cycles, functions.cycles);
  to.key("rows").begin_array();
  for (const FunctionRow& row : functions.rows) {
    to.begin_array();
    to.number(row.function);
    to.number(row.self);
    to.number(row.total);
    to.number(row.calls);
    put_cycles(to, functions.has_cycles, row.cycles);
    to.end_array();
  }
  to.end_array();
  put_functions(to, functions.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const Neighbours& neighbours) {
  JsonWriter to(out);
  to.begin_object();
  to.key("exact").flag(neighbours.exact);
  to.key("function").number(neighbours.function);
  put_calls(to.key("callers"), neighbours.callers);
  put_calls(to.key("callees"), neighbours.callees);
  put_functions(to, neighbours.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const Flame& flame) {
  JsonWriter to(out);
  to.begin_object();
  to.key("exact").flag(flame.exact);
  to.key("nodes").begin_array();
  for (const FlameNode& node : flame.nodes) {
    to.begin_array();
    to.number(node.parent);
    to.number(node.function);
    to.number(node.self);
    to.number(node.total);
    to.end_array();
  }
  to.end_array();
  put_functions(to, flame.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const Measure& measure, double span) {
  JsonWriter to(out);
  to.begin_object();
  to.key("exact").flag(measure.exact);
  to.key("span").real(span);
  to.key("instructions").number(measure.instructions);
  put_cycles(to.key("cycles"), measure.has_cycles, measure.cycles);
  to.key("calls").number(measure.calls);
  to.key("exceptions").number(measure.exceptions);
  to.key("gaps").number(measure.gaps);
  to.key("messages").number(measure.messages);
  to.key("functions_entered").number(measure.functions);
  to.end_object();
}

void write_json(TextBuffer& out, const Hits& hits) {
  JsonWriter to(out);
  to.begin_object();
  to.key("hits").begin_array();
  for (const Hit& hit : hits.hits) {
    to.begin_object();
    to.key("t").real(hit.at);
    to.key("track").number(hit.track);
    to.key("source");
    put_optional(to, hit.instant ? std::optional<std::uint64_t>(hit.instant->source)
                                 : std::optional<std::uint64_t>());
    to.key("n");
    put_optional(to, hit.instant ? std::optional(hit.instant->n) : std::nullopt);
    to.key("text").message(hit.text);
    to.end_object();
  }
  to.end_array();
  to.key("complete").flag(hits.complete);
  to.key("searched_to").real(hits.searched_to);
  to.key("note").message(hits.note);
  to.end_object();
}

void write_json(TextBuffer& out, const std::vector<HealthFinding>& findings) {
  JsonWriter to(out);
  to.begin_object();
  to.key("findings").begin_array();
  for (const HealthFinding& finding : findings) {
    to.begin_object();
    to.key("severity").name(word(kSeverities, finding.severity));
    to.key("title").name(finding.title);
    to.key("text").message(finding.text);
    put_optional(to.key("t"), finding.at);
    put_optional(to.key("track"), finding.track);
    to.key("count").number(finding.count);
    to.end_object();
  }
  to.end_array();
  to.end_object();
}

void write_error(TextBuffer& out, std::string_view sentence) {
  JsonWriter to(out);
  to.begin_object();
  to.key("error").message(sentence);
  to.end_object();
}

}  // namespace waymark::view
