// The part of the decoder that follows the program; ptm.md 9.2 to 9.5 and 9.7.
#include <cstddef>
#include <cstring>

#include "waymark/ptm/decoder.h"
#include "waymark/ptm/memory_space.h"

namespace waymark::ptm {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::InstrType;
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
bool says_no_return_stack(const Config& config) {
  return (config.etmcr.given() && !bit<29>(config.etmcr)) ||
         (config.etmccer.given() && !bit<23>(config.etmccer));
}

// The instructions of [start, end) as one block that ends with `last`.
void write_range(Element& range, std::uint64_t start, std::uint64_t end, std::uint32_t count,
                 Isa isa, const isa::Instruction& last) {
  range.start = start;
  range.end = end;
  range.count = count;
  range.isa = isa;
  range.last_type = last.type;
  range.last_subtype = last.subtype;
  range.last_size = last.size;
  range.flags = static_cast<std::uint16_t>(range.flags | kElementExecuted |
                                           (last.conditional ? kElementConditional : 0));
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

isa::Instruction last_of(const Block& block) {
  return {.target = block.target,
          .type = block.type,
          .subtype = block.subtype,
          .size = block.last_size,
          .next_isa = block.next_isa,
          .conditional = block.conditional,
          .link = block.link};
}

}  // namespace

void Decoder::refresh() {
  follower_.flush();
  callbacks_ = follower_.reads_callbacks();
  select_memory();
}

void Decoder::select_memory(TraceIndex index) {
  // Every element has the context; nothing else of a range survives it.
  range_ = context_;
  range_.kind = ElementKind::kInstrRange;
  follower_.select(space_of(context_), std::uint64_t{context_.vmid} << 32 | context_.context_id,
                   index);
  memory_from_ = follower_.covers_from();
  block_ = from_ = nullptr;
}

void Decoder::lose_flow() {
  valid_ = false;
  block_ = from_ = nullptr;
}

// Only the guess of an indirect branch may be linked to the address: every other link is followed
// without a comparison.
void Decoder::go_to(std::uint64_t address, Isa isa) {
  address_ = address;
  isa_ = isa;
  valid_ = true;
  block_ = nullptr;
  if (from_ != nullptr && !(from_taken_ && from_->is_indirect_branch())) from_ = nullptr;
}

void Decoder::lost_cycles(TraceIndex index, Cycles cycles) {
  if (cycles.present && !quirks_.cycle_counts_lost)
    emit_cycles(emit(ElementKind::kCycleCount, index), cycles);
}

inline void Decoder::push_return(const Block& call) {
  if (!return_stack_on_) return;
  const std::uint64_t flushes = follower_.statistics().flushes;
  if (flushes != flushes_) [[unlikely]] {
    return_stack_.forget_callers();
    flushes_ = flushes;
  }
  return_stack_.push(call.end, call.isa, &call);
}

// Also nullptr if the block no longer exists, or has become another.
inline const Block* Decoder::caller_of(const flow::ReturnStack::Entry& entry) const {
  if (entry.caller == nullptr || follower_.statistics().flushes != flushes_) return nullptr;
  const bool same = entry.caller->end == entry.address && entry.caller->isa == entry.isa;
  // With the quirk, an untaken BLX is followed by another block.
  const bool other = quirks_.untaken_blx_changes_isa && entry.caller->next_isa != entry.isa;
  return same && !other ? static_cast<const Block*>(entry.caller) : nullptr;
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

// The main loop of decoding; ptm.md 9.2.
template <Decoder::Cause kCause>
[[gnu::always_inline]] inline void Decoder::follow_as(TraceIndex index, std::uint32_t atoms,
                                                      unsigned count, Cycles cycles) {
  if (!valid_ || count == 0) [[unlikely]] {
    lost_cycles(index, cycles);
    return;
  }
  const bool pops = kCause == Cause::kAtom && return_stack_on_;
  const unsigned flags = range_.flags | (cycles.present ? kElementHasCycleCount : 0);
  const Block* block = block_;
  const Block* from = from_;
  bool taken = from_taken_;
  Isa shown = context_.isa;
  Element* out = out_;
  for (; count != 0; --count) {
    if (block == nullptr) {
      block = from != nullptr ? &follower_.successor(*from, taken, address_, isa_, 0)
                              : &follower_.block(address_, isa_, 0);
    }
    if (block->ended != BlockEnd::kWaypoint) [[unlikely]] {
      out_ = out;
      context_.isa = shown;
      stuck(*block, index, cycles, kCause);
      return;
    }
    taken = (atoms & 1) != 0;
    atoms >>= 1;
    const bool indirect = taken && block->is_indirect_branch();
    const flow::ReturnStack::Entry* top = indirect && pops ? return_stack_.pop() : nullptr;
    const bool empty_stack = indirect && pops && top == nullptr;
    if (empty_stack && quirks_.empty_stack_is_fatal) [[unlikely]] {
      out_ = out;
      context_.isa = shown;
      report(Fault::kReturnStackUnderrun, Severity::kError, index,
             "Return stack error processing atom packet.")
          .fatal = true;
      failed_ = true;
      lose_flow();
      return;
    }
    write_range(*out, *block, range_, flags | (taken ? kElementExecuted : 0));
    out->index = index;
    out->cycle_count = cycles.count;
    ++out;
    shown = block->isa;
    from = block;
    if (top != nullptr) {
      address_ = top->address;
      isa_ = top->isa;
      const Block* caller = caller_of(*top);
      if (block->link) push_return(*block);
      // The block after a call is a link of the call's block: no guess is needed.
      if (caller != nullptr && caller->view == block->view) {
        from = caller;
        taken = false;
      }
      block = nullptr;
      continue;
    }
    if (taken && block->link) push_return(*block);
    if (indirect) {
      isa_ = block->next_isa;
      block = nullptr;
      valid_ = false;
      if (empty_stack) [[unlikely]] {
        report(Fault::kReturnStackUnderrun, Severity::kError, index,
               "An atom stands for a return, but no call is on the return stack.")
            .address = from->end - from->last_size;
        out_ = out;
        context_.isa = shown;
        lose_sync(UnsyncReason::kBadPacket);
        return;
      }
      break;
    }
    const Block* next = block->next[taken ? 1 : 0];
    if (next == nullptr) {
      address_ = taken && block->is_direct_branch() ? block->target : block->end;
      isa_ = taken || quirks_.untaken_blx_changes_isa ? block->next_isa : block->isa;
    }
    block = next;
  }
  if (block != nullptr) {
    address_ = block->start;
    isa_ = block->isa;
  }
  block_ = block;
  from_ = from;
  from_taken_ = taken;
  out_ = out;
  context_.isa = shown;
  if (!valid_ && kCause == Cause::kAtom && ++atoms_at_indirect_ == kManyAtomsAtIndirect &&
      !quirks_.bad_packet_untold && says_no_return_stack(config_)) [[unlikely]]
    report(Fault::kUnsupportedConfig, Severity::kWarning, index,
           "Atoms stand for indirect branches although ETMCR[29] or ETMCCER[23] says that the "
           "return stack is off: one of them seems to be wrong.");
}

void Decoder::follow(TraceIndex index, std::uint32_t atoms, unsigned count, Cycles cycles) {
  follow_as<Cause::kAtom>(index, atoms, count, cycles);
}

// A branch packet counts as its waypoint, which is executed.
void Decoder::follow_branch(TraceIndex index, Cycles cycles) {
  follow_as<Cause::kBranch>(index, 1, 1, cycles);
}

// No waypoint in readable memory.
void Decoder::stuck(const Block& block, TraceIndex index, Cycles cycles, Cause cause) {
  const std::uint64_t at = block.end;
  isa_ = block.isa;
  if (block.ended != BlockEnd::kNotAccessible) {
    unfollowable(block.ended, at, index, cause);
    lost_cycles(index, cycles);
    return;
  }
  if (block.count != 0) {
    write_range(emit(ElementKind::kInstrRange, index), block.start, at, block.count, block.isa,
                last_of(block));
    context_.isa = block.isa;
  }
  emit_not_accessible(index, at);
  lost_cycles(index, cycles);
  lose_flow();
}

void Decoder::unfollowable(BlockEnd ended, std::uint64_t address, TraceIndex index, Cause cause) {
  static constexpr std::string_view kUnsupported[] = {
      "Warning: unsupported instruction set processing atom packet.",
      "Warning: unsupported instruction set processing BranchAddr packet.",
      "Warning: unsupported instruction set processing WP update packet."};
  static constexpr std::string_view kErrors[] = {"Error processing atom packet.",
                                                 "Error processing BranchAddr packet.",
                                                 "Error processing WP update packet."};
  const auto at = static_cast<std::size_t>(cause);
  if (ended == BlockEnd::kUnsupported) {
    report(Fault::kUnsupportedIsa, Severity::kWarning, index, kUnsupported[at]).address = address;
  } else {
    const Fault fault = ended == BlockEnd::kRangeLimit ? Fault::kRangeLimit : Fault::kInvalidOpcode;
    report(fault, Severity::kError, index, kErrors[at]).address = address;
  }
  lose_flow();
}

// See ptm.md 9.5: up to and including the address, past any waypoint.
void Decoder::waypoint_update(const Packet& packet) {
  if (!valid_) return;
  const std::uint64_t target = packet.address.value;
  const std::uint64_t start = address_;
  const bool unchecked = quirks_.waypoint_update_unchecked;
  const std::uint32_t most = unchecked ? kMaxUncheckedSteps : kMaxUpdateSteps;
  const TraceIndex index = packet.index;
  const Isa isa = isa_;
  std::uint64_t address = start;
  std::uint8_t it = 0;
  std::uint32_t count = 0;
  isa::Instruction last;
  bool odd = false;
  for (bool found = false; !found;) {
    odd = odd || last.type != InstrType::kOther;
    const bool passed = !unchecked && address > target;
    if (passed || count == most) {
      report(Fault::kBadImage, Severity::kWarning, index,
             "The program cannot reach the address of a waypoint update from where it was.")
          .address = target;
      lose_flow();
      return;
    }
    const flow::Follower::Fetched fetched = follower_.fetch(address, isa, it);
    if (fetched.outcome == BlockEnd::kNotAccessible) {
      if (count != 0)
        write_range(emit(ElementKind::kInstrRange, index), start, address, count, isa, last);
      emit_not_accessible(index, address);
      lose_flow();
      return;
    }
    if (fetched.outcome != BlockEnd::kWaypoint) {
      unfollowable(fetched.outcome, address, index, Cause::kWaypointUpdate);
      return;
    }
    last = fetched.instruction;
    found = address == target;
    address += last.size;
    ++count;
  }
  write_range(emit(ElementKind::kInstrRange, index), start, address, count, isa, last);
  if (odd && !unchecked)
    report(Fault::kBadImage, Severity::kWarning, index,
           "The image has a waypoint on the way to a waypoint update: an atom should stand for it.")
        .address = target;
  context_.isa = isa;
  const bool branches = last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch;
  if (branches && last.link && return_stack_on_) return_stack_.push(address, isa);
  lose_flow();
  go_to(last.type == InstrType::kBranch ? last.target : address, last.next_isa);
  valid_ = last.type != InstrType::kIndirectBranch;
}

}  // namespace waymark::ptm
