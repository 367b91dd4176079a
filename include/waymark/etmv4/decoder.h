// Packets to elements: speculation, return stack, exceptions, Q elements, transactions.
// See etmv4-ete.md 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/etmv4/atoms.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"
#include "waymark/etmv4/quirks.h"
#include "waymark/flow/path.h"
#include "waymark/image/image.h"

namespace waymark::etmv4 {

template <class Host, bool kCycles, bool kReturns>
class CountingWalk;

/// Counts what the queue of a decoder would otherwise make elements of.  While it is live, it has
/// the place of the path.
class AtomCounter {
 public:
  /// Takes committed atoms, as flow::Path::take().  Becomes live unless the answer is kStuck: then
  /// the path has the place.
  virtual flow::Turn take(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left) = 0;
  /// The trace states the place.  False: it is for the path.
  virtual bool go_to(std::uint64_t address, isa::Isa isa) = 0;
  /// Counts an element.  False: not live, so it must be made.
  virtual bool count_cycles(std::uint32_t cycles) = 0;
  virtual bool count_timestamp() = 0;
  /// The path gets the place.
  virtual void leave() = 0;

 protected:
  ~AtomCounter() = default;
};

/// What a decoder keeps between packets, except for what it only remembers of the image.  See
/// etmv4-ete.md 5.1.
struct DecoderState {
  static constexpr std::uint32_t kMaxCredit = std::uint32_t{1} << 20;

  enum class State : std::uint8_t { kNoSync, kWaitSync, kWaitTraceInfo, kDecode };

  enum class EntryKind : std::uint8_t {
    kTraceInfo,
    kTraceOn,
    kAtom,
    kContext,
    kAddress,
    kSourceAddress,
    kException,
    kExceptionReturn,
    kFunctionReturn,
    kEvent,
    kCycleCount,
    kTimestamp,
    kTimestampCycleCount,
    kMarker,
    kDataMarker,
    kQ,
    kTransactionStart,
    kTransactionCommit,
    kTransactionFail,
    kTransactionInit,
    kInstrumentation,
    kUnseen,
  };

  /// What a packet leaves in the queue.
  struct Entry {
    TraceIndex index = 0;
    std::uint64_t value = 0;  ///< Address, timestamp, payload; atoms, oldest in bit 0.
    std::uint32_t count = 0;  ///< Remaining atoms or unseen elements; cycle count; Q count.
    std::uint32_t context_id = 0;
    std::uint32_t vmid = 0;
    std::uint16_t number = 0;  ///< Exception or event number; instrumentation level.
    EntryKind kind = EntryKind::kTraceInfo;
    std::uint8_t is = 0;
    std::uint8_t el = 0;
    bool flag = false;   ///< Context: updated.  Exception: return is target.  Q: address included.
    bool known = false;  ///< Q: count known.  Context: carries a context ID.
    bool has_vmid = false;
    bool sf = false;
    bool ns = false;
    bool nse = false;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// The queue, oldest first.  A vector with a moving front: it is nearly always short.
  class Queue {
   public:
    [[nodiscard]] bool empty() const { return front_ == entries_.size(); }
    [[nodiscard]] std::size_t size() const { return entries_.size() - front_; }
    [[nodiscard]] Entry& front() { return entries_[front_]; }
    Entry& push() { return entries_.emplace_back(); }
    [[nodiscard]] Entry& at(std::size_t i) { return entries_[front_ + i]; }
    void pop_front() {
      if (++front_ == entries_.size()) {
        clear();
      } else if (front_ >= 4096 && front_ * 2 > entries_.size()) {
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(front_));
        front_ = 0;
      }
    }
    [[nodiscard]] Entry& back() { return entries_.back(); }
    void pop_back() {
      entries_.pop_back();
      if (empty()) clear();
    }
    /// Erases the entries from the i-th on that `predicate` selects.
    template <class Predicate>
    void erase_from(std::size_t i, Predicate predicate) {
      const auto from = entries_.begin() + static_cast<std::ptrdiff_t>(front_ + i);
      entries_.erase(std::remove_if(from, entries_.end(), predicate), entries_.end());
      if (empty()) clear();
    }
    void clear() {
      entries_.clear();
      front_ = 0;
    }

    friend bool operator==(const Queue& a, const Queue& b) {
      return std::equal(
          a.entries_.begin() + static_cast<std::ptrdiff_t>(a.front_), a.entries_.end(),
          b.entries_.begin() + static_cast<std::ptrdiff_t>(b.front_), b.entries_.end());
    }

   private:
    std::vector<Entry> entries_;
    std::size_t front_ = 0;
  };

  bool said_unfollowed_ = false;
  State state_ = State::kNoSync;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  Queue queue_;

  // The rest of the atom packet that ran out of space; its index is packet_index_.
  std::uint32_t run_atoms_ = 0;
  std::uint32_t run_left_ = 0;

  // An address that is alone in the queue waits here until the atoms after it take it.
  bool holding_ = false;
  std::uint8_t held_is_ = 0;
  TraceIndex held_index_ = 0;
  std::uint64_t held_address_ = 0;
  TraceIndex packet_index_ = 0;
  /// Where the memory began to look as it does, if that depends on the place.
  TraceIndex memory_from_ = 0;

  // What the current packet asked for.
  std::int64_t depth_ = 0;
  std::uint32_t commit_request_ = 0;
  std::uint32_t cancel_request_ = 0;
  bool mispredict_request_ = false;
  bool discard_request_ = false;
  bool end_request_ = false;
  bool no_sync_pending_ = false;
  bool busy_ = false;
  bool failed_ = false;
  bool yield_ = false;     ///< The client must see a context before memory is read under it.
  bool run_open_ = false;  ///< A commit run was interrupted because space ran out.
  TraceIndex last_looked_at_ = 0;  ///< The index of the last entry that this commit run examined.

  // What the decoder knows about the place of execution; the path has the rest.
  bool is_64bit_ = false;
  std::uint8_t last_is_ = 0;
  bool need_context_ = true;
  bool address_pending_ = false;  ///< An exception or Q waits for its address packet.
  /// Quirk missing_address_leaves_element: the next packet only commits an event.
  bool event_overdue_ = false;
  bool previous_overflow_ = false;
  bool marker_seen_ = false;
  bool range_expected_ = false;
  std::uint64_t range_expectation_ = 0;

  Element context_;  ///< The context fields of every element; its kind is that of ranges.

  // What is left of the work that packets may cause beyond their own size: instructions walked
  // without the block cache, entries searched.  Every byte of trace adds to it, so that the size of
  // the trace bounds the time to decode it.
  std::uint32_t credit_ = kMaxCredit;
  TraceIndex refilled_at_ = 0;

  friend bool operator==(const DecoderState&, const DecoderState&) = default;
};

/// Pull decoder: call accept() with a packet, then drain() until it is not busy(), then go on with
/// the next packet.  One owner; not thread safe.  `image` must outlive the decoder.
class Decoder : private DecoderState {
 public:
  /// The decoder resynchronises at more outstanding entries than this, which bounds the memory.
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 20;

  /// `flags` are DecodeFlag bits (waymark/protocol/source.h).
  Decoder(const Config& config, const image::Image& image, std::uint32_t flags,
          const Quirks& quirks);

  void accept(const Packet& packet);
  /// The same for a packet of atoms.
  void accept_atoms(TraceIndex index, const AtomPacket& atoms);

  /// The fast path for an atom packet: directly to the follower, without the queue.  It may be used
  /// when straight(); otherwise call accept().
  [[nodiscard]] bool straight() const {
    return straight_ && state_ == State::kDecode && queue_.empty();
  }

  /// Before atoms, when straight() is false: whether the queue holds only what any atom settles,
  /// such as a context.  False if the client must see a context before memory is read under it, or
  /// if the atoms could lose what is settled.
  [[nodiscard]] bool can_settle() const {
    return straight_ && state_ == State::kDecode && depth_ == 0 && !address_pending_ && !busy_ &&
           !queue_.empty() && !callbacks_ && !quirks_.error_loses_elements;
  }
  /// Settles it for the atoms at `index`, and is then busy(); straight() may be true after it was
  /// drained.
  void settle(TraceIndex index) {
    packet_index_ = index;
    commit_request_ = 1;
    settling_ = busy_ = true;
  }

  /// As accept() and drain(): writes from `out` on and returns the new position.  If `end` came
  /// first, the decoder is running(); packets that are not simple make it busy().
  Element* run(TraceIndex index, const AtomPacket& atoms, Element* out, Element* end) {
    packet_index_ = index;
    if (can_lose_elements_) return run_or_lose(out, end, atoms.atoms, atoms.atom_count);
    return follow(out, end, atoms.atoms, atoms.atom_count);
  }

  /// Call after a copy, which has no blocks: continues at the position of `original`.
  void take_place(const Decoder& original) { path_.take_place(original.path_); }

  /// run() ran out of space: resume() must be called before anything else.
  [[nodiscard]] bool running() const { return run_left_ != 0; }
  Element* resume(Element* out, Element* end) { return follow(out, end, run_atoms_, run_left_); }

  /// There are no more packets: drain() gives what was held back, then the end-of-trace element.
  void end_of_trace();

  /// Fills `out` from the front; returns the number.  Stops early if a diagnostic must be reported
  /// first (has_diagnostics()), or if a context must be seen before memory is read under it.
  std::size_t drain(std::span<Element> out);

  /// There is something left for drain() to do.
  [[nodiscard]] bool busy() const { return busy_; }

  /// Records whose place is after all elements that were drained.
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }

  /// A fatal error: nothing more is given before reset().
  [[nodiscard]] bool failed() const { return failed_; }

  /// The reference's RESET operation; etmv4-ete.md 5.1.
  void reset();

  /// Bytes are missing before the next packet: the decoder waits for synchronisation without
  /// reporting it, and keeps the state that no synchronisation point restates.
  void jump();

  /// Continues from the state of `other`, which decodes the same stream; the block cache stays.
  /// Both must have given all elements.
  void restore(const Decoder& other);

  /// Both will decode what follows in the same way.  Both must have given all elements.
  [[nodiscard]] bool same_state(const Decoder& other) const;

  /// The image has changed, or its callbacks may answer differently: forgets what was read before.
  void refresh();

  /// The longest range, in instructions; 0: no limit.
  void set_range_limit(std::uint32_t instructions);

  [[nodiscard]] const flow::Follower& follower() const { return path_.follower(); }
  [[nodiscard]] flow::Follower& follower() { return path_.follower(); }

  /// Atoms can be counted without elements: at once, or when they are committed.
  [[nodiscard]] bool counts_straight() const {
    return straight_ ? !can_lose_elements_ : counts_queued_ && !callbacks_;
  }
  [[nodiscard]] const Config& config() const { return config_; }

 private:
  template <class Host, bool kCycles, bool kReturns>
  friend class CountingWalk;

  struct RangeSink;
  struct StagedSink;
  struct HeldSink;
  Element* follow(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left);
  Element* run_or_lose(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left);

  /// Instructions that were walked without regard to waypoints.
  struct Stretch {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t count = 0;
    flow::BlockEnd ended = flow::BlockEnd::kWaypoint;
    isa::Instruction last;
  };

  static bool is_survivor(EntryKind kind);
  [[nodiscard]] bool stays_counted(const Entry& entry) const;
  void clear_state();

  [[nodiscard]] DecoderState settled_state() const;

  // -- Packets to entries --
  void accept_in_decode(const Packet& packet);
  void begin_at_trace_info(const Packet& packet);
  [[nodiscard]] std::int64_t max_depth() const;
  void request_excess();
  Entry& add(EntryKind kind, TraceIndex index);
  void add_atoms(const Packet& packet);
  void add_context(const Packet& packet, std::uint8_t is);
  void add_address(const Packet& packet);
  void settle_held();
  void queue_atoms(TraceIndex index, std::uint32_t atoms, std::uint32_t count);
  void bad_packet(Finding finding);
  void unusable_packet(Fault fault, Severity severity, Finding finding);

  // -- Resolving --
  /// The path gets the place, if atoms are counted.
  void leave_counter() {
    if (counter_ != nullptr) counter_->leave();
  }
  [[nodiscard]] std::uint32_t refilled_credit() const;
  void refill_credit();
  [[nodiscard]] bool look_through(std::size_t entries);
  void resolve();
  void close_run();
  void commit();
  bool commit_atoms(Entry& entry);
  flow::Turn commit_run(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left);
  bool commit_checked(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left);
  bool commit_exception();
  bool commit_source_address(const Entry& entry);
  bool commit_q();
  void cancel();
  void mispredict();
  bool discard();
  bool finish_queue();
  void apply_context(const Entry& entry, TraceIndex index);
  void apply_address(std::uint64_t address, std::uint8_t is);
  /// What was selected may not hold from here on.
  void enter_place(TraceIndex index) {
    if (!follower().covers(index)) [[unlikely]]
      select_memory(index);
  }
  void select_memory() { select_memory(packet_index_); }
  void select_memory(TraceIndex index);
  flow::Follower::Fetched step(std::uint64_t address, std::uint8_t& it);
  Stretch walk_to(std::uint64_t end);
  bool pop_return_stack(TraceIndex index);
  void fail_pop(TraceIndex index);
  void settle_atoms(Entry& entry, std::uint64_t atoms, std::uint32_t done);
  [[nodiscard]] bool is_exception_return(const flow::Block& block) const {
    return block.subtype == isa::InstrSubtype::kV8ExceptionReturn && config_.major_version() >= 5;
  }

  // -- Elements --
  Element& emit(ElementKind kind, TraceIndex index);
  void write_range(Element* to, TraceIndex index, const flow::Block& block, bool taken) const;
  void emit_range(const flow::Block& block, TraceIndex index, bool executed);
  void emit_walk(TraceIndex index, std::uint64_t start, std::uint64_t end, std::uint32_t count,
                 const isa::Instruction& last, isa::Isa isa, bool executed);
  void emit_not_accessible(TraceIndex index, std::uint64_t address);
  void emit_survivor(const Entry& entry);
  void emit_transaction(const Entry& entry);
  [[nodiscard]] std::size_t given() const { return static_cast<std::size_t>(out_ - out_begin_); }
  [[nodiscard]] bool room() const { return staging_ || out_ != out_end_; }

  // -- Errors --
  void report(Fault fault, Severity severity, TraceIndex index, Finding finding);
  /// Names the instruction that the last report is about.
  void blame(std::uint64_t address);
  void report_lost_atoms(TraceIndex index);
  void fail_commit(Fault fault, TraceIndex index, Finding finding, UnsyncReason reason);
  bool fail_walk(flow::BlockEnd ended, TraceIndex index, Finding finding);
  bool check_image(const flow::Block& block, bool executed, TraceIndex index);
  void walk_error(const flow::Block& block, TraceIndex index);
  void note_range_limit(std::uint32_t count, flow::BlockEnd ended);
  [[nodiscard]] bool m_profile() const { return config_.core.profile == isa::Profile::kM; }

  Config config_;
  Quirks quirks_;
  std::uint32_t flags_;
  flow::Path path_;
  bool exception_return_is_p0_;
  bool checks_;          ///< Any consistency check is on.
  bool atoms_can_fail_;  ///< A run of atoms can end in an error.
  /// Atoms concern only waypoints.  If loads or stores are P0 elements too, nothing shows which
  /// instruction an atom belongs to: then there are no ranges.
  bool follows_;
  bool callbacks_ = false;
  bool counts_queued_ = false;  ///< An AtomCounter may take the place of elements.
  AtomCounter* counter_ = nullptr;
  bool straight_ = false;  ///< No speculation, no checks: atoms need no queue.
  /// Quirk error_loses_elements: a packet of atoms can find the return stack empty; then the
  /// elements that it has made, from run_out_ on, are lost.
  bool can_lose_elements_ = false;
  Element* run_out_ = nullptr;
  bool settling_ = false;  ///< The current commit ends with the queue, which has no P0 element.

  // Output.
  Element* out_begin_ = nullptr;
  Element* out_ = nullptr;
  Element* out_end_ = nullptr;
  bool staging_ = false;
  std::vector<Element> staged_;
  std::size_t staged_taken_ = 0;
  std::size_t staged_ready_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::etmv4
