// Packets that the registers do not allow: the registers belong to another trace.
#pragma once

#include <cstdint>

#include "waymark/base/diagnostic.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"

namespace waymark::etmv3 {

/// Checks the packets of one source, as a parser without quirks gives them.  Returns each
/// contradiction once, and otherwise kNone.  A register that was not given contradicts nothing.
class RegisterCheck {
 public:
  explicit RegisterCheck(const Config& config) : config_(config) {}

  /// Valid P-headers need not be passed.
  Finding check(const Packet& packet);

  /// Call at the end, after `packets` packets.  kManyPackets of them without a data packet are a
  /// contradiction.
  Finding at_end(std::uint64_t packets);

  /// Both will give the same results for the same packets.
  [[nodiscard]] bool same_state(const RegisterCheck& other) const {
    return reported_ == other.reported_ && data_seen_ == other.data_seen_ &&
           follows_sync_ == other.follows_sync_ && cycles_seen_ == other.cycles_seen_ &&
           syncs_without_cycles_ == other.syncs_without_cycles_;
  }

  static constexpr std::uint64_t kManyPackets = 4096;

 private:
  enum Conflict : std::uint16_t {
    kCycleCounts = 1 << 0,
    kNoCycleCounts = 1 << 1,
    kTimestampVersion = 1 << 2,
    kTimestampOff = 1 << 3,
    kVmidVersion = 1 << 4,
    kData = 1 << 5,
    kDataValues = 1 << 6,
    kContextId = 1 << 7,
    kPHeader = 1 << 8,
    kNoData = 1 << 9,
  };
  /// `says`: the register that the finding is about.
  Finding report(Conflict what, const RegisterValue& register_value, Finding finding);
  Finding check_sync(const Packet& packet);

  Config config_;
  std::uint16_t reported_ = 0;
  bool data_seen_ = false;
  bool follows_sync_ = false;  ///< An I-sync was seen, and nothing was lost since.
  bool cycles_seen_ = false;   ///< In a packet of their own since the last I-sync.
  std::uint8_t syncs_without_cycles_ = 0;
};

}  // namespace waymark::etmv3
