// Packets to elements.  See stm-itm.md 7.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/stm/config.h"
#include "waymark/stm/packet.h"
#include "waymark/stm/quirks.h"

namespace waymark::stm {

/// The state that a decoder keeps between packets; stm-itm.md 9.
struct DecoderState {
  enum class State : std::uint8_t { kNoSync, kWaitSync, kDecode, kFailed };
  /// More than any packet can carry: packets with differences never give the whole time.
  static constexpr std::uint8_t kAllBits = 65;

  static constexpr std::uint16_t kWholeTime = kElementHasTimestamp;
  static constexpr std::uint16_t kPartialTime = kElementHasTimestamp | kElementTimeIsPartial;

  State state_ = State::kNoSync;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  TraceIndex last_index_ = 0;

  std::uint16_t master_ = 0;
  std::uint16_t channel_ = 0;
  bool id_valid_ = false;
  bool time_known_ = false;  ///< A timestamp was not empty.
  /// The low bits of the time that were sent since the last loss; at the start the rest is 0.
  std::uint8_t time_bits_ = kAllBits;
  std::uint8_t whole_time_bits_ = 64;
  std::uint16_t partial_time_ = kPartialTime;  ///< Flags of a timestamp that is incomplete.

  // Facts that the registers rule out and the trace has shown; each is reported once.
  bool reported_timestamp_ = false;
  bool reported_master_ = false;
  bool reported_channel_ = false;
  bool reported_encoding_ = false;  ///< That timestamps come before any VERSION packet.

  friend bool operator==(const DecoderState&, const DecoderState&) = default;
};

/// Pull decoder: call accept() with a packet, then drain() until it is not busy(), then go on with
/// the next packet.  One owner; not thread safe.
///
/// There is one element for each packet that carries data, an event or a time; the timestamp is
/// part of the element of its packet.  An empty timestamp repeats the last one; before the first,
/// or with timestamps off, the time is unknown (no kElementHasTimestamp).  After a loss of
/// synchronisation its upper bits are unknown until a timestamp has all 64.  A timestamp before any
/// VERSION packet is left out.  Master and channel are the current ones; they are valid from the
/// first M8 or M16 on, and become invalid with a global error or a loss of synchronisation.
class Decoder : private DecoderState {
 public:
  explicit Decoder(const Config& config, const Quirks& quirks = {});

  void accept(const Packet& packet);

  /// accept() and drain() in one call: writes from `out` on, as far as there is space, and returns
  /// the new position.  If the decoder is busy() afterwards, call drain().
  Element* put(const Packet& packet, Element* out, Element* end) {
    if (state_ != State::kDecode || out == end) [[unlikely]] {
      accept(packet);
      return out;
    }
    last_index_ = packet.index;
    if (is_simple(packet)) [[likely]] {
      fill(packet, is_data(packet) ? 0 : kSwMarker, SwTraceKind::kData, *out);
      return out + 1;
    }
    if (!make(packet, *out)) return out;
    if (diagnostics_.empty()) [[likely]]
      return out + 1;
    queue_[count_++] = *out;
    return out;
  }

  /// As put(), for a client that only counts: true if the packet is one element of kSwTrace, which
  /// is not made.  Otherwise call accept().
  bool pass(const Packet& packet) {
    if (state_ != State::kDecode || !is_simple(packet)) [[unlikely]]
      return false;
    last_index_ = packet.index;
    if (packet.has_timestamp) take_time(packet);
    return true;
  }
  /// Packets can be counted without elements.
  [[nodiscard]] static bool counts_straight() { return true; }

  /// There are no more packets: drain() gives the end-of-trace element.
  void end_of_trace();

  /// Fills `out` from the front; returns the number.  0 if a diagnostic must be reported first.
  std::size_t drain(std::span<Element> out);

  [[nodiscard]] bool busy() const { return count_ != 0 || !diagnostics_.empty(); }

  /// Records whose place is after all elements that were drained, and before the next one.
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }
  /// A record of the source, after the packets so far.
  void add_diagnostic(const Diagnostic& record) { diagnostics_.push_back(record); }

  /// Only with Quirks::bad_packet_is_fatal: nothing more is given before reset().
  [[nodiscard]] bool failed() const { return state_ == State::kFailed; }

  /// Like the parser's reset().
  void reset();

  /// Bytes are missing before the next packet: the decoder waits for synchronisation without
  /// reporting it, and keeps the state that no synchronisation point restates.
  void jump() {
    if (state_ != State::kNoSync) state_ = State::kWaitSync;
  }

  /// Continues from the state of `other`, which decodes the same stream.  Both gave all elements.
  void restore(const Decoder& other) {
    static_cast<DecoderState&>(*this) = other;
    count_ = 0;
    diagnostics_.clear();
  }

  /// Both will decode what follows in the same way.  Both have given all elements.
  [[nodiscard]] bool same_state(const Decoder& other) const {
    return static_cast<const DecoderState&>(*this) == static_cast<const DecoderState&>(other);
  }

 private:
  void clear_state();
  void lose_time();
  void take_version(const Packet& packet);
  static bool is_data(const Packet& packet) {
    return packet.type >= PacketType::kD4 && packet.type <= PacketType::kD64;
  }
  /// Data and flags of which nothing is to be reported.
  [[nodiscard]] bool is_simple(const Packet& packet) const {
    return (is_data(packet) || packet.type == PacketType::kFlag) &&
           (reported_timestamp_ || !packet.has_timestamp) && packet.defect == Defect::kNone;
  }
  void take_time(const Packet& packet) {
    time_bits_ = std::max(time_bits_, packet.timestamp_bits);
    time_known_ = time_known_ || packet.timestamp_bits != 0;
  }
  /// Makes the element of a synchronised packet; false: it has none.
  bool make(const Packet& packet, Element& element);
  /// Fills in the element of a packet that has one.
  void fill(const Packet& packet, unsigned flags, SwTraceKind kind, Element& element) {
    element = {};
    element.index = packet.index;
    element.kind = ElementKind::kSwTrace;
    element.trace_id = config_.trace_id();
    element.sw_id = {.master = master_, .channel = channel_};
    element.start = packet.payload;
    element.extra_value = packet.payload_bits;
    if (packet.marker) flags |= kSwMarker;
    if (id_valid_) flags |= kSwIdValid;
    if (packet.has_timestamp) {
      flags |= kSwTimestamp;
      take_time(packet);
      if (time_known_) element.flags = time_bits_ >= whole_time_bits_ ? kWholeTime : partial_time_;
      element.timestamp = packet.timestamp;
    }
    element.extra = static_cast<std::uint8_t>(flags);
    element.reason = static_cast<std::uint8_t>(kind);
  }
  void bad_packet(const Packet& packet);
  bool take_off_time(const Packet& packet, Element& element);
  void check_registers(const Packet& packet);
  void report(Fault fault, Severity severity, TraceIndex index, Finding finding);
  Element& queue(ElementKind kind, TraceIndex index, UnsyncReason reason);

  Config config_;
  Quirks quirks_;
  bool checks_;  ///< Whether to compare the trace with the registers.

  // The elements that drain() has yet to give.
  std::array<Element, 2> queue_;
  std::uint8_t count_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::stm
