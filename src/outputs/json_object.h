// One line of JSON Lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/outputs/json.h"

namespace waymark::outputs {

/// A JSON number is exact below this; larger values are text.
inline constexpr std::uint64_t kExactNumbers = std::uint64_t{1} << 53;

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

}  // namespace waymark::outputs
