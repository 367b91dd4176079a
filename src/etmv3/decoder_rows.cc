// The main loop of decoding: consecutive P-headers.  See etmv3.md 9.3.
#include <algorithm>
#include <bit>
#include <cstring>

#include "decoder_inl.h"

namespace waymark::etmv3 {

using flow::Step;
using isa::InstrType;

namespace {

template <class T>
inline Quad load(const T& from) {
  static_assert(sizeof(T) == sizeof(Quad));
  Quad quad;
  std::memcpy(&quad, &from, sizeof quad);
  return quad;
}
inline void store(std::uint8_t* to, Quad quad) { std::memcpy(to, &quad, sizeof quad); }

// Represents the instruction when no address is known: an end that leads nowhere.
constexpr Step kLost[2] = {{.bits = Step::kAlways | Step::kStopsExecuted | Step::kStopsNotExecuted},
                           {}};

// The four words of a step, and an element from `start` on.
static_assert(offsetof(Step, address) == 0 && offsetof(Step, end) == 4 &&
              offsetof(Step, bits) == 8 && offsetof(Step, description) == 12);
static_assert(offsetof(Element, end) == offsetof(Element, start) + 8 &&
              offsetof(Element, count) == offsetof(Element, timestamp) + 8 &&
              offsetof(Element, kind) == offsetof(Element, context_id) + 8);

// `base`: the context IDs, and the rest of the context.
inline void write_element(Element* to, TraceIndex index, Quad step, Quad counts, Quad base,
                          const Row& row, std::uint64_t rest) {
  constexpr Quad kNone = {0, 0, 0, 0};
  auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
  set_word(to, offsetof(Element, index), index);
  store(bytes + offsetof(Element, start),
        __builtin_shufflevector(step & row.address_mask, kNone, 0, 4, 1, 4));
  store(bytes + offsetof(Element, timestamp), counts);
  store(bytes + offsetof(Element, context_id), (step & row.description_mask) | base);
  set_word(to, offsetof(Element, exception_level), rest);
}

}  // namespace

std::size_t Decoder::run_row(const frames::Run* run, const frames::Run* runs_end,
                             const std::uint8_t* data, std::size_t position, std::size_t size,
                             Element*& out, Element* out_end) {
  if (rows_ == nullptr || (need_address_ && !cycle_accurate_)) return position;
  if (static_cast<std::size_t>(out_end - out) < tail_count_ + queue_.size() + 2) return position;
  return quirks_.cancels_lone_range_only
             ? row<true>(run, runs_end, data, position, size, out, out_end)
             : row<false>(run, runs_end, data, position, size, out, out_end);
}

// Most headers make one or two elements, of consecutive instructions.  Both are always written, and
// surplus ones are overwritten.  Everything else about them is in the tables.  Their values for the
// current state stay in registers from one header to the next.
template <bool kQuirks>
std::size_t Decoder::row(const frames::Run* run, const frames::Run* runs_end,
                         const std::uint8_t* data, std::size_t position, std::size_t size,
                         Element*& out, Element* out_end) {
  const Step* step = step_;
  bool lost = need_address_;
  if (lost) {
    step = kLost;
  } else if (kQuirks && isa_ != packet_isa_) {
    return position;
  } else if (step == nullptr) {
    step = instructions_.find(address_, isa_);
    if (step == nullptr) return position;
  }
  if (!queue_.empty() && !load_tail(out, out_end)) return position;
  const Row* const rows = rows_->data();
  const std::uint64_t rest = words_.rest;
  const Quad* const bases = words_.bases;
  const std::size_t begin = position;
  std::size_t lost_at = begin;
  const Step* line = step;  // Where the current straight line began.
  Element* at = out + tail_count_;
  Element* const last_room = out_end - 2;
  auto* const slots = reinterpret_cast<std::uint8_t*>(slots_.data());
  const std::size_t slot_end = (slots_.size() + 1) * sizeof(Slot);
  std::size_t slot = slots_.next() * sizeof(Slot);
  // No branch: none could be predicted.
  const std::size_t ring = slot_end - sizeof(Slot);
  const auto next_slot = [slot_end, ring](std::size_t of) {
    of += sizeof(Slot);
    return of - (ring & (std::size_t{0} - static_cast<std::size_t>(of == slot_end)));
  };

  frames::Indexer index(*run);
  std::size_t run_end = run + 1 != runs_end ? run[1].position : size;
  while (at <= last_room) {
    if (position == run_end) [[unlikely]] {
      if (position == size) break;
      ++run;
      index = frames::Indexer(*run);
      run_end = run + 1 != runs_end ? run[1].position : size;
      continue;
    }
    const Row& header = rows[data[position]];
    if (((step[0].bits & header.stops[0]) | (step[1].bits & header.stops[1])) == 0) [[likely]] {
      const TraceIndex where = index(position);
      const Quad first = load(step[0]);
      const Quad second = load(step[1]);
      write_element(at, where, first, header.first_counts,
                    bases[static_cast<std::size_t>(header.kinds[0])], header, rest);
      write_element(at + 1, where, second, header.other_counts,
                    bases[static_cast<std::size_t>(header.kinds[1])], header, rest);
      if constexpr (kQuirks) {
        const std::size_t second_slot = next_slot(slot);
        const std::size_t third_slot = next_slot(second_slot);
        store(slots + (slot & header.present[0]), first);
        store(slots + (second_slot & header.present[1]), second);
        slot = second_slot ^ ((second_slot ^ third_slot) & header.present[1]);
      }
      at += header.outputs;
      step += header.atom_count;
      ++position;
      continue;
    }
    // Branches, ends of lines, more than two atoms, and bytes that are not P-headers.
    if (header.atom_count == 0 || lost ||
        (kQuirks && kMostPended + header.atom_count > slots_.size()) ||
        header.outputs > out_end - at)
      break;
    const TraceIndex where = index(position);
    const Step* present = step;
    Element* to = at;
    std::uint32_t atoms = header.atoms;
    Quad counts = header.first_counts;
    std::size_t slot_after = slot;
    const std::uint32_t address = step->address;
    const isa::Isa isa = step->isa();
    if (kQuirks && step != line) stale_isa_ = instructions_.next_isa(step[-1]);
    isa::Isa stale_isa = stale_isa_;
    bool away = false;           // There is no step at which to continue.
    const Step* last = nullptr;  // That of the last atom, if it did not branch.
    for (unsigned left = header.atom_count; left != 0; --left) {
      // Executed, and consecutive.
      const unsigned many = std::min(static_cast<unsigned>(std::countr_one(atoms)), left - 1);
      unsigned done = 0;
      for (; done != many && (present->bits & Step::kStopsExecuted) == 0; ++done) {
        const Quad quad = load(*present++);
        write_element(to++, where, quad, counts, bases[1], header, rest);
        counts = header.other_counts;
        if constexpr (kQuirks) {
          store(slots + slot_after, quad);
          slot_after = next_slot(slot_after);
        }
      }
      atoms >>= done;
      left -= done;
      if (present->is_end()) [[unlikely]] {
        present = instructions_.after(*present);
        if (present == nullptr) break;
      }
      const unsigned executed = atoms & 1;
      atoms >>= 1;
      const Quad quad = load(*present);
      write_element(to++, where, quad, counts, bases[executed], header, rest);
      counts = header.other_counts;
      if constexpr (kQuirks) {
        store(slots + slot_after, quad);
        slot_after = next_slot(slot_after);
      }
      if (executed == 0 || !present->is_branch()) {
        last = present++;
        continue;
      }
      last = nullptr;
      stale_isa = instructions_.next_isa(*present);
      const bool indirect = present->type() == InstrType::kIndirectBranch;
      away = left == 1;
      address_ = indirect ? present->end : instructions_.target(*present);
      isa_ = indirect ? present->isa() : stale_isa;
      lost = away && indirect;
      present = indirect ? nullptr : instructions_.after(*present);
      if (present == nullptr) break;
      if (kQuirks && present->isa() != packet_isa_) {
        present = nullptr;
        away = false;
        break;
      }
      away = false;
    }
    if (present == nullptr && !away) {
      // The slow path handles this header.
      address_ = address;
      isa_ = isa;
      step = nullptr;
      break;
    }
    stale_isa_ = last != nullptr ? instructions_.next_isa(*last) : stale_isa;
    slot = slot_after;
    at = to;
    ++position;
    step = line = present;
    if (!away) continue;
    if (kQuirks) isa_ = packet_isa_;
    if (!lost) break;
    need_address_ = true;
    sent_unknown_ = false;
    lost_at = position;
    // In this loop, only cycles can follow.
    if (!cycle_accurate_) break;
    step = line = kLost;
  }
  if (lost) {
    need_address_ = true;
    sent_unknown_ = sent_unknown_ || position != lost_at;
    step = nullptr;
  }
  step_ = step;
  if (step != nullptr) {
    address_ = step->address;
    isa_ = step->isa();
    if (kQuirks && step != line) stale_isa_ = instructions_.next_isa(step[-1]);
  }
  if (position == begin) return position;
  packet_index_ = index(position - 1);
  // What is held back: the last range, with the cycles after it; under the quirk, every second one
  // of the packets that are a single range.
  std::size_t passed = position;
  std::size_t held = 0;
  if constexpr (kQuirks) {
    while (passed != begin && rows[data[passed - 1]].lone) --passed;
    held = position - passed;
    if (held != 0 && passed == begin && tail_count_ != 0) ++held;
    held &= 1;
    slots_.sent(slot / sizeof(Slot), held);
    pended_ = held;
  } else {
    while (passed != begin && rows[data[passed - 1]].atom_count == 0) --passed;
    held = position - passed;
    if (passed != begin) {
      ++held;
    } else {
      held = tail_count_ != 0 ? held + tail_count_ : 0;
    }
    if (held >= kMaxHeld) held = 0;
    cancellable_ = held != 0;
  }
  tail_count_ = held;
  tail_ = out = at - held;
  return position;
}

}  // namespace waymark::etmv3
