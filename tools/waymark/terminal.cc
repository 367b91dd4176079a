#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace waymark::cli {
namespace {

ColourMode mode = ColourMode::kAuto;

/// The value of an environment variable; empty if it is not set.
std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

std::optional<ColourMode> colour_mode(std::string_view word) {
  if (word == "auto") return ColourMode::kAuto;
  if (word == "always") return ColourMode::kAlways;
  if (word == "never") return ColourMode::kNever;
  return std::nullopt;
}

void set_colour_mode(ColourMode chosen) { mode = chosen; }

bool shows_colours(int descriptor) {
  if (mode != ColourMode::kAuto) return mode == ColourMode::kAlways;
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" &&
         ::isatty(descriptor) == 1;
}

bool shows_utf8() {
  // The first of them that is set decides.
  std::string_view locale;
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = environment(name);
  }
  std::string letters;
  for (const char c : locale) {
    if (c != '-') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters.find("utf8") != std::string::npos;
}

outputs::Style style_for(int descriptor) {
  return {.colours = shows_colours(descriptor), .ascii = !shows_utf8()};
}

}  // namespace waymark::cli
