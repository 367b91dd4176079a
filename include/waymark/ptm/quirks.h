// Where the reference decoder departs from the architecture, one named flag each.  All are off in
// native use and on in the compatible programs.  Fact sheet ptm.md.
#pragma once

namespace waymark::ptm {

struct Quirks {
  /// Unsynchronised bytes are told at the end of each block, so that their chunks depend on how the
  /// trace is cut.  Section 7; capture TC2.
  bool chunks_end_with_blocks = false;
  /// An A-sync has at most 15 zeros: 16 are a bad packet.  Section 6.2; 16 times `00`
  bool async_has_at_most_15_zeros = false;
  /// Parsing goes on at the next byte after a bad packet instead of searching for an A-sync, and
  /// zeros that the packet before took are none of the A-sync.  Section 6.2; `81 00 00 00 00 00 80`
  bool no_search_after_bad_packet = false;
  /// Timestamps in Gray code are given as they stand.  Section 1; capture Snowball.
  bool timestamps_not_converted = false;
  /// Timestamp elements do not say that they have a timestamp, nor that the clock has changed.
  /// Section 9.6; `46 01`
  bool timestamps_not_flagged = false;
  /// A branch with exception bytes and number 0 is an exception without the branch.  Section 9.4;
  /// `83 41 00`.
  bool exception_zero_is_exception = false;
  /// Exception bytes and Hyp never reach the context; an I-sync that changes the security state
  /// alone makes no context element.  Sections 9.1 and 9.4; `8d 80 fe ff 4f 1d`
  bool security_state_lost = false;
  /// Cycle counts of packets that cannot be followed are lost.  Section 9.3.
  bool cycle_counts_lost = false;
  /// The walk to the address of a waypoint update ends only there or where memory does.
  /// Section 9.5.
  bool waypoint_update_unchecked = false;
  /// A pop from the empty return stack ends decoding.  Section 9.7.
  bool empty_stack_is_fatal = false;
  /// The loss of synchronisation after a bad packet has no reason, and no record.  Section 9.6;
  /// `00 00 84`
  bool bad_packet_untold = false;
  /// Context elements outside an I-sync carry the instruction set of the last range.  Section 9.6.
  bool context_isa_stale = false;
  /// A BLX that is not taken changes the instruction set all the same.  Section 9.2; damaged
  /// capture tc2-ptm-rstk-t32.
  bool untaken_blx_changes_isa = false;
  /// The text of a VMID packet shows the number as a character.  Section 6.4; `3c 41`
  bool vmid_as_character = false;
  /// isa::Options::reference_deviations.  An A32 ERET, or LE in T32
  bool isa_deviations = false;

  static constexpr Quirks reference() {
    Quirks q;
    q.chunks_end_with_blocks = true;
    q.async_has_at_most_15_zeros = true;
    q.no_search_after_bad_packet = true;
    q.timestamps_not_converted = true;
    q.timestamps_not_flagged = true;
    q.exception_zero_is_exception = true;
    q.security_state_lost = true;
    q.cycle_counts_lost = true;
    q.waypoint_update_unchecked = true;
    q.empty_stack_is_fatal = true;
    q.bad_packet_untold = true;
    q.context_isa_stale = true;
    q.untaken_blx_changes_isa = true;
    q.vmid_as_character = true;
    q.isa_deviations = true;
    return q;
  }
};

}  // namespace waymark::ptm
