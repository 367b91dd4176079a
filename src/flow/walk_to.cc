#include "waymark/flow/walk_to.h"

#include <algorithm>

namespace waymark::flow {
namespace {

bool ends_after(const isa::Instruction& last, EndsAt ends_at) {
  return (ends_at == EndsAt::kBranches && is_branch(last)) ||
         (ends_at == EndsAt::kWaypoints && last.type != isa::InstrType::kOther);
}

}  // namespace

Stretch walk_to(Follower& follower, const Place& from, const Destination& to,
                std::uint32_t& credit) {
  Stretch walked{.start = from.address, .end = from.address, .isa = from.isa, .it = from.it};
  bool at_end = false;
  while (!at_end && walked.count < to.most) {
    if (walked.end > to.address && !to.runs_over) {
      walked.arrived = Arrived::kBeyond;
      break;
    }
    const bool there = walked.end == to.address;
    if (there && !to.inclusive) {
      walked.arrived = Arrived::kThere;
      break;
    }
    if (credit == 0) {
      walked.ended = BlockEnd::kRangeLimit;
      break;
    }
    --credit;
    const Follower::Fetched fetched = follower.fetch(walked.end, walked.isa, walked.it);
    walked.ended = fetched.outcome;
    if (fetched.outcome != BlockEnd::kWaypoint) break;
    walked.passed_waypoint |= walked.last.type != isa::InstrType::kOther;
    walked.last = fetched.instruction;
    walked.end += fetched.instruction.size;
    ++walked.count;
    if (there) walked.arrived = Arrived::kThere;
    at_end = there || ends_after(walked.last, to.ends_at);
  }
  return walked;
}

Stretch walk_ahead(Follower& follower, const Place& from, const Destination& to,
                   std::uint32_t& credit) {
  constexpr unsigned kSize = 4;  // That of an instruction, except in T32.
  if (follower.range_limit() != 0 || from.isa == isa::Isa::kT32 ||
      (to.address - from.address) % kSize != 0)
    return walk_to(follower, from, to, credit);
  Place at = from;
  unsigned passed = 0;  // Blocks, each with a waypoint at its end.
  while (at.address < to.address && credit != 0) {
    const Block& block = follower.block(at.address, at.isa, at.it);
    if (block.ended != BlockEnd::kWaypoint || to.address <= block.end) {
      // There is no instruction here: the last one is that of the block before.
      if (block.count == 0 && passed != 0) --passed;
      if (block.count != 0 || at.address != from.address)
        at.address = std::min(to.address, block.end) - kSize;
      break;
    }
    at.address = block.end;
    ++passed;
    --credit;
  }
  Stretch walked = walk_to(follower, at, to, credit);
  walked.start = from.address;
  walked.passed_waypoint |= passed != 0;
  walked.count += static_cast<std::uint32_t>((at.address - from.address) / kSize);
  return walked;
}

void pass_last(Path& path, const isa::Instruction& last, std::uint64_t end) {
  if (is_branch(last) && last.link) path.push(end, path.isa);
  path.address = last.type == isa::InstrType::kBranch ? last.target : end;
  path.lost = last.type == isa::InstrType::kIndirectBranch;
  path.isa = last.next_isa;
  path.cut();
}

}  // namespace waymark::flow
