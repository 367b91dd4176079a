// Catalog messages whose texts never reach the target: the macros of an instrumented program, which
// leave file, line and format in a section of its ELF file that is not loaded.  The collateral is
// made from there (catalog_section.h, `waymark collateral`).  For GCC and Clang on ELF targets.
#pragma once

#include "waymark/syst/instrument.h"

#define WAYMARK_SYST_TEXT(x) #x
#define WAYMARK_SYST_EXPANDED(x) WAYMARK_SYST_TEXT(x)

/// One record: line, file and format.  The assembler reads the literals as the compiler does, but
/// for \a, \v and \x of more than two digits.
#define WAYMARK_SYST_RECORD(line, file, format)                                          \
  __asm__(".pushsection .waymark.syst,\"\",%progbits\n\t.4byte " line "\n\t.asciz " file \
          "\n\t.asciz " format "\n\t.popsection")

/// Sends a catalog message with the ID of this format and line, and leaves the text for the
/// collateral.  `format` is a string literal; the arguments are those of printf, and the compiler
/// checks them.
#define WAYMARK_SYST_CATALOG(handle, level, format, ...)                                           \
  do {                                                                                             \
    WAYMARK_SYST_RECORD(WAYMARK_SYST_EXPANDED(__LINE__), WAYMARK_SYST_EXPANDED(__FILE__),          \
                        WAYMARK_SYST_EXPANDED(format));                                            \
    constexpr std::uint32_t waymark_syst_id = ::waymark::syst::instrument::hash(format, __LINE__); \
    static_cast<void>(                                                                             \
        sizeof(::waymark::syst::instrument::checked_format(format __VA_OPT__(, ) __VA_ARGS__)));   \
    (handle).catalog32(level, waymark_syst_id __VA_OPT__(, ) __VA_ARGS__);                         \
  } while (false)

/// At namespace scope, once in a program: the name and the GUID that its collateral gets, both
/// string literals.  A module without GUID: "{00000000-0000-0000-OO00-000000000000}".
#define WAYMARK_SYST_CLIENT(name, guid) \
  WAYMARK_SYST_RECORD("0", WAYMARK_SYST_EXPANDED(name), WAYMARK_SYST_EXPANDED(guid))

namespace waymark::syst::instrument {

/// Never called: its declaration makes the compiler compare the arguments with the format.
[[gnu::format(printf, 1, 2)]] int checked_format(const char* format, ...);

}  // namespace waymark::syst::instrument
