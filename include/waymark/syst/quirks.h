// Where the reference printer departs from SyS-T, one named flag each.  All are off in native use
// and on in systprint.  See mipi-syst.md; the vectors that show them are named.
#pragma once

namespace waymark::syst {

struct Quirks {
  // -- Messages --------------------------------------------------------------------------------
  /// Compact build numbers lose their bits [21:20].  Vector build_compact32, 0x3FFFFF
  bool compact_build_loses_bits = false;
  /// CLOCK and SBD are unknown types.  Vectors clock, sbd
  bool clock_and_sbd_unknown = false;
  /// A STRING without any character is too short, and so is an empty BUILD text.
  /// Vectors string_empty, build_long_emptytext
  bool empty_text_is_short = false;
  /// Only bits [1:0] of the location's format count.  Vector loc_tag_hi
  bool location_format_in_two_bits = false;

  // -- Formatting ------------------------------------------------------------------------------
  /// Of a run of % signs in plain text one is left.  Vector printf_4percent
  bool percent_runs_collapse = false;
  /// Four-byte integers are not sign-extended for conversions that are wider on the host.
  /// Vector printf_ld32
  bool narrow_is_zero_extended = false;
  /// %t integers take four bytes of a 64-bit sender, too.  Vector printf_td64
  bool ptrdiff_takes_four_bytes = false;
  /// A missing argument ends the text with the reference's words.  Vector printf_noargs
  bool reference_wording = false;

  // -- Showing ---------------------------------------------------------------------------------
  /// The bytes of a bad message have a digit each where one will do, but for the first.
  /// Vector chk_bad
  bool bad_bytes_unpadded = false;
  /// 64-bit code addresses show nothing.  Vector loc3_ok
  bool address64_not_shown = false;

  // -- Collateral ------------------------------------------------------------------------------
  /// Clients without GUID are looked up with the origin in byte 7 of the pseudo-GUID.
  /// Capture zephyr/catalog.log
  bool origin_in_byte_7 = false;
  /// BUILD messages do not choose among clients.  Vector cli_xml_builds
  bool builds_ignored = false;
  /// Elements must be named with the prefix `syst:`.  Vectors cli_xml_noprefix, cli_xml_otherprefix
  bool fixed_prefix = false;
  /// Of a pair of digits in a GUID, the second may be anything.  Vector cli_bad_guid_2
  bool loose_guid_digits = false;
  /// Numbers: 0X is none; blanks around them and a minus sign are ignored or wrap.
  /// Vector cli_xml_badid_upperx
  bool stream_numbers = false;
  /// A text ends where its first node does.  Vector cli_xml_mixedtext
  bool first_text_node_only = false;
  /// Only the first section of each kind counts.
  bool first_section_only = false;
  /// Document type declarations are passed over instead of refused.
  bool doctype_ignored = false;

  static constexpr Quirks reference() {
    Quirks q;
    q.compact_build_loses_bits = true;
    q.clock_and_sbd_unknown = true;
    q.empty_text_is_short = true;
    q.location_format_in_two_bits = true;
    q.percent_runs_collapse = true;
    q.narrow_is_zero_extended = true;
    q.ptrdiff_takes_four_bytes = true;
    q.reference_wording = true;
    q.bad_bytes_unpadded = true;
    q.address64_not_shown = true;
    q.origin_in_byte_7 = true;
    q.builds_ignored = true;
    q.fixed_prefix = true;
    q.loose_guid_digits = true;
    q.stream_numbers = true;
    q.first_text_node_only = true;
    q.first_section_only = true;
    q.doctype_ignored = true;
    return q;
  }
};

}  // namespace waymark::syst
