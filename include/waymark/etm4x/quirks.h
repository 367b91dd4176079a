// Where the Linux driver deviates from its own reference document or from the architecture, one
// named flag each.  By default the model has all of them, because real drivers have them.  See
// etm4x-programming.md 15.
#pragma once

#include "waymark/base/named_quirk.h"

namespace waymark::etm4x {

/// Each comment says what the driver does, and what the model does without the quirk.
struct Quirks {
  /// With a single event, event_instren passes bit 1.  Without it: bit 0, that of the event.
  bool single_event_bit_1 = false;
  /// The file nr_ext_inp keeps 8 of the 9 bits.  Without it: all 9.
  bool external_inputs_8_bits = false;
  /// The file reset leaves most of TRCCONFIGR while mode reads as if it were clear.  Without it:
  /// TRCCONFIGR, TRCCCCTLR and TRCBBCTLR are cleared.
  bool reset_keeps_features = false;
  /// The file reset clears the exclusion of exception levels, secure ones included.  Without it:
  /// levels are as after probe.
  bool reset_traces_all_levels = false;
  /// The file reset sets the period to 8.  Without it: to 12, as after probe.
  bool reset_sync_period_8 = false;
  /// The file syncfreq takes 1 to 7 and 21 to 31.  Without it: -EINVAL for these.
  bool sync_period_unchecked = false;
  /// Clearing the exclusion bits of the file mode leaves the levels excluded.  Without it: the
  /// levels that they excluded are traced again.
  bool levels_stay_excluded = false;
  /// The file mode sets TRCVICTLR.TRCRESET on every unit.  Without it: only where exceptions are
  /// forced in.
  bool trace_reset_ungated = false;
  /// The file mode sets TRCSTALLCTLR.INSTPRIORITY on every unit.  Without it: only with stall
  /// control.
  bool instruction_priority_ungated = false;
  /// Value files take values for resources that the unit lacks.  Without it: -EINVAL.
  bool missing_slots_accepted = false;
  /// The file addr_cmp_view of a range shows the control of the selected half.  Without it: that of
  /// the even half, with which the hardware compares.
  bool view_of_odd_half = false;
  /// The file addr_range takes two equal addresses, against the document.  Without it: -EINVAL.
  bool range_of_one = false;
  /// The file cyc_threshold is taken without cycle counting.  Without it: -EINVAL.
  bool cycle_threshold_ungated = false;
  /// A perf start wipes which secure levels exist and the state of single-shots.  Without it: both
  /// are kept.
  bool perf_forgets_secure_levels = false;
  /// The option cycacc of perf sets TRCCONFIGR.CCI on a unit without cycle counting.  Without it:
  /// -EINVAL.
  bool perf_cycles_ungated = false;
  /// The option timestamp of perf uses selector 2 on a unit without selectors.  Without it:
  /// -ENOSPC.
  bool perf_selector_without_pairs = false;
  /// A configuration's preset refuses 0, which is said to deselect.  Without it: 0 deselects.
  bool preset_zero_refused = false;
  friend bool operator==(const Quirks&, const Quirks&) = default;
};

/// Their names.
inline constexpr std::array<NamedQuirk<Quirks>, 17> kQuirks{{
    {"single_event_bit_1", &Quirks::single_event_bit_1},
    {"external_inputs_8_bits", &Quirks::external_inputs_8_bits},
    {"reset_keeps_features", &Quirks::reset_keeps_features},
    {"reset_traces_all_levels", &Quirks::reset_traces_all_levels},
    {"reset_sync_period_8", &Quirks::reset_sync_period_8},
    {"sync_period_unchecked", &Quirks::sync_period_unchecked},
    {"levels_stay_excluded", &Quirks::levels_stay_excluded},
    {"trace_reset_ungated", &Quirks::trace_reset_ungated},
    {"instruction_priority_ungated", &Quirks::instruction_priority_ungated},
    {"missing_slots_accepted", &Quirks::missing_slots_accepted},
    {"view_of_odd_half", &Quirks::view_of_odd_half},
    {"range_of_one", &Quirks::range_of_one},
    {"cycle_threshold_ungated", &Quirks::cycle_threshold_ungated},
    {"perf_forgets_secure_levels", &Quirks::perf_forgets_secure_levels},
    {"perf_cycles_ungated", &Quirks::perf_cycles_ungated},
    {"perf_selector_without_pairs", &Quirks::perf_selector_without_pairs},
    {"preset_zero_refused", &Quirks::preset_zero_refused},
}};

inline constexpr Quirks kNoQuirks;
inline constexpr Quirks kAllQuirks = chosen(kQuirks, kReferenceQuirks);

}  // namespace waymark::etm4x
