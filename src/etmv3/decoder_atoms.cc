// P-headers: one instruction for each atom.  Fact sheet etmv3.md section 9.3.
#include <algorithm>

#include "waymark/etmv3/decoder.h"

namespace waymark::etmv3 {

using flow::Step;
using isa::InstrType;
using isa::Isa;

Decoder::Slot& Decoder::Slots::push() {
  if (count_ == slots_.size()) {
    // The elements move to the front of a queue that is half as large again.
    std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(first_), slots_.end());
    slots_.resize(slots_.size() + slots_.size() / 2);
    first_ = 0;
  }
  return slots_[(first_ + count_++) % slots_.size()];
}

Element* Decoder::write(Element* at, ElementKind kind, TraceIndex index) {
  *at = context_;
  at->kind = kind;
  at->index = index;
  if (quirks_.stale_context_isa) slots_.push();
  return at + 1;
}

inline Element* Decoder::write_range(Element* at, TraceIndex index, const Step& step, Isa isa,
                                     bool executed) {
  *at = context_;
  at->kind = ElementKind::kInstrRange;
  at->index = index;
  at->start = address_;
  at->end = static_cast<std::uint32_t>(address_ + step.size);
  at->count = 1;
  at->isa = isa;
  at->last_type = step.type;
  at->last_subtype = step.subtype;
  at->last_size = step.size;
  at->flags = static_cast<std::uint16_t>(at->flags | (executed ? kElementExecuted : 0) |
                                         (step.conditional ? kElementConditional : 0));
  if (quirks_.stale_context_isa)
    slots_.push() = {address_, static_cast<std::uint32_t>(address_ + step.size), isa, step.type,
                     step.subtype};
  return at + 1;
}

// No address is known: the rest of the header says that and no more.
Element* Decoder::unknown_address(TraceIndex index, const PHeader& header, unsigned left,
                                  Element* at) {
  const bool silent = sent_unknown_ && !cycle_accurate_;
  if (silent || (left == 0 && !cycle_accurate_ && !quirks_.empty_p_headers_count)) return at;
  const bool count_only = sent_unknown_ || left == 0;
  at = write(at, count_only ? ElementKind::kCycleCount : ElementKind::kAddrUnknown, index);
  std::uint32_t cycles = 0;
  switch (header.format) {
    case 1:
      cycles = left;
      break;
    case 2:
      cycles = left == 2 ? 1 : 0;
      break;
    case 4:
      break;
    default:
      cycles = header.cycle_count;
      break;
  }
  count_cycles(at[-1], cycles);
  sent_unknown_ = true;
  return at;
}

// Quirks stale_ranges and empty_p_headers_count: a range of what its slot held before.
Element* Decoder::write_stale_range(TraceIndex index, Element* at) {
  const Slot& slot = slots_.push();
  *at = context_;
  at->kind = ElementKind::kInstrRange;
  at->index = index;
  at->start = slot.start;
  at->end = slot.end;
  at->isa = slot.isa;
  at->last_type = slot.type;
  at->last_subtype = slot.subtype;
  return at + 1;
}

Element* Decoder::not_followed(TraceIndex index, Isa isa, Element* at) {
  const bool unsupported = instructions_.outcome() == flow::BlockEnd::kUnsupported;
  if (unsupported && quirks_.stale_ranges) return write_stale_range(index, at);
  if (quirks_.stale_context_isa) {
    slots_.push().start = address_;
    slots_.drop(1);
  }
  at = write(at, ElementKind::kAddrNacc, index);
  at[-1].start = address_;
  at[-1].number = instructions_.space();
  at[-1].isa = isa;
  need_address_ = true;
  if (data_trace_) transfers_.begin(Owner::Kind::kUnknown);
  if (unsupported)
    doubt(kDoubtIsa, index, "The code is Jazelle or ThumbEE, which cannot be followed.");
  return at;
}

Element* Decoder::no_atoms(TraceIndex index, const PHeader& header, Element* at) {
  if (need_address_) return unknown_address(index, header, 0, at);
  if (cycle_accurate_) {
    at = write(at, ElementKind::kCycleCount, index);
    count_cycles(at[-1], header.format == 1 ? 1U : header.cycle_count);
  } else if (quirks_.empty_p_headers_count) {
    at = write_stale_range(index, at);
  }
  return at;
}

Element* Decoder::atoms(TraceIndex index, const PHeader& header, Element* at) {
  if (header.atom_count == 0) return no_atoms(index, header, at);
  Isa isa = isa_;
  for (unsigned i = 0; i < header.atom_count; ++i) {
    if (need_address_) {
      at = unknown_address(index, header, header.atom_count - i, at);
      break;
    }
    const std::uint32_t cycles = i == 0 ? header.first_cycles : header.other_cycles;
    const Step* const step = instructions_.at(address_, isa);
    if (step == nullptr) [[unlikely]] {
      at = not_followed(index, isa, at);
      count_cycles(at[-1], cycles);
      if (!need_address_) isa = stale_isa_;
      continue;
    }
    stale_isa_ = step->next_isa;
    const bool executed = (header.atoms >> i & 1) != 0;
    at = write_range(at, index, *step, isa, executed);
    count_cycles(at[-1], cycles);
    if (data_trace_ && executed && step->access != isa::DataAccess::kNone) {
      transfers_.executed(address_, step->access);
      ++data_instructions_;
    }
    if (!executed || step->type < InstrType::kBranch || step->type > InstrType::kIndirectBranch) {
      address_ += step->size;
    } else if (step->type == InstrType::kBranch) {
      address_ = step->target;
      isa = step->next_isa;
    } else {
      need_address_ = true;
      sent_unknown_ = false;
    }
  }
  isa_ = quirks_.forgets_direct_interworking ? packet_isa_ : isa;
  return at;
}

Element* Decoder::run(TraceIndex index, const PHeader& header, Element* out, Element* end) {
  const std::size_t held = queue_.size();
  if (static_cast<std::size_t>(end - out) < held + kMaxPerHeader) [[unlikely]] {
    packet_index_ = index;
    p_header(index, header);
    finish_packet();
    return out;
  }
  packet_index_ = index;
  const bool lone_only = quirks_.cancels_lone_range_only;
  if (header.atom_count == 0 && cancellable_ && !lone_only) {
    // Cycles that pass behind an instruction which can still be cancelled.
    p_header(index, header);
    finish_packet();
    return out;
  }
  if (held != 0) {
    out = std::copy(queue_.begin(), queue_.end(), out);
    queue_.clear();
  }
  Element* const first = out;
  out = atoms(index, header, out);
  cancellable_ = out != first && out[-1].kind == ElementKind::kInstrRange;
  if (lone_only) {
    cancellable_ = cancellable_ && held == 0 && out - first == 1;
    pended_ = cancellable_ ? 1 : 0;
    slots_.send(held + static_cast<std::size_t>(out - first) - pended_);
  }
  if (cancellable_) queue_.push_back(*--out);
  return out;
}

// As run(), into the queue.
void Decoder::p_header(TraceIndex index, const PHeader& header) {
  Element made[kMaxPerHeader];
  const std::size_t held = queue_.size() - ready_;
  if (header.atom_count != 0) settle();
  if (quirks_.cancels_lone_range_only) pended_ = 0;
  Element* const end = atoms(index, header, made);
  const auto count = static_cast<std::size_t>(end - made);
  const bool range = count != 0 && end[-1].kind == ElementKind::kInstrRange;
  if (quirks_.cancels_lone_range_only) {
    if (range && held == 0 && count == 1) pended_ = 1;
  } else if (range) {
    queue_.insert(queue_.end(), made, end - 1);
    settle();
    queue_.push_back(end[-1]);
    cancellable_ = true;
    return;
  }
  queue_.insert(queue_.end(), made, end);
}

}  // namespace waymark::etmv3
