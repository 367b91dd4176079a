// Atoms to ranges, and the position of execution.
#include <algorithm>

#include "decoder_inl.h"
#include "waymark/tree/source.h"

namespace waymark::etmv4 {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::Isa;

// The most notes about one range over its limit; this bounds the memory.
constexpr std::uint32_t kMaxNotes = std::uint32_t{1} << 20;

}  // namespace

// False: an error ended the run.  A lack of space is not an error: the entry keeps the rest.
bool Decoder::commit_atoms(Entry& entry) {
  const TraceIndex index = entry.index;
  std::uint64_t atoms = entry.value;
  const std::uint32_t wanted = std::min(entry.count, commit_request_);
  std::uint32_t left = wanted;
  const auto settle = [&] {
    entry.value = atoms;
    entry.count -= wanted - left;
    commit_request_ -= wanted - left;
    depth_ -= wanted - left;
  };
  while (left != 0) {
    if (pop_pending_) {
      if (!pop_return_stack(index)) return false;
    }
    if (!follows_ && !said_unfollowed_) {
      said_unfollowed_ = true;
      report(Fault::kUnsupportedConfig, Severity::kWarning, index,
             "Loads or stores are P0 elements (INSTP0 of TRCCONFIGR): which instruction an atom is "
             "about is unknown, so no instruction ranges are given.");
    }
    if (need_address_ || need_context_ || !follows_) {
      // These atoms are dropped: nothing says where they were.
      if ((flags_ & kReportLostAtoms) != 0) report_lost_atoms(index);
      atoms >>= left;
      left = 0;
      break;
    }
    if (!room()) break;
    if (block_ == nullptr)
      block_ = from_ != nullptr ? &follower_.successor(*from_, from_taken_, address_, isa_, it_)
                                : &follower_.block(address_, isa_, it_);
    const Block* block = block_;
    if (block->ended != BlockEnd::kWaypoint) [[unlikely]] {
      --left;
      atoms >>= 1;
      if (block->ended != BlockEnd::kNotAccessible) {
        settle();
        walk_error(*block, index);
        return false;
      }
      if (block->count != 0) emit_range(*block, index, true);
      emit_not_accessible(index, block->end);
      address_ = block->end;
      it_ = block->it_out;
      need_address_ = true;
      range_expected_ = false;
      block_ = from_ = nullptr;
      continue;
    }
    const bool executed = (atoms & 1) != 0;
    atoms >>= 1;
    --left;
    block_ = block->next[executed ? 1 : 0];
    from_ = block;
    from_taken_ = executed;
    address_ = block->end;
    it_ = block->it_out;
    if (executed) {
      if (block->is_direct_branch()) {
        if (block->link) push_return(block->end, block->isa);
        address_ = block->target;
        it_ = 0;
      } else if (block->is_indirect_branch()) {
        if (block->link) push_return(block->end, block->isa);
        need_address_ = true;
        pop_pending_ = return_stack_on_;
        it_ = 0;
        block_ = nullptr;
      }
      isa_ = block->next_isa;
      if (block->link && return_stack_on_ && !block->is_indirect_branch()) pop_pending_ = false;
    }
    // When a check fails, the entry is gone, and nothing is left to settle.
    if (checks_ && !check_image(*block, executed, index)) return false;
    emit_range(*block, index, executed);
    if (executed && block->subtype == isa::InstrSubtype::kV8ExceptionReturn &&
        config_.major_version() >= 5)
      emit(ElementKind::kExceptionReturn, index);
  }
  settle();
  return true;
}

// The main loop of decoding.  Everything but a waypoint in readable memory at a known position
// takes the long path, through the queue.
Element* Decoder::follow(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left) {
  const TraceIndex index = packet_index_;
  if (holding_) {
    holding_ = false;
    apply_address(held_address_, held_is_);
  }
  const Block* block = block_;
  const Block* from = from_;
  bool taken = from_taken_;
  bool unsure = pop_pending_ || need_address_ || need_context_;
  while (left != 0) {
    if (unsure) [[unlikely]] {
      if (pop_pending_) {
        if (return_stack_.size() == 0) {
          if (can_lose_elements_) out = run_out_;
          break;
        }
        pop_return_stack(index);
        block = block_;
        from = from_;
      }
      if (need_address_ || need_context_) {
        // These atoms are dropped: nothing says where they were.
        if ((flags_ & kReportLostAtoms) == 0) left = 0;
        break;
      }
      unsure = false;
    }
    if (out == end) break;
    if (block == nullptr) {
      block = from != nullptr ? &follower_.successor(*from, taken, address_, isa_, it_)
                              : &follower_.block(address_, isa_, it_);
    }
    if (block->ended != BlockEnd::kWaypoint) [[unlikely]]
      break;
    taken = (atoms & 1) != 0;
    atoms >>= 1;
    --left;
    write_range(out, index, *block, taken);
    ++out;
    from = block;
    const Block* next = block->next[taken ? 1 : 0];
    if (taken && block->is_indirect_branch()) {
      if (block->link) push_return(block->end, block->isa);
      address_ = block->end;
      isa_ = block->next_isa;
      it_ = 0;
      need_address_ = true;
      pop_pending_ = return_stack_on_;
      unsure = true;
      block = nullptr;
      if (from->subtype == isa::InstrSubtype::kV8ExceptionReturn && config_.major_version() >= 5) {
        block_ = nullptr;
        from_ = from;
        from_taken_ = true;
        out_ = out;
        out_end_ = end;
        staging_ = false;
        emit(ElementKind::kExceptionReturn, index);
        out = out_;
        if (!staged_.empty()) {
          staged_ready_ = staged_.size();
          busy_ = true;
        }
      }
      continue;
    }
    if (taken && block->link && return_stack_on_) {
      push_return(block->end, block->isa);
      pop_pending_ = false;
    }
    if (next == nullptr) {
      address_ = taken && block->is_direct_branch() ? block->target : block->end;
      it_ = taken && block->is_direct_branch() ? 0 : block->it_out;
      isa_ = taken ? block->next_isa : block->isa;
    }
    block = next;
  }
  block_ = block;
  from_ = from;
  from_taken_ = taken;
  if (left != 0 && out == end) {
    // block_ gives the position until the rest of the run; see take_place().
    run_atoms_ = atoms;
    run_left_ = left;
    return out;
  }
  run_left_ = 0;
  if (block != nullptr) {
    // While links are followed, only the block gives the position.
    address_ = block->start;
    isa_ = block->isa;
    it_ = block->it_in;
  }
  if (left != 0) {
    queue_atoms(index, atoms, left);
    request_excess();
  }
  return out;
}

// The client must not get elements that are lost: either this span has space for the whole packet,
// or the packet goes through the queue.
Element* Decoder::run_or_lose(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left) {
  constexpr std::uint32_t kPerAtom = 2;  // A range, and a return from an exception.
  run_out_ = out;
  if (static_cast<std::size_t>(end - out) > std::size_t{kPerAtom} * left) [[likely]]
    return follow(out, end, atoms, left);
  queue_atoms(packet_index_, atoms, left);
  request_excess();
  return out;
}

void Decoder::apply_address(std::uint64_t address, std::uint8_t is) {
  pop_pending_ = false;
  wait_for_address_ = false;
  address_ = address;
  isa_ = isa_of(is_64bit_, is);
  need_address_ = false;
  leave_flow();
}

// The address does not come from the last block.  Only the guess of an indirect branch may be
// linked to it: every other link is followed without comparing the address.
void Decoder::leave_flow() {
  block_ = nullptr;
  if (from_ != nullptr && !(from_taken_ && from_->is_indirect_branch())) from_ = nullptr;
}

bool Decoder::pop_return_stack(TraceIndex index) {
  flow::ReturnStack::Entry top;
  pop_pending_ = false;
  if (!return_stack_.pop(top)) {
    fail_commit(Fault::kReturnStackUnderrun, quirks_.reference_messages ? kNoIndex : index,
                kStackEmpty, UnsyncReason::kBadPacket);
    return false;
  }
  address_ = top.address;
  isa_ = top.isa;
  need_address_ = false;
  leave_flow();
  return true;
}

// See etmv4-ete.md 4.9.
bool Decoder::check_image(const Block& block, bool executed, TraceIndex index) {
  const bool skipped = (flags_ & kCheckBranchNotThumb) != 0 && block.isa == Isa::kT32;
  const bool strict = (flags_ & kCheckStrictBranchN) != 0;
  if (!executed && !block.conditional && !skipped) {
    if (block.is_direct_branch() &&
        (strict || ((flags_ & kCheckDirectBranchN) != 0 && block.target != block.end))) {
      fail_commit(Fault::kBadImage, index, kNotTakenDirect, UnsyncReason::kBadImage);
      blame(block.end - block.last_size);
      return false;
    }
    if (block.is_indirect_branch() && strict) {
      fail_commit(Fault::kBadImage, index, kNotTakenIndirect, UnsyncReason::kBadImage);
      blame(block.end - block.last_size);
      return false;
    }
  }
  if ((flags_ & kCheckRangeContinuity) != 0) {
    if (range_expected_ && range_expectation_ != block.start) {
      fail_commit(Fault::kBadImage, index, kNotContinuous, UnsyncReason::kBadImage);
      blame(block.start);
      return false;
    }
    range_expected_ = !executed;
    range_expectation_ = block.end;
  }
  return true;
}

// Only for A64: in A32 code, a trace unit may leave out the target of a load to the PC (capture
// ete_ip, after `ldr pc` and `pop {pc}`, where the code fits the trace before and after).
void Decoder::report_lost_atoms(TraceIndex index) {
  if (need_context_ || from_ == nullptr || !from_taken_ || !from_->is_indirect_branch() ||
      from_->isa != Isa::kA64)
    return;
  report(Fault::kBadImage, Severity::kWarning, index,
         "Atoms come before the target of an indirect branch: trace and code image disagree.");
  blame(from_->end - from_->last_size);
  from_ = nullptr;  // Once for each branch.
}

void Decoder::walk_error(const Block& block, TraceIndex index) {
  note_range_limit(block.count, block.ended);
  const Fault fault = fault_of(block.ended);
  address_ = block.end;
  it_ = block.it_out;
  fail_commit(fault, index, kAtomWalk, UnsyncReason::kBadPacket);
  blame(block.end);
}

void Decoder::note_range_limit(std::uint32_t count, BlockEnd ended) {
  const std::uint32_t limit = follower_.range_limit();
  if (ended != BlockEnd::kRangeLimit || limit == 0 || count <= limit) return;
  const std::uint32_t notes = quirks_.range_limit_repeats ? std::min(count - limit, kMaxNotes) : 1;
  for (std::uint32_t i = 0; i < notes; ++i) {
    Diagnostic& note = diagnostics_.emplace_back();
    note.fault = Fault::kRangeLimit;
    note.message = wording(kRangeTooLong);
  }
}

}  // namespace waymark::etmv4
