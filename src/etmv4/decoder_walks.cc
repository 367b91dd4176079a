// Walks that pass waypoints: to exceptions, to source addresses, through Q elements.
#include <algorithm>

#include "decoder_inl.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::InstrType;
using isa::Isa;

// The address that an M-profile tail chain gives instead of a return address.
constexpr std::uint64_t kTailChain = 0xFFFFFFFE;

}  // namespace

// Reads one instruction, without the block cache.  kRangeLimit: the trace has requested too many.
flow::Follower::Fetched Decoder::step(std::uint64_t address, std::uint8_t& it) {
  if (credit_ == 0) return {{}, BlockEnd::kRangeLimit};
  --credit_;
  return path_.follower().fetch(address, path_.isa, it);
}

// See etmv4-ete.md 4.6b.  The entry is the oldest of the queue.
bool Decoder::commit_exception() {
  const Entry entry = queue_.front();
  // The trace has given the target of the branch, so it did not match the return stack.
  if (entry.flag && !quirks_.exception_pops_told_target) path_.pop_pending = false;
  if (path_.pop_pending && !pop_return_stack(entry.index)) return false;
  refill_credit();
  range_expected_ = false;
  if (!entry.known) {
    // A PE reset: it has no address.
    emit(ElementKind::kException, entry.index).number = entry.number;
    path_.lost = true;
    path_.it = 0;
    path_.cut();
    queue_.pop_front();
    --commit_request_;
    --depth_;
    return true;
  }
  const bool has_context = queue_.size() > 1 && queue_.at(1).kind == EntryKind::kContext;
  const std::size_t at = has_context ? 2 : 1;
  if (queue_.size() <= at || queue_.at(at).kind != EntryKind::kAddress) {
    fail_commit(Fault::kBadPacketSequence, packet_index_, Finding::kNoExceptionAddress,
                UnsyncReason::kBadPacket);
    if (quirks_.second_error_after_missing_address && !failed_)
      report(Fault::kCommitOverrun, Severity::kError, 0, Finding::kCommitsTooMany);
    if (quirks_.missing_address_leaves_element) depth_ = 1;
    return false;
  }
  const Entry context = has_context ? queue_.at(1) : Entry{};
  const Entry target = queue_.at(at);
  for (std::size_t i = 0; i <= at; ++i) queue_.pop_front();
  const std::uint64_t return_address = target.value;
  const TraceIndex index = entry.index;
  if (entry.flag) {
    const bool sf = has_context ? context.sf : path_.isa == Isa::kA64;
    path_.address = return_address;
    path_.isa =
        isa_of(sf && !(quirks_.exception_target_ignores_64_bit && target.is != 0), target.is);
    path_.lost = false;
    path_.cut();
  }
  const bool tail_chain = m_profile() && return_address == kTailChain;
  // The instructions before the exception ran in the old context: read them in that context.
  Stretch stretch;
  Isa walked_isa = path_.isa;
  const bool ahead = quirks_.exception_walk_goes_back ? path_.address != return_address
                                                      : path_.address < return_address;
  const bool reads = follows_ && !tail_chain && ahead &&
                     (quirks_.exception_walk_unchecked || (!path_.lost && !need_context_));
  if (reads && !quirks_.exception_walk_unchecked) stretch = walk_to(return_address);
  if (has_context) {
    const Isa before = path_.isa;
    apply_context(context, index);
    if (!quirks_.exception_context_sets_isa) path_.isa = before;
    yield_ = callbacks_;
  }
  const bool walks_now = reads && quirks_.exception_walk_unchecked;
  if (walks_now) {
    walked_isa = path_.isa;
    stretch = walk_to(return_address);
  }
  if (stretch.ended != BlockEnd::kWaypoint && stretch.ended != BlockEnd::kNotAccessible) {
    note_range_limit(stretch.count, stretch.ended);
    return fail_walk(stretch.ended, index, Finding::kExceptionNotFollowed);
  }
  if (stretch.count != 0) {
    emit_walk(index, stretch.start, stretch.end, stretch.count, stretch.last, walked_isa, true);
    path_.isa = stretch.last.next_isa;
  }
  if (stretch.ended == BlockEnd::kNotAccessible) {
    emit_not_accessible(index, stretch.end);
    path_.lost = true;
  }
  Element& exception = emit(ElementKind::kException, index);
  exception.number = entry.number;
  exception.end = return_address;
  unsigned flags = exception.flags;
  if (tail_chain) {
    flags |= kElementTailChain;
  } else {
    flags |= kElementReturnAddress;
    if (entry.flag) flags |= kElementReturnIsTarget;
  }
  exception.flags = static_cast<std::uint16_t>(flags);
  path_.it = 0;
  path_.cut();
  --commit_request_;
  --depth_;
  return true;
}

// From the current address to `end`, past any waypoint.
Decoder::Stretch Decoder::walk_to(std::uint64_t end) {
  Stretch stretch;
  stretch.start = path_.address;
  const std::uint32_t limit = path_.follower().range_limit();
  if (limit == 0 && path_.isa != Isa::kT32 && !quirks_.exception_walk_unchecked) {
    // Usually no waypoint is passed: the whole stretch is part of a known block.
    const Block& block = path_.follower().block(path_.address, path_.isa, path_.it);
    if (end > path_.address && end <= block.end && (end - path_.address) % 4 == 0) {
      const flow::Follower::Fetched last = step(end - 4, path_.it);
      if (last.outcome == BlockEnd::kWaypoint) {
        stretch.last = last.instruction;
        stretch.count = static_cast<std::uint32_t>((end - path_.address) / 4);
        stretch.end = path_.address = end;
        return stretch;
      }
    }
  }
  while (path_.address != end) {
    if (path_.address > end && !quirks_.exception_walk_runs_over) {
      // A T32 instruction that is interrupted and continued later can have a return address inside
      // it.  Elsewhere, image and trace disagree.
      if (path_.isa == Isa::kT32) break;
      report(Fault::kBadImage, Severity::kWarning, packet_index_,
             Finding::kReturnInsideInstruction);
      blame(end);
      break;
    }
    const flow::Follower::Fetched fetched = step(path_.address, path_.it);
    stretch.ended = fetched.outcome;
    if (fetched.outcome != BlockEnd::kWaypoint) break;
    stretch.last = fetched.instruction;
    path_.address += fetched.instruction.size;
    // Where the limit is reported for each further instruction, the walk goes on to count them.
    if (++stretch.count > limit && limit != 0 && !quirks_.range_limit_repeats) break;
  }
  if (limit != 0 && stretch.count > limit) stretch.ended = BlockEnd::kRangeLimit;
  stretch.end = path_.address;
  return stretch;
}

// See etmv4-ete.md 4.7.
bool Decoder::commit_source_address(const Entry& entry) {
  if (!follows_) return true;
  refill_credit();
  range_expected_ = false;
  const std::uint64_t source = entry.value;
  const TraceIndex index = entry.index;
  const auto failed = [&](BlockEnd ended) {
    return fail_walk(ended, index,
                     ended == BlockEnd::kInvalidOpcode || ended == BlockEnd::kUnsupported
                         ? Finding::kSourceNotFollowed
                         : Finding::kSourceNotRead);
  };
  const flow::Follower::Fetched at = step(source, path_.it);
  if (at.outcome == BlockEnd::kNotAccessible) {
    emit_not_accessible(index, source);
    return true;
  }
  if (at.outcome != BlockEnd::kWaypoint) return failed(at.outcome);
  const isa::Instruction& last = at.instruction;
  const std::uint64_t end = source + last.size;
  std::uint64_t start = path_.address;
  if (path_.lost || path_.address > source) {
    start = source;
    path_.lost = false;
  }
  const bool split = (flags_ & kSourceAddressNRanges) != 0;
  std::uint32_t count = 1;
  if (start != source && path_.isa != Isa::kT32 && !split) {
    count = static_cast<std::uint32_t>((end - start) / 4);
  } else if (start != source) {
    count = 0;
    std::uint8_t it = 0;
    for (std::uint64_t address = start; address < end;) {
      const flow::Follower::Fetched fetched = step(address, it);
      if (fetched.outcome == BlockEnd::kNotAccessible || fetched.outcome == BlockEnd::kRangeLimit) {
        emit_not_accessible(index, source);
        start = source;
        count = 1;
        break;
      }
      if (fetched.outcome != BlockEnd::kWaypoint) return failed(fetched.outcome);
      address += fetched.instruction.size;
      ++count;
      if (split && address < end && fetched.instruction.type != InstrType::kOther) {
        emit_walk(index, start, address, count, fetched.instruction, path_.isa, false);
        start = address;
        count = 0;
      }
    }
  }
  const Isa executed_in = path_.isa;
  path_.address = end;
  if (last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch) {
    if (last.link) path_.push(end, executed_in);
    if (last.type == InstrType::kBranch) {
      path_.address = last.target;
      if (last.link && path_.returns()) path_.pop_pending = false;
    } else {
      path_.lost = true;
      path_.pop_pending = path_.returns();
    }
    if (!quirks_.source_address_after_state) path_.it = 0;
  }
  path_.isa = last.next_isa;
  path_.cut();
  emit_walk(index, start, end, count, last,
            quirks_.source_address_after_state ? path_.isa : executed_in, true);
  if (!quirks_.source_address_after_state && last.subtype == isa::InstrSubtype::kV8ExceptionReturn)
    emit(ElementKind::kExceptionReturn, index);
  return true;
}

// See etmv4-ete.md 4.7b.  The entry is the oldest of the queue.
bool Decoder::commit_q() {
  refill_credit();
  range_expected_ = false;
  const Entry entry = queue_.front();
  const TraceIndex index = entry.index;
  Entry target = entry;
  Entry context;
  bool has_context = false;
  queue_.pop_front();
  if (!entry.flag) {
    has_context = !queue_.empty() && queue_.front().kind == EntryKind::kContext;
    const std::size_t at = has_context ? 1 : 0;
    if (queue_.size() <= at || queue_.at(at).kind != EntryKind::kAddress) {
      return fail_walk(BlockEnd::kUnsupported, index, Finding::kNoQAddress);
    }
    if (has_context) context = queue_.front();
    target = queue_.at(at);
    for (std::size_t i = 0; i <= at; ++i) queue_.pop_front();
    last_looked_at_ = index;
  }
  const std::uint32_t wanted = entry.known ? entry.count : 0;
  const std::uint64_t start = path_.address;
  const Isa executed_in = path_.isa;
  isa::Instruction last;
  std::uint32_t walked = 0;
  while (walked < wanted) {
    const flow::Follower::Fetched fetched = step(path_.address, path_.it);
    if (fetched.outcome == BlockEnd::kNotAccessible || fetched.outcome == BlockEnd::kRangeLimit)
      break;
    if (fetched.outcome != BlockEnd::kWaypoint)
      return fail_walk(fetched.outcome, index, Finding::kQNotFollowed);
    last = fetched.instruction;
    path_.address += last.size;
    ++walked;
    if (last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch) break;
  }
  const bool at_branch = last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch;
  const Isa target_isa = isa_of(has_context ? context.sf : is_64bit_, target.is);
  if (wanted != 0 && walked == wanted && (path_.address == target.value || at_branch)) {
    emit_walk(index, start, path_.address, walked, last, executed_in, true);
  } else {
    Element& range = emit(ElementKind::kInstrRangeNoPath, index);
    range.start = start;
    range.end = target.value;
    range.count = wanted;
    range.isa = target_isa;
  }
  path_.address = target.value;
  path_.isa = target_isa;
  path_.lost = false;
  path_.cut();
  --commit_request_;
  --depth_;
  if (has_context && context.flag) {
    apply_context(context, context.index);
    path_.isa = target_isa;
    yield_ = callbacks_;
  }
  if (quirks_.q_deletes_next_entry && !queue_.empty()) queue_.pop_front();
  return true;
}

bool Decoder::fail_walk(BlockEnd ended, TraceIndex index, Finding finding) {
  const Fault fault = ended == BlockEnd::kUnsupported ? Fault::kBadPacketSequence : fault_of(ended);
  fail_commit(fault, index, finding, UnsyncReason::kBadPacket);
  blame(path_.address);
  if (quirks_.fatal_walk_errors) {
    diagnostics_.back().fatal = true;
    failed_ = true;
    no_sync_pending_ = false;
  }
  return false;
}

void Decoder::emit_walk(TraceIndex index, std::uint64_t start, std::uint64_t end,
                        std::uint32_t count, const isa::Instruction& last, Isa isa, bool executed) {
  Block block;
  block.start = start;
  block.end = end;
  block.count = count;
  block.isa = isa;
  block.type = last.type;
  block.subtype = last.subtype;
  block.last_size = last.size;
  block.conditional = last.conditional;
  emit_range(block, index, executed);
}

}  // namespace waymark::etmv4
