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
  /// A MAXSPEC or depth of 0x80000000 or more is a negative number.  `04` with TRCIDR8 0x80000000
  bool max_speculation_is_signed = false;
  /// A cancel of 0x80000000 or more elements is one of a negative number, and cancels nothing.
  /// `f7 2e ff ff ff ff 0f 2d 01` with MAXSPEC 2
  bool cancel_is_signed = false;
  /// SUBS PC, LR, ERET, RFE and LDM^ are plain indirect branches under ETE, although no packet
  /// states that they are exception returns.  `f7` at SUBS PC, LR
  bool aarch32_exception_returns_unknown = false;
  /// A source address or a Q element after a return leaves the target of the return on the return
  /// stack.  `da f7 b4 05` with RS
  bool source_and_q_do_not_pop = false;
  /// The branch that an exception return packet, or an ERET of ETE, stands for can take its target
  /// from the return stack, and so can one that the next exception makes a tail chain.
  /// `da f7 07 f7` with RS
  bool exception_return_pops = false;
  /// A Q element or a source address gives a range even if no packet has stated where it begins, or
  /// no context has come, and atoms before the first context do not change the known address.
  /// `db a5 06 02`
  bool place_unchecked = false;
  /// The code before a source address, after the previous waypoint, is counted without reading it,
  /// and a source address that cannot be read leaves the place where it was.  `b4 0c f6`
  bool source_walk_unread = false;
  /// The last branch of a Q element counts as taken, wherever the element leads.  `a5 02 02`
  bool q_branch_always_taken = false;
  /// After code that cannot be read, a return takes an entry that was on the return stack before
  /// it. `da 95 0c f7 95 07 f7 f7` with RS
  bool calls_not_missed = false;
  /// The end of the trace loses what waits after a trace on, an exception return or a P0 element.
  /// It, a discard and a bad packet lose trace ons, contexts, exception returns and transactions
  /// that no P0 element is before.  `07 02 05` at the end
  bool end_loses_settled = false;
  /// With cycle counting, a timestamp without a count has a count of 0.  `02 05 f7`
  bool missing_counts_are_zero = false;
  /// An event of an ETMv4 between the A-sync and the first trace info is lost.  A-sync, `71 01 00
  /// f7`
  bool early_events_lost = false;
  /// After a bad packet, parsing continues at the next byte instead of searching for an A-sync, an
  /// A-sync needs eleven zeros of its own, and one more zero before them makes a bad packet.
  /// `9d 01 02`, A-sync
  bool no_search_after_bad_packet = false;
  /// Before the first A-sync, a surplus zero is an A-sync of one byte, and the A-sync has the index
  /// of the first zero; eleven zeros and a byte that is not 0x80 are a bad packet; bytes after a
  /// chunk of eight have the index after it, even if they are in a later frame.  `00` x 12, `80`
  bool surplus_zeros_are_asyncs = false;
  /// An exception of an M profile that says that no address follows takes the next one as its
  /// return address.  `06 04 96 04`
  bool exception_without_address_takes_one = false;
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
inline constexpr std::array<NamedQuirk<Quirks>, 43> kQuirks{{
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
    {"max_speculation_is_signed", &Quirks::max_speculation_is_signed},
    {"cancel_is_signed", &Quirks::cancel_is_signed},
    {"aarch32_exception_returns_unknown", &Quirks::aarch32_exception_returns_unknown},
    {"source_and_q_do_not_pop", &Quirks::source_and_q_do_not_pop},
    {"exception_return_pops", &Quirks::exception_return_pops},
    {"place_unchecked", &Quirks::place_unchecked},
    {"source_walk_unread", &Quirks::source_walk_unread},
    {"q_branch_always_taken", &Quirks::q_branch_always_taken},
    {"calls_not_missed", &Quirks::calls_not_missed},
    {"end_loses_settled", &Quirks::end_loses_settled},
    {"missing_counts_are_zero", &Quirks::missing_counts_are_zero},
    {"early_events_lost", &Quirks::early_events_lost},
    {"no_search_after_bad_packet", &Quirks::no_search_after_bad_packet},
    {"surplus_zeros_are_asyncs", &Quirks::surplus_zeros_are_asyncs},
    {"exception_without_address_takes_one", &Quirks::exception_without_address_takes_one},
}};

/// The quirks that only versions before 1.8.0 have.
inline constexpr std::array<NamedQuirk<Quirks>, 7> kOlderQuirks{{
    {"exception_walk_goes_back", &Quirks::exception_walk_goes_back},
    {"cycle_counts_do_not_commit", &Quirks::cycle_counts_do_not_commit},
    {"newer_branches_unknown", &Quirks::newer_branches_unknown},
    {"it_blocks_ignored", &Quirks::it_blocks_ignored},
    {"unseen_elements_missing", &Quirks::unseen_elements_missing},
    {"pauth_lr_unknown", &Quirks::pauth_lr_unknown},
    {"trace_info_is_not_queued", &Quirks::trace_info_is_not_queued},
}};

constexpr Quirks Quirks::of(QuirkSet set) { return chosen(kQuirks, kOlderQuirks, set); }

}  // namespace waymark::etmv4
