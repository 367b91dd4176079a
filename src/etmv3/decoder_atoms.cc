// P-headers: one instruction per atom.  See etmv3.md 9.3.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "decoder_inl.h"
#include "waymark/flow/step_path_inl.h"

namespace waymark::etmv3 {

using flow::Step;
using isa::InstrType;
using isa::Isa;

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
  if (quirks_.cancels_lone_range_only) reference_.slots.push();
  return at + 1;
}

// No address is known: the rest of the header reports only that.
Element* Decoder::unknown_address(TraceIndex index, const PHeader& header, unsigned left,
                                  Element* at) {
  const bool silent = sent_unknown_ && !cycle_accurate_;
  if (silent || (left == 0 && !cycle_accurate_ && !quirks_.empty_p_headers_count)) return at;
  const bool count_only = sent_unknown_ || left == 0;
  at = write(at, count_only ? ElementKind::kCycleCount : ElementKind::kAddrUnknown, index);
  count_cycles(at[-1], lost_cycles(header, left));
  sent_unknown_ = true;
  return at;
}

// Quirks stale_ranges and empty_p_headers_count: a range with the old content of its slot.
Element* Decoder::write_stale_range(TraceIndex index, Element* at) {
  const QueueSlot& slot = reference_.slots.push();
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

// There is no instruction at the place.
Element* Decoder::not_followed(TraceIndex index, Element* at) {
  const bool unsupported = path_.cache().outcome() == flow::BlockEnd::kUnsupported;
  if (unsupported && quirks_.stale_ranges) return write_stale_range(index, at);
  if (quirks_.cancels_lone_range_only) {
    reference_.slots.push().start = path_.address;
    reference_.slots.drop(1);
  }
  at = write(at, ElementKind::kAddrNacc, index);
  at[-1].start = path_.address;
  at[-1].number = path_.cache().space();
  at[-1].isa = path_.isa;
  path_.lose();
  if (data_trace_) transfers_.begin(Owner::Kind::kUnknown);
  if (unsupported) report_once(kIsaNotFollowed, index, Finding::kIsaNotFollowed);
  return at;
}

Element* Decoder::no_atoms(TraceIndex index, const PHeader& header, Element* at) {
  if (path_.lost) return unknown_address(index, header, 0, at);
  if (cycle_accurate_) {
    const std::uint64_t cycles = header.format == 1 ? 1U : header.cycle_count;
    write_words(at++, index, 0, 0, cycles << 32, words_.cycle_count);
    if (quirks_.cancels_lone_range_only) reference_.slots.push();
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

/// Writes a range for each instruction.
template <bool kQuirks, bool kData>
struct Decoder::HeaderSink {
  Decoder& decoder;
  TraceIndex index;
  std::uint64_t counts;  ///< Those of the next element.
  std::uint64_t other_counts;
  Element* at;

  void pass_on(const Step& step) { pass(step, 1); }
  void pass(const Step& step, std::uint32_t executed) {
    static_assert(static_cast<unsigned>(Isa::kA32) == 0);
    static_assert(kElementExecuted == 1);
    const std::uint64_t flags = (step.bits & Step::kConditional) | executed << kFlagsShift;
    decoder.write_words(
        at++, index, step.address, step.end, counts,
        decoder.words_.range | flags | std::uint64_t{step.description} << kInstructionShift);
    counts = other_counts;
    if constexpr (kQuirks) decoder.reference_.note(step, decoder.path_.cache().next_isa(step));
    if constexpr (kData) {
      if (executed == 0 || step.access() == isa::DataAccess::kNone) return;
      decoder.transfers_.executed(step.address, step.access());
      ++decoder.data_.instructions;
    }
  }
};

template <bool kQuirks, bool kData>
Element* Decoder::follow(TraceIndex index, const PHeader& header, Element* at) {
  const auto counts = [this](std::uint8_t cycles) {
    return 1 | (cycle_accurate_ ? std::uint64_t{cycles} << 32 : 0);
  };
  HeaderSink<kQuirks, kData> sink{*this, index, counts(header.first_cycles),
                                  counts(header.other_cycles), at};
  std::uint32_t atoms = header.atoms;
  unsigned left = header.atom_count;
  const flow::Turn turned = path_.take(atoms, left, sink);
  if (path_.lost) sent_unknown_ = false;
  if (turned == flow::Turn::kOn) [[likely]]
    return sink.at;
  return rest_of(index, header, header.atom_count - left, sink.at);
}

// The atoms from `i` on, whose instruction is not available.
Element* Decoder::rest_of(TraceIndex index, const PHeader& header, unsigned i, Element* at) {
  for (; i < header.atom_count; ++i) {
    if (path_.lost) return unknown_address(index, header, header.atom_count - i, at);
    const std::uint8_t cycles = i == 0 ? header.first_cycles : header.other_cycles;
    if (path_.find() != nullptr) {
      const auto atom = static_cast<std::uint16_t>(header.atoms >> i & 1);
      at = atoms(index, {.atoms = atom, .atom_count = 1, .first_cycles = cycles}, at);
      continue;
    }
    at = not_followed(index, at);
    count_cycles(at[-1], cycles);
    if (!path_.lost) path_.change_isa(reference_.stale_isa);
  }
  return at;
}

inline Element* Decoder::atoms(TraceIndex index, const PHeader& header, Element* at) {
  if (path_.lost) [[unlikely]]
    return unknown_address(index, header, header.atom_count, at);
  if (header.atom_count == 0) return no_atoms(index, header, at);
  if (data_trace_) return follow<false, true>(index, header, at);
  return quirks_.cancels_lone_range_only ? follow<true, false>(index, header, at)
                                         : follow<false, false>(index, header, at);
}

// The held elements move to `out`, unless they are there already.  False: there may not be enough
// space for one more packet.
bool Decoder::load_tail(Element* out, const Element* end) {
  const auto room = static_cast<std::size_t>(end - out);
  if (room < queue_.size() + queue_.tail_count() + kMaxPerHeader) {
    leave_span();
    return false;
  }
  if (queue_.tail_count() == 0 && !queue_.empty()) queue_.to_tail(out);
  return true;
}

Element* Decoder::run(TraceIndex index, const PHeader& header, Element* out, Element* end) {
  packet_index_ = index;
  const bool simple =
      queue_.empty() && static_cast<std::size_t>(end - out) >= queue_.tail_count() + kMaxPerHeader;
  if (!simple && !load_tail(out, end)) [[unlikely]] {
    p_header(index, header);
    finish_packet();
    return out;
  }
  if (quirks_.cancels_lone_range_only) return run_by_count(index, header, out);
  Element* const first = out + queue_.tail_count();
  Element* const last = atoms(index, header, first);
  if (header.atom_count == 0 && cancellable_) {
    // Cycles after an instruction that can still be cancelled stay with it.
    const auto held = static_cast<std::size_t>(last - out);
    cancellable_ = held < kMaxHeld;
    queue_.set_tail(out, cancellable_ ? held : 0);
    return cancellable_ ? out : last;
  }
  cancellable_ = last != first && last[-1].kind == ElementKind::kInstrRange;
  const std::size_t held = cancellable_ ? 1 : 0;
  queue_.set_tail(last - held, held);
  return last - held;
}

// Quirk cancels_lone_range_only.
Element* Decoder::run_by_count(TraceIndex index, const PHeader& header, Element* out) {
  const bool held_before = queue_.tail_count() != 0;
  Element* const last = atoms(index, header, out + queue_.tail_count());
  if (quirks_.forgets_direct_interworking) path_.change_isa(packet_isa_);
  const bool lone = last - out == 1 && out->kind == ElementKind::kInstrRange;
  const std::size_t held = lone && !held_before ? 1 : 0;
  reference_.pended = held;
  reference_.slots.send(static_cast<std::size_t>(last - out) - held);
  queue_.set_tail(out, held);
  return last - held;
}

Element* Decoder::run(TraceIndex index, const ShortBranch& branch, Element* out, Element* end) {
  packet_index_ = index;
  packet_isa_ = branch.isa;
  path_.go_to(branch.address, branch.isa);
  sent_unknown_ = false;
  cancellable_ = false;
  if (!load_tail(out, end)) [[unlikely]] {
    reference_.pended = 0;
    finish_packet();
    return out;
  }
  const std::size_t held = queue_.tail_count();
  if (quirks_.cancels_lone_range_only) {
    reference_.pended = 0;
    reference_.slots.send(held);
  }
  queue_.give_tail();
  return out + held;
}

// The atoms of a header from number `first` on, as a packet.
void Decoder::finish_header(TraceIndex index, const PHeader& header, unsigned first) {
  packet_index_ = index;
  p_header(index, header, first);
  finish_packet();
}

// Like run(), into the queue.
void Decoder::p_header(TraceIndex index, const PHeader& header, unsigned first) {
  Element* const made = made_.data();
  const std::size_t held = queue_.held();
  if (header.atom_count != 0) settle();
  if (quirks_.cancels_lone_range_only) reference_.pended = 0;
  Element* const end =
      first == 0 ? atoms(index, header, made) : rest_of(index, header, first, made);
  if (quirks_.forgets_direct_interworking) path_.change_isa(packet_isa_);
  const auto count = static_cast<std::size_t>(end - made);
  queue_.add(made, end);
  if (count == 0 || end[-1].kind != ElementKind::kInstrRange) return;
  if (quirks_.cancels_lone_range_only) {
    if (held == 0 && count == 1) reference_.pended = 1;
    return;
  }
  queue_.release(1);
  cancellable_ = true;
}

}  // namespace waymark::etmv3
