// The deviations of the reference from the architecture, one named flag each.  All are off in
// native use and on in the compatible programs.  See ptm.md.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::ptm {

struct Quirks {
  /// Unsynchronised bytes are given at the end of each block, so that their chunks depend on the
  /// way the trace is divided.  Section 7; capture TC2.
  bool chunks_end_with_blocks = false;
  /// An A-sync has at most 15 zeros: 16 are a bad packet.  Section 6.2; 16 times `00`
  bool async_has_at_most_15_zeros = false;
  /// Parsing continues at the next byte after a bad packet instead of searching for an A-sync, and
  /// zeros in the packet before an A-sync do not count for it.  Section 6.2; `81 00 00 00 00 00 80`
  bool no_search_after_bad_packet = false;
  /// Timestamps in Gray code are given unchanged.  Section 1; capture Snowball.
  bool timestamps_not_converted = false;
  /// Timestamp elements show neither that they have a timestamp nor that the clock has changed.
  /// Section 9.6; `46 01`
  bool timestamps_not_flagged = false;
  /// A branch with exception bytes and number 0 is an exception without the branch.  Section 9.4;
  /// `83 41 00`.
  bool exception_zero_is_exception = false;
  /// Exception bytes and Hyp never reach the context; an I-sync that changes only the security
  /// state makes no context element.  Sections 9.1 and 9.4; `8d 80 fe ff 4f 1d`
  bool security_state_lost = false;
  /// Cycle counts of packets that cannot be followed are lost.  Section 9.3.
  bool cycle_counts_lost = false;
  /// The walk to the address of a waypoint update ends only there or at the end of memory.  Section
  /// 9.5.
  bool waypoint_update_unchecked = false;
  /// A pop from the empty return stack ends decoding.  Section 9.7.
  bool empty_stack_is_fatal = false;
  /// The loss of synchronisation after a bad packet has no reason and no record, and neither have
  /// reserved headers, contradictions of the registers and a packet in which the trace ends.
  /// Section 9.6; `00 00 84`
  bool bad_packet_unreported = false;
  /// Context elements outside an I-sync carry the instruction set of the last range.  Section 9.6.
  bool context_isa_stale = false;
  /// A BLX that is not taken still changes the instruction set.  Section 9.2; damaged capture
  /// tc2-ptm-rstk-t32.
  bool untaken_blx_changes_isa = false;
  /// The text of a VMID packet shows the number as a character.  Section 6.4; `3c 41`
  bool vmid_as_character = false;
  /// isa::Quirks::a32_eret_is_not_a_branch: an E atom at an A32 ERET.
  bool a32_eret_is_not_a_branch = false;
  /// A reset keeps the index of the last packet: EO_TRACE without a packet after the reset has it.
  /// `84`, RESET, end of the trace
  bool index_survives_reset = false;
  /// isa::Quirks::newer_branches_unconditional: an N atom at LE.
  bool newer_branches_unconditional = false;
  /// isa::Quirks::clrm_is_a_branch: an E atom at CLRM {APSR}.
  bool clrm_is_a_branch = false;
  /// A walk over code without a waypoint ends only where the memory does, not after 4 to 8 MiB.
  bool walks_unlimited = false;
  /// isa::Quirks::reads_four_bytes: an E atom at a BX LR that is the last halfword of the memory.
  bool reads_four_bytes = false;
  /// After code that cannot be read, a return takes an entry that was on the return stack before
  /// it. Section 9.7; `88 0d 84 0b 84 84`
  bool calls_not_missed = false;

  /// By their row in kQuirks.
  static constexpr Quirks of(QuirkSet set);
  static constexpr Quirks reference() { return of(kReferenceQuirks); }
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<Quirks>, 21> kQuirks{{
    {"chunks_end_with_blocks", &Quirks::chunks_end_with_blocks},
    {"async_has_at_most_15_zeros", &Quirks::async_has_at_most_15_zeros},
    {"no_search_after_bad_packet", &Quirks::no_search_after_bad_packet},
    {"timestamps_not_converted", &Quirks::timestamps_not_converted},
    {"timestamps_not_flagged", &Quirks::timestamps_not_flagged},
    {"exception_zero_is_exception", &Quirks::exception_zero_is_exception},
    {"security_state_lost", &Quirks::security_state_lost},
    {"cycle_counts_lost", &Quirks::cycle_counts_lost},
    {"waypoint_update_unchecked", &Quirks::waypoint_update_unchecked},
    {"empty_stack_is_fatal", &Quirks::empty_stack_is_fatal},
    {"bad_packet_unreported", &Quirks::bad_packet_unreported},
    {"context_isa_stale", &Quirks::context_isa_stale},
    {"untaken_blx_changes_isa", &Quirks::untaken_blx_changes_isa},
    {"vmid_as_character", &Quirks::vmid_as_character},
    {"a32_eret_is_not_a_branch", &Quirks::a32_eret_is_not_a_branch},
    {"index_survives_reset", &Quirks::index_survives_reset},
    {"newer_branches_unconditional", &Quirks::newer_branches_unconditional},
    {"clrm_is_a_branch", &Quirks::clrm_is_a_branch},
    {"walks_unlimited", &Quirks::walks_unlimited},
    {"reads_four_bytes", &Quirks::reads_four_bytes},
    {"calls_not_missed", &Quirks::calls_not_missed},
}};

constexpr Quirks Quirks::of(QuirkSet set) { return chosen(kQuirks, set); }

}  // namespace waymark::ptm
