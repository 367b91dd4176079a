// Packets to elements: speculation, return stack, exceptions, Q elements, transactions.
// See etmv4-ete.md 4.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/etmv4/atoms.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/credit.h"
#include "waymark/etmv4/p0_queue.h"
#include "waymark/etmv4/packet.h"
#include "waymark/etmv4/quirks.h"
#include "waymark/etmv4/staged_output.h"
#include "waymark/flow/walk_to.h"
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

/// The state that a decoder keeps between packets, except for what it only remembers from the
/// image.  See etmv4-ete.md 5.1.
struct DecoderState {
  enum class State : std::uint8_t { kNoSync, kWaitSync, kWaitTraceInfo, kDecode };

  struct Sync {
    State state = State::kNoSync;
    UnsyncReason reason = UnsyncReason::kInitDecoder;
    bool unreported = false;  ///< The loss must still become an element.
    friend bool operator==(const Sync&, const Sync&) = default;
  };
  /// The rest of the atom packet that ran out of space; its index is packet_index_.
  struct Rest {
    std::uint32_t atoms = 0;
    std::uint32_t left = 0;
    friend bool operator==(const Rest&, const Rest&) = default;
  };
  /// Why a packet cannot be used.
  struct Unusable {
    Fault fault = Fault::kNone;
    Severity severity = Severity::kError;
    Finding finding = Finding::kNone;
    friend bool operator==(const Unusable&, const Unusable&) = default;
  };
  /// The requests of the current packet to the queue.
  struct Requests {
    std::uint32_t commit = 0;
    std::uint32_t cancel = 0;
    bool mispredict = false;
    bool discard = false;
    bool overflow = false;  ///< The reason of the discard.
    bool end = false;
    /// The packet cannot be used: decoding waits for a synchronisation.
    std::optional<Unusable> unusable{};
    [[nodiscard]] bool any() const {
      return commit != 0 || cancel != 0 || mispredict || discard || end || unusable.has_value();
    }
    friend bool operator==(const Requests&, const Requests&) = default;
  };
  /// The run of commits for one packet.
  struct Run {
    bool open = false;         ///< It was interrupted because space ran out.
    TraceIndex looked_at = 0;  ///< The index of the last entry that it examined.
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// Known facts about the instructions at the place of execution; the path has the rest.
  struct Mode {
    bool unknown = true;  ///< No context has come.
    bool is_64bit = false;
    std::uint8_t is = 0;  ///< That of the last address.
    friend bool operator==(const Mode&, const Mode&) = default;
  };
  /// State from earlier packets.
  struct Earlier {
    bool overflow = false;
    bool marker = false;
    /// Quirk missing_address_leaves_element: the next packet only commits an event.
    bool event_overdue = false;
    bool unfollowed_reported = false;  ///< Survives every loss of synchronisation.
    friend bool operator==(const Earlier&, const Earlier&) = default;
  };

  Sync sync_;
  P0Queue queue_;
  Rest rest_;
  Requests requests_;
  Run run_;
  Mode mode_;
  Earlier earlier_;
  Credit credit_;
  Element context_;  ///< The context fields of every element; its kind is that of ranges.
  /// Where the next range must begin, if that is checked and known.
  std::optional<std::uint64_t> expected_start_;
  TraceIndex packet_index_ = 0;
  /// Where the memory began to look as it does, if that depends on the place.
  TraceIndex memory_from_ = 0;
  bool busy_ = false;
  bool failed_ = false;
  bool yield_ = false;  ///< The client must see a context before memory is read under it.

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
    return traits_.straight && sync_.state == State::kDecode && queue_.empty();
  }

  /// Before atoms, when straight() is false: whether the queue holds only what any atom settles,
  /// such as a context.  False if the client must see a context before memory is read under it, or
  /// if the atoms could lose what is settled.
  [[nodiscard]] bool can_settle() const {
    return only_settles() && !callbacks_ && !quirks_.error_loses_elements;
  }
  /// Settles it for the atoms at `index`, and is then busy(); straight() may be true after it was
  /// drained.
  void settle(TraceIndex index) {
    packet_index_ = index;
    requests_.commit = 1;
    settling_ = busy_ = true;
  }

  /// The same for settle_and_run().  With space for everything, what an error loses can be removed
  /// from the span again.
  [[nodiscard]] bool can_settle_into(std::size_t space) const {
    constexpr std::size_t kMostOfAtoms = 64;
    return can_settle() ||
           (queue_.simple() && only_settles() && space > queue_.size() + kMostOfAtoms);
  }
  /// As settle(), drain() and run(); may leave the decoder busy().
  Element* settle_and_run(TraceIndex index, const AtomPacket& atoms, Element* out, Element* end);

  /// As accept() and drain(): writes from `out` on and returns the new position.  If `end` came
  /// first, the decoder is running(); packets that are not simple make it busy().
  Element* run(TraceIndex index, const AtomPacket& atoms, Element* out, Element* end) {
    packet_index_ = index;
    if (path_.lost && drops_atoms()) [[unlikely]]
      return out;
    if (traits_.can_lose_elements) return run_or_lose(out, end, atoms.atoms, atoms.atom_count);
    return follow(out, end, atoms.atoms, atoms.atom_count);
  }

  /// The same for the `packets` atom headers in the lowest bytes of `headers`, whose indexes follow
  /// each other: moves `at`, and returns the number of packets that it took.  0: they need run().
  unsigned run_short_row(TraceIndex index, std::uint32_t headers, unsigned packets, Element*& at,
                         Element* end);

  /// As accept() for a target address that atoms will take.  False: it needs accept().
  bool hold_address(const Packet& packet) {
    if (!is_target_address(packet.type) || !straight() || queue_.holds() || queue_.awaits_address ||
        failed_)
      return false;
    packet_index_ = packet.index;
    mode_.is = packet.address.is;
    queue_.hold(packet.index, packet.address.value, packet.address.is);
    return true;
  }

  /// Call after a copy, which has no blocks: continues at the position of `original`.
  void take_place(const Decoder& original) { path_.take_place(original.path_); }

  /// run() ran out of space: resume() must be called before anything else.
  [[nodiscard]] bool running() const { return rest_.left != 0; }
  Element* resume(Element* out, Element* end) { return follow(out, end, rest_.atoms, rest_.left); }

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
  /// A record of the source, after the packets so far.
  void add_diagnostic(const Diagnostic& record) {
    diagnostics_.push_back(record);
    busy_ = true;
  }

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
    return traits_.straight ? !traits_.can_lose_elements : traits_.counts_queued && !callbacks_;
  }
  [[nodiscard]] const Config& config() const { return config_; }

 private:
  template <class Host, bool kCycles, bool kReturns>
  friend class CountingWalk;

  struct RangeSink;
  struct RowSink;
  struct StagedSink;
  struct HeldSink;
  /// For a lost path: it is unknown where the next atoms are, and it does not matter.
  [[nodiscard]] bool drops_atoms() const {
    return !path_.pop_pending && !queue_.holds() && !traits_.reports_lost_atoms;
  }
  [[nodiscard]] bool only_settles() const {
    return traits_.straight && sync_.state == State::kDecode && queue_.depth == 0 &&
           !queue_.awaits_address && !busy_ && !queue_.empty();
  }
  Element* follow(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left);
  Element* run_or_lose(Element* out, Element* end, std::uint32_t atoms, std::uint32_t left);
  unsigned end_row(TraceIndex index, const AtomRow& row, std::uint32_t left, bool returns,
                   Element*& at, Element* end);

  static bool is_survivor(EntryKind kind);
  [[nodiscard]] bool stays_counted(const Entry& entry) const;
  void clear_state();

  [[nodiscard]] DecoderState settled_state() const;

  // -- Packets to entries --
  void accept_in_decode(const Packet& packet);
  void add_trace_info(TraceIndex index);
  bool add_other(const Packet& packet);
  bool request(const Packet& packet);
  void request_cancel(std::uint32_t count);
  void refuse(const Packet& packet);
  void begin_at_trace_info(const Packet& packet);
  void request_excess();
  [[nodiscard]] bool is_p0(EntryKind kind) const;
  void add_atoms(const Packet& packet);
  bool add_single(EntryKind kind, TraceIndex index);
  void add_timestamp(const Packet& packet);
  void add_exception(const Packet& packet);
  void add_q(const Packet& packet);
  void add_context(const Packet& packet, std::uint8_t is);
  void add_address(const Packet& packet);
  void queue_atoms(TraceIndex index, std::uint32_t atoms, std::uint32_t count);
  void async_in_packet();
  void unusable_packet(Fault fault, Severity severity, Finding finding);
  void lose_sync(Fault fault, Severity severity, Finding finding);

  // -- Resolving --
  /// The path gets the place, if atoms are counted.
  void leave_counter() {
    if (counter_ != nullptr) counter_->leave();
  }
  void refill(Credit& credit) const;
  [[nodiscard]] bool look_through(std::size_t entries);
  void resolve();
  void close_run();
  void commit();
  bool commit_entry(Entry& entry);
  void commit_p0(std::uint32_t count = 1) {
    requests_.commit -= count;
    queue_.depth -= count;
  }
  bool commit_context();
  bool commit_atoms(Entry& entry);
  bool drop_atoms(TraceIndex index);
  void end_at_unreadable(const flow::Block& block, TraceIndex index);
  flow::Turn commit_run(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left);
  bool commit_checked(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left);
  bool commit_exception();
  bool fail_exception();
  bool walk_to_exception(const Entry& entry, const Arrival& to, bool has_return);
  bool commit_source_address(const Entry& entry);
  bool walk_to_source(const Entry& entry, flow::Stretch& before);
  bool count_to_source(const Entry& entry, flow::Stretch& walked);
  bool fail_source(flow::BlockEnd ended, TraceIndex index);
  bool commit_q();
  void cancel();
  void mispredict();
  bool discard();
  bool emit_survivors(bool loses_instrumentation);
  [[nodiscard]] bool is_speculative(EntryKind kind) const;
  void drop_speculative();
  bool give_up();
  bool finish_queue();
  void apply_context(const Entry& entry, TraceIndex index);
  void apply_address(std::uint64_t address, std::uint8_t is);
  void take_held();
  /// The selection may no longer hold from here on.
  void enter_place(TraceIndex index) {
    if (!follower().covers(index)) [[unlikely]]
      select_memory(index);
  }
  void select_memory() { select_memory(packet_index_); }
  void select_memory(TraceIndex index);
  flow::Stretch walk(decltype(flow::walk_to)& how, const flow::Destination& to);
  void return_from_exception(TraceIndex index);
  bool pop_return_stack(TraceIndex index);
  /// The return stack has the place where a source address or a Q element begins.
  [[nodiscard]] bool pops_before_walk() const {
    return path_.pop_pending && !quirks_.source_and_q_do_not_pop;
  }
  void fail_pop(TraceIndex index);
  void settle_atoms(Entry& entry, std::uint64_t atoms, std::uint32_t done);
  [[nodiscard]] bool is_exception_return(const flow::Block& block) const {
    return block.subtype == isa::InstrSubtype::kV8ExceptionReturn && config_.major_version() >= 5;
  }

  // -- Elements --
  Element& emit(ElementKind kind, TraceIndex index);
  void write_range(Element* to, TraceIndex index, const flow::Block& block, bool taken) const;
  void emit_range(const flow::Block& block, TraceIndex index, bool executed);
  void emit_walk(TraceIndex index, const flow::Stretch& walked, bool executed = true);
  void emit_not_accessible(TraceIndex index, std::uint64_t address);
  void emit_survivor(const Entry& entry);
  void emit_transaction(const Entry& entry);

  // -- Errors --
  void report(Fault fault, Severity severity, TraceIndex index, Finding finding);
  /// Names the instruction that the last report is about.
  void blame(std::uint64_t address);
  void report_inside_instruction(std::uint64_t address);
  void report_lost_atoms(TraceIndex index);
  void fail_commit(Fault fault, TraceIndex index, Finding finding, UnsyncReason reason);
  bool fail_walk(flow::BlockEnd ended, TraceIndex index, Finding finding);
  bool check_image(const flow::Block& block, bool executed, TraceIndex index);
  void walk_error(const flow::Block& block, TraceIndex index);
  void note_range_limit(std::uint32_t count, flow::BlockEnd ended);
  [[nodiscard]] bool m_profile() const { return config_.core.profile == isa::Profile::kM; }

  /// Values that follow from configuration, flags and quirks.
  struct Traits {
    bool exception_return_is_p0 = false;
    bool checks = false;              ///< Any consistency check is on.
    bool atoms_can_fail = false;      ///< A run of atoms can end in an error.
    bool reports_lost_atoms = false;  ///< DecodeFlag kReportLostAtoms.
    /// Atoms stand only for waypoints.  If loads or stores are P0 elements too, the trace does not
    /// show which instruction each atom is about, so no ranges are given.
    bool follows = false;
    std::int64_t max_depth = 0;      ///< The most P0 elements that can be outstanding.
    bool counts_queued = false;      ///< An AtomCounter may take the place of elements.
    bool timestamp_markers = false;  ///< Timestamps before the first marker are left out.
    bool straight = false;           ///< No speculation, no checks: atoms need no queue.
    /// Quirk error_loses_elements: a packet of atoms can find the return stack empty; then the
    /// elements that it has made, from run_out_ on, are lost.
    bool can_lose_elements = false;
  };

  Config config_;
  Quirks quirks_;
  std::uint32_t flags_;
  flow::Path path_;
  Traits traits_;
  bool callbacks_ = false;
  AtomCounter* counter_ = nullptr;
  StagedOutput output_;
  Element* run_out_ = nullptr;
  /// With the quirk: what was settled for the current atoms, which an error loses too.
  Element* settled_out_ = nullptr;
  bool settling_ = false;  ///< The current commit ends with the queue, which has no P0 element.
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::etmv4
