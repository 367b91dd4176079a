// Detects registers that do not belong to the trace.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/ptm/config.h"
#include "waymark/ptm/packet.h"

namespace waymark::ptm {

/// Counts packets that the registers do not allow.  A conflict that arises too often between two
/// A-syncs to be damage is reported once.  Registers that were not given conflict with nothing.
class RegisterConflicts {
 public:
  explicit RegisterConflicts(const Config& config);

  /// True: it must be reported.
  bool arise(RegisterConflict what);
  /// At an A-sync.
  void forget_counts() { counts_ = {}; }

  /// A reserved header has come: the bytes after it can show that it was a cycle count.
  void watch();
  void stop_watching() { watched_ = 0; }
  /// A byte of the search for an A-sync.
  void take_unsynced(std::uint8_t byte) {
    if (watched_ != 0 && watched_ != kFound) [[unlikely]]
      take_watched(byte);
  }
  /// Whether those bytes have shown it; true once.
  bool take_found();

  /// A reserved header that has the form of a cycle count of one byte.
  static bool is_like_cycle_count(std::uint8_t byte);

  friend bool operator==(const RegisterConflicts&, const RegisterConflicts&) = default;

 private:
  static constexpr std::uint8_t kFound = 0xFF;  ///< A value of watched_.
  void take_watched(std::uint8_t byte);

  std::array<std::uint8_t, kRegisterConflictCount> counts_{};
  std::array<bool, kRegisterConflictCount> reported_{};
  std::uint8_t watched_ = 0;  ///< Bytes still to be checked.
};

}  // namespace waymark::ptm
