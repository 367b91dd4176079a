// Where the reference printer deviates from SyS-T, one named flag each.  Waymark itself leaves all
// of them off; systprint switches all of them on.  See mipi-syst.md; each flag names the vectors
// that show it.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::syst {

struct Quirks {
  // -- Messages --------------------------------------------------------------------------------
  /// Compact build numbers lose their bits [21:20].  Vector build_compact32, 0x3FFFFF
  bool compact_build_loses_bits = false;
  /// CLOCK and SBD are unknown types.  Vectors clock, sbd
  bool clock_and_sbd_unknown = false;
  /// A STRING without characters is too short, and so is an empty BUILD text.
  /// Vectors string_empty, build_long_emptytext
  bool empty_text_is_short = false;
  /// Only bits [1:0] of the location's format count.  Vector loc_tag_hi
  bool location_format_in_two_bits = false;

  // -- Formatting ------------------------------------------------------------------------------
  /// A run of % signs in plain text collapses to one.  Vector printf_4percent
  bool percent_runs_collapse = false;
  /// Four-byte integers are not sign-extended for conversions that are wider on the host.
  /// Vector printf_ld32
  bool narrow_is_zero_extended = false;
  /// %t integers take four bytes, also from a 64-bit sender.  Vector printf_td64
  bool ptrdiff_takes_four_bytes = false;
  /// A missing argument ends the text with the reference's words.  Vector printf_noargs
  bool reference_wording = false;

  // -- Presentation ----------------------------------------------------------------------------
  /// The bytes of a bad message, except the first, have one digit if that is enough.
  /// Vector chk_bad
  bool bad_bytes_unpadded = false;
  /// 64-bit code addresses are not shown.  Vector loc3_ok
  bool address64_not_shown = false;
  /// The File and Line of a Format, for short messages, are not shown: only those of a catalog
  /// entry are.  `11000000` with `<Format ID="0x1" File="7" Line="42">`
  bool format_location_not_shown = false;

  // -- Collateral ------------------------------------------------------------------------------
  /// Clients without GUID are looked up with the origin in byte 7 of the pseudo-GUID.
  /// Capture zephyr/catalog.log
  bool origin_in_byte_7 = false;
  /// BUILD messages do not choose among clients.  Vector cli_xml_builds
  bool builds_ignored = false;
  /// Elements must be named with the prefix `syst:`.  Vectors cli_xml_noprefix, cli_xml_otherprefix
  bool fixed_prefix = false;
  /// The second digit of a pair in a GUID may be any character.  Vector cli_bad_guid_2
  bool loose_guid_digits = false;
  /// Numbers with 0X are not accepted; blanks are ignored; a minus sign wraps.
  /// Vector cli_xml_badid_upperx
  bool stream_numbers = false;
  /// A text ends at the end of its first node.  Vector cli_xml_mixedtext
  bool first_text_node_only = false;
  /// Only the first section of each kind counts.
  bool first_section_only = false;
  /// Document type declarations are ignored instead of refused.
  bool doctype_ignored = false;

  static constexpr Quirks reference();
};

/// Their names.
inline constexpr std::array<NamedQuirk<Quirks>, 19> kQuirks{{
    {"compact_build_loses_bits", &Quirks::compact_build_loses_bits},
    {"clock_and_sbd_unknown", &Quirks::clock_and_sbd_unknown},
    {"empty_text_is_short", &Quirks::empty_text_is_short},
    {"location_format_in_two_bits", &Quirks::location_format_in_two_bits},
    {"percent_runs_collapse", &Quirks::percent_runs_collapse},
    {"narrow_is_zero_extended", &Quirks::narrow_is_zero_extended},
    {"ptrdiff_takes_four_bytes", &Quirks::ptrdiff_takes_four_bytes},
    {"reference_wording", &Quirks::reference_wording},
    {"bad_bytes_unpadded", &Quirks::bad_bytes_unpadded},
    {"address64_not_shown", &Quirks::address64_not_shown},
    {"format_location_not_shown", &Quirks::format_location_not_shown},
    {"origin_in_byte_7", &Quirks::origin_in_byte_7},
    {"builds_ignored", &Quirks::builds_ignored},
    {"fixed_prefix", &Quirks::fixed_prefix},
    {"loose_guid_digits", &Quirks::loose_guid_digits},
    {"stream_numbers", &Quirks::stream_numbers},
    {"first_text_node_only", &Quirks::first_text_node_only},
    {"first_section_only", &Quirks::first_section_only},
    {"doctype_ignored", &Quirks::doctype_ignored},
}};

constexpr Quirks Quirks::reference() { return chosen(kQuirks, kReferenceQuirks); }

}  // namespace waymark::syst
