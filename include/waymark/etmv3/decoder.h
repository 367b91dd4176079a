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
#include "waymark/etmv3/element_queue.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/etmv3/packet.h"
#include "waymark/etmv3/quirks.h"
#include "waymark/etmv3/reference_queue.h"
#include "waymark/etmv3/register_check.h"
#include "waymark/etmv3/rows.h"
#include "waymark/etmv3/transfers.h"
#include "waymark/flow/step_path.h"
#include "waymark/frames/stream.h"
#include "waymark/image/image.h"

namespace waymark::etmv3 {

/// The state that a decoder keeps between packets, except for the path, the elements that it holds
/// back, and the state of data trace.  See etmv3.md 11.
struct DecoderState {
  enum class State : std::uint8_t { kNoSync, kWaitASync, kWaitISync, kDecode };
  /// How far decoding is from a synchronisation point.
  struct Sync {
    State state = State::kNoSync;
    bool async_seen = false;  ///< The A-sync that kNoSync and kWaitASync wait for has passed.
    UnsyncReason reason = UnsyncReason::kInitDecoder;  ///< For the element, at kNoSync.
    /// The next I-sync is the first after a jump, not the first of the trace.
    bool jumped = false;
    friend bool operator==(const Sync&, const Sync&) = default;
  };
  /// Whether data that instructions should transfer is traced.  Counted over the whole trace.
  struct DataSeen {
    bool any = false;                ///< A data packet.
    std::uint64_t instructions = 0;  ///< Those that load or store.
    friend bool operator==(const DataSeen&, const DataSeen&) = default;
  };

  Sync sync_;
  TraceIndex packet_index_ = 0;
  /// Where the memory began to look as it does, if that depends on the place.
  TraceIndex memory_from_ = 0;
  unsigned time_bits_ = 0;  ///< Low bits of the time that were sent since the last loss.

  isa::Isa packet_isa_ = isa::Isa::kUnknown;  ///< From the last branch or I-sync.
  bool sent_unknown_ = false;                 ///< Elements have told that the path is lost.

  Element context_;  ///< The context fields of every element.
  /// The first held element is the range of the last instruction; on an M profile, after an
  /// exception return, it is that return.
  bool cancellable_ = false;
  DataSeen data_;
  std::uint8_t reported_once_ = 0;
  bool failed_ = false;
  bool yield_ = false;  ///< The client must see a context before memory is read under it.

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
    if (queue_.ready() == 0 || has_diagnostics()) return out;
    return out + drain({out, end});
  }

  /// The fast path for a P-header.  It may be used when straight(); otherwise call accept().
  [[nodiscard]] bool straight() const {
    return sync_.state == State::kDecode && queue_.ready() == 0 && diagnostics_.empty() && !yield_;
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
  void leave_span() { queue_.stash_tail(); }

  /// run() always handles the whole header.
  [[nodiscard]] static constexpr bool running() { return false; }
  static Element* resume(Element* out, Element* /*end*/) { return out; }

  /// There are no more packets: drain() gives what was held back, then the end-of-trace element.
  void end_of_trace();

  /// Fills `out` from the front; returns the number of elements.
  std::size_t drain(std::span<Element> out) {
    if (queue_.ready() == 0) yield_ = false;
    return queue_.drain(out);
  }

  /// There is something left for drain() to do.
  [[nodiscard]] bool busy() const { return queue_.ready() != 0 || !diagnostics_.empty() || yield_; }

  /// Records whose place is after all elements that were drained.
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }
  /// A record of the source, after the packets so far.
  void add_diagnostic(const Diagnostic& record) { diagnostics_.push_back(record); }

  /// A fatal error (quirk): nothing more is given before reset().
  [[nodiscard]] bool failed() const { return failed_; }

  /// Forgets the stream and keeps the PE context.
  void reset();

  /// The image has changed, or its callbacks may answer differently: forgets what was read before.
  void refresh();

  [[nodiscard]] flow::InstructionCache& instructions() { return path_.cache(); }

  [[nodiscard]] const Config& config() const { return config_; }
  /// Counting needs no elements; see CountingWalk.
  [[nodiscard]] bool counts_straight() const {
    return !data_trace_ && rows_ != nullptr && !quirks_.cancels_lone_range_only;
  }

  /// A statement of data trace on a tag or a transfer may concern packets of any age.
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
    if (quirks_.cancels_lone_range_only) reference_.remember(given);
  }

 private:
  template <class Host, bool kCycles>
  friend class CountingWalk;

  /// Findings that no single packet causes; each is reported once.
  enum ReportedOnce : std::uint8_t { kIsaNotFollowed = 1 << 0, kDataMissing = 1 << 1 };

  // -- Packets --
  /// An I-sync or a timestamp that releases the held elements and leaves nothing to be done.
  [[nodiscard]] bool goes_straight(const Packet& packet, std::size_t room) const {
    const bool sync = packet.type == PacketType::kISync || packet.type == PacketType::kISyncCycle;
    const bool frees = !cancellable_ || (sync && packet.reason != SyncReason::kPeriodic);
    return (sync ? !packet.lsip && !packet.no_address : packet.type == PacketType::kTimestamp) &&
           frees && straight() && queue_.empty() && room >= queue_.tail_count() + kMaxPerHeader &&
           !reads_callbacks() && !data_trace_;
  }
  Element* put_straight(const Packet& packet, Element* out);
  void accept_before_isync(const Packet& packet);
  void accept_in_decode(const Packet& packet);
  void isync(const Packet& packet, bool first);
  void branch(const Packet& packet);
  void p_header(TraceIndex index, const PHeader& header, unsigned first = 0);
  void finish_header(TraceIndex index, const PHeader& header, unsigned first);
  void exception_exit(const Packet& packet);
  void transfer(const Packet& packet);
  void timestamp(const Packet& packet);
  void bad_packet(const Packet& packet);
  void async_in_packet(const Packet& packet);
  void lose_sync();
  bool set_world(const Context& context);
  void report_once(ReportedOnce what, TraceIndex index, Finding finding);
  void check(const Packet& packet);

  // -- Atoms: each function writes to `at` and returns the position after what it wrote. --
  Element* run_by_count(TraceIndex index, const PHeader& header, Element* out);
  Element* atoms(TraceIndex index, const PHeader& header, Element* at);
  Element* no_atoms(TraceIndex index, const PHeader& header, Element* at);
  Element* unknown_address(TraceIndex index, const PHeader& header, unsigned left, Element* at);
  Element* write_stale_range(TraceIndex index, Element* at);
  Element* not_followed(TraceIndex index, Element* at);
  Element* write(Element* at, ElementKind kind, TraceIndex index);
  template <bool kQuirks, bool kData>
  struct HeaderSink;
  template <bool kQuirks, bool kData>
  Element* follow(TraceIndex index, const PHeader& header, Element* at);
  Element* rest_of(TraceIndex index, const PHeader& header, unsigned i, Element* at);
  template <bool kQuirks>
  class RowLoop;
  template <bool kQuirks>
  std::size_t row(const frames::Run* run, const frames::Run* runs_end, const std::uint8_t* data,
                  std::size_t position, std::size_t size, Element*& out, Element* out_end);
  void write_words(Element* at, TraceIndex index, std::uint64_t start, std::uint64_t end,
                   std::uint64_t counts, std::uint64_t described) const;
  void refresh_words();
  [[nodiscard]] bool reads_callbacks() const { return path_.cache().reads_callbacks(); }
  void count_cycles(Element& element, std::uint32_t cycles) const {
    if (!cycle_accurate_) return;
    element.flags |= kElementHasCycleCount;
    element.cycle_count = cycles;
  }

  // -- Elements --
  Element& make() {
    if (straight_out_ == nullptr) return queue_.add(context_);
    *straight_out_ = context_;
    return *straight_out_++;
  }
  Element& emit(ElementKind kind, TraceIndex index);
  Element& emit_context(TraceIndex index, bool from_sync);
  void emit_stale(TraceIndex index);
  Element& emit_data(ElementKind kind, TraceIndex index, const Place& place, unsigned tag);
  bool load_tail(Element* out, const Element* end);
  void settle();
  void cancel();
  void finish_packet();
  /// The selection may no longer hold from here on.
  void enter_place(TraceIndex index) {
    if (!path_.cache().covers(index)) [[unlikely]]
      select_memory(index);
  }
  void select_memory() { select_memory(packet_index_); }
  void select_memory(TraceIndex index);
  void report(Fault fault, Severity severity, TraceIndex index, Finding finding);

  Config config_;
  DecoderQuirks quirks_;
  flow::StepPath path_;
  const Rows* rows_;
  bool cycle_accurate_;
  bool data_trace_;

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

  ElementQueue queue_;
  ReferenceQueue reference_;                 ///< Only with quirk cancels_lone_range_only.
  std::array<Element, kMaxPerHeader> made_;  ///< By the current P-header.
  Element* straight_out_ = nullptr;          ///< Where elements go in place of the queue.
  Transfers transfers_;
  RegisterCheck registers_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::etmv3
