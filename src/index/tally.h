// The counts of streams and of their blocks, in the order of their columns.
#pragma once

#include <array>
#include <string_view>

#include "waymark/index/index.h"

namespace waymark::index {

struct TallyField {
  std::string_view name;
  std::uint64_t Tally::* member;
};
inline constexpr std::array kTallyFields = {
    TallyField{"bytes", &Tally::bytes},
    TallyField{"packets", &Tally::packets},
    TallyField{"sync_points", &Tally::sync_points},
    TallyField{"unsynced_bytes", &Tally::unsynced_bytes},
    TallyField{"bad_headers", &Tally::bad_headers},
    TallyField{"bad_sequences", &Tally::bad_sequences},
};

/// In the order of LandmarkKind.
inline constexpr std::array<std::string_view, kLandmarkKindCount> kCountNames = {
    "aligns",     "syncs",     "timestamps", "contexts",  "events", "triggers",
    "exceptions", "overflows", "discards",   "trace_ons", "gaps"};

}  // namespace waymark::index
