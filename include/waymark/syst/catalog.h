// Catalog messages whose texts never reach the target.  The macros of an instrumented program leave
// file, line and format in a section of its ELF file that is not loaded.  `waymark collateral`
// makes the collateral from it (catalog_section.h).  For GCC and Clang on ELF targets.
#pragma once

#include "waymark/syst/instrument.h"

#define WAYMARK_SYST_TEXT(x) #x
#define WAYMARK_SYST_EXPANDED(x) WAYMARK_SYST_TEXT(x)

/// One record: line, file and format.  The assembler reads the literals as the compiler does,
/// except for those that is_plain_literal() refuses.
#define WAYMARK_SYST_RECORD(line, file, format)                                          \
  __asm__(".pushsection .waymark.syst,\"\",%progbits\n\t.4byte " line "\n\t.ascii " file \
          "\n\t.byte 0\n\t.ascii " format "\n\t.byte 0\n\t.popsection")

/// Sends a catalog message with the ID of this format and line, and leaves the text for the
/// collateral.  `format` is one string literal or several in a row.  The arguments are those of
/// printf; the compiler checks them.
#define WAYMARK_SYST_CATALOG(handle, level, format, ...)                                           \
  do {                                                                                             \
    static_assert(::waymark::syst::instrument::is_plain_literal(WAYMARK_SYST_EXPANDED(format)),    \
                  "the format must be a plain string literal, with no other escapes than "         \
                  "\\n \\t \\r \\b \\f \\\\ \\\" and octal or hexadecimal ones");                  \
    static_assert(::waymark::syst::instrument::is_catalog_format(format, sizeof(format)),          \
                  "the format has a NUL, or a conversion that SyS-T does not know");               \
    WAYMARK_SYST_RECORD(WAYMARK_SYST_EXPANDED(__LINE__), WAYMARK_SYST_EXPANDED(__FILE__),          \
                        WAYMARK_SYST_EXPANDED(format));                                            \
    constexpr std::uint32_t waymark_syst_id = ::waymark::syst::instrument::hash(format, __LINE__); \
    constexpr ::waymark::syst::instrument::FixedSlots< ::waymark::syst::instrument::count_slots(   \
        format)>                                                                                   \
        waymark_syst_slots(format);                                                                \
    static_cast<void>(                                                                             \
        sizeof(::waymark::syst::instrument::checked_format(format __VA_OPT__(, ) __VA_ARGS__)));   \
    (handle).catalog32_slots(level, waymark_syst_id,                                               \
                             waymark_syst_slots __VA_OPT__(, ) __VA_ARGS__);                       \
  } while (false)

/// At namespace scope, once per program: the name and the GUID for the collateral, both string
/// literals.  A module without GUID: "{00000000-0000-0000-OO00-000000000000}".
#define WAYMARK_SYST_CLIENT(name, guid)                                                         \
  static_assert(::waymark::syst::instrument::is_plain_literal(WAYMARK_SYST_EXPANDED(name)) &&   \
                    ::waymark::syst::instrument::is_plain_literal(WAYMARK_SYST_EXPANDED(guid)), \
                "name and GUID must be plain string literals");                                 \
  WAYMARK_SYST_RECORD("0", WAYMARK_SYST_EXPANDED(name), WAYMARK_SYST_EXPANDED(guid))

namespace waymark::syst::instrument {

/// The source text of one or more string literals that the compiler and the assembler read alike:
/// without prefix, and without escapes that only one of them knows.
consteval bool is_plain_literal(std::string_view source) {
  bool is_inside = false;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const char c = source[at];
    if (c == '"') {
      is_inside = !is_inside;
    } else if (!is_inside) {
      if (c != ' ') return false;
    } else if (c == '\\') {
      ++at;
      if (at == source.size() ||
          std::string_view("ntrbf\\\"01234567x").find(source[at]) == std::string_view::npos) {
        return false;
      }
    }
  }
  return !source.empty() && !is_inside;
}

/// `size`: the size of the literal.
consteval bool is_catalog_format(std::string_view format, std::size_t size) {
  FormatSlots slots(format);
  while (slots.next().kind != Slot::Kind::kNothing) continue;
  return slots.legal() && format.size() + 1 == size;
}

/// Never called.  Its declaration makes the compiler compare the arguments with the format.
[[gnu::format(printf, 1, 2)]] int checked_format(const char* format, ...);

}  // namespace waymark::syst::instrument
