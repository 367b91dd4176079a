// Walks that atoms do not describe: they read one instruction after the other and pass waypoints.
// See etmv4-ete.md 4.6b to 4.7b, ptm.md 9.5.
#pragma once

#include <cstdint>
#include <limits>

#include "waymark/flow/path.h"

namespace waymark::flow {

/// Where a walk begins.
struct Place {
  std::uint64_t address = 0;
  isa::Isa isa = isa::Isa::kUnknown;
  std::uint8_t it = 0;  ///< Instructions left in the IT block.
};

/// The places that a walk does not pass.
enum class EndsAt : std::uint8_t { kNothing, kBranches, kWaypoints };

/// Where a walk ends, unless memory or credit end first.
struct Destination {
  static constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t address = kNowhere;
  bool inclusive = false;  ///< The instruction at `address` belongs to the walk.
  bool runs_over = false;  ///< The walk goes on where an instruction reaches beyond `address`.
  EndsAt ends_at = EndsAt::kNothing;  ///< The walk ends after such an instruction.
  std::uint64_t most = kNoLimit;      ///< The most instructions.
};

enum class Arrived : std::uint8_t { kNone, kThere, kBeyond };

/// The walked instructions: consecutive ones of one instruction set.
struct Stretch {
  std::uint64_t start = 0;
  std::uint64_t end = 0;  ///< After the last instruction.
  std::uint32_t count = 0;
  isa::Isa isa = isa::Isa::kUnknown;
  std::uint8_t it = 0;                   ///< At `end`.
  BlockEnd ended = BlockEnd::kWaypoint;  ///< Another value: why there is no instruction at `end`.
  Arrived arrived = Arrived::kNone;      ///< How `end` is to the address of the destination.
  bool passed_waypoint = false;          ///< An instruction before the last is one.
  isa::Instruction last{};
};

/// Reads without the block cache.  Each instruction costs one of `credit`; without any,
/// BlockEnd::kRangeLimit ends the walk.
Stretch walk_to(Follower& follower, const Place& from, const Destination& to,
                std::uint32_t& credit);

/// As walk_to(), but over the blocks of the cache: only the last instruction is read, and each
/// block before that costs one of `credit`.
Stretch walk_ahead(Follower& follower, const Place& from, const Destination& to,
                   std::uint32_t& credit);

/// The path has taken `last`, which ends at `end`.  After an indirect branch, the path is lost.
void pass_last(Path& path, const isa::Instruction& last, std::uint64_t end);

constexpr bool is_branch(const isa::Instruction& instruction) {
  return instruction.type == isa::InstrType::kBranch ||
         instruction.type == isa::InstrType::kIndirectBranch;
}

}  // namespace waymark::flow
