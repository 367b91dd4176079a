#include "waymark/etmv3/register_check.h"

namespace waymark::etmv3 {
namespace {

// Damage can remove the cycle count of one I-sync, but not of this many.
constexpr std::uint8_t kManySyncs = 4;

}  // namespace

Finding RegisterCheck::report(Conflict what, const RegisterValue& register_value, Finding finding) {
  if (!register_value.given() || (reported_ & what) != 0) return Finding::kNone;
  reported_ = static_cast<std::uint16_t>(reported_ | what);
  return finding;
}

// In cycle-accurate trace every I-sync that is not periodic has a cycle count, or a packet with one
// before it, unless an overflow took it; etmv3.md 6.1.
Finding RegisterCheck::check_sync(const Packet& packet) {
  const bool counted = cycles_seen_ || packet.type == PacketType::kISyncCycle;
  const bool follows = follows_sync_;
  follows_sync_ = true;
  const bool started =
      packet.reason == SyncReason::kTraceEnable || packet.reason == SyncReason::kDebugExit;
  if (packet.reason != SyncReason::kPeriodic) cycles_seen_ = false;
  if (packet.type == PacketType::kISyncCycle && !config_.cycle_accurate())
    return report(kCycleCounts, config_.etmcr, Finding::kCycleCountsOff);
  if (!config_.cycle_accurate() || !follows || !started || counted) return Finding::kNone;
  if (syncs_without_cycles_ < kManySyncs) ++syncs_without_cycles_;
  if (syncs_without_cycles_ < kManySyncs) return Finding::kNone;
  return report(kNoCycleCounts, config_.etmcr, Finding::kCycleCountsMissing);
}

Finding RegisterCheck::check(const Packet& packet) {
  if (is_data(packet.type)) {
    data_seen_ = true;
    return Finding::kNone;
  }
  switch (packet.type) {
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      return check_sync(packet);
    case PacketType::kCycleCount:
      cycles_seen_ = true;
      if (config_.cycle_accurate()) return Finding::kNone;
      return report(kCycleCounts, config_.etmcr, Finding::kCycleCountsOff);
    case PacketType::kTimestamp:
      if (config_.minor_version() < 5)
        return report(kTimestampVersion, config_.etmidr, Finding::kTimestampsNewer);
      if (bit<28>(config_.etmcr)) return Finding::kNone;
      return report(kTimestampOff, config_.etmcr, Finding::kTimestampsOff);
    case PacketType::kVmid:
      if (config_.minor_version() >= 5) return Finding::kNone;
      return report(kVmidVersion, config_.etmidr, Finding::kVmidsNewer);
    case PacketType::kNotSync:
      follows_sync_ = false;
      return Finding::kNone;
    case PacketType::kBadTraceMode:
      follows_sync_ = false;
      if (packet.error_type == PacketType::kContextId)
        return report(kContextId, config_.etmcr, Finding::kContextIdsOff);
      if (packet.error_type == PacketType::kOooData ||
          packet.error_type == PacketType::kStoreFailed)
        return report(kDataValues, config_.etmcr, Finding::kDataValuesOff);
      return report(kData, config_.etmcr, Finding::kDataOff);
    case PacketType::kReserved:
      follows_sync_ = false;
      if (packet.error_type != PacketType::kPHeader) return Finding::kNone;
      return report(kPHeader, config_.etmcr,
                    config_.cycle_accurate() ? Finding::kPHeadersWithoutCycles
                                             : Finding::kPHeadersWithCycles);
    case PacketType::kBadSequence:
      follows_sync_ = false;
      return Finding::kNone;
    default:
      return Finding::kNone;
  }
}

Finding RegisterCheck::at_end(std::uint64_t packets) {
  if (!config_.data_trace() || data_seen_ || packets < kManyPackets) return Finding::kNone;
  return report(kNoData, config_.etmcr, Finding::kDataMissing);
}

}  // namespace waymark::etmv3
