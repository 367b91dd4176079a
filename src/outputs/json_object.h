// One line of JSON Lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/outputs/json.h"

namespace waymark::outputs {

/// Writes the members of one object, up to end().  Names are literals and need no escape.  A field
/// has one type: a number if none of its values can exceed 2^53, otherwise a string.
class Object {
 public:
  Object(TextBuffer& out, std::string_view type) : out_(out) {
    out_.put(R"({"type":")");
    out_.put(type);
    out_.put('"');
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  /// Ends the line.  Not in the destructor: this allocates, and memory can run out.
  void end() { out_.put("}\n"); }

  void number(std::string_view name, std::uint64_t value) {
    key(name);
    out_.dec(value);
  }
  /// Times and sums, whose values can exceed 2^53, as decimal strings.
  void decimal(std::string_view name, std::uint64_t value) {
    key(name);
    out_.put('"');
    out_.dec(value);
    out_.put('"');
  }
  /// The field "timestamp" as a number, and again as a string for readers whose numbers have only
  /// 53 bits.
  void timestamp(std::uint64_t value) {
    number("timestamp", value);
    decimal("timestamp_text", value);
  }
  /// Addresses and other 64-bit values as hexadecimal strings.
  void hex(std::string_view name, std::uint64_t value, unsigned digits = 1) {
    key(name);
    out_.put("\"0x");
    out_.hex(value, digits);
    out_.put('"');
  }
  void flag(std::string_view name, bool value) {
    key(name);
    out_.put(value ? std::string_view("true") : std::string_view("false"));
  }
  /// One of Waymark's own words; omitted if it is empty.
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

}  // namespace waymark::outputs
