// Objects and arrays of JSON, one value after the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/view/json.h"

namespace waymark::view {

/// Writes commas where they belong.  Keys are literals and need no escape.
class JsonWriter {
 public:
  explicit JsonWriter(TextBuffer& out) : out_(out) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }

  /// The key of the next value.
  JsonWriter& key(std::string_view name) {
    comma();
    out_.put('"');
    out_.put(name);
    out_.put("\":");
    first_ = true;
    return *this;
  }

  void number(std::uint64_t value) {
    comma();
    out_.dec(value);
  }
  void real(double value) {
    comma();
    write_number(out_, value);
  }
  void flag(bool value) { literal(value ? "true" : "false"); }
  void null() { literal("null"); }
  void address(std::uint64_t value) {
    comma();
    out_.put("\"0x");
    out_.hex(value);
    out_.put('"');
  }
  void name(std::string_view text) { string(text, kLongestJsonName); }
  void message(std::string_view text) { string(text, kLongestJsonMessage); }

 private:
  void comma() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  void literal(std::string_view text) {
    comma();
    out_.put(text);
  }
  void string(std::string_view text, std::size_t most) {
    comma();
    write_string(out_, text, most);
  }
  void begin(char c) {
    comma();
    out_.put(c);
    first_ = true;
  }
  void end(char c) {
    out_.put(c);
    first_ = false;
  }

  TextBuffer& out_;
  bool first_ = true;
};

/// The value of `functions` in an answer.
void put_functions(JsonWriter& to, const std::vector<FunctionName>& functions);

}  // namespace waymark::view
