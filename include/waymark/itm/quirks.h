// The deviations of the reference's packet processor and decoder from the architecture, one named
// flag each.  All are off in native use and on in the compatible programs.  See stm-itm.md 12 and
// 14.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::itm {

struct Quirks {
  /// Unsynchronised bytes are given at the end of each block, with the index of the block or of the
  /// last zero byte rather than their own; zeros before the end of the trace are not given.
  /// Capture itm_only_raw, index 4
  bool search_by_block = false;
  /// A stream that begins with an alignment synchronisation has an empty unsynchronised packet
  /// before it.  `00 00 00 00 00 80`
  bool empty_unsynchronised = false;
  /// After a bad packet the next byte is a header, although the configuration does not say so, and
  /// zeros in a cut packet do not count for the synchronisation after it.  `04 03`
  bool goes_on_after_bad_packet = false;
  /// The flag bits of a global timestamp are missing in the bytes of the packet.  `94 82 cf fa 77`
  /// is listed with 0x17
  bool timestamp_flags_cleared = false;
  /// Headers 80, 90, A0 and B0 are local timestamps.  `80 01`
  bool reserved_local_timestamps = false;
  /// A PMU overflow is listed as a reserved discriminator.  `1d 05`
  bool pmu_overflow_reserved = false;
  /// A bad packet ends decoding.  Capture itm_only_raw, with 40 bytes from offset 182 on zeroed
  bool bad_packet_is_fatal = false;
  /// A reset takes effect with the first packet after it.
  bool late_reset = false;
  /// Elements lack the flags for a valid timestamp and for a changed clock.  `94 82 cf fa 37`
  bool element_flags_lost = false;
  /// The upper half of a global timestamp makes an element even if no lower half was seen.
  bool upper_half_alone = false;
  /// Contradictions of ITM_TCR are not reported, nor that the trace ends inside a packet.  `94 82
  /// cf fa 37` with GTSFREQ 0
  bool contradictions_unreported = false;
  /// The local time begins at 0 again after an overflow, after a bad packet and where the stream is
  /// not synchronised.  `c0 64 70 c0 14`
  bool loss_restarts_time = false;
  /// A global time is whole after an overflow, and begins at 0 again where the stream is not
  /// synchronised.  `94 ff ff ff 1f b4 01 70 94 05 b4 02`
  bool global_time_is_whole = false;

  /// By their row in kQuirks.
  static constexpr Quirks of(QuirkSet set);
  static constexpr Quirks reference() { return of(kReferenceQuirks); }
};

/// Their names; the order must not change.
inline constexpr std::array<NamedQuirk<Quirks>, 13> kQuirks{{
    {"search_by_block", &Quirks::search_by_block},
    {"empty_unsynchronised", &Quirks::empty_unsynchronised},
    {"goes_on_after_bad_packet", &Quirks::goes_on_after_bad_packet},
    {"timestamp_flags_cleared", &Quirks::timestamp_flags_cleared},
    {"reserved_local_timestamps", &Quirks::reserved_local_timestamps},
    {"pmu_overflow_reserved", &Quirks::pmu_overflow_reserved},
    {"bad_packet_is_fatal", &Quirks::bad_packet_is_fatal},
    {"late_reset", &Quirks::late_reset},
    {"element_flags_lost", &Quirks::element_flags_lost},
    {"upper_half_alone", &Quirks::upper_half_alone},
    {"contradictions_unreported", &Quirks::contradictions_unreported},
    {"loss_restarts_time", &Quirks::loss_restarts_time},
    {"global_time_is_whole", &Quirks::global_time_is_whole},
}};

constexpr Quirks Quirks::of(QuirkSet set) { return chosen(kQuirks, set); }

}  // namespace waymark::itm
