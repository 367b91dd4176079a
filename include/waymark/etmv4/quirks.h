// The deviations of the reference from the architecture, one named flag each.  All are off in
// native use and on in the compatible programs.  See etmv4-ete.md 7.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::etmv4 {

struct Quirks {
  /// An ETE PE reset is a bad packet to the decoder.  It and a transaction failure are bad packets
  /// to the flags about such.  `06 00 00`
  bool pe_reset_is_bad = false;
  /// An instrumentation element that is still queued at a discard or overflow is lost.
  /// `09 01 ff ff 0f 00 00 00 00 00 00 03`
  bool discard_loses_instrumentation = false;
  /// CANCEL deletes a source address element without counting it.  `b4 02 f7 34` with MAXSPEC > 1
  bool source_address_not_cancelled = false;
  /// Committing a Q element deletes the next older entry.  `a5 04 02 f7 f7 f7` with MAXSPEC 2
  bool q_deletes_next_entry = false;
  /// An error while resolving also loses the earlier elements of the same packet, back to the last
  /// context packet that came by itself.  `f7 2d 03` with one atom outstanding
  bool error_loses_elements = false;
  /// The walk to an exception's return address reads in the memory space of the context packet that
  /// came with the exception, and ignores that no address is known.  `06 05 81 31 95 2f`
  bool exception_walk_unchecked = false;
  /// An exception that gives the target of the previous branch still takes that target from the
  /// return stack.  `db 06 5c 95 06` with RS, at a return
  bool exception_pops_stated_target = false;
  /// The range limit is reported once for each further instruction.
  bool range_limit_repeats = false;
  /// "Address missing in exception packet." is followed by "Not enough elements to commit".
  bool second_error_after_missing_address = false;
  /// A source address element reports the instruction set after the branch, keeps the IT state and
  /// does not report an exception return.  `b6 31 03 06 00` at an ERET
  bool source_address_after_state = false;
  /// Errors of exceptions, Q and source addresses after which decoding does not resynchronise.
  bool fatal_walk_errors = false;
  /// Markers of the data stream end the decoding of a stretch, and data trace or loads and stores
  /// as P0 elements are refused.  `20` with TRCCONFIGR.DA
  bool data_trace_is_unsupported = false;
  /// isa::Quirks::a32_eret_is_not_a_branch: an E atom at an A32 ERET.
  bool a32_eret_is_not_a_branch = false;
  /// The walk to an exception's return address runs to the end of the readable memory if it steps
  /// over that address.  `06 05 96 01`, inside a 32-bit T32 instruction
  bool exception_walk_runs_over = false;
  /// On ARMv8-M, an exception return is not a P0 element.  `07 2d 01`
  bool v8m_exception_return_is_not_p0 = false;
  /// A context packet that comes with an exception sets the instruction set before the walk to the
  /// return address.  `06 05 81 01 95 02`
  bool exception_context_sets_isa = false;
  /// An exception whose return address is the target of the previous branch continues in T32 if the
  /// address has IS1, even in 64-bit state.  `06 5c 96 08`
  bool exception_target_ignores_64_bit = false;
  /// A trace info at which decoding begins commits nothing, even if it gives a speculation depth
  /// above MAXSPEC.  `01 05 00 01 2d 01` with MAXSPEC 0
  bool trace_info_commits_nothing = false;
  /// The reserved values 4 to 6 of TRCCONFIGR.COND count as off.  `f7` with COND 4
  bool reserved_cond_is_off = false;
  /// After "Address missing in exception packet." one element still counts as outstanding: an event
  /// before the next trace info is lost.  `06 05 f7`, A-sync, `71 01 00`
  bool missing_address_leaves_element = false;
  /// A reset keeps the index of the last packet: EO_TRACE without a packet after the reset has it.
  /// `f7`, RESET, end of the trace
  bool index_survives_reset = false;
  /// isa::Quirks::newer_branches_unconditional: an N atom at CB or LE.
  bool newer_branches_unconditional = false;
  /// isa::Quirks::clrm_is_a_branch: an E atom at CLRM {APSR}.
  bool clrm_is_a_branch = false;
  /// A walk over code without a waypoint ends only where the memory does, not after 4 to 8 MiB.
  bool walks_unlimited = false;
  /// isa::Quirks::reads_four_bytes: an E atom at a BX LR that is the last halfword of the memory.
  bool reads_four_bytes = false;
  /// Only ETE 1.1 and later is taken to mark its timestamps.  `02 05`, with TRCIDR0[23] of an
  /// ETMv4.6
  bool markers_since_ete_1_1 = false;
  /// Each trace info empties the return stack, with the target that the next atom would take from
  /// it, and calls up to the next address do not go there.  `dd`, A-sync, `01 01 00 f7` with RS
  bool trace_info_empties_stack = false;
  /// A bad packet, or one that the end of the trace cuts, deletes the timestamps, cycle counts,
  /// events and markers that wait for the next P0 element.  `02 05 05`
  bool bad_packet_loses_queue = false;
  /// The walk to an exception's return address is also tried if that address is before the current
  /// one.  `95 02 06 05 95 01`
  bool exception_walk_goes_back = false;
  /// Cycle count packets do not commit elements.  `f7 0c 01` with TRCCONFIGR.CCI
  bool cycle_counts_do_not_commit = false;
  /// isa::Quirks::newer_branches_unknown: an `f7` at CB or LE.
  bool newer_branches_unknown = false;
  /// Instructions in an IT block do not count as conditional.  `f7` at IT
  bool it_blocks_ignored = false;
  /// The elements that a trace info says are outstanding cannot be committed.  `01 05 00 01 2d 01`
  bool unseen_elements_missing = false;
  /// A MAXSPEC or depth of 0x80000000 or more is a negative number.  `04` with TRCIDR8 0x80000000
  bool max_speculation_is_signed = false;
  /// isa::Quirks::pauth_lr_unknown: an `f7` at RETAASPPC.
  bool pauth_lr_unknown = false;
  /// A trace info is not queued: it empties the return stack before older elements are committed,
  /// and calls after it go there.  `da 01 00 f7 f7 2d 04` with RS and MAXSPEC 8
  bool trace_info_is_not_queued = false;

  /// By their row in kQuirks, and from kOlderQuirkBit on in kOlderQuirks.
  static constexpr Quirks of(QuirkSet set);
  static constexpr Quirks reference() { return of(kReferenceQuirks); }
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<Quirks>, 28> kQuirks{{
    {"pe_reset_is_bad", &Quirks::pe_reset_is_bad},
    {"discard_loses_instrumentation", &Quirks::discard_loses_instrumentation},
    {"source_address_not_cancelled", &Quirks::source_address_not_cancelled},
    {"q_deletes_next_entry", &Quirks::q_deletes_next_entry},
    {"error_loses_elements", &Quirks::error_loses_elements},
    {"exception_walk_unchecked", &Quirks::exception_walk_unchecked},
    {"exception_pops_stated_target", &Quirks::exception_pops_stated_target},
    {"range_limit_repeats", &Quirks::range_limit_repeats},
    {"second_error_after_missing_address", &Quirks::second_error_after_missing_address},
    {"source_address_after_state", &Quirks::source_address_after_state},
    {"fatal_walk_errors", &Quirks::fatal_walk_errors},
    {"data_trace_is_unsupported", &Quirks::data_trace_is_unsupported},
    {"a32_eret_is_not_a_branch", &Quirks::a32_eret_is_not_a_branch},
    {"exception_walk_runs_over", &Quirks::exception_walk_runs_over},
    {"v8m_exception_return_is_not_p0", &Quirks::v8m_exception_return_is_not_p0},
    {"exception_context_sets_isa", &Quirks::exception_context_sets_isa},
    {"exception_target_ignores_64_bit", &Quirks::exception_target_ignores_64_bit},
    {"trace_info_commits_nothing", &Quirks::trace_info_commits_nothing},
    {"reserved_cond_is_off", &Quirks::reserved_cond_is_off},
    {"missing_address_leaves_element", &Quirks::missing_address_leaves_element},
    {"index_survives_reset", &Quirks::index_survives_reset},
    {"newer_branches_unconditional", &Quirks::newer_branches_unconditional},
    {"clrm_is_a_branch", &Quirks::clrm_is_a_branch},
    {"walks_unlimited", &Quirks::walks_unlimited},
    {"reads_four_bytes", &Quirks::reads_four_bytes},
    {"markers_since_ete_1_1", &Quirks::markers_since_ete_1_1},
    {"trace_info_empties_stack", &Quirks::trace_info_empties_stack},
    {"bad_packet_loses_queue", &Quirks::bad_packet_loses_queue},
}};

/// The quirks that only versions before 1.8.0 have.
inline constexpr std::array<NamedQuirk<Quirks>, 8> kOlderQuirks{{
    {"exception_walk_goes_back", &Quirks::exception_walk_goes_back},
    {"cycle_counts_do_not_commit", &Quirks::cycle_counts_do_not_commit},
    {"newer_branches_unknown", &Quirks::newer_branches_unknown},
    {"it_blocks_ignored", &Quirks::it_blocks_ignored},
    {"unseen_elements_missing", &Quirks::unseen_elements_missing},
    {"max_speculation_is_signed", &Quirks::max_speculation_is_signed},
    {"pauth_lr_unknown", &Quirks::pauth_lr_unknown},
    {"trace_info_is_not_queued", &Quirks::trace_info_is_not_queued},
}};

constexpr Quirks Quirks::of(QuirkSet set) { return chosen(kQuirks, kOlderQuirks, set); }

}  // namespace waymark::etmv4
