// Elements that say where execution went without an atom for each waypoint: exceptions, source
// addresses, Q elements.
#include <algorithm>

#include "decoder_inl.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

using flow::Arrived;
using flow::BlockEnd;
using isa::Isa;

// The address that an M-profile tail chain gives instead of a return address.
constexpr std::uint64_t kTailChain = 0xFFFFFFFE;

bool is_waypoint(const isa::Instruction& instruction) {
  return instruction.type != isa::InstrType::kOther;
}

}  // namespace

// A walk from the place of the path, which goes along.
flow::Stretch Decoder::walk(decltype(flow::walk_to)& how, const flow::Destination& to) {
  const flow::Stretch walked =
      how(follower(), {path_.address, path_.isa, path_.it}, to, credit_.left());
  path_.address = walked.end;
  path_.it = walked.it;
  return walked;
}

// See etmv4-ete.md 4.6b.  The entry is the oldest of the queue.
bool Decoder::commit_exception() {
  const Entry entry = queue_.front();
  // The trace has given the target of the branch, so it did not match the return stack.
  if (entry.flag && !quirks_.exception_pops_stated_target) path_.pop_pending = false;
  if (path_.pop_pending && !quirks_.exception_return_pops && m_profile() &&
      queue_.next_address() == kTailChain)
    path_.pop_pending = false;
  if (path_.pop_pending && !pop_return_stack(entry.index)) return false;
  refill(credit_);
  expected_start_.reset();
  if (!entry.known) {
    // No address follows, as for a PE reset.
    queue_.pop_front();
    emit(ElementKind::kException, entry.index).number = entry.number;
    path_.lost = true;
  } else {
    const std::optional<Arrival> to = queue_.pop_with_arrival();
    if (!to) return fail_exception();
    const bool tail_chain = m_profile() && to->address.value == kTailChain;
    if (!walk_to_exception(entry, *to, !tail_chain)) return false;
    Element& exception = emit(ElementKind::kException, entry.index);
    exception.number = entry.number;
    exception.end = to->address.value;
    unsigned flags = tail_chain ? kElementTailChain : kElementReturnAddress;
    if (!tail_chain && entry.flag) flags |= kElementReturnIsTarget;
    exception.flags = static_cast<std::uint16_t>(exception.flags | flags);
  }
  path_.it = 0;
  path_.cut();
  commit_p0();
  return true;
}

bool Decoder::fail_exception() {
  fail_commit(Fault::kBadPacketSequence, packet_index_, Finding::kNoExceptionAddress,
              UnsyncReason::kBadPacket);
  if (quirks_.second_error_after_missing_address && !failed_)
    report(Fault::kCommitOverrun, Severity::kError, 0, Finding::kCommitsTooMany);
  if (quirks_.missing_address_leaves_element) queue_.depth = 1;
  return false;
}

// To the return address; `has_return`: there is one.  The instructions before the exception ran in
// the old context: they are read in that context.
bool Decoder::walk_to_exception(const Entry& entry, const Arrival& to, bool has_return) {
  const std::uint64_t end = to.address.value;
  if (entry.flag) {
    const bool sf = to.context ? to.context->sf : path_.isa == Isa::kA64;
    path_.address = end;
    path_.isa = isa_of(sf && !(quirks_.exception_target_ignores_64_bit && to.address.is != 0),
                       to.address.is);
    path_.lost = false;
    path_.cut();
  }
  const bool unchecked = quirks_.exception_walk_unchecked;
  const bool ahead = quirks_.exception_walk_goes_back ? path_.address != end : path_.address < end;
  const bool walks =
      traits_.follows && has_return && ahead && (unchecked || (!path_.lost && !mode_.unknown));
  flow::Destination there{.address = end, .runs_over = quirks_.exception_walk_runs_over};
  const std::uint32_t limit = follower().range_limit();
  // Where the limit is reported for each further instruction, the walk goes on to count them.
  if (limit != 0 && !quirks_.range_limit_repeats) there.most = std::uint64_t{limit} + 1;
  flow::Stretch walked{.arrived = Arrived::kThere};
  if (walks && !unchecked) walked = walk(flow::walk_ahead, there);
  if (walked.arrived == Arrived::kBeyond) report_inside_instruction(end);
  if (to.context) {
    const Isa before = path_.isa;
    apply_context(*to.context, entry.index);
    if (!quirks_.exception_context_sets_isa) path_.isa = before;
    yield_ = callbacks_;
  }
  if (walks && unchecked) {
    walked = walk(flow::walk_ahead, there);
    if (walked.arrived == Arrived::kBeyond) report_inside_instruction(end);
  }
  if (limit != 0 && walked.count > limit) walked.ended = BlockEnd::kRangeLimit;
  if (walked.ended != BlockEnd::kWaypoint && walked.ended != BlockEnd::kNotAccessible) {
    note_range_limit(walked.count, walked.ended);
    return fail_walk(walked.ended, entry.index, Finding::kExceptionNotFollowed);
  }
  if (walked.count != 0) {
    emit_walk(entry.index, walked);
    path_.isa = walked.last.next_isa;
  }
  if (walked.ended == BlockEnd::kNotAccessible) {
    emit_not_accessible(entry.index, walked.end);
    path_.lost = true;
  }
  return true;
}

// A T32 instruction that is interrupted and continued later can have a return address inside it.
// Elsewhere, image and trace disagree.
void Decoder::report_inside_instruction(std::uint64_t address) {
  if (path_.isa == Isa::kT32) return;
  report(Fault::kBadImage, Severity::kWarning, packet_index_, Finding::kReturnInsideInstruction);
  blame(address);
}

// See etmv4-ete.md 4.7.
bool Decoder::commit_source_address(const Entry& entry) {
  if (!traits_.follows) return true;
  if (pops_before_walk() && !pop_return_stack(entry.index)) return false;
  refill(credit_);
  expected_start_.reset();
  if (mode_.unknown && !quirks_.place_unchecked) {
    path_.lose();
    return true;
  }
  const std::uint64_t source = entry.value;
  const bool reads = !quirks_.source_walk_unread;
  flow::Stretch before{.start = source, .end = source};
  if (reads) {
    if (path_.lost || path_.address > source) path_.it = 0;
    if (!path_.lost && path_.address < source && !walk_to_source(entry, before)) return false;
  }
  flow::Stretch walked =
      flow::walk_to(follower(), {source, path_.isa, path_.it}, {.most = 1}, credit_.left());
  path_.it = walked.it;
  if (walked.ended == BlockEnd::kNotAccessible) {
    if (before.count != 0) emit_walk(entry.index, before, !is_waypoint(before.last));
    emit_not_accessible(entry.index, source);
    if (reads) path_.lose();
    if (!quirks_.calls_not_missed) path_.miss_calls();
    return true;
  }
  if (walked.ended != BlockEnd::kWaypoint) return fail_source(walked.ended, entry.index);
  if (reads) {
    walked.start = before.start;
    walked.count += before.count;
  } else if (!path_.lost && path_.address < source && !count_to_source(entry, walked)) {
    return false;
  }
  const isa::Instruction& last = walked.last;
  flow::pass_last(path_, last, walked.end);
  if (flow::is_branch(last)) {
    if (path_.lost) {
      path_.pop_pending = path_.returns();
    } else if (last.link && path_.returns()) {
      path_.pop_pending = false;
    }
    if (!quirks_.source_address_after_state) path_.it = 0;
  }
  if (quirks_.source_address_after_state) walked.isa = path_.isa;
  emit_walk(entry.index, walked);
  if (!quirks_.source_address_after_state && last.subtype == isa::InstrSubtype::kV8ExceptionReturn)
    return_from_exception(entry.index);
  return true;
}

// From the place of the path up to the source address.  `before` becomes the instructions that
// belong to the range of that address: none of them was a taken branch.
bool Decoder::walk_to_source(const Entry& entry, flow::Stretch& before) {
  const flow::Stretch nothing = before;
  const bool split = (flags_ & kSourceAddressNRanges) != 0;
  const flow::Destination to{.address = entry.value,
                             .ends_at = split ? flow::EndsAt::kWaypoints : flow::EndsAt::kNothing};
  do {
    before = walk(split ? flow::walk_to : flow::walk_ahead, to);
    if (before.ended == BlockEnd::kNotAccessible) {
      if (before.count != 0) emit_walk(entry.index, before, !is_waypoint(before.last));
      emit_not_accessible(entry.index, before.end);
      before = nothing;
      return true;
    }
    if (before.ended != BlockEnd::kWaypoint) return fail_source(before.ended, entry.index);
    if (before.arrived == Arrived::kBeyond) --before.count;
    if (split && is_waypoint(before.last) && before.end <= entry.value) {
      emit_walk(entry.index, before, false);
      before = nothing;
    }
  } while (path_.address < entry.value);
  return true;
}

// Quirk source_walk_unread: `walked` is the instruction at the source address.  Those before it,
// from the place of the path on, are added to it.
bool Decoder::count_to_source(const Entry& entry, flow::Stretch& walked) {
  const bool split = (flags_ & kSourceAddressNRanges) != 0;
  if (path_.isa != Isa::kT32 && !split) {
    walked.count = static_cast<std::uint32_t>((walked.end - path_.address) / 4);
    walked.start = path_.address;
    return true;
  }
  const flow::Destination to{.address = walked.end,
                             .ends_at = split ? flow::EndsAt::kWaypoints : flow::EndsAt::kNothing};
  flow::Stretch part{.end = path_.address};
  do {
    part = flow::walk_to(follower(), {part.end, path_.isa, part.it}, to, credit_.left());
    if (part.ended == BlockEnd::kNotAccessible || part.ended == BlockEnd::kRangeLimit) {
      emit_not_accessible(entry.index, walked.start);
      return true;
    }
    if (part.ended != BlockEnd::kWaypoint) return fail_source(part.ended, entry.index);
    if (part.end < walked.end) emit_walk(entry.index, part, false);
  } while (part.end < walked.end);
  walked.start = part.start;
  walked.count = part.count;
  return true;
}

bool Decoder::fail_source(BlockEnd ended, TraceIndex index) {
  const bool read = ended == BlockEnd::kInvalidOpcode || ended == BlockEnd::kUnsupported;
  return fail_walk(ended, index, read ? Finding::kSourceNotFollowed : Finding::kSourceNotRead);
}

// See etmv4-ete.md 4.7b.  The entry is the oldest of the queue.
bool Decoder::commit_q() {
  const Entry entry = queue_.front();
  if (pops_before_walk() && !pop_return_stack(entry.index)) return false;
  refill(credit_);
  expected_start_.reset();
  const TraceIndex index = entry.index;
  Arrival to{std::nullopt, entry};
  if (entry.flag) {
    queue_.pop_front();
  } else if (const std::optional<Arrival> found = queue_.pop_with_arrival()) {
    to = *found;
    run_.looked_at = index;
  } else {
    return fail_walk(BlockEnd::kUnsupported, index, Finding::kNoQAddress);
  }
  const std::uint64_t target = to.address.value;
  const Isa target_isa = isa_of(to.context ? to.context->sf : mode_.is_64bit, to.address.is);
  const std::uint32_t wanted = entry.known ? entry.count : 0;
  const bool placed = quirks_.place_unchecked || (!path_.lost && !mode_.unknown);
  flow::Stretch walked{.start = path_.address, .end = path_.address};
  if (traits_.reports_lost_atoms) {
    // The code that the element passes cannot be compared with the image: it says neither which
    // branches were taken nor which calls the trace unit remembers.  The trace before and after it
    // can.
    path_.miss_calls();
  } else if (placed) {
    walked = walk(flow::walk_to, {.ends_at = flow::EndsAt::kBranches, .most = wanted});
    if (walked.ended != BlockEnd::kWaypoint && walked.ended != BlockEnd::kNotAccessible &&
        walked.ended != BlockEnd::kRangeLimit)
      return fail_walk(walked.ended, index, Finding::kQNotFollowed);
  }
  bool executed = true;
  bool leads = wanted != 0 && walked.count == wanted;
  if (leads && flow::is_branch(walked.last)) {
    if (!quirks_.q_branch_always_taken) {
      const bool jumps = walked.last.type == isa::InstrType::kBranch
                             ? walked.last.target == target
                             : walked.end != target || !walked.last.conditional;
      leads = jumps || (walked.end == target && walked.last.conditional);
      executed = jumps;
    }
  } else {
    leads = leads && walked.end == target;
  }
  if (leads) {
    emit_walk(index, walked, executed);
  } else if (placed) {
    Element& range = emit(ElementKind::kInstrRangeNoPath, index);
    range.start = walked.start;
    range.end = target;
    range.count = wanted;
    range.isa = target_isa;
  }
  commit_p0();
  if (to.context && to.context->flag) {
    apply_context(*to.context, to.context->index);
    yield_ = callbacks_;
  }
  path_.address = target;
  path_.isa = target_isa;
  path_.lost = false;
  path_.cut();
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
    sync_.unreported = false;
  }
  return false;
}

void Decoder::emit_walk(TraceIndex index, const flow::Stretch& walked, bool executed) {
  flow::Block block;
  block.start = walked.start;
  block.end = walked.end;
  block.count = walked.count;
  block.isa = walked.isa;
  block.type = walked.last.type;
  block.subtype = walked.last.subtype;
  block.last_size = walked.last.size;
  block.conditional = walked.last.conditional;
  emit_range(block, index, executed);
}

}  // namespace waymark::etmv4
