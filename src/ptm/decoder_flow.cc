// The part of the decoder that follows the program; ptm.md 9.2 to 9.5 and 9.7.
#include <cstddef>
#include <cstring>

#include "waymark/flow/path_inl.h"
#include "waymark/flow/walk_to.h"
#include "waymark/ptm/decoder.h"
#include "waymark/ptm/memory_space.h"

namespace waymark::ptm {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::Isa;

// The longest walk to the address of a waypoint update.  The unit sends one for each 4096 bytes
// without a waypoint; the rest is a safety margin.
constexpr std::uint32_t kMaxUpdateSteps = std::uint32_t{1} << 14;
// The same for the reference, which is limited only by memory.  Memory from a callback may be
// endless.
constexpr std::uint32_t kMaxUncheckedSteps = std::uint32_t{1} << 20;
// With the return stack off, this many atoms at indirect branches are not a coincidence.
constexpr std::uint32_t kManyAtomsAtIndirect = 4;

// Whether a register that was given switches the return stack off.
bool has_no_return_stack(const Config& config) {
  return (config.etmcr.given() && !bit<29>(config.etmcr)) ||
         (config.etmccer.given() && !bit<23>(config.etmccer));
}

void write_range(Element& range, const flow::Stretch& walked) {
  range.start = walked.start;
  range.end = walked.end;
  range.count = walked.count;
  range.isa = walked.isa;
  range.last_type = walked.last.type;
  range.last_subtype = walked.last.subtype;
  range.last_size = walked.last.size;
  range.flags = static_cast<std::uint16_t>(range.flags | kElementExecuted |
                                           (walked.last.conditional ? kElementConditional : 0));
}

// A block and an element have the same layout for the last instruction: one move copies it.
static_assert(offsetof(Element, last_size) == offsetof(Element, isa) + 3 &&
              offsetof(Block, last_size) == offsetof(Block, isa) + 3);

// `range` is complete except for what differs: shorter than field by field.
inline void write_range(Element& out, const Block& block, const Element& range, unsigned flags) {
  out = range;
  out.start = block.start;
  out.end = block.end;
  out.count = block.count;
  out.flags = static_cast<std::uint16_t>(flags | (block.conditional ? kElementConditional : 0));
  std::memcpy(&out.isa, &block.isa, 4);
}

}  // namespace

void Decoder::refresh() {
  path_.follower().flush();
  callbacks_ = path_.follower().reads_callbacks();
  select_memory();
}

void Decoder::select_memory(TraceIndex index) {
  // Every element has the context; nothing else of a range survives it.
  range_ = context_;
  range_.kind = ElementKind::kInstrRange;
  path_.follower().select(space_of(context_), execution_context(context_), index);
  memory_from_ = path_.follower().covers_from();
  path_.cut();
}

void Decoder::lost_cycles(TraceIndex index, Cycles cycles) {
  if (cycles.present && !quirks_.cycle_counts_lost)
    emit_cycles(emit(ElementKind::kCycleCount, index), cycles);
}

Element* Decoder::run(TraceIndex index, const AtomPacket& atoms, Element* out, Element* end) {
  packet_index_ = index;
  const Cycles cycles{atoms.has_cycle_count, atoms.cycle_count};
  if (static_cast<std::size_t>(end - out) >= kMostElements) [[likely]] {
    out_ = out;
    follow(index, atoms.atoms, atoms.atom_count, cycles);
    return out_;
  }
  begin_output(out, end);
  follow(index, atoms.atoms, atoms.atom_count, cycles);
  return end_output();
}

// Ranges go to a span with enough room.
struct Decoder::RangeSink {
  const Element* range;
  TraceIndex index;
  std::uint32_t cycles;
  unsigned flags;
  bool stack_first;  ///< Quirk empty_stack_is_fatal.
  Element* out;
  Isa shown;

  [[nodiscard]] bool needs_stack() const { return stack_first; }
  void pass(const Block& block, bool taken) {
    write_range(*out, block, *range, flags | (taken ? kElementExecuted : 0));
    out->index = index;
    out->cycle_count = cycles;
    ++out;
    shown = block.isa;
  }
  static flow::Turn indirect(const Block& /*block*/) { return flow::Turn::kOn; }
};

// See ptm.md 9.2.
template <Decoder::Cause kCause>
[[gnu::always_inline]] inline void Decoder::follow_as(TraceIndex index, std::uint32_t atoms,
                                                      unsigned count, Cycles cycles) {
  if (path_.lost || count == 0) [[unlikely]] {
    lost_cycles(index, cycles);
    return;
  }
  RangeSink sink{
      .range = &range_,
      .index = index,
      .cycles = cycles.count,
      .flags = range_.flags | (cycles.present ? unsigned{kElementHasCycleCount} : 0),
      .stack_first = quirks_.empty_stack_is_fatal,
      .out = out_,
      .shown = context_.isa,
  };
  constexpr flow::Returns kReturns =
      kCause == Cause::kAtom ? flow::Returns::kAtOnce : flow::Returns::kNever;
  std::uint64_t bits = atoms;
  std::uint32_t left = count;
  const flow::Turn turned = path_.take<kReturns>(bits, left, sink);
  out_ = sink.out;
  context_.isa = sink.shown;
  path_.settle();
  if (turned != flow::Turn::kOn && path_.stop() != flow::Stop::kLost) [[unlikely]] {
    stopped(index, cycles, kCause);
    return;
  }
  // Nothing says where the remaining atoms of the packet are, if there are any.
  if (path_.lost && kCause == Cause::kAtom && ++atoms_at_indirect_ == kManyAtomsAtIndirect &&
      !quirks_.bad_packet_unreported && has_no_return_stack(config_)) [[unlikely]]
    report(Fault::kUnsupportedConfig, Severity::kWarning, index, Finding::kReturnStackOff);
}

// Reports why the path stopped: the block has no waypoint, or the return stack no address.
void Decoder::stopped(TraceIndex index, Cycles cycles, Cause cause) {
  if (path_.stop() == flow::Stop::kBlockEnd) {
    stuck(*path_.block(), index, cycles, cause);
    return;
  }
  if (quirks_.empty_stack_is_fatal) {
    report(Fault::kReturnStackUnderrun, Severity::kError, index, Finding::kReturnStackEmpty).fatal =
        true;
    failed_ = true;
    path_.lose();
    return;
  }
  const Block& branch = *path_.indirect_branch();
  report(Fault::kReturnStackUnderrun, Severity::kError, index, Finding::kReturnStackEmpty).address =
      branch.end - branch.last_size;
  lose_sync(UnsyncReason::kBadPacket);
}

void Decoder::follow(TraceIndex index, std::uint32_t atoms, unsigned count, Cycles cycles) {
  follow_as<Cause::kAtom>(index, atoms, count, cycles);
}

// A branch packet counts as its waypoint, which is executed.
void Decoder::follow_branch(TraceIndex index, Cycles cycles) {
  follow_as<Cause::kBranch>(index, 1, 1, cycles);
}

// Execution goes on, and is not followed.
void Decoder::lose_place() {
  path_.lose();
  if (!quirks_.calls_not_missed) path_.miss_calls();
}

// No waypoint in readable memory.
void Decoder::stuck(const Block& block, TraceIndex index, Cycles cycles, Cause cause) {
  const std::uint64_t at = block.end;
  path_.isa = block.isa;
  if (block.ended != BlockEnd::kNotAccessible) {
    unfollowable(block.ended, at, index, cause);
    lost_cycles(index, cycles);
    return;
  }
  if (block.count != 0) {
    Element& range = emit(ElementKind::kInstrRange, index);
    write_range(range, block, range_, range_.flags | kElementExecuted);
    range.index = index;
    context_.isa = block.isa;
  }
  emit_not_accessible(index, at);
  lost_cycles(index, cycles);
  lose_place();
}

void Decoder::unfollowable(BlockEnd ended, std::uint64_t address, TraceIndex index, Cause cause) {
  constexpr Finding kFindings[] = {Finding::kAtomNotFollowed, Finding::kBranchNotFollowed,
                                   Finding::kUpdateNotFollowed};
  const Finding finding = kFindings[static_cast<std::size_t>(cause)];
  if (ended == BlockEnd::kUnsupported) {
    report(Fault::kUnsupportedIsa, Severity::kWarning, index, finding).address = address;
  } else {
    const Fault fault = ended == BlockEnd::kRangeLimit ? Fault::kRangeLimit : Fault::kInvalidOpcode;
    report(fault, Severity::kError, index, finding).address = address;
  }
  lose_place();
}

// See ptm.md 9.5: up to and including the address, past any waypoint.
void Decoder::waypoint_update(const Packet& packet) {
  if (path_.lost) return;
  const std::uint64_t target = packet.address.value;
  const TraceIndex index = packet.index;
  const bool unchecked = quirks_.waypoint_update_unchecked;
  std::uint32_t steps = unchecked ? kMaxUncheckedSteps : kMaxUpdateSteps;
  const flow::Stretch walked =
      flow::walk_to(follower(), {path_.address, path_.isa},
                    {.address = target, .inclusive = true, .runs_over = unchecked}, steps);
  const bool there = walked.arrived == flow::Arrived::kThere;
  const bool unreadable = walked.ended == BlockEnd::kNotAccessible;
  if (there || (unreadable && walked.count != 0))
    write_range(emit(ElementKind::kInstrRange, index), walked);
  if (unreadable) {
    emit_not_accessible(index, walked.end);
    lose_place();
  } else if (!there) {
    if (walked.ended != BlockEnd::kWaypoint && walked.ended != BlockEnd::kRangeLimit)
      return unfollowable(walked.ended, walked.end, index, Cause::kWaypointUpdate);
    report(Fault::kBadImage, Severity::kWarning, index, Finding::kUpdateNotReached).address =
        target;
    lose_place();
  } else {
    if (walked.passed_waypoint && !unchecked)
      report(Fault::kBadImage, Severity::kWarning, index, Finding::kWaypointBeforeUpdate).address =
          target;
    context_.isa = walked.isa;
    flow::pass_last(path_, walked.last, walked.end);
  }
}

}  // namespace waymark::ptm
