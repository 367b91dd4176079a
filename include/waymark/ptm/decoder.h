// Packets to elements.  See ptm.md 8 and 9.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/flow/path.h"
#include "waymark/image/image.h"
#include "waymark/ptm/atoms.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/packet.h"
#include "waymark/ptm/quirks.h"

namespace waymark::ptm {

template <class Host, bool kCycles, bool kReturns>
class CountingWalk;

/// The state that a decoder keeps between packets, except for what it only remembers from the
/// image.  See ptm.md 8.
struct DecoderState {
  enum class State : std::uint8_t { kNoSync, kWaitSync, kWaitIsync, kDecode };

  State state_ = State::kNoSync;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  bool need_isync_ = true;
  bool no_sync_pending_ = false;
  bool busy_ = false;
  bool failed_ = false;
  bool yield_ = false;  ///< The client must see a context before memory is read under it.
  TraceIndex packet_index_ = 0;
  /// Where the memory began to look as it does, if that depends on the place.
  TraceIndex memory_from_ = 0;
  std::uint8_t time_bits_ = 0;           ///< Low bits of the time sent since the last loss.
  std::uint32_t atoms_at_indirect_ = 0;  ///< With the return stack off.

  Element context_;  ///< The context fields of every element.
  Element range_;    ///< The same at the start of a range.

  friend bool operator==(const DecoderState&, const DecoderState&) = default;
};

/// Pull decoder: call accept() with a packet, then drain() until it is not busy(), then go on with
/// the next packet.  Elements come in the order of their packets; nothing is held back.  One owner;
/// not thread safe.  `image` must outlive the decoder.
class Decoder : private DecoderState {
 public:
  /// `flags` are DecodeFlag bits (waymark/protocol/source.h).
  Decoder(const Config& config, const image::Image& image, std::uint32_t flags,
          const Quirks& quirks);

  void accept(const Packet& packet) { put(packet, nullptr, nullptr); }

  /// As accept() and drain(): writes from `out` on and returns the new position.  If the elements
  /// do not fit before `end`, the decoder is busy().
  Element* put(const Packet& packet, Element* out, Element* end);

  /// The fast path for an atom packet.  It may be used when straight(); otherwise call accept().
  [[nodiscard]] bool straight() const { return state_ == State::kDecode; }
  Element* run(TraceIndex index, const AtomPacket& atoms, Element* out, Element* end);

  /// run() always finishes its packet.
  [[nodiscard]] static constexpr bool running() { return false; }
  static Element* resume(Element* out, Element* /*end*/) { return out; }

  /// There are no more packets: drain() gives the end-of-trace element.
  void end_of_trace();

  /// Fills `out` from the front; returns the number of elements.  Stops early if a diagnostic must
  /// be reported first (has_diagnostics()), or a context seen before memory is read under it.
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

  /// Waits for synchronisation again; ptm.md 8.
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

  /// Simple packets can be counted directly, without elements.
  [[nodiscard]] static constexpr bool counts_straight() { return true; }
  [[nodiscard]] const Config& config() const { return config_; }

 private:
  template <class Host, bool kCycles, bool kReturns>
  friend class CountingWalk;

  /// The packet that a walk is for: records name it.
  enum class Cause : std::uint8_t { kAtom, kBranch, kWaypointUpdate };

  /// The time that a packet states.
  struct Cycles {
    bool present = false;
    std::uint32_t count = 0;
  };

  /// The most elements of one packet: five ranges, "not accessible", a lost cycle count.
  static constexpr std::size_t kMostElements = 8;

  [[nodiscard]] flow::PathState settled_path() const;

  // -- Packets --
  void accept_in_decode(const Packet& packet);
  void synchronise(const Packet& packet);
  void branch(const Packet& packet);
  void waypoint_update(const Packet& packet);
  void timestamp(const Packet& packet);
  void context_changed();
  void bad_packet(const Packet& packet);
  void async_in_packet(const Packet& packet);
  void conflict(const Packet& packet);
  bool take_security(const Context& context);

  // -- Flow --
  struct RangeSink;
  template <Cause kCause>
  void follow_as(TraceIndex index, std::uint32_t atoms, unsigned count, Cycles cycles);
  void follow(TraceIndex index, std::uint32_t atoms, unsigned count, Cycles cycles);
  void follow_branch(TraceIndex index, Cycles cycles);
  void stopped(TraceIndex index, Cycles cycles, Cause cause);
  void lose_place();
  void stuck(const flow::Block& block, TraceIndex index, Cycles cycles, Cause cause);
  void unfollowable(flow::BlockEnd ended, std::uint64_t address, TraceIndex index, Cause cause);
  void lost_cycles(TraceIndex index, Cycles cycles);
  /// The selection may no longer hold from here on.
  void enter_place(TraceIndex index) {
    if (!follower().covers(index)) [[unlikely]]
      select_memory(index);
  }
  void select_memory() { select_memory(packet_index_); }
  void select_memory(TraceIndex index);

  // -- Elements --
  Element& emit(ElementKind kind, TraceIndex index);
  void emit_cycles(Element& element, Cycles cycles) const;
  void emit_not_accessible(TraceIndex index, std::uint64_t address);
  void begin_output(Element* out, Element* end);
  Element* end_output();

  Diagnostic& report(Fault fault, Severity severity, TraceIndex index, Finding finding);
  void lose_sync(UnsyncReason reason);

  Config config_;
  Quirks quirks_;
  std::uint32_t flags_;
  flow::Path path_;
  bool callbacks_;

  // Output: directly to the client's span, or to staged_ if the span has too little space.
  Element* out_ = nullptr;
  Element* client_ = nullptr;
  Element* client_end_ = nullptr;
  std::array<Element, kMostElements> staged_;
  std::size_t staged_count_ = 0;
  std::size_t staged_taken_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::ptm
