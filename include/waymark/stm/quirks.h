// Where the reference departs from STPv2, or shows what it should not, one named flag each.  All
// are off in native use and on in the compatible programs.  Fact sheet stm-itm.md section 5.
#pragma once

namespace waymark::stm {

struct Quirks {
  /// A packet that begins in the upper nibble of a byte has the index of the next byte.
  /// Capture stm_only-juno, Idx:17
  bool index_of_next_byte = false;
  /// What CoreSight hardware never sends is a reserved header (nibbles F1, F02..F05, F09..F0F), and
  /// a version other than 3 and 4 is a bad sequence.
  bool coresight_packets_only = false;
  /// The error type of a bad ASYNC, and of one or two F nibbles at the end of the trace, is the
  /// type of the packet before.  Nibbles FF43 after VERSION
  bool stale_error_type = false;
  /// One NOTSYNC packet for each block, even an empty one; its length and the place of the ASYNC
  /// after it are counted in 8 bits; F nibbles held back from the block before are counted again,
  /// so that bytes beyond the block are shown; the bytes of the ASYNC are made up.
  /// Capture stm_only, Idx:66 to 2400
  bool unsynced_by_block = false;
  /// Parsing goes on at the next nibble after a bad packet instead of searching for an ASYNC.
  bool no_search_after_bad_packet = false;
  /// A bad packet ends the decoding.
  bool bad_packet_is_fatal = false;

  static constexpr Quirks reference() {
    Quirks q;
    q.index_of_next_byte = true;
    q.coresight_packets_only = true;
    q.stale_error_type = true;
    q.unsynced_by_block = true;
    q.no_search_after_bad_packet = true;
    q.bad_packet_is_fatal = true;
    return q;
  }
};

}  // namespace waymark::stm
