#include "waymark/etm4x/quirks.h"

#include <array>

namespace waymark::etm4x {
namespace {

using enum Quirk;

constexpr std::array kRows = {
    QuirkRow{kSingleEventBit1, "single-event-bit-1",
             "with a single event, event_instren passes bit 1", "bit 0, that of the event"},
    QuirkRow{kExternalInputs8Bits, "external-inputs-8-bits", "nr_ext_inp keeps 8 of the 9 bits",
             "all 9"},
    QuirkRow{kResetKeepsFeatures, "reset-keeps-features",
             "reset leaves most of TRCCONFIGR while mode reads as if it were clear",
             "TRCCONFIGR, TRCCCCTLR and TRCBBCTLR are cleared"},
    QuirkRow{kResetTracesAllLevels, "reset-traces-all-levels",
             "reset clears the exclusion of exception levels, secure ones included",
             "levels are as after probe"},
    QuirkRow{kResetSyncPeriod8, "reset-sync-period-8", "reset sets the period to 8",
             "to 12, as after probe"},
    QuirkRow{kSyncPeriodUnchecked, "sync-period-unchecked", "syncfreq takes 1 to 7 and 21 to 31",
             "-EINVAL for these"},
    QuirkRow{kLevelsStayExcluded, "levels-stay-excluded",
             "clearing the exclusion bits of mode leaves the levels excluded",
             "the levels that they excluded are traced again"},
    QuirkRow{kTraceResetUngated, "trace-reset-ungated",
             "mode sets TRCVICTLR.TRCRESET on every unit", "only where exceptions are forced in"},
    QuirkRow{kInstructionPriorityUngated, "instruction-priority-ungated",
             "mode sets TRCSTALLCTLR.INSTPRIORITY on every unit", "only with stall control"},
    QuirkRow{kMissingSlotsAccepted, "missing-slots-accepted",
             "value files take values for resources that the unit lacks", "-EINVAL"},
    QuirkRow{kSelectorOfOddHalf, "view-of-odd-half",
             "addr_cmp_view of a range shows the control of the selected half",
             "that of the even half, with which the hardware compares"},
    QuirkRow{kRangeMayBeEmpty, "range-of-one",
             "addr_range takes two equal addresses, against the document", "-EINVAL"},
    QuirkRow{kCycleThresholdUngated, "cycle-threshold-ungated",
             "cyc_threshold is taken without cycle counting", "-EINVAL"},
    QuirkRow{kPerfForgetsSecureLevels, "perf-forgets-secure-levels",
             "a perf start wipes which secure levels exist and the state of single-shots",
             "both are kept"},
    QuirkRow{kPerfCyclesUngated, "perf-cycles-ungated",
             "perf's cycacc sets TRCCONFIGR.CCI on a unit without cycle counting", "-EINVAL"},
    QuirkRow{kPerfSelectorWithoutPairs, "perf-selector-without-pairs",
             "perf's timestamp uses selector 2 on a unit without selectors", "-ENOSPC"},
    QuirkRow{kPresetZeroRefused, "preset-zero-refused",
             "a configuration's preset refuses 0, which is said to deselect", "0 deselects"},
};

static_assert(1U << kRows.size() == kAllQuirks + 1);

}  // namespace

std::span<const QuirkRow> quirk_table() { return kRows; }

}  // namespace waymark::etm4x
