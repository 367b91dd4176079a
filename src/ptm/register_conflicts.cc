#include "waymark/ptm/register_conflicts.h"

#include "header_table.h"
#include "waymark/base/bits.h"

namespace waymark::ptm {
namespace {

// This many odd packets between two A-syncs are not damage: indexed by RegisterConflict.
constexpr std::array<std::uint8_t, kRegisterConflictCount> kMany = {0, 8, 4, 4, 6};
// After a reserved header, this many bytes can show that it was a cycle count: if every second one
// is, more than kMany of them are.
constexpr std::uint8_t kWatched = 15;

}  // namespace

RegisterConflicts::RegisterConflicts(const Config& config) {
  for (const RegisterConflict conflict :
       {RegisterConflict::kCycleCountForm, RegisterConflict::kCycleCountsInFlow,
        RegisterConflict::kContextIdOff})
    reported_[static_cast<std::size_t>(conflict)] = !config.etmcr.given();
  const bool has_short_timestamps = (config.etmidr.given() && config.minor_version() == 0) ||
                                    (config.etmccer.given() && !bit<29>(config.etmccer));
  reported_[static_cast<std::size_t>(RegisterConflict::kTimestampTooLong)] = !has_short_timestamps;
}

bool RegisterConflicts::arise(RegisterConflict what) {
  const auto at = static_cast<std::size_t>(what);
  if (reported_[at] || ++counts_[at] < kMany[at]) return false;
  reported_[at] = true;
  return true;
}

void RegisterConflicts::watch() { watched_ = kWatched; }

void RegisterConflicts::take_watched(std::uint8_t byte) {
  if (reported_[static_cast<std::size_t>(RegisterConflict::kCycleCountsInFlow)]) return;
  --watched_;
  if (is_like_cycle_count(byte) && arise(RegisterConflict::kCycleCountsInFlow)) watched_ = kFound;
}

bool RegisterConflicts::take_found() {
  if (watched_ != kFound) return false;
  watched_ = 0;
  return true;
}

bool RegisterConflicts::is_like_cycle_count(std::uint8_t byte) {
  return (byte & 0x83) == 0 && kHeaderTypes[byte] == PacketType::kReserved;
}

}  // namespace waymark::ptm
