// Packets to elements: one instruction per atom, and the data that it transferred.
// See etmv3.md 9 and 10.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/etmv3/packet.h"
#include "waymark/etmv3/quirks.h"
#include "waymark/etmv3/register_check.h"
#include "waymark/etmv3/rows.h"
#include "waymark/etmv3/transfers.h"
#include "waymark/flow/instruction_cache.h"
#include "waymark/frames/stream.h"
#include "waymark/image/image.h"

namespace waymark::etmv3 {

/// The state that a decoder keeps between packets, except for what it remembers of the image, the
/// elements that it holds back, and the state of data trace.  See etmv3.md 11.
struct DecoderState {
  enum class State : std::uint8_t { kNoSync, kWaitASync, kWaitISync, kDecode };

  State state_ = State::kNoSync;
  bool async_seen_ = false;  ///< The A-sync that kNoSync and kWaitASync wait for has passed.
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  TraceIndex packet_index_ = 0;
  /// Where the memory began to look as it does, if that depends on the place.
  TraceIndex memory_from_ = 0;
  unsigned time_bits_ = 0;  ///< Low bits of the time that were sent since the last loss.

  // Where execution is.
  std::uint32_t address_ = 0;
  isa::Isa isa_ = isa::Isa::kUnknown;
  isa::Isa packet_isa_ = isa::Isa::kUnknown;  ///< From the last branch or I-sync.
  bool need_address_ = true;
  bool sent_unknown_ = false;

  Element context_;  ///< The context fields of every element.
  /// The first held element is the range of the last instruction.
  bool cancellable_ = false;
  bool data_seen_ = false;
  std::uint64_t data_instructions_ = 0;
  std::uint8_t doubts_ = 0;
  bool failed_ = false;
  bool yield_ = false;  ///< The client must see a context before memory is read under it.
  /// The next I-sync is the first after a jump, not the first of the trace.
  bool jumped_ = false;

  friend bool operator==(const DecoderState&, const DecoderState&) = default;
};

/// Pull decoder: call accept() with a packet, then drain() until it is not busy(), then go on with
/// the next packet.  One owner; not thread safe.  `image` must outlive the decoder.
///
/// The range of the last traced instruction, and what follows it, are held back until a packet
/// shows that the instruction was not cancelled.
class Decoder : private DecoderState {
 public:
  /// The most elements that are held back for one instruction; this bounds the memory.
  static constexpr std::size_t kMaxHeld = 1024;
  /// The most elements that one P-header makes: 16 ranges, and what reports the end of the walk.
  static constexpr std::size_t kMaxPerHeader = 18;

  Decoder(const Config& config, const image::Image& image, const DecoderQuirks& quirks = {});

  void accept(const Packet& packet);

  /// accept() and drain() in one call: returns the new position.  If `out` is too small for the
  /// elements, the decoder is busy().
  Element* put(const Packet& packet, Element* out, Element* end) {
    if (goes_straight(packet, static_cast<std::size_t>(end - out))) [[likely]]
      return put_straight(packet, out);
    accept(packet);
    if (ready_ == 0 || has_diagnostics()) return out;
    return out + drain({out, end});
  }

  /// The fast path for a P-header.  It may be used when straight(); otherwise call accept().
  [[nodiscard]] bool straight() const {
    return state_ == State::kDecode && ready_ == 0 && diagnostics_.empty() && !yield_;
  }

  /// As accept() and drain(): writes from `out` on and returns the new position.  Held elements may
  /// follow that position: the next run() must continue where this one returned, or leave_span()
  /// must be called first.  If the space up to `end` may be too small, the decoder is busy().
  Element* run(TraceIndex index, const PHeader& header, Element* out, Element* end);
  Element* run(TraceIndex index, const ShortBranch& branch, Element* out, Element* end);

  /// The fast path for consecutive P-headers: those from `position` in `data` up to `size`, as long
  /// as they are common and there is space.  `position` is in *run.  Returns the position after the
  /// last P-header that was handled; `out` advances as with run().  If none was handled, run() must
  /// handle one.
  std::size_t run_row(const frames::Run* run, const frames::Run* runs_end, const std::uint8_t* data,
                      std::size_t position, std::size_t size, Element*& out, Element* out_end);

  /// Takes back the held elements that run() left after its position.
  void leave_span() {
    if (tail_count_ != 0) stash();
  }

  /// run() always handles the whole header.
  [[nodiscard]] static constexpr bool running() { return false; }
  static Element* resume(Element* out, Element* /*end*/) { return out; }

  /// There are no more packets: drain() gives what was held back, then the end-of-trace element.
  void end_of_trace();

  /// Fills `out` from the front; returns the number of elements.
  std::size_t drain(std::span<Element> out);

  /// There is something left for drain() to do.
  [[nodiscard]] bool busy() const { return ready_ != 0 || !diagnostics_.empty() || yield_; }

  /// Records whose place is after all elements that were drained.
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }

  /// A fatal error (quirk): nothing more is given before reset().
  [[nodiscard]] bool failed() const { return failed_; }

  /// Forgets the stream and keeps the PE context.
  void reset();

  /// The image has changed, or its callbacks may answer differently: forgets what was read before.
  void refresh();

  [[nodiscard]] flow::InstructionCache& instructions() { return instructions_; }

  /// What data trace has said of a tag or a transfer may concern packets of any age.
  [[nodiscard]] bool can_jump() const { return !data_trace_; }

  /// Bytes are missing before the next packet: the decoder waits for synchronisation without
  /// reporting it, and keeps the state that no synchronisation point restates.
  void jump();

  /// Continues from the state of `other`, which decodes the same stream; the cache stays.  Both
  /// must have given all the elements that they could, and have no quirks.
  void restore(const Decoder& other);

  /// Both will decode what follows in the same way.  The conditions are those of restore().
  [[nodiscard]] bool same_state(const Decoder& other) const;

  /// Elements that drain() and run() gave, in order.  Only quirks need it.
  void remember(std::span<const Element> given) {
    given_.reserve(slots_.size());
    for (const Element& element : given.last(std::min(given.size(), slots_.size())))
      given_.add(element);
  }

 private:
  /// Doubts that no single packet causes; each is reported once.
  enum Doubt : std::uint8_t { kDoubtIsa = 1 << 0, kDoubtNoData = 1 << 1 };

  /// What the reference leaves in the slots of its element queue; quirks stale_*.
  struct Slot {
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t unused = 0;
    std::uint32_t description = static_cast<std::uint32_t>(isa::Isa::kA32);  ///< As in a Step.

    [[nodiscard]] isa::Isa isa() const { return static_cast<isa::Isa>(description & 0xFF); }
    void set_isa(isa::Isa isa) {
      description = (description & ~0xFFU) | static_cast<unsigned>(isa);
    }
  };
  static_assert(sizeof(Slot) == sizeof(flow::Step));

  class Slots {
   public:
    Slots() : slots_(1 + kFirstSize) {}
    Slot& push() {
      if (count_ == size()) [[unlikely]]
        grow();
      Slot& slot = slots_[1 + wrapped(first_ + count_)];
      ++count_;
      return slot;
    }
    void send(std::size_t count) {
      first_ = wrapped(first_ + count);
      count_ -= count;
    }
    void drop(std::size_t count) { count_ -= count; }
    void reset() {
      slots_.assign(1 + kFirstSize, {});
      first_ = count_ = 0;
    }

    // For loops: slot 0 takes what must not be kept; the slots are 1 to size().
    [[nodiscard]] Slot* data() { return slots_.data(); }
    [[nodiscard]] std::size_t size() const { return slots_.size() - 1; }
    [[nodiscard]] std::size_t next() const { return 1 + wrapped(first_ + count_); }
    /// All elements before slot `next`, except for the last `held`, are sent.
    void sent(std::size_t next, std::size_t held) {
      first_ = wrapped(next - 1 + size() - held);
      count_ = held;
    }

   private:
    static constexpr std::size_t kFirstSize = 8;

    /// `at` is less than twice the size.
    [[nodiscard]] std::size_t wrapped(std::size_t at) const {
      return at >= size() ? at - size() : at;
    }
    void grow();

    std::vector<Slot> slots_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  /// The elements that were given last, at least as many as there are slots.
  class Recent {
   public:
    [[nodiscard]] std::size_t size() const { return std::min(count_, ring_.size()); }
    /// The oldest has number 0.
    [[nodiscard]] const Element& operator[](std::size_t number) const {
      return ring_[(count_ - size() + number) & (ring_.size() - 1)];
    }
    void add(const Element& element) { ring_[count_++ & (ring_.size() - 1)] = element; }
    void reserve(std::size_t slots) {
      if (slots > ring_.size()) [[unlikely]]
        grow(slots);
    }
    void clear() { count_ = 0; }

   private:
    void grow(std::size_t slots);

    std::vector<Element> ring_ = std::vector<Element>(16);  ///< The size is a power of two.
    std::size_t count_ = 0;                                 ///< All that were added.
  };

  // -- Packets --
  /// An I-sync or a timestamp that releases the held elements and leaves nothing to be done.
  [[nodiscard]] bool goes_straight(const Packet& packet, std::size_t room) const {
    const bool sync = packet.type == PacketType::kISync || packet.type == PacketType::kISyncCycle;
    const bool frees = !cancellable_ || (sync && packet.reason != SyncReason::kPeriodic);
    return (sync ? !packet.lsip && !packet.no_address : packet.type == PacketType::kTimestamp) &&
           frees && straight() && queue_.empty() && room >= tail_count_ + kMaxPerHeader &&
           !callbacks_ && !data_trace_;
  }
  Element* put_straight(const Packet& packet, Element* out);
  void accept_before_isync(const Packet& packet);
  void accept_in_decode(const Packet& packet);
  void isync(const Packet& packet, bool first);
  void branch(const Packet& packet);
  void p_header(TraceIndex index, const PHeader& header);
  void exception_exit(const Packet& packet);
  void transfer(const Packet& packet);
  void timestamp(const Packet& packet);
  void bad_packet(const Packet& packet);
  void async_in_packet(const Packet& packet);
  void lose_sync();
  bool set_world(const Context& context);
  void doubt(Doubt what, TraceIndex index, Finding finding);
  void check(const Packet& packet);

  // -- Atoms: each function writes to `at` and returns the position after what it wrote. --
  Element* run_by_count(TraceIndex index, const PHeader& header, Element* out);
  Element* atoms(TraceIndex index, const PHeader& header, Element* at);
  Element* no_atoms(TraceIndex index, const PHeader& header, Element* at);
  Element* unknown_address(TraceIndex index, const PHeader& header, unsigned left, Element* at);
  Element* write_stale_range(TraceIndex index, Element* at);
  Element* not_followed(TraceIndex index, isa::Isa isa, Element* at);
  Element* write(Element* at, ElementKind kind, TraceIndex index);
  template <bool kQuirks, bool kData>
  Element* atoms_with_address(TraceIndex index, const PHeader& header, Element* at);
  Element* atoms_without_step(TraceIndex index, const PHeader& header, unsigned i, Element* at);
  void note_slot(const flow::Step& step);
  template <bool kQuirks>
  std::size_t row(const frames::Run* run, const frames::Run* runs_end, const std::uint8_t* data,
                  std::size_t position, std::size_t size, Element*& out, Element* out_end);
  void write_words(Element* at, TraceIndex index, std::uint64_t start, std::uint64_t end,
                   std::uint64_t counts, std::uint64_t described) const;
  void refresh_words();
  void count_cycles(Element& element, std::uint32_t cycles) const {
    if (!cycle_accurate_) return;
    element.flags |= kElementHasCycleCount;
    element.cycle_count = cycles;
  }

  // -- Elements --
  Element& make() {
    if (straight_out_ == nullptr) return queue_.emplace_back(context_);
    *straight_out_ = context_;
    return *straight_out_++;
  }
  Element& emit(ElementKind kind, TraceIndex index);
  Element& emit_context(TraceIndex index, bool from_sync);
  void emit_stale(TraceIndex index);
  Element& emit_data(ElementKind kind, TraceIndex index, const Place& place, unsigned tag);
  bool load_tail(Element* out, const Element* end);
  void stash();
  void settle();
  void cancel();
  void finish_packet();
  /// What was selected may not hold from here on.
  void enter_place(TraceIndex index) {
    if (!instructions_.covers(index)) [[unlikely]]
      select_memory(index);
  }
  void select_memory() { select_memory(packet_index_); }
  void select_memory(TraceIndex index);
  void report(Fault fault, Severity severity, TraceIndex index, Finding finding);

  Config config_;
  DecoderQuirks quirks_;
  flow::InstructionCache instructions_;
  const Rows* rows_;
  bool callbacks_;
  bool cycle_accurate_;
  bool data_trace_;

  flow::StepPointer step_;               ///< The instruction at address_, if it is known.
  isa::Isa stale_isa_ = isa::Isa::kA32;  ///< After the last instruction; quirk stale_ranges.

  /// The parts of an element that change only with the context, as they are in memory.
  struct Words {
    std::uint64_t context_ids = 0;
    std::uint64_t range = 0;  ///< Kind, ID and flags, except for those of the instruction.
    std::uint64_t cycle_count = 0;
    std::uint64_t rest = 0;
    std::uint64_t described = 0;  ///< That of the context itself.
    bool known = false;
    Quad bases[3] = {};  ///< From the context IDs on, by RowKind.
  };
  Words words_;

  // Elements that are not given yet.  [taken_, ready_) can be taken; the rest is held back.
  std::vector<Element> queue_;
  std::size_t taken_ = 0;
  std::size_t ready_ = 0;
  std::array<Element, kMaxPerHeader> made_;  ///< By the current P-header.
  Element* straight_out_ = nullptr;          ///< Where elements go in place of the queue.
  // During a call of run(), the held elements are in the caller's span instead.
  Element* tail_ = nullptr;
  std::size_t tail_count_ = 0;
  // Quirk cancels_lone_range_only: the number of held elements at the end.  Two are a range and the
  // exception return after it.
  static constexpr std::size_t kMostPended = 2;
  std::size_t pended_ = 0;
  Slots slots_;
  Recent given_;

  Transfers transfers_;

  RegisterCheck registers_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::etmv3
