#include "waymark/ptm/doubts.h"

#include "header_table.h"
#include "waymark/base/bits.h"

namespace waymark::ptm {
namespace {

// So many odd packets between two A-syncs are not damage: indexed by Doubt.
constexpr std::array<std::uint8_t, kDoubtCount> kMany = {0, 8, 4, 4, 6};
// After a reserved header, this many bytes can show that it was a cycle count: if every second one
// is, more than kMany of them are.
constexpr std::uint8_t kWatched = 15;

}  // namespace

Doubts::Doubts(const Config& config) {
  for (const Doubt doubt :
       {Doubt::kCycleCountForm, Doubt::kCycleCountsInFlow, Doubt::kContextIdOff})
    told_[static_cast<std::size_t>(doubt)] = !config.etmcr.given();
  const bool says_short = (config.etmidr.given() && config.minor_version() == 0) ||
                          (config.etmccer.given() && !bit<29>(config.etmccer));
  told_[static_cast<std::size_t>(Doubt::kTimestampTooLong)] = !says_short;
}

bool Doubts::arise(Doubt what) {
  const auto at = static_cast<std::size_t>(what);
  if (told_[at] || ++counts_[at] < kMany[at]) return false;
  told_[at] = true;
  return true;
}

void Doubts::watch() { watched_ = kWatched; }

void Doubts::take_watched(std::uint8_t byte) {
  if (told_[static_cast<std::size_t>(Doubt::kCycleCountsInFlow)]) return;
  --watched_;
  if (is_like_cycle_count(byte) && arise(Doubt::kCycleCountsInFlow)) watched_ = kFound;
}

bool Doubts::take_found() {
  if (watched_ != kFound) return false;
  watched_ = 0;
  return true;
}

bool Doubts::is_like_cycle_count(std::uint8_t byte) {
  return (byte & 0x83) == 0 && kHeaderTypes[byte] == PacketType::kReserved;
}

}  // namespace waymark::ptm
