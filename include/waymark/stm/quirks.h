// The deviations of the reference from STPv2, and what it should not show, one named flag each.
// All are off in native use and on in the compatible programs.  See stm-itm.md 5.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::stm {

struct Quirks {
  /// A packet that begins in the upper nibble of a byte has the index of the next byte.
  /// Capture stm_only-juno, Idx:17
  bool index_of_next_byte = false;
  /// Packets that CoreSight hardware never sends are reserved headers (nibbles F1, F02..F05,
  /// F09..F0F).  A version other than 3 and 4, and a timestamp before any VERSION packet, is a bad
  /// sequence.
  bool coresight_packets_only = false;
  /// The error type of a bad ASYNC, and of one or two F nibbles at the end of the trace, is the
  /// type of the previous packet.  Nibbles FF43 after VERSION
  bool stale_error_type = false;
  /// There is one NOTSYNC packet for each block, even an empty one, and an ASYNC has only its bytes
  /// in the block where it ends.  Capture stm_only, Idx:66 to 2859
  bool unsynced_by_block = false;
  /// Parsing continues at the next nibble after a bad packet instead of searching for an ASYNC.
  bool no_search_after_bad_packet = false;
  /// A bad packet ends decoding.
  bool bad_packet_is_fatal = false;
  /// Fields of several nibbles begin with the most significant nibble, whatever the stream shows.
  /// Nibbles F08 00783930, a frequency of 60 MHz
  bool most_nibble_first_only = false;
  /// Contradictions of the registers are not reported, nor that the trace ends inside a packet.  A
  /// timestamp with TSEN 0
  bool contradictions_unreported = false;
  /// With unsynced_by_block: the length of a NOTSYNC and the position of the ASYNC after it are
  /// counted in 8 bits.  F nibbles held back from the previous block are counted again, so that
  /// bytes beyond the block are shown; the bytes of the ASYNC are made up.  Capture stm_only,
  /// Idx:144 to 2400
  bool unsynced_bytes_miscounted = false;
  /// The master and the channel are not known after a VERSION packet, which sets both to 0. Capture
  /// stm_only, Idx:2873
  bool version_leaves_ids_unknown = false;
  /// The master and the channel are not known after a GERR packet, which sets both to 0.  Nibbles
  /// F277 412
  bool gerr_leaves_ids_unknown = false;
  /// A VERSION packet does not set the master and the channel to 0.  Nibbles 114 335 F003 412
  bool version_keeps_ids = false;

  /// By their row in kQuirks, and from kOlderQuirkBit on in kOlderQuirks.
  static constexpr Quirks of(QuirkSet set);
  static constexpr Quirks reference() { return of(kReferenceQuirks); }
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<Quirks>, 11> kQuirks{{
    {"index_of_next_byte", &Quirks::index_of_next_byte},
    {"coresight_packets_only", &Quirks::coresight_packets_only},
    {"stale_error_type", &Quirks::stale_error_type},
    {"unsynced_by_block", &Quirks::unsynced_by_block},
    {"no_search_after_bad_packet", &Quirks::no_search_after_bad_packet},
    {"bad_packet_is_fatal", &Quirks::bad_packet_is_fatal},
    {"most_nibble_first_only", &Quirks::most_nibble_first_only},
    {"contradictions_unreported", &Quirks::contradictions_unreported},
    {"unsynced_bytes_miscounted", &Quirks::unsynced_bytes_miscounted},
    {"version_leaves_ids_unknown", &Quirks::version_leaves_ids_unknown},
    {"gerr_leaves_ids_unknown", &Quirks::gerr_leaves_ids_unknown},
}};

/// The quirks that only versions before 1.8.0 have.
inline constexpr std::array<NamedQuirk<Quirks>, 1> kOlderQuirks{{
    {"version_keeps_ids", &Quirks::version_keeps_ids},
}};

constexpr Quirks Quirks::of(QuirkSet set) { return chosen(kQuirks, kOlderQuirks, set); }

}  // namespace waymark::stm
