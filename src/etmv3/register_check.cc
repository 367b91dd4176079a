#include "waymark/etmv3/register_check.h"

namespace waymark::etmv3 {
namespace {

// Damage can remove the cycle count of one I-sync, but not of this many.
constexpr std::uint8_t kManySyncs = 4;

}  // namespace

std::string_view RegisterCheck::tell(Doubt what, const RegisterValue& says,
                                     std::string_view sentence) {
  if (!says.given() || (told_ & what) != 0) return {};
  told_ = static_cast<std::uint16_t>(told_ | what);
  return sentence;
}

// In cycle-accurate trace every I-sync that is not periodic has a cycle count, or a packet with one
// before it, unless an overflow took it; etmv3.md 6.1.
std::string_view RegisterCheck::check_sync(const Packet& packet) {
  const bool counted = cycles_seen_ || packet.type == PacketType::kISyncCycle;
  const bool follows = follows_sync_;
  follows_sync_ = true;
  const bool started =
      packet.reason == SyncReason::kTraceEnable || packet.reason == SyncReason::kDebugExit;
  if (packet.reason != SyncReason::kPeriodic) cycles_seen_ = false;
  if (packet.type == PacketType::kISyncCycle && !config_.cycle_accurate())
    return tell(kCycleCounts, config_.etmcr,
                "The trace has cycle counts, although ETMCR[12] says that it is not "
                "cycle-accurate.");
  if (!config_.cycle_accurate() || !follows || !started || counted) return {};
  if (syncs_without_cycles_ < kManySyncs) ++syncs_without_cycles_;
  if (syncs_without_cycles_ < kManySyncs) return {};
  return tell(kNoCycleCounts, config_.etmcr,
              "Trace begins again and again without a cycle count, although ETMCR[12] says that it "
              "is cycle-accurate.");
}

std::string_view RegisterCheck::check(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      return check_sync(packet);
    case PacketType::kCycleCount:
      cycles_seen_ = true;
      if (config_.cycle_accurate()) return {};
      return tell(kCycleCounts, config_.etmcr,
                  "The trace has cycle counts, although ETMCR[12] says that it is not "
                  "cycle-accurate.");
    case PacketType::kTimestamp:
      if (config_.minor_version() < 5)
        return tell(kTimestampVersion, config_.etmidr,
                    "The trace has timestamps, which came with ETMv3.5, although ETMIDR[7:4] names "
                    "an older version.");
      if (bit<28>(config_.etmcr)) return {};
      return tell(kTimestampOff, config_.etmcr,
                  "The trace has timestamps, although ETMCR[28] switches them off.");
    case PacketType::kVmid:
      if (config_.minor_version() >= 5) return {};
      return tell(kVmidVersion, config_.etmidr,
                  "The trace has VMIDs, which came with ETMv3.5, although ETMIDR[7:4] names an "
                  "older version.");
    case PacketType::kNormData:
    case PacketType::kOooAddress:
    case PacketType::kOooData:
    case PacketType::kValueNotTraced:
    case PacketType::kDataSuppressed:
    case PacketType::kStoreFailed:
      data_seen_ = true;
      return {};
    case PacketType::kNotSync:
      follows_sync_ = false;
      return {};
    case PacketType::kBadTraceMode:
      follows_sync_ = false;
      if (packet.error_type == PacketType::kContextId)
        return tell(kContextId, config_.etmcr,
                    "The trace has context ID packets, although ETMCR[15:14] gives context IDs no "
                    "bytes.");
      if (packet.error_type == PacketType::kOooData ||
          packet.error_type == PacketType::kStoreFailed)
        return tell(
            kDataValues, config_.etmcr,
            "The trace has packets of data values, although ETMCR[2] switches data values off.");
      return tell(kData, config_.etmcr,
                  "The trace has data packets, although ETMCR[3:2] switch data trace off.");
    case PacketType::kReserved:
      follows_sync_ = false;
      if (packet.error_type != PacketType::kPHeader) return {};
      return tell(kPHeader, config_.etmcr,
                  config_.cycle_accurate()
                      ? "The trace has P-headers that cycle-accurate trace does not have, although "
                        "ETMCR[12] says that it is cycle-accurate: damage, or another register "
                        "value."
                      : "The trace has P-headers that only cycle-accurate trace has, although "
                        "ETMCR[12] says that it is not cycle-accurate: damage, or another register "
                        "value.");
    case PacketType::kBadSequence:
      follows_sync_ = false;
      return {};
    default:
      return {};
  }
}

std::string_view RegisterCheck::at_end(std::uint64_t packets) {
  if (!config_.data_trace() || data_seen_ || packets < kManyPackets) return {};
  return tell(kNoData, config_.etmcr,
              "ETMCR[3:2] switch data trace on, but the trace has no data packet.");
}

}  // namespace waymark::etmv3
