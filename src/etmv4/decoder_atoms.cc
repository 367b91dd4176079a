// Atoms to ranges, and the position of execution.
#include <algorithm>

#include "decoder_inl.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::Isa;

// The elements of a block that cannot be read to its end: a range, and what is missing.
constexpr std::ptrdiff_t kPerUnreadable = 2;

// The elements of an atom: a range, and a return from an exception.
constexpr std::uint32_t kPerAtom = 2;

// The most notes about one range over its limit; this bounds the memory.
constexpr std::uint32_t kMaxNotes = std::uint32_t{1} << 20;

}  // namespace

// Ranges go to a span with enough room.
struct Decoder::RangeSink {
  Decoder* decoder;
  TraceIndex index;
  Element* out;
  Element* end;

  static bool needs_stack() { return false; }
  void pass(const Block& block, bool taken) {
    decoder->write_range(out, index, block, taken);
    ++out;
  }
  flow::Turn indirect(const Block& block) {
    if (!decoder->is_exception_return(block)) return flow::Turn::kOn;
    decoder->output_.write_at(out, end);
    decoder->return_from_exception(index);
    out = decoder->output_.at();
    return out == end ? flow::Turn::kStuckAfter : flow::Turn::kOn;
  }
};

// Ranges of several packets.  One element for each atom: a return from an exception ends the run.
struct Decoder::RowSink {
  Decoder* decoder;
  TraceIndex index;
  Element* out;
  std::uint32_t ends;

  static bool needs_stack() { return false; }
  void pass(const Block& block, bool taken) {
    decoder->write_range(out, index, block, taken);
    ++out;
    index += ends & 1;
    ends >>= 1;
  }
  [[nodiscard]] flow::Turn indirect(const Block& block) const {
    return decoder->is_exception_return(block) ? flow::Turn::kStuckAfter : flow::Turn::kOn;
  }
};

// Ranges are held back; quirk error_loses_elements.
struct Decoder::StagedSink {
  Decoder* decoder;
  TraceIndex index;

  static bool needs_stack() { return false; }
  void pass(const Block& block, bool taken) const { decoder->emit_range(block, index, taken); }
  [[nodiscard]] flow::Turn indirect(const Block& block) const {
    if (decoder->is_exception_return(block)) decoder->return_from_exception(index);
    return flow::Turn::kOn;
  }
};

// One block, which must be checked before there is a range.
struct Decoder::HeldSink {
  Block block;

  static bool needs_stack() { return false; }
  void pass(const Block& passed, bool /*taken*/) { block = passed; }
  static flow::Turn indirect(const Block& /*block*/) { return flow::Turn::kOn; }
};

// As many atoms as there is room for.
flow::Turn Decoder::commit_run(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left) {
  if (output_.staging()) {
    StagedSink sink{this, index};
    return path_.take<flow::Returns::kLater>(atoms, left, sink);
  }
  RangeSink sink{this, index, output_.at(), output_.end()};
  const auto space = static_cast<std::size_t>(sink.end - sink.out);
  const std::uint32_t most = left < space ? left : static_cast<std::uint32_t>(space);
  std::uint32_t run = most;
  const flow::Turn turned = path_.take<flow::Returns::kLater>(atoms, run, sink);
  output_.set_at(sink.out);
  left -= most - run;
  return turned;
}

// One atom.  False: a check has failed.
bool Decoder::commit_checked(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left) {
  HeldSink sink;
  const bool executed = (atoms & 1) != 0;
  std::uint32_t one = 1;
  const flow::Turn turned = path_.take<flow::Returns::kLater>(atoms, one, sink);
  path_.settle();
  if (turned != flow::Turn::kOn) return true;
  --left;
  if (!check_image(sink.block, executed, index)) return false;
  emit_range(sink.block, index, executed);
  if (executed && is_exception_return(sink.block)) return_from_exception(index);
  return true;
}

// False: an error ended the run.  A lack of space is not an error: the entry keeps the rest.
bool Decoder::commit_atoms(Entry& entry) {
  const TraceIndex index = entry.index;
  std::uint64_t atoms = entry.value;
  const std::uint32_t wanted = std::min(entry.count, requests_.commit);
  std::uint32_t left = wanted;
  while (left != 0) {
    if (mode_.unknown || !traits_.follows) {
      if (!drop_atoms(index)) return false;
      left = 0;
      break;
    }
    if (!output_.room()) break;
    if (counter_ != nullptr) {
      if (output_.given() != 0) {
        // Earlier elements must be observed first.
        output_.close();
        break;
      }
      if (counter_->take(index, atoms, left) != flow::Turn::kStuck) continue;
      counter_->leave();
    }
    flow::Turn turned = flow::Turn::kOn;
    if (traits_.checks) {
      const std::uint32_t before = left;
      // When a check fails, the entry is gone, and nothing is left to settle.
      if (!commit_checked(index, atoms, left)) return false;
      if (left == before) turned = flow::Turn::kStuck;
    } else {
      turned = commit_run(index, atoms, left);
    }
    if (turned != flow::Turn::kStuck) continue;
    path_.settle();
    if (path_.stop() == flow::Stop::kStackEmpty) {
      fail_pop(index);
      return false;
    }
    if (path_.stop() == flow::Stop::kLost) {
      if (traits_.reports_lost_atoms) report_lost_atoms(index);
      left = 0;
      break;
    }
    --left;
    atoms >>= 1;
    const Block block = *path_.block();
    if (block.ended != BlockEnd::kNotAccessible) {
      settle_atoms(entry, atoms, wanted - left);
      walk_error(block, index);
      return false;
    }
    end_at_unreadable(block, index);
  }
  settle_atoms(entry, atoms, wanted - left);
  if (entry.count == 0) queue_.pop_front();
  return true;
}

// Nothing says where the atoms were.  False: the return stack that should have said it is empty.
bool Decoder::drop_atoms(TraceIndex index) {
  if (path_.pop_pending && !pop_return_stack(index)) return false;
  if (mode_.unknown && !quirks_.place_unchecked) path_.lose();
  if (!traits_.follows && !earlier_.unfollowed_reported) {
    earlier_.unfollowed_reported = true;
    report(Fault::kUnsupportedConfig, Severity::kWarning, index, Finding::kAtomsOfLoads);
  }
  if (traits_.reports_lost_atoms) report_lost_atoms(index);
  return true;
}

// The block has no waypoint in readable memory.
void Decoder::end_at_unreadable(const Block& block, TraceIndex index) {
  if (block.count != 0) emit_range(block, index, true);
  emit_not_accessible(index, block.end);
  path_.address = block.end;
  path_.it = block.it_out;
  path_.lost = true;
  path_.cut();
  if (!quirks_.calls_not_missed) path_.miss_calls();
  expected_start_.reset();
}

// The oldest atoms of the entry are done, or dropped.
void Decoder::settle_atoms(Entry& entry, std::uint64_t atoms, std::uint32_t done) {
  entry.value = atoms;
  entry.count -= done;
  commit_p0(done);
}

// The main loop of decoding.  Everything but a waypoint in readable memory at a known position
// takes the long path, through the queue.
Element* Decoder::follow(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left) {
  if (queue_.holds()) take_held();
  RangeSink sink{this, packet_index_, out, end};
  const auto space = static_cast<std::size_t>(end - out);
  std::uint64_t bits = atoms;
  std::uint32_t over = left <= space ? 0 : left - static_cast<std::uint32_t>(space);
  left -= over;
  flow::Turn turned = flow::Turn::kOn;
  if (mode_.unknown) [[unlikely]] {
    turned = flow::Turn::kStuck;
  } else if (left != 0) {
    turned = path_.take<flow::Returns::kLater>(bits, left, sink);
    if (turned == flow::Turn::kStuckAfter && output_.waits()) {
      output_.release();
      busy_ = true;
    }
  }
  left += over;
  if (turned != flow::Turn::kStuck) [[likely]] {
    // Without space, the rest of the run comes later; until then only the block has the place.
    rest_.atoms = static_cast<std::uint32_t>(bits);
    rest_.left = left;
    if (left == 0) path_.settle();
    return sink.out;
  }
  rest_.left = 0;
  path_.settle();
  const bool reports = traits_.reports_lost_atoms;
  if (mode_.unknown || path_.stop() == flow::Stop::kLost) {
    // These atoms are dropped: nothing says where they were.
    if (!reports) {
      if (mode_.unknown && !quirks_.place_unchecked) path_.lose();
      return sink.out;
    }
  } else if (path_.stop() == flow::Stop::kStackEmpty) {
    if (traits_.can_lose_elements) sink.out = settled_out_ != nullptr ? settled_out_ : run_out_;
  } else if (path_.block()->ended == BlockEnd::kNotAccessible && !reports &&
             end - sink.out >= kPerUnreadable) {
    // So are those after this one.
    output_.write_at(sink.out, end);
    end_at_unreadable(*path_.block(), packet_index_);
    return output_.at();
  } else if (settled_out_ != nullptr && path_.block()->ended != BlockEnd::kNotAccessible) {
    sink.out = settled_out_;
  }
  queue_atoms(packet_index_, static_cast<std::uint32_t>(bits), left);
  request_excess();
  return sink.out;
}

unsigned Decoder::run_short_row(TraceIndex index, std::uint32_t headers, unsigned packets,
                                Element*& at, Element* end) {
  const AtomRow row = short_row(headers);
  const auto space = static_cast<std::size_t>(end - at);
  const bool has_space = space > std::size_t{kPerAtom} * row.count;
  if (row.count > kMostInRow || !has_space || mode_.unknown || (path_.lost && drops_atoms()))
    return 0;
  packet_index_ = index;
  if (queue_.holds()) take_held();
  RowSink sink{this, index, at, row.ends};
  std::uint64_t atoms = row.atoms;
  std::uint32_t left = row.count;
  const flow::Turn turned = path_.take<flow::Returns::kLater>(atoms, left, sink);
  if (turned != flow::Turn::kOn) [[unlikely]]
    return end_row(index, row, left, turned == flow::Turn::kStuckAfter, at, end);
  packet_index_ = index + packets - 1;
  rest_.left = 0;
  path_.settle();
  at = sink.out;
  return packets;
}

// The row without its last `left` atoms has ranges, from `at` on.  `returns`: the last of them
// returns from an exception, which has an element.  Otherwise the next atom has no range.  Goes on
// to the end of the packet.
[[gnu::noinline]] unsigned Decoder::end_row(TraceIndex index, const AtomRow& row,
                                            std::uint32_t left, bool returns, Element*& at,
                                            Element* end) {
  const std::uint32_t done = row.count - left;
  const auto before = static_cast<std::uint32_t>(row.ends & low_mask(returns ? done - 1 : done));
  const auto packet = static_cast<unsigned>(std::popcount(before));
  const auto first = static_cast<std::uint32_t>(std::bit_width(before));
  const auto last = static_cast<std::uint32_t>(std::countr_zero(row.ends & ~before));
  packet_index_ = index + packet;
  run_out_ = at + first;
  Element* out = at + done;
  if (returns) {
    output_.write_at(out, end);
    return_from_exception(packet_index_);
    out = output_.at();
  }
  rest_.left = 0;
  const std::uint32_t rest = last + 1 - done;
  if (rest != 0) {
    out = follow(out, end, static_cast<std::uint32_t>(row.atoms >> done & low_mask(rest)), rest);
  } else {
    path_.settle();
  }
  at = out;
  return packet + 1;
}

// The client must not get elements that are lost: either this span has space for the whole packet,
// or the packet goes through the queue.
Element* Decoder::run_or_lose(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left) {
  run_out_ = out;
  if (static_cast<std::size_t>(end - out) > std::size_t{kPerAtom} * left) [[likely]]
    return follow(out, end, atoms, left);
  queue_atoms(packet_index_, atoms, left);
  request_excess();
  return out;
}

Element* Decoder::settle_and_run(TraceIndex index, const AtomPacket& atoms, Element* out,
                                 Element* end) {
  settle(index);
  Element* const settled = out + drain({out, end});
  if (busy_ || settled == end || !straight()) {
    accept_atoms(index, atoms);
    return settled;
  }
  if (quirks_.error_loses_elements) settled_out_ = out;
  Element* const at = run(index, atoms, settled, end);
  settled_out_ = nullptr;
  return at;
}

void Decoder::take_held() {
  queue_.drop_held();
  apply_address(queue_.held().value, queue_.held().is);
}

void Decoder::apply_address(std::uint64_t address, std::uint8_t is) {
  path_.calls_forgotten = false;
  path_.go_to(address, isa_of(mode_.is_64bit, is));
}

// The trace unit never compares the target of such a branch with its return stack.
void Decoder::return_from_exception(TraceIndex index) {
  if (!quirks_.exception_return_pops) path_.pop_pending = false;
  emit(ElementKind::kExceptionReturn, index);
}

bool Decoder::pop_return_stack(TraceIndex index) {
  if (path_.pop()) return true;
  fail_pop(index);
  return false;
}

void Decoder::fail_pop(TraceIndex index) {
  path_.pop_pending = false;
  fail_commit(Fault::kReturnStackUnderrun, index, Finding::kReturnStackEmpty,
              UnsyncReason::kBadPacket);
}

// See etmv4-ete.md 4.9.
bool Decoder::check_image(const Block& block, bool executed, TraceIndex index) {
  const bool skipped = (flags_ & kCheckBranchNotThumb) != 0 && block.isa == Isa::kT32;
  const bool strict = (flags_ & kCheckStrictBranchN) != 0;
  if (!executed && !block.conditional && !skipped) {
    if (block.is_direct_branch() &&
        (strict || ((flags_ & kCheckDirectBranchN) != 0 && block.target != block.end))) {
      fail_commit(Fault::kBadImage, index, Finding::kDirectNotTaken, UnsyncReason::kBadImage);
      blame(block.end - block.last_size);
      return false;
    }
    if (block.is_indirect_branch() && strict) {
      fail_commit(Fault::kBadImage, index, Finding::kIndirectNotTaken, UnsyncReason::kBadImage);
      blame(block.end - block.last_size);
      return false;
    }
  }
  if ((flags_ & kCheckRangeContinuity) != 0) {
    if (expected_start_ && *expected_start_ != block.start) {
      fail_commit(Fault::kBadImage, index, Finding::kRangeNotContinuous, UnsyncReason::kBadImage);
      blame(block.start);
      return false;
    }
    expected_start_ = executed ? std::nullopt : std::optional(block.end);
  }
  return true;
}

// Not for a return to code that could not be read, and only for A64: in A32 code, a trace unit may
// leave out the target of a load to the PC (capture ete_ip, after `ldr pc` and `pop {pc}`, where
// the code fits the trace before and after).
void Decoder::report_lost_atoms(TraceIndex index) {
  const Block* const from = path_.indirect_branch();
  if (mode_.unknown || path_.calls_missed || from == nullptr || from->isa != Isa::kA64) return;
  report(Fault::kBadImage, Severity::kWarning, index, Finding::kAtomsBeforeTarget);
  blame(from->end - from->last_size);
  path_.cut();  // Once for each branch.
}

void Decoder::walk_error(const Block& block, TraceIndex index) {
  note_range_limit(block.count, block.ended);
  const Fault fault = fault_of(block.ended);
  path_.address = block.end;
  path_.it = block.it_out;
  fail_commit(fault, index, Finding::kAtomNotFollowed, UnsyncReason::kBadPacket);
  blame(block.end);
}

void Decoder::note_range_limit(std::uint32_t count, BlockEnd ended) {
  const std::uint32_t limit = path_.follower().range_limit();
  if (ended != BlockEnd::kRangeLimit || limit == 0 || count <= limit) return;
  const std::uint32_t notes = quirks_.range_limit_repeats ? std::min(count - limit, kMaxNotes) : 1;
  for (std::uint32_t i = 0; i < notes; ++i) {
    Diagnostic& note = diagnostics_.emplace_back();
    note.fault = Fault::kRangeLimit;
    note.finding = Finding::kRangeTooLong;
  }
}

}  // namespace waymark::etmv4
