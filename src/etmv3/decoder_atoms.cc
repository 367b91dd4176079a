// P-headers: one instruction per atom.  See etmv3.md 9.3.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "decoder_inl.h"

namespace waymark::etmv3 {

using flow::Step;
using isa::InstrType;
using isa::Isa;

// The elements move to the front of a queue that is half as large again.
void Decoder::Slots::grow() {
  const auto begin = slots_.begin() + 1;
  std::rotate(begin, begin + static_cast<std::ptrdiff_t>(first_), slots_.end());
  slots_.resize(1 + size() + size() / 2);
  first_ = 0;
}

inline void Decoder::write_words(Element* at, TraceIndex index, std::uint64_t start,
                                 std::uint64_t end, std::uint64_t counts,
                                 std::uint64_t described) const {
  set_word(at, offsetof(Element, index), index);
  set_word(at, offsetof(Element, start), start);
  set_word(at, offsetof(Element, end), end);
  set_word(at, offsetof(Element, timestamp), 0);
  set_word(at, offsetof(Element, count), counts);
  set_word(at, offsetof(Element, context_id), words_.context_ids);
  set_word(at, offsetof(Element, kind), described);
  set_word(at, offsetof(Element, exception_level), words_.rest);
}

Element* Decoder::write(Element* at, ElementKind kind, TraceIndex index) {
  *at = context_;
  at->kind = kind;
  at->index = index;
  if (quirks_.cancels_lone_range_only) slots_.push();
  return at + 1;
}

// No address is known: the rest of the header reports only that.
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

// Quirks stale_ranges and empty_p_headers_count: a range with the old content of its slot.
Element* Decoder::write_stale_range(TraceIndex index, Element* at) {
  const Slot& slot = slots_.push();
  *at = context_;
  at->kind = ElementKind::kInstrRange;
  at->index = index;
  at->start = slot.start;
  at->end = slot.end;
  at->isa = slot.isa();
  at->last_type = static_cast<InstrType>(slot.description >> 8 & 0xFF);
  at->last_subtype = static_cast<isa::InstrSubtype>(slot.description >> 16 & 0xFF);
  return at + 1;
}

Element* Decoder::not_followed(TraceIndex index, Isa isa, Element* at) {
  const bool unsupported = instructions_.outcome() == flow::BlockEnd::kUnsupported;
  if (unsupported && quirks_.stale_ranges) return write_stale_range(index, at);
  if (quirks_.cancels_lone_range_only) {
    slots_.push().start = address_;
    slots_.drop(1);
  }
  at = write(at, ElementKind::kAddrNacc, index);
  at[-1].start = address_;
  at[-1].number = instructions_.space();
  at[-1].isa = isa;
  need_address_ = true;
  if (data_trace_) transfers_.begin(Owner::Kind::kUnknown);
  if (unsupported) doubt(kDoubtIsa, index, Finding::kIsaNotFollowed);
  return at;
}

Element* Decoder::no_atoms(TraceIndex index, const PHeader& header, Element* at) {
  if (need_address_) return unknown_address(index, header, 0, at);
  if (cycle_accurate_) {
    const std::uint64_t cycles = header.format == 1 ? 1U : header.cycle_count;
    write_words(at++, index, 0, 0, cycles << 32, words_.cycle_count);
    if (quirks_.cancels_lone_range_only) slots_.push();
  } else if (quirks_.empty_p_headers_count) {
    at = write_stale_range(index, at);
  }
  return at;
}

// The words that the context gives to every element.
void Decoder::refresh_words() {
  const std::uint64_t described = word_of(context_, offsetof(Element, kind));
  if (words_.known && words_.described == described &&
      words_.context_ids == word_of(context_, offsetof(Element, context_id)) &&
      words_.rest == word_of(context_, offsetof(Element, exception_level)))
    return;
  words_.known = true;
  words_.described = described;
  words_.context_ids = word_of(context_, offsetof(Element, context_id));
  words_.rest = word_of(context_, offsetof(Element, exception_level));
  Element element = context_;
  if (cycle_accurate_) element.flags |= kElementHasCycleCount;
  element.kind = ElementKind::kInstrRange;
  element.isa = Isa::kA32;
  words_.range = word_of(element, offsetof(Element, kind));
  element.kind = ElementKind::kCycleCount;
  element.isa = context_.isa;
  words_.cycle_count = word_of(element, offsetof(Element, kind));
  constexpr std::uint64_t kExecuted = std::uint64_t{kElementExecuted} << kFlagsShift;
  words_.bases[static_cast<std::size_t>(RowKind::kNotExecuted)] =
      quad_of(words_.context_ids, words_.range);
  words_.bases[static_cast<std::size_t>(RowKind::kExecuted)] =
      quad_of(words_.context_ids, words_.range | kExecuted);
  words_.bases[static_cast<std::size_t>(RowKind::kCycles)] =
      quad_of(words_.context_ids, words_.cycle_count);
}

template <bool kQuirks, bool kData>
Element* Decoder::atoms_with_address(TraceIndex index, const PHeader& header, Element* at) {
  static_assert(static_cast<unsigned>(Isa::kA32) == 0);
  static_assert(kElementExecuted == 1);
  const std::uint64_t base = words_.range;
  std::uint64_t counts = 1 | (cycle_accurate_ ? std::uint64_t{header.first_cycles} << 32 : 0);
  std::uint64_t atoms = header.atoms;
  std::uint32_t address = address_;
  Isa isa = isa_;
  step_ = nullptr;
  Element* const end = at + header.atom_count;
  while (true) {
    const Step* const found = instructions_.at(address, isa);
    if (found == nullptr) [[unlikely]] {
      address_ = address;
      isa_ = isa;
      return atoms_without_step(index, header,
                                static_cast<unsigned>(header.atom_count - (end - at)), at);
    }
    const Step step = *found;
    const std::uint64_t executed = atoms & 1;
    atoms >>= 1;
    write_words(at, index, address, step.end, counts,
                base | (step.bits & Step::kConditional) | executed << kFlagsShift |
                    std::uint64_t{step.description} << 32);
    ++at;
    if constexpr (kQuirks) note_slot(step);
    if constexpr (kData) {
      if (executed != 0 && step.access() != isa::DataAccess::kNone) {
        transfers_.executed(address, step.access());
        ++data_instructions_;
      }
    }
    address = step.end;
    if (executed != 0 && step.is_branch()) {
      if (step.type() == InstrType::kBranch) {
        address = instructions_.target(step);
        isa = instructions_.next_isa(step);
      } else {
        need_address_ = true;
        sent_unknown_ = false;
        if (at != end) at = unknown_address(index, header, static_cast<unsigned>(end - at), at);
        break;
      }
    }
    if (at == end) break;
    counts = 1 | (cycle_accurate_ ? std::uint64_t{header.other_cycles} << 32 : 0);
  }
  address_ = address;
  isa_ = isa;
  return at;
}

inline void Decoder::note_slot(const Step& step) {
  Slot& slot = slots_.push();
  slot.start = step.address;
  slot.end = step.end;
  slot.description = step.description;
  stale_isa_ = instructions_.next_isa(step);
}

// The atoms from `i` on, whose instruction is not available.
Element* Decoder::atoms_without_step(TraceIndex index, const PHeader& header, unsigned i,
                                     Element* at) {
  for (; i < header.atom_count; ++i) {
    if (need_address_) return unknown_address(index, header, header.atom_count - i, at);
    const std::uint8_t cycles = i == 0 ? header.first_cycles : header.other_cycles;
    if (instructions_.at(address_, isa_) != nullptr) {
      const auto atom = static_cast<std::uint16_t>(header.atoms >> i & 1);
      at = atoms(index, {.atoms = atom, .atom_count = 1, .first_cycles = cycles}, at);
      continue;
    }
    at = not_followed(index, isa_, at);
    count_cycles(at[-1], cycles);
    if (!need_address_) isa_ = stale_isa_;
  }
  return at;
}

inline Element* Decoder::atoms(TraceIndex index, const PHeader& header, Element* at) {
  if (need_address_) [[unlikely]]
    return unknown_address(index, header, header.atom_count, at);
  if (header.atom_count == 0) return no_atoms(index, header, at);
  if (data_trace_) return atoms_with_address<false, true>(index, header, at);
  return quirks_.cancels_lone_range_only ? atoms_with_address<true, false>(index, header, at)
                                         : atoms_with_address<false, false>(index, header, at);
}

// The held elements move to `out`, unless they are there already.  False: there may not be enough
// space for one more packet.
bool Decoder::load_tail(Element* out, const Element* end) {
  const auto room = static_cast<std::size_t>(end - out);
  if (room < queue_.size() + tail_count_ + kMaxPerHeader) {
    leave_span();
    return false;
  }
  if (tail_count_ == 0 && !queue_.empty()) {
    tail_ = out;
    tail_count_ = queue_.size();
    std::ranges::copy(queue_, out);
    queue_.clear();
  }
  return true;
}

void Decoder::stash() {
  queue_.insert(queue_.end(), tail_, tail_ + tail_count_);
  tail_count_ = 0;
}

Element* Decoder::run(TraceIndex index, const PHeader& header, Element* out, Element* end) {
  packet_index_ = index;
  const bool simple =
      queue_.empty() && static_cast<std::size_t>(end - out) >= tail_count_ + kMaxPerHeader;
  if (!simple && !load_tail(out, end)) [[unlikely]] {
    p_header(index, header);
    finish_packet();
    return out;
  }
  if (quirks_.cancels_lone_range_only) return run_by_count(index, header, out);
  Element* const first = out + tail_count_;
  Element* const last = atoms(index, header, first);
  if (header.atom_count == 0 && cancellable_) {
    // Cycles after an instruction that can still be cancelled stay with it.
    tail_ = out;
    tail_count_ = static_cast<std::size_t>(last - out);
    if (tail_count_ < kMaxHeld) return out;
    cancellable_ = false;
    tail_count_ = 0;
    return last;
  }
  cancellable_ = last != first && last[-1].kind == ElementKind::kInstrRange;
  tail_count_ = cancellable_ ? 1 : 0;
  tail_ = last - tail_count_;
  return tail_;
}

// Quirk cancels_lone_range_only.
Element* Decoder::run_by_count(TraceIndex index, const PHeader& header, Element* out) {
  Element* const last = atoms(index, header, out + tail_count_);
  if (quirks_.forgets_direct_interworking) isa_ = packet_isa_;
  const bool lone = last - out == 1 && out->kind == ElementKind::kInstrRange;
  const bool held_before = tail_count_ != 0;
  pended_ = lone && !held_before ? 1 : 0;
  slots_.send(static_cast<std::size_t>(last - out) - pended_);
  tail_ = out;
  tail_count_ = pended_;
  return last - pended_;
}

Element* Decoder::run(TraceIndex index, const ShortBranch& branch, Element* out, Element* end) {
  packet_index_ = index;
  address_ = branch.address;
  isa_ = packet_isa_ = branch.isa;
  step_ = nullptr;
  need_address_ = sent_unknown_ = false;
  cancellable_ = false;
  if (!load_tail(out, end)) [[unlikely]] {
    pended_ = 0;
    finish_packet();
    return out;
  }
  if (quirks_.cancels_lone_range_only) {
    pended_ = 0;
    slots_.send(tail_count_);
  }
  out += tail_count_;
  tail_count_ = 0;
  return out;
}

// Like run(), into the queue.
void Decoder::p_header(TraceIndex index, const PHeader& header) {
  Element* const made = made_.data();
  const std::size_t held = queue_.size() - ready_;
  if (header.atom_count != 0) settle();
  if (quirks_.cancels_lone_range_only) pended_ = 0;
  Element* const end = atoms(index, header, made);
  if (quirks_.forgets_direct_interworking) isa_ = packet_isa_;
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
