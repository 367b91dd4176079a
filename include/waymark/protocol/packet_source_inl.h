// The loops of PacketSource.
#pragma once

#include <algorithm>

#include "waymark/protocol/packet_source.h"
#include "waymark/protocol/visitor.h"

namespace waymark::protocol {

// -- Visitors. ------------------------------------------------------------------------------------

/// Passes packets from the parser's loop to the decoder without a stop between them.
template <class P>
template <typename PacketSource<P>::Marking kMarking>
struct PacketSource<P>::Straight {
  static constexpr bool kMarked = kMarking != Marking::kNone;
  static constexpr bool kShortRows = kCan.runs_short_rows && kMarking != Marking::kBytes;
  static consteval VisitorTakes takes() {
    return {.p_headers = kCan.runs_rows && !kMarked, .short_rows = kShortRows};
  }

  PacketSource& source;
  Element* at;
  Element* end;

  // Only used with marks.
  PartMarks* marks = nullptr;
  const Element* first = nullptr;  ///< Where the block's first element would be.
  std::size_t part = 0;

  /// The client must see what it has before more is decoded.
  bool yields = false;

  void begin(const Element* out) {
    if constexpr (kMarked) {
      marks = source.marks_;
      first = out - marks->elements;
      part = marks->part;
      // The elements that the last packet still had to give have come since.
      if (marks->ends[part] != PartMarks::kNone) mark();
    }
  }
  void finish() {
    if constexpr (kMarked) marks->part = static_cast<std::uint32_t>(part);
  }
  void mark() { marks->ends[part] = static_cast<std::uint32_t>(at - first); }
  /// A place in the marked block, which is in memory.
  [[nodiscard]] std::size_t in_block(TraceIndex index) const {
    return static_cast<std::size_t>(index - marks->index);
  }
  /// No branch: the ends of frames could not be predicted.
  void enter_part(TraceIndex index, std::size_t length) {
    if constexpr (kMarking == Marking::kFrames) {
      const std::size_t offset = in_block(index);
      const std::size_t in_frame = offset % kFramePitch;
      part = offset / kFramePitch + (in_frame + length > frames::kPlainFrameBytes ? 1 : 0);
    } else if constexpr (kMarking == Marking::kBytes) {
      part = in_block(index) + length - 1;
    }
  }
  void enter_part(const Packet& packet) {
    if constexpr (kMarked) {
      constexpr bool kFrames = kMarking == Marking::kFrames;
      // A packet that began in an earlier block ends at the parser's position.
      std::size_t end_position = source.parser_.position();
      if (packet.index >= marks->index) {
        const std::size_t offset = in_block(packet.index);
        const std::size_t position = kFrames ? offset - offset / kFramePitch : offset;
        end_position =
            std::max(end_position, position + P::length_from_index(packet, source.parser_));
      }
      const std::size_t last = std::max<std::size_t>(end_position, 1) - 1;
      part = kFrames ? std::min(last / frames::kPlainFrameBytes, PartMarks::kMaxFrames - 1)
                     : std::min(last, PartMarks::kMaxBytes - 1);
    }
  }

  template <AtomsOf<P> Atoms>
  bool on_atoms(TraceIndex index, const Atoms& atoms) {
    Decoder& decoder = source.decoder();
    ++source.statistics_.packets;
    if constexpr (kMarked) enter_part(index, atoms.length);
    if (decoder.straight()) [[likely]] {
      at = decoder.run(index, atoms, at, end);
      if constexpr (kMarked) mark();
      return at != end && !decoder.busy();
    }
    if constexpr (kCan.settles_atoms) {
      if (decoder.can_settle_into(static_cast<std::size_t>(end - at))) {
        at = decoder.settle_and_run(index, atoms, at, end);
        return drained();
      }
    }
    if constexpr (requires { decoder.accept_atoms(index, atoms); }) {
      decoder.accept_atoms(index, atoms);
    } else {
      Packet packet;
      packet.index = index;
      copy_atoms(atoms, packet);
      decoder.accept(packet);
    }
    return drained();
  }

  /// Single elements, and the last ones of a span, are run one packet at a time.
  [[nodiscard]] bool wants_short_row() const
    requires(kShortRows)
  {
    constexpr std::ptrdiff_t kFewElements = 8;
    return end - at > kFewElements && source.decoder().straight();
  }
  unsigned on_short_row(TraceIndex index, std::uint32_t headers, unsigned packets)
    requires(kShortRows)
  {
    const unsigned taken = source.decoder().run_short_row(index, headers, packets, at, end);
    source.statistics_.packets += taken;
    if (kMarked && taken != 0) {
      enter_part(index, 1);  // All are in one frame.
      mark();
    }
    return taken;
  }
  [[nodiscard]] bool goes_on() const
    requires(kShortRows)
  {
    return at != end && !source.decoder().busy();
  }

  std::size_t on_p_headers(std::span<const frames::Run> runs, const std::uint8_t* data,
                           std::size_t position, std::size_t size)
    requires(bool{kCan.runs_rows} && !kMarked)
  {
    Decoder& decoder = source.decoder();
    if (end - at < 2 || !decoder.straight()) return position;
    const std::size_t next =
        decoder.run_row(runs.data(), runs.data() + runs.size(), data, position, size, at, end);
    source.statistics_.packets += next - position;
    return next;
  }

  bool on_packet(const Packet& packet) {
    Decoder& decoder = source.decoder();
    enter_part(packet);
    if constexpr (kCan.puts) {
      if (source.count(packet)) at = decoder.put(packet, at, end);
      if constexpr (kMarked) mark();
      // Nothing after the end of decoding counts as used.
      return at != end && !decoder.busy() && !decoder.failed();
    } else {
      if constexpr (kCan.runs_short_rows) {
        if (decoder.hold_address(packet)) [[likely]] {
          ++source.statistics_.packets;
          if constexpr (kMarked) mark();
          return true;
        }
      }
      source.take(packet);
      return drained();
    }
  }

 private:
  /// Takes what the packet resolves.  True: the next packet may follow at once.
  bool drained() {
    Decoder& decoder = source.decoder();
    if (decoder.busy()) {
      at += decoder.drain({at, end});
      yields = decoder.busy();
    }
    if constexpr (kMarked) mark();
    return at != end && !yields && !decoder.failed();
  }
};

/// The host that a protocol's counting function calls.
template <class P>
struct PacketSource<P>::CountingHost {
  PacketSource& source;
  count::Counter& counter;
  std::array<Element, 16> elements{};

  /// Gives everything that the decoder has begun to the counter and the observer.
  void flush() {
    Decoder& decoder = source.decoder();
    if constexpr (kCan.runs_atoms) {
      while (decoder.running()) {
        Element* const end = decoder.resume(elements.data(), elements.data() + elements.size());
        observe(static_cast<std::size_t>(end - elements.data()));
      }
    }
    while (decoder.busy()) {
      observe(decoder.drain(elements));
      if (decoder.has_diagnostics()) source.report_diagnostics();
    }
  }
  /// Gives a packet to the decoder, and everything that it makes of it to the counter.
  void give(const Packet& packet)
    requires(bool{kCan.puts})
  {
    Decoder& decoder = source.decoder();
    Element* const begin = elements.data();
    Element* const end = decoder.put(packet, begin, begin + elements.size());
    if (end != begin) observe(static_cast<std::size_t>(end - begin));
    if (decoder.busy()) [[unlikely]]
      flush();
  }
  [[gnu::always_inline]] bool takes(const Packet& packet) { return source.count(packet); }
  void took(std::uint64_t packets) { source.statistics_.packets += packets; }

 private:
  void observe(std::size_t count) {
    if (count == 0) return;  // Often: what was committed is already counted.
    counter.observe(std::span<const Element>(elements).first(count));
    source.statistics_.elements += count;
  }
};

/// Counts, for a client that asks for nothing else.
template <class P>
struct PacketSource<P>::Counting {
  static consteval VisitorTakes takes() { return {.atom_rows = true}; }

  PacketSource& source;

  template <AtomsOf<P> Atoms>
  bool on_atoms(TraceIndex, const Atoms&) {
    ++source.statistics_.packets;
    return true;
  }
  bool on_atom_row(Bytes headers) {
    source.statistics_.packets += headers.size();
    return true;
  }
  bool on_packet(const Packet& packet) {
    source.take(packet);
    return true;
  }
};

// -- The source. ----------------------------------------------------------------------------------

template <class P>
std::size_t PacketSource<P>::next(std::span<Element> out) {
  if (!decoder_) return next_packets();
  if (used_up_) return 0;
  if constexpr (kCan.marks_parts) {
    if (marks_ != nullptr && marks_->parts == PartMarks::Parts::kFrames)
      return next_element<Marking::kFrames>(out);
    if (marks_ != nullptr) return next_element<Marking::kBytes>(out);
  }
  return next_element<Marking::kNone>(out);
}

template <class P>
void PacketSource<P>::count(count::Counter& counter) {
  counter.set_shares_cycles(P::has_cycles(config_));
  if constexpr (kCan.counts) {
    if (decoder_ && options_.block_cache && !watcher_.packets && decoder_->counts_straight()) {
      CountingHost host{*this, counter};
      counter.set_timestamps_repeat_cycles(protocol() == waymark::Protocol::kEtmV4 ||
                                           protocol() == waymark::Protocol::kEte);
      host.flush();
      if (!failed()) P::count(parser_, *decoder_, counter, host);
    }
  }
  // The end of the trace or, without another way, the whole trace.
  Source::count(counter);
}

template <class P>
void PacketSource<P>::reset() {
  parser_.reset();
  if (decoder_) decoder_->reset();
  landmarks_ = Landmarks(config_);
  ending_ = {};
  if (watcher_.observer != nullptr)
    watcher_.observer->on_operation(Operation::kReset, watcher_.stream_id);
}

template <class P>
void PacketSource<P>::refresh() {
  if constexpr (kCan.refreshes) {
    if (decoder_) decoder_->refresh();
  }
}

template <class P>
SourceStatistics PacketSource<P>::statistics() const {
  SourceStatistics s = statistics_;
  const frames::ParserStatistics& parsed = parser_.statistics();
  s.total_bytes += parsed.total_bytes;
  s.unsynced_bytes += parsed.unsynced_bytes;
  s.bad_headers += parsed.bad_headers;
  s.bad_sequences += parsed.bad_sequences;
  return s;
}

template <class P>
void PacketSource<P>::reset_statistics() {
  start_ = start();
  statistics_ = {};
  parser_.reset_statistics();
}

template <class P>
void PacketSource<P>::set_observer(Observer* observer, TraceId stream_id) {
  watcher_ = {.observer = observer,
              .packets = observer != nullptr && observer->wants_packets(),
              .landmarks = observer != nullptr && observer->wants_landmarks(),
              .stream_id = stream_id};
  if constexpr (kCan.is_monitored)
    parser_.set_monitored(observer != nullptr && observer->monitors_packets());
}

template <class P>
bool PacketSource<P>::mark_parts(PartMarks* marks) {
  if constexpr (kCan.marks_parts) marks_ = marks;
  return kCan.marks_parts;
}

template <class P>
std::unique_ptr<Source> PacketSource<P>::clone() const {
  auto copy = std::make_unique<PacketSource>(*this);
  copy->marks_ = nullptr;
  if constexpr (kCan.takes_place) {
    if (decoder_) copy->decoder().take_place(*decoder_);
  }
  return copy;
}

template <class P>
bool PacketSource<P>::can_jump() const {
  if constexpr (kCan.jumps) {
    if (options_.quirks != 0) return false;
    return decoder_ ? P::can_jump(*decoder_) : !kCan.checks_registers;
  } else {
    return false;
  }
}

template <class P>
void PacketSource<P>::jump() {
  if constexpr (kCan.jumps) {
    parser_.jump();
    if (decoder_) decoder_->jump();
  }
}

template <class P>
void PacketSource<P>::restore(const Source& other) {
  const auto& from = static_cast<const PacketSource&>(other);
  const Start started = from.start();
  statistics_ = statistics();
  parser_ = from.parser_;
  parser_.reset_statistics();
  registers_ = from.registers_;
  landmarks_ = from.landmarks_;
  ending_ = from.ending_;
  used_up_ = false;
  // statistics() goes on to count what this source has skipped.
  start_ = started;
  if (!started.over) start_.bytes -= statistics_.unsynced_bytes;
  if constexpr (kCan.jumps) {
    if (decoder_ && from.decoder_) decoder_->restore(*from.decoder_);
  }
}

template <class P>
bool PacketSource<P>::same_state(const Source& other) const {
  if constexpr (kCan.jumps) {
    const auto& with = static_cast<const PacketSource&>(other);
    if (!parser_.same_state(with.parser_) || ending_.step != with.ending_.step) return false;
    if (start() != with.start()) return false;
    if (decoder_.has_value() != with.decoder_.has_value()) return false;
    return !decoder_ || decoder_->same_state(*with.decoder_);
  } else {
    return false;
  }
}

// -- With a decoder. ------------------------------------------------------------------------------

template <class P>
template <typename PacketSource<P>::Marking kMarking>
std::size_t PacketSource<P>::next_element(std::span<Element> out) {
  std::size_t count = 0;
  if constexpr (kCan.runs_atoms) {
    if (decoder().running()) {
      Element* const end = out.data() + out.size();
      count = static_cast<std::size_t>(decoder().resume(out.data(), end) - out.data());
    }
  }
  while (count != out.size()) {
    if (decoder().busy()) {
      count += decoder().drain(out.subspan(count));
      if (count == out.size()) break;
      if (decoder().has_diagnostics()) {
        if (count != 0) break;
        report_diagnostics();
        continue;
      }
      // Memory must not be read under a context that the client has not seen.
      if (decoder().busy() && count != 0) break;
      if (decoder().busy()) continue;
    }
    if (failed() && ending_.step == Ending::Step::kNone) break;
    if (watcher_.packets) {
      if (count != 0) break;
      if (!failed() && parser_.next(packet_)) {
        deliver();
        continue;
      }
    } else if (!failed()) {
      const Parsed parsed = parse_into<kMarking>(out, count);
      if (parsed == Parsed::kYields && count != 0) break;
      if (parsed != Parsed::kAll) continue;
    }
    // The end is reported after the last element has been given.
    if (ending_.step == Ending::Step::kReport && watcher_.observer != nullptr && count != 0) break;
    if (!end_step()) {
      used_up_ = true;
      break;
    }
  }
  // It is always the last one.
  if (!ending_.last_piece && count != 0 && out[count - 1].kind == ElementKind::kEndOfTrace) --count;
  if constexpr (kCan.remembers_elements) {
    if (options_.quirks != 0) decoder().remember(out.first(count));
  }
  statistics_.elements += count;
  return count;
}

/// Fills `out` from `count` on.
template <class P>
template <typename PacketSource<P>::Marking kMarking>
typename PacketSource<P>::Parsed PacketSource<P>::parse_into(std::span<Element> out,
                                                             std::size_t& count) {
  if constexpr (kCan.runs_atoms || kCan.puts) {
    Straight<kMarking> straight{*this, out.data() + count, out.data() + out.size()};
    straight.begin(out.data());
    const bool stopped = parser_.parse(straight);
    straight.finish();
    if constexpr (kCan.leaves_spans) decoder().leave_span();
    count = static_cast<std::size_t>(straight.at - out.data());
    if (straight.yields) return Parsed::kYields;
    return stopped ? Parsed::kPart : Parsed::kAll;
  } else {
    return parse_until_busy() ? Parsed::kPart : Parsed::kAll;
  }
}

template <class P>
bool PacketSource<P>::parse_until_busy() {
  while (parser_.next(packet_)) {
    take(packet_);
    if (decoder().busy() || decoder().failed()) return true;
  }
  return false;
}

template <class P>
void PacketSource<P>::report_diagnostics() {
  for (Diagnostic record : decoder().diagnostics()) {
    if (record.is_damage()) ++statistics_.diagnostics;
    if (watcher_.observer == nullptr) continue;
    record.stream_id = watcher_.stream_id;
    watcher_.observer->on_diagnostic(record);
  }
  decoder().clear_diagnostics();
}

// -- Without a decoder. ---------------------------------------------------------------------------

template <class P>
std::size_t PacketSource<P>::next_packets() {
  if (watcher_.packets) {
    while (parser_.next(packet_)) {
      deliver();
      if (watcher_.observer->pauses()) return 0;
    }
  } else if constexpr (kCan.runs_atoms || kCan.puts) {
    parser_.parse(Counting{*this});
  } else {
    while (parser_.next(packet_)) take(packet_);
  }
  while (end_step()) {
  }
  return 0;
}

template <class P>
inline bool PacketSource<P>::passes(const Packet& packet) {
  if constexpr (kCan.passes_packets) {
    return Landmarks::passes(packet);
  } else {
    return false;
  }
}

template <class P>
[[gnu::noinline]] void PacketSource<P>::mark(const Packet& packet) {
  landmarks_(packet, [&](Landmark landmark) {
    landmark.index = packet.index;
    watcher_.observer->on_landmark(landmark, watcher_.stream_id);
  });
}

/// The packet at the end of the trace that lacks its last bytes.
template <class Packet>
constexpr bool is_cut_off(const Packet& packet) {
  if constexpr (requires { decltype(packet.type)::kIncompleteEot; }) {
    return packet.type == decltype(packet.type)::kIncompleteEot;
  } else {
    return false;
  }
}

template <class P>
inline void PacketSource<P>::report_fault(const Packet& packet) {
  // The reference gives such a packet without an error.
  const PacketFault found = is_cut_off(packet) && options_.quirks == 0
                                ? PacketFault{Fault::kBadPacketSequence, Finding::kEndsInPacket}
                                : P::fault_of(packet, options_);
  if (found.fault != Fault::kNone) report(found, Severity::kError, packet.index);
}

template <class P>
inline void PacketSource<P>::report_registers(Finding finding, TraceIndex index) {
  if (finding != Finding::kNone)
    report({Fault::kUnsupportedConfig, finding}, Severity::kWarning, index);
}

template <class P>
void PacketSource<P>::report(const PacketFault& found, Severity severity, TraceIndex index,
                             Stage stage, std::uint64_t lost) {
  Diagnostic record;
  record.fault = found.fault;
  record.finding = found.finding;
  record.number = found.number;
  record.severity = severity;
  record.stage = stage;
  record.trace_id = config_.trace_id();
  record.stream_id = watcher_.stream_id;
  record.index = index;
  record.lost = lost;
  if (record.is_damage()) ++statistics_.diagnostics;
  if (watcher_.observer != nullptr) watcher_.observer->on_diagnostic(record);
}

/// What cannot be decoded is said once, at the first synchronisation point or the end of the trace.
template <class P>
[[gnu::noinline]] void PacketSource<P>::end_start(Finding finding, TraceIndex index) {
  const std::uint64_t bytes = start().bytes;
  start_ = {.over = true};
  if (bytes == 0 || options_.quirks != 0) return;
  if (!decoder_ || finding == Finding::kNoFirstSync) {
    report({Fault::kNotSynchronised, finding}, Severity::kInfo, index,
           decoder_ ? Stage::kElements : Stage::kPackets, bytes);
    return;
  }
  // Elements may wait that come before it.
  Diagnostic record;
  record.fault = Fault::kNotSynchronised;
  record.finding = finding;
  record.severity = Severity::kInfo;
  record.stage = Stage::kElements;
  record.trace_id = config_.trace_id();
  record.index = index;
  record.lost = bytes;
  decoder().add_diagnostic(record);
}

// -- Each packet. ---------------------------------------------------------------------------------

template <class P>
inline void PacketSource<P>::deliver() {
  if (options_.packet_faults && decoder_ && watcher_.packets) [[unlikely]]
    report_fault(packet_);
  take(packet_);
  if (watcher_.packets) show();
}

template <class P>
inline void PacketSource<P>::take(const Packet& packet) {
  if (count(packet)) decoder().accept(packet);
}

/// Counts a packet, and reports it if nothing is decoded.  True: it is for the decoder.
template <class P>
[[gnu::always_inline]] inline bool PacketSource<P>::count(const Packet& packet) {
  ++statistics_.packets;
  if (!kCan.checks_registers && !decoder_ && passes(packet)) return false;
  if (P::is_sync_point(packet)) {
    ++statistics_.sync_points;
    if (!start_.over) [[unlikely]]
      end_start(Finding::kBeforeFirstSync, packet.index);
  }
  if (!decoder_) {
    if (watcher_.landmarks) mark(packet);
    report_fault(packet);
    if constexpr (kCan.checks_registers) {
      if (reports_contradictions_) report_registers(registers_.check(packet), packet.index);
    }
    return false;
  }
  if (P::is_monitor_only(packet)) return false;
  return (options_.flags & kNoForwardBadPackets) == 0 || !P::is_bad(packet, options_);
}

template <class P>
void PacketSource<P>::show() {
  const bool bad = P::is_bad(packet_, options_);
  if (bad && (options_.flags & kNoMonitorBadPackets) != 0) return;
  PacketRef ref;
  ref.protocol = protocol();
  ref.trace_id = watcher_.stream_id;
  ref.index = packet_.index;
  ref.bytes = parser_.packet_bytes();
  ref.packet = &packet_;
  ref.monitor_only = P::is_monitor_only(packet_);
  ref.bad = bad;
  watcher_.observer->on_packet(ref);
}

/// Does what finish() requested, one step at a time.  False: nothing is left.
template <class P>
bool PacketSource<P>::end_step() {
  switch (ending_.step) {
    case Ending::Step::kPacket:
      ending_.step = decoder_ ? Ending::Step::kElements : Ending::Step::kReport;
      if (!failed() && parser_.finish(packet_)) deliver();
      return true;
    case Ending::Step::kElements:
      ending_.step = Ending::Step::kReport;
      decoder().end_of_trace();
      return true;
    case Ending::Step::kReport:
      ending_.step = Ending::Step::kDone;
      if (!ending_.last_piece) return false;
      if (!start_.over) end_start(Finding::kNoFirstSync, kNoIndex);
      if constexpr (kCan.checks_registers) {
        if (!decoder_ && reports_contradictions_)
          report_registers(registers_.at_end(statistics_.packets), kNoIndex);
      }
      if (watcher_.observer != nullptr)
        watcher_.observer->on_operation(Operation::kEndOfTrace, watcher_.stream_id);
      return false;
    default:
      return false;
  }
}

}  // namespace waymark::protocol
