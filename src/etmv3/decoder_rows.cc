// The main loop of decoding: consecutive P-headers.  See etmv3.md 9.3.
#include <algorithm>
#include <bit>
#include <cstring>

#include "decoder_inl.h"
#include "waymark/flow/step_path_inl.h"

namespace waymark::etmv3 {

using flow::Step;

namespace {

template <class T>
inline Quad load(const T& from) {
  static_assert(sizeof(T) == sizeof(Quad));
  Quad quad;
  std::memcpy(&quad, &from, sizeof quad);
  return quad;
}
inline void store(std::uint8_t* to, Quad quad) { std::memcpy(to, &quad, sizeof quad); }

// The four words of a step, and an element from `start` on.
static_assert(offsetof(Step, address) == 0 && offsetof(Step, end) == 4 &&
              offsetof(Step, bits) == 8 && offsetof(Step, description) == 12);
static_assert(offsetof(Element, end) == offsetof(Element, start) + 8 &&
              offsetof(Element, count) == offsetof(Element, timestamp) + 8 &&
              offsetof(Element, kind) == offsetof(Element, context_id) + 8);

// `base`: the context IDs, and the rest of the context.
inline void write_element(Element* to, TraceIndex index, Quad step, Quad counts, Quad base,
                          const Row& row, std::uint64_t rest) {
  const Quad addresses = step & row.address_mask;
  const Quad described = (step & row.description_mask) | base;
  set_word(to, offsetof(Element, index), index);
  if constexpr (std::endian::native == std::endian::little) {
    constexpr Quad kNone = {0, 0, 0, 0};
    auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
    store(bytes + offsetof(Element, start), __builtin_shufflevector(addresses, kNone, 0, 4, 1, 4));
    store(bytes + offsetof(Element, timestamp), counts);
    store(bytes + offsetof(Element, context_id), described);
  } else {
    const auto set_words = [&](std::size_t offset, Quad quad) {
      set_word(to, offset, quad[0] | std::uint64_t{quad[1]} << 32);
      set_word(to, offset + 8, quad[2] | std::uint64_t{quad[3]} << 32);
    };
    set_words(offsetof(Element, start), Quad{addresses[0], 0, addresses[1], 0});
    set_words(offsetof(Element, timestamp), counts);
    set_words(offsetof(Element, context_id), described);
  }
  set_word(to, offsetof(Element, exception_level), rest);
}

}  // namespace

// Not in an anonymous namespace, because the decoder's RowLoop has them.
namespace row_parts {

/// The ring of slots as the loop has it: positions are offsets in bytes from slot 0.
template <bool kQuirks>
class SlotWriter {
 public:
  explicit SlotWriter(QueueSlots& slots)
      : bytes_(reinterpret_cast<std::uint8_t*>(slots.data())),
        end_((slots.size() + 1) * sizeof(QueueSlot)),
        at_(slots.next() * sizeof(QueueSlot)) {}

  void put(Quad step) {
    if constexpr (!kQuirks) return;
    store(bytes_ + at_, step);
    at_ = next(at_);
  }
  void put(Quad first, Quad second, const Row& row) {
    if constexpr (!kQuirks) return;
    const std::size_t second_at = next(at_);
    const std::size_t third_at = next(second_at);
    store(bytes_ + (at_ & row.present[0]), first);
    store(bytes_ + (second_at & row.present[1]), second);
    at_ = second_at ^ ((second_at ^ third_at) & row.present[1]);
  }
  /// The number of the next slot.
  [[nodiscard]] std::size_t number() const { return at_ / sizeof(QueueSlot); }

 private:
  // No branch: none could be predicted.
  [[nodiscard]] std::size_t next(std::size_t of) const {
    const std::size_t ring = end_ - sizeof(QueueSlot);
    of += sizeof(QueueSlot);
    return of - (ring & (std::size_t{0} - static_cast<std::size_t>(of == end_)));
  }

  std::uint8_t* bytes_;
  std::size_t end_;
  std::size_t at_;
};

/// The headers of a row.
struct Headers {
  const std::uint8_t* data;
  std::size_t position;
  std::size_t size;
  const frames::Run* run;
  const frames::Run* runs_end;
  frames::Indexer index{*run};
  std::size_t run_end = end_of_run();  ///< Of this run, or of the row.

  [[nodiscard]] TraceIndex where() const { return index(position); }
  [[gnu::always_inline]] void next_run() {
    ++run;
    index = frames::Indexer(*run);
    run_end = end_of_run();
  }
  [[nodiscard]] std::size_t end_of_run() const {
    return run + 1 != runs_end ? run[1].position : size;
  }
};

}  // namespace row_parts

/// The loop of run_row().  Most headers make one or two elements, of consecutive instructions. Both
/// are always written, and surplus ones are overwritten.  Everything else about them is in the
/// tables.  All of it is one function, so that the state stays in registers from one header to the
/// next.
template <bool kQuirks>
class Decoder::RowLoop {
 public:
  [[gnu::always_inline]] RowLoop(Decoder& decoder, const row_parts::Headers& headers, Element* out,
                                 Element* out_end)
      : d_(decoder),
        rows_(decoder.rows_->data()),
        bases_(decoder.words_.bases),
        rest_(decoder.words_.rest),
        headers_(headers),
        begin_(headers.position),
        lost_at_(headers.position),
        out_end_(out_end),
        at_(out + decoder.queue_.tail_count()),
        slots_(decoder.reference_.slots) {}

  /// False: there is no step to begin with.
  [[gnu::always_inline]] bool enter() {
    lost_ = d_.path_.lost;
    if (lost_) {
      step_ = flow::StepPath::kNowhere;
    } else {
      if (kQuirks && d_.path_.isa != d_.packet_isa_) return false;
      step_ = d_.path_.find();
    }
    line_ = step_;
    return step_ != nullptr;
  }

  [[gnu::always_inline]] void loop() {
    Element* const last_room = out_end_ - 2;
    while (at_ <= last_room) {
      if (headers_.position == headers_.run_end) [[unlikely]] {
        if (headers_.position == headers_.size) break;
        headers_.next_run();
        continue;
      }
      const Row& row = rows_[headers_.data[headers_.position]];
      if (((step_[0].bits & row.stops[0]) | (step_[1].bits & row.stops[1])) == 0) [[likely]] {
        pass(row);
        ++headers_.position;
      } else if (!follow(row)) {
        break;
      }
    }
  }

  /// Returns the position after the last header; `out` advances.
  [[gnu::always_inline]] std::size_t finish(Element*& out) {
    if (lost_) {
      d_.path_.lose();
      d_.sent_unknown_ = d_.sent_unknown_ || headers_.position != lost_at_;
    } else if (step_ != nullptr) {
      d_.path_.go_to(*step_);
      note_line();
    }
    if (headers_.position == begin_) return headers_.position;
    d_.packet_index_ = headers_.index(headers_.position - 1);
    const std::size_t held = kQuirks ? held_by_count() : held_for_cancel();
    out = at_ - held;
    d_.queue_.set_tail(out, held);
    return headers_.position;
  }

 private:
  // One or two atoms, of steps that lead on to the next ones, or none.
  [[gnu::always_inline]] void pass(const Row& row) {
    const TraceIndex where = headers_.where();
    const Quad first = load(step_[0]);
    const Quad second = load(step_[1]);
    write_element(at_, where, first, row.first_counts,
                  bases_[static_cast<std::size_t>(row.kinds[0])], row, rest_);
    write_element(at_ + 1, where, second, row.other_counts,
                  bases_[static_cast<std::size_t>(row.kinds[1])], row, rest_);
    slots_.put(first, second, row);
    at_ += row.outputs;
    step_ += row.atom_count;
  }

  struct Sink {
    const Row& row;
    const Quad* bases;
    std::uint64_t rest;
    TraceIndex where;
    flow::InstructionCache& cache;
    Quad counts;
    Element* to;
    row_parts::SlotWriter<kQuirks> slots;
    isa::Isa next_isa = isa::Isa::kA32;

    [[gnu::always_inline]] void write(Quad step, std::uint32_t executed) {
      write_element(to++, where, step, counts, bases[executed], row, rest);
      counts = row.other_counts;
      slots.put(step);
    }
    [[gnu::always_inline]] void pass_on(const Step& step) { write(load(step), 1); }
    [[gnu::always_inline]] void pass(const Step& step, std::uint32_t executed) {
      write(load(step), executed);
      if constexpr (kQuirks) next_isa = cache.next_isa(step);
    }
  };

  // Branches, ends of sequences, more than two atoms, and bytes that are not P-headers.  False: the
  // loop ends.  If the header was not passed then, the slow path handles it.
  [[gnu::always_inline]] bool follow(const Row& row) {
    if (row.atom_count == 0 || lost_ ||
        (kQuirks && ReferenceQueue::kMostPended + row.atom_count > d_.reference_.slots.size()) ||
        row.outputs > out_end_ - at_)
      return false;
    note_line();
    const std::uint32_t address = step_->address;
    const isa::Isa isa = step_->isa();
    std::uint32_t atoms = row.atoms;
    unsigned left = row.atom_count;
    Sink sink{row, bases_, rest_, headers_.where(), d_.path_.cache(), row.first_counts,
              at_, slots_};
    if (d_.path_.take_from(step_, atoms, left, sink) != flow::Turn::kOn) {
      d_.path_.go_to(address, isa);
      step_ = nullptr;
      return false;
    }
    at_ = sink.to;
    ++headers_.position;
    if constexpr (kQuirks) {
      slots_ = sink.slots;
      d_.reference_.stale_isa = sink.next_isa;
    }
    line_ = step_;
    if (step_ == nullptr) return arrive();
    if (!kQuirks || step_->isa() == d_.packet_isa_) return true;
    d_.path_.go_to(step_->address, d_.packet_isa_);
    step_ = nullptr;
    return false;
  }

  // After the last header, only the path has the place.
  [[gnu::always_inline]] bool arrive() {
    if (kQuirks) d_.path_.change_isa(d_.packet_isa_);
    lost_ = d_.path_.lost;
    if (!lost_) {
      d_.path_.go_to(d_.path_.address, d_.path_.isa);
      return false;
    }
    d_.sent_unknown_ = false;
    lost_at_ = headers_.position;
    step_ = line_ = flow::StepPath::kNowhere;
    // In this loop, only cycles can follow.
    return d_.cycle_accurate_;
  }

  // The result of a straight line; only its last instruction matters.
  [[gnu::always_inline]] void note_line() {
    if (kQuirks && step_ != line_) d_.reference_.stale_isa = d_.path_.cache().next_isa(step_[-1]);
  }

  // Under the quirk, every second one of the last packets is held, if they are a single range each.
  [[gnu::always_inline]] std::size_t held_by_count() {
    std::size_t passed = headers_.position;
    while (passed != begin_ && rows_[headers_.data[passed - 1]].lone) --passed;
    std::size_t held = headers_.position - passed;
    if (held != 0 && passed == begin_ && d_.queue_.tail_count() != 0) ++held;
    held &= 1;
    d_.reference_.slots.sent(slots_.number(), held);
    d_.reference_.pended = held;
    return held;
  }

  // The last range, with the cycles after it.
  [[gnu::always_inline]] std::size_t held_for_cancel() {
    std::size_t passed = headers_.position;
    while (passed != begin_ && rows_[headers_.data[passed - 1]].atom_count == 0) --passed;
    std::size_t held = headers_.position - passed;
    if (passed != begin_) {
      ++held;
    } else {
      held = d_.queue_.tail_count() != 0 ? held + d_.queue_.tail_count() : 0;
    }
    if (held >= kMaxHeld) held = 0;
    d_.cancellable_ = held != 0;
    return held;
  }

  Decoder& d_;
  const Row* rows_;
  const Quad* bases_;
  std::uint64_t rest_;
  row_parts::Headers headers_;
  std::size_t begin_;
  std::size_t lost_at_;
  Element* out_end_;
  Element* at_;
  row_parts::SlotWriter<kQuirks> slots_;
  const Step* step_ = nullptr;
  const Step* line_ = nullptr;  ///< Where the current straight line began.
  bool lost_ = false;
};

std::size_t Decoder::run_row(const frames::Run* run, const frames::Run* runs_end,
                             const std::uint8_t* data, std::size_t position, std::size_t size,
                             Element*& out, Element* out_end) {
  if (rows_ == nullptr || (path_.lost && !cycle_accurate_)) return position;
  if (static_cast<std::size_t>(out_end - out) < queue_.tail_count() + queue_.size() + 2)
    return position;
  return quirks_.cancels_lone_range_only
             ? row<true>(run, runs_end, data, position, size, out, out_end)
             : row<false>(run, runs_end, data, position, size, out, out_end);
}

template <bool kQuirks>
std::size_t Decoder::row(const frames::Run* run, const frames::Run* runs_end,
                         const std::uint8_t* data, std::size_t position, std::size_t size,
                         Element*& out, Element* out_end) {
  if (!queue_.empty() && !load_tail(out, out_end)) return position;
  RowLoop<kQuirks> loop(
      *this, {.data = data, .position = position, .size = size, .run = run, .runs_end = runs_end},
      out, out_end);
  if (!loop.enter()) return position;
  loop.loop();
  return loop.finish(out);
}

}  // namespace waymark::etmv3
