// The deviations of the reference from the architecture, one named flag each.  All are off in
// native use and on in the compatible programs.  The numbers name sections of etmv3.md.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::etmv3 {

/// Quirks of the packet parser and of the text of packets.
struct ParserQuirks {
  /// Unsynchronised bytes are given at the end of each block, however long it is (8).
  bool blocks_end_not_sync = false;
  /// Zeros given before the very first packet have no type yet, nor does what is left at the end of
  /// the trace: `00` x 6, `80` (8).
  bool first_zeros_are_reserved = false;
  /// Nothing loses synchronisation: after a bad packet, the next byte is taken as a header (8).
  bool keeps_sync = false;
  /// Each surplus zero before an A-sync is a bad packet: `00` x 6, `80` (6.2).
  bool extra_zeros_are_bad = false;
  /// Zeros in a cut packet do not count for the A-sync after it: `81 00 00 00 00 00 80` (6.2).
  bool async_needs_own_zeros = false;
  /// Every `1xxxxxx0` byte is a P-header; invalid ones have no atoms: `80`, `a2`, `92` (4).
  bool tolerant_p_headers = false;
  /// Branch packets and data addresses continue as long as bit 7 is set (5.3, 7.2).
  bool endless_continuation = false;
  /// A timestamp ends at the first byte with bit 7 clear, not after its 7 or 9 bytes (6.5).
  bool endless_timestamps = false;
  /// The second address of an I-sync replaces the first, is read in a data-only trace too, and is
  /// not read after a byte with bit 7 clear: `08 a1 00 10 00 80 11`, `08 a1 00 10 00 00` (6.1).
  bool lsip_hidden = false;
  /// A data-only I-sync with a cycle count is as long as one without (6.1).
  bool data_only_length = false;
  /// An I-sync clears bit 0 of an address in Jazelle code too (6.1).
  bool jazelle_sync_is_even = false;
  /// The AltISA bit of an I-sync is forgotten after it (6.1).
  bool sync_alt_isa_forgotten = false;
  /// If ETMCR gives context IDs no bytes, their packet still has one: `6e 00` (6.3).
  bool context_id_takes_byte = false;
  /// The VMID is printed as a character: `3c 41` (6.3b).
  bool vmid_is_character = false;
  /// Data packets: value bytes are present whatever ETMCR[2] says, an address without a value never
  /// ends, and one byte of an address is read, into the instruction address: `2e 80 80 01 ...`, `22
  /// 01` (7.2).
  bool broken_data_packets = false;
  /// VAL_NOT_TRACED always has an address: `6a 01` (7.5).
  bool value_not_traced_has_address = false;
  /// BAD_TRACEMODE is printed with the type of the packet before it (8).
  bool bad_mode_names_previous = false;
  /// An unfinished packet at the end is given with its own type and whatever its fields held; an
  /// I-sync, except for the first one, gives whatever element its slot of the queue held (8, 9.6).
  bool unfinished_is_whole = false;
  /// The deprecated exception numbers are taken as those of v7-A: `8d 80 fe ff cf` (5.2).
  bool deprecated_numbers_kept = false;
  /// The zeros after a surplus zero have the index after it, even in a later frame (6.2).  It takes
  /// effect together with extra_zeros_are_bad.
  bool rest_follows_extra_zero = false;

  /// By their row in kParserQuirks.
  static constexpr ParserQuirks of(QuirkSet set);
  static constexpr ParserQuirks reference() { return of(kReferenceQuirks); }
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<ParserQuirks>, 20> kParserQuirks{{
    {"blocks_end_not_sync", &ParserQuirks::blocks_end_not_sync},
    {"first_zeros_are_reserved", &ParserQuirks::first_zeros_are_reserved},
    {"keeps_sync", &ParserQuirks::keeps_sync},
    {"extra_zeros_are_bad", &ParserQuirks::extra_zeros_are_bad},
    {"async_needs_own_zeros", &ParserQuirks::async_needs_own_zeros},
    {"tolerant_p_headers", &ParserQuirks::tolerant_p_headers},
    {"endless_continuation", &ParserQuirks::endless_continuation},
    {"endless_timestamps", &ParserQuirks::endless_timestamps},
    {"lsip_hidden", &ParserQuirks::lsip_hidden},
    {"data_only_length", &ParserQuirks::data_only_length},
    {"jazelle_sync_is_even", &ParserQuirks::jazelle_sync_is_even},
    {"sync_alt_isa_forgotten", &ParserQuirks::sync_alt_isa_forgotten},
    {"context_id_takes_byte", &ParserQuirks::context_id_takes_byte},
    {"vmid_is_character", &ParserQuirks::vmid_is_character},
    {"broken_data_packets", &ParserQuirks::broken_data_packets},
    {"value_not_traced_has_address", &ParserQuirks::value_not_traced_has_address},
    {"bad_mode_names_previous", &ParserQuirks::bad_mode_names_previous},
    {"unfinished_is_whole", &ParserQuirks::unfinished_is_whole},
    {"deprecated_numbers_kept", &ParserQuirks::deprecated_numbers_kept},
    {"rest_follows_extra_zero", &ParserQuirks::rest_follows_extra_zero},
}};

constexpr ParserQuirks ParserQuirks::of(QuirkSet set) { return chosen(kParserQuirks, set); }

/// Quirks of the decoder.
struct DecoderQuirks {
  /// Only a range that is alone in the queue can still be cancelled, until the next packet; a
  /// cancel leaves the number of held elements, so that what follows is held in their place (9.3,
  /// 9.4).  Otherwise the last range is held until something shows that it was executed.  The next
  /// three, and empty_p_headers_count, take effect only together with this one, and never where
  /// data is decoded.
  bool cancels_lone_range_only = false;
  /// A change of the instruction set by a direct branch is lost at the end of the packet (9.3).
  bool forgets_direct_interworking = false;
  /// Contexts, except for those of an I-sync, show the instruction set of an older element (9.6).
  bool stale_context_isa = false;
  /// Code in Jazelle and ThumbEE gives ranges with stale fields (9.3).
  bool stale_ranges = false;
  /// A bad packet or a data packet ends the decoding of all sources, and the range that was held
  /// back is lost (9.2).
  bool bad_packets_are_fatal = false;
  /// A P-header without atoms still counts as an element: `80`, `a2` (4.2, 9.3).
  bool empty_p_headers_count = false;
  /// Timestamps do not show a change of frequency (6.5).
  bool hides_frequency_change = false;
  /// A timestamp counts as whole although its upper bits were never sent: `42 05` (11).
  bool timestamps_count_as_whole = false;
  /// A data trace is refused, except for its packets: ETMCR 0x4.
  bool data_trace_is_unsupported = false;
  /// isa::Quirks::a32_eret_is_not_a_branch: an E atom at an A32 ERET.
  bool a32_eret_is_not_a_branch = false;
  /// A reset keeps the index of the last packet: EO_TRACE without a packet after the reset has it.
  /// `84`, RESET, end of the trace
  bool index_survives_reset = false;
  /// isa::Quirks::newer_branches_unconditional: an N atom at LE.
  bool newer_branches_unconditional = false;
  /// isa::Quirks::clrm_is_a_branch: an E atom at CLRM {APSR}.
  bool clrm_is_a_branch = false;
  /// isa::Quirks::reads_four_bytes: an E atom at a BX LR that is the last halfword of the memory.
  bool reads_four_bytes = false;
  /// Timestamps in Gray code are given unchanged: `42 0d` with ETMCCER[28] 0 (1).
  bool timestamps_not_converted = false;

  /// By their row in kDecoderQuirks.
  static constexpr DecoderQuirks of(QuirkSet set);
  static constexpr DecoderQuirks reference() { return of(kReferenceQuirks); }
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<DecoderQuirks>, 15> kDecoderQuirks{{
    {"cancels_lone_range_only", &DecoderQuirks::cancels_lone_range_only},
    {"forgets_direct_interworking", &DecoderQuirks::forgets_direct_interworking},
    {"stale_context_isa", &DecoderQuirks::stale_context_isa},
    {"stale_ranges", &DecoderQuirks::stale_ranges},
    {"bad_packets_are_fatal", &DecoderQuirks::bad_packets_are_fatal},
    {"empty_p_headers_count", &DecoderQuirks::empty_p_headers_count},
    {"hides_frequency_change", &DecoderQuirks::hides_frequency_change},
    {"timestamps_count_as_whole", &DecoderQuirks::timestamps_count_as_whole},
    {"data_trace_is_unsupported", &DecoderQuirks::data_trace_is_unsupported},
    {"a32_eret_is_not_a_branch", &DecoderQuirks::a32_eret_is_not_a_branch},
    {"index_survives_reset", &DecoderQuirks::index_survives_reset},
    {"newer_branches_unconditional", &DecoderQuirks::newer_branches_unconditional},
    {"clrm_is_a_branch", &DecoderQuirks::clrm_is_a_branch},
    {"reads_four_bytes", &DecoderQuirks::reads_four_bytes},
    {"timestamps_not_converted", &DecoderQuirks::timestamps_not_converted},
}};

constexpr DecoderQuirks DecoderQuirks::of(QuirkSet set) { return chosen(kDecoderQuirks, set); }

}  // namespace waymark::etmv3
