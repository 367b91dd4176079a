// A Source made of a protocol's parser and decoder.  Every protocol's source.cc uses it, and names
// the protocol's parts.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <span>

#include "waymark/count/counter.h"
#include "waymark/image/image.h"
#include "waymark/protocol/packet_fault.h"
#include "waymark/protocol/source.h"

namespace waymark::protocol {

/// `P` has the types Config, Packet, Parser and Decoder, and the static functions
///   Protocol protocol(const Config&);
///   Parser make_parser(const Config&, const SourceOptions&);
///   Decoder make_decoder(const Config&, const image::Image*, const SourceOptions&);
///   bool is_bad(const Packet&, const SourceOptions&);  it is not a valid packet
///   bool is_reserved(const Packet&);      its header is reserved: reported if nothing is decoded
///   bool is_sync_point(const Packet&);
///   bool is_monitor_only(const Packet&);
///   void write_packet(TextBuffer&, const Packet&, const Config&);
///   std::span<const BasicField<Packet>> fields_of(const Packet&);
/// Instead of is_reserved() it may have
///   PacketFault fault_of(const Packet&, const SourceOptions&);  what to report if nothing is
///   decoded
/// and write_packet() may take the SourceOptions as well.  It may
/// have
///   struct Registers;  made of Config; used if nothing is decoded
///     Finding check(const Packet&);  the packet's contradiction of the registers, once; or kNone
///     Finding at_end(std::uint64_t packets);  the same for the whole trace
///   bool tells_contradictions(const SourceOptions&);  with Registers: no quirk keeps it silent
///   bool has_cycles(const Config&);  whether the registers switch cycle counts on
///   struct Landmarks;  what packets mean to an index, in the order of their kinds; made of Config
///     void operator()(const Packet&, Emit&&);  emit(const Landmark&), whose index is filled
///       in
///     static bool passes(const Packet&);  optional: a quick test that excludes the most common
///       packets, which are neither landmarks nor sync points nor reserved
/// Parser and Decoder have the form of those of etmv4, whose comments apply.  Their fast paths may
/// be left out; each needs Parser::parse():
///   counting   Decoder::counts_straight(), and the static template
///              void count(Parser&, Decoder&, count::Counter&, Host&);  see CountingHost
///   atoms      straight(), run(), running(), resume() and copy_atoms(); perhaps can_settle() and
///              settle()
///   packets    Element* put(const Packet&, Element* out, Element* end);  the elements that fit
///              are written there, and what else must be done makes the decoder busy()
/// `P` may also have
///   static constexpr bool kMarksFrames = true;  mark_frames() is available: each packet of its
///   parser has its length
/// A decoder with remember(std::span<const Element>) gets the elements that were given, if quirks
/// are requested.  A decoder with leave_span() may keep elements after those that run() gave, until
/// that call.
template <class P>
class PacketSource final : public Source {
 public:
  using Config = typename P::Config;
  using Packet = typename P::Packet;
  using Parser = typename P::Parser;
  using Decoder = typename P::Decoder;

  PacketSource(const Config& config, const image::Image* image, const SourceOptions& options)
      : config_(config),
        options_(options),
        parser_(P::make_parser(config, options)),
        registers_(config),
        landmarks_(config) {
    if (options.decode) decoder_.emplace(P::make_decoder(config, image, options));
    if constexpr (kChecksRegisters) tells_contradictions_ = P::tells_contradictions(options);
  }

  [[nodiscard]] Protocol protocol() const override { return P::protocol(config_); }
  [[nodiscard]] TraceId trace_id() const override { return config_.trace_id(); }

  void feed(const frames::StreamBlock& block) override { parser_.feed(block); }

  std::size_t next(std::span<Element> out) override {
    if (!decoder_) return next_packets();
    if constexpr (kMarks) {
      if (marks_ != nullptr) return next_element<true>(out);
    }
    return next_element<false>(out);
  }

  void count(count::Counter& counter) override {
    if constexpr (requires { P::has_cycles(config_); }) {
      counter.set_shares_cycles(P::has_cycles(config_));
    }
    if constexpr (requires(CountingHost& host) { P::count(parser_, *decoder_, counter, host); }) {
      if (decoder_ && options_.block_cache && !shows_packets_ && decoder_->counts_straight()) {
        CountingHost host{*this, counter};
        counter.set_timestamps_repeat_cycles(protocol() == Protocol::kEtmV4 ||
                                             protocol() == Protocol::kEte);
        host.flush();
        if (!failed()) P::count(parser_, *decoder_, counter, host);
      }
    }
    // The end of the trace or, without another way, the whole trace.
    Source::count(counter);
  }

  void finish() override {
    ending_ = Ending::kPacket;
    last_piece_ = true;
  }

  void finish_piece() override {
    ending_ = Ending::kPacket;
    last_piece_ = false;
  }

  void reset() override {
    parser_.reset();
    if (decoder_) decoder_->reset();
    landmarks_ = Landmarks(config_);
    ending_ = Ending::kNone;
    last_piece_ = true;
    if (observer_ != nullptr) observer_->on_operation(Operation::kReset, stream_id_);
  }

  void refresh() override {
    if constexpr (requires(Decoder& decoder) { decoder.refresh(); }) {
      if (decoder_) decoder_->refresh();
    }
  }

  [[nodiscard]] bool failed() const override { return decoder_ && decoder_->failed(); }
  [[nodiscard]] std::size_t consumed() const override { return parser_.position(); }

  std::size_t withdraw() override { return parser_.withdraw(); }

  [[nodiscard]] SourceStatistics statistics() const override {
    SourceStatistics s = statistics_;
    const auto& parsed = parser_.statistics();
    s.total_bytes += parsed.total_bytes;
    s.unsynced_bytes += parsed.unsynced_bytes;
    s.bad_headers += parsed.bad_headers;
    s.bad_sequences += parsed.bad_sequences;
    return s;
  }

  void add_statistics(const SourceStatistics& more) override { statistics_ += more; }

  void reset_statistics() override {
    statistics_ = {};
    parser_.reset_statistics();
  }

  void set_observer(Observer* observer, TraceId stream_id) override {
    observer_ = observer;
    shows_packets_ = observer != nullptr && observer->wants_packets();
    shows_landmarks_ = observer != nullptr && observer->wants_landmarks();
    stream_id_ = stream_id;
    if constexpr (requires { parser_.set_monitored(true); }) {
      parser_.set_monitored(observer != nullptr && observer->monitors_packets());
    }
  }

  bool mark_frames(FrameMarks* marks) override {
    if constexpr (kMarks) marks_ = marks;
    return kMarks;
  }

  void write_packet(TextBuffer& out, const PacketRef& packet) const override {
    const auto& p = packet.template as<Packet>();
    if constexpr (requires { P::write_packet(out, p, config_, options_); }) {
      P::write_packet(out, p, config_, options_);
    } else {
      P::write_packet(out, p, config_);
    }
  }

  void visit_fields(const PacketRef& packet, FieldVisitor& visitor) const override {
    const auto& p = packet.template as<Packet>();
    for_each_field(P::fields_of(p), p, [&](const FieldValue& value) { visitor.on_field(value); });
  }

  [[nodiscard]] std::unique_ptr<Source> clone() const override {
    auto copy = std::make_unique<PacketSource>(*this);
    copy->marks_ = nullptr;
    if constexpr (requires(Decoder& decoder) { decoder.take_place(decoder); }) {
      if (decoder_) copy->decoder().take_place(*decoder_);
    }
    return copy;
  }

  [[nodiscard]] bool can_jump() const override {
    if (!kJumps || options_.quirks != 0) return false;
    if (!decoder_) return !kChecksRegisters;
    if constexpr (requires(const Decoder& decoder) { decoder.can_jump(); }) {
      return decoder_->can_jump();
    }
    return true;
  }

  void jump() override {
    if constexpr (kJumps) {
      parser_.jump();
      if (decoder_) decoder_->jump();
    }
  }

  void restore(const Source& other) override {
    const auto& from = static_cast<const PacketSource&>(other);
    statistics_ = statistics();
    parser_ = from.parser_;
    parser_.reset_statistics();
    registers_ = from.registers_;
    landmarks_ = from.landmarks_;
    ending_ = from.ending_;
    last_piece_ = from.last_piece_;
    if constexpr (kJumps) {
      if (decoder_ && from.decoder_) decoder_->restore(*from.decoder_);
    }
  }

  [[nodiscard]] bool same_state(const Source& other) const override {
    if constexpr (kJumps) {
      const auto& with = static_cast<const PacketSource&>(other);
      if (!parser_.same_state(with.parser_) || ending_ != with.ending_) return false;
      if (decoder_.has_value() != with.decoder_.has_value()) return false;
      return !decoder_ || decoder_->same_state(*with.decoder_);
    } else {
      return false;
    }
  }

 private:
  static constexpr bool kJumps = requires(Parser& parser, Decoder& decoder) {
    parser.jump();
    decoder.jump();
  };

  static constexpr bool kRuns = requires(Decoder& decoder) { decoder.running(); };
  static constexpr bool kPuts = requires(Decoder& decoder, const Packet& packet, Element* at) {
    { decoder.put(packet, at, at) } -> std::same_as<Element*>;
  };

  /// Everything is given packet by packet, and packets have their length.
  static constexpr bool kMarks = requires { P::kMarksFrames; };

  static constexpr bool kRows =
      requires(Decoder& decoder, const frames::Run* run, const std::uint8_t* data, Element*& out) {
        decoder.run_row(run, run, data, std::size_t{}, std::size_t{}, out, out);
      };

  static constexpr std::size_t kFramePitch = frames::kPlainFrameBytes + 1;  ///< In indexes.

  struct NoRegisters {
    explicit NoRegisters(const Config& /*config*/) {}
  };
  template <class Part>
  struct RegistersOf {
    using Type = NoRegisters;
  };
  template <class Part>
    requires requires { typename Part::Registers; }
  struct RegistersOf<Part> {
    using Type = typename Part::Registers;
  };
  using Registers = typename RegistersOf<P>::Type;
  static constexpr bool kChecksRegisters = !std::same_as<Registers, NoRegisters>;

  template <class Part>
  struct LandmarksOf {
    using Type = NoRegisters;
  };
  template <class Part>
    requires requires { typename Part::Landmarks; }
  struct LandmarksOf<Part> {
    using Type = typename Part::Landmarks;
  };
  using Landmarks = typename LandmarksOf<P>::Type;

  enum class Ending : std::uint8_t { kNone, kPacket, kElements, kReport, kDone };

  /// Only code that runs with a decoder calls it.
  Decoder& decoder() { return *decoder_; }  // NOLINT(bugprone-unchecked-optional-access)

  template <bool kMarked>
  std::size_t next_element(std::span<Element> out) {
    std::size_t count = 0;
    if constexpr (kRuns) {
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
      if (failed() && ending_ == Ending::kNone) break;
      if (shows_packets_) {
        if (count != 0) break;
        if (!failed() && parser_.next(packet_)) {
          deliver();
          continue;
        }
      } else if (!failed()) {
        if constexpr (kRuns || kPuts) {
          Straight<kMarked> straight{*this, out.data() + count, out.data() + out.size()};
          straight.begin(out.data());
          const bool stopped = parser_.parse(straight);
          straight.finish();
          if constexpr (requires(Decoder& decoder) { decoder.leave_span(); })
            decoder().leave_span();
          count = static_cast<std::size_t>(straight.at - out.data());
          if (stopped) continue;
        } else {
          if (parse_until_busy()) continue;
        }
      }
      // The end is reported after the last element has been given.
      if (ending_ == Ending::kReport && observer_ != nullptr && count != 0) break;
      if (!end_step()) break;
    }
    // It is always the last one.
    if (!last_piece_ && count != 0 && out[count - 1].kind == ElementKind::kEndOfTrace) --count;
    if constexpr (requires(Decoder& decoder) { decoder.remember(std::span<const Element>()); }) {
      if (options_.quirks != 0) decoder().remember(out.first(count));
    }
    statistics_.elements += count;
    return count;
  }

  /// False: the block is used up.
  bool parse_until_busy() {
    while (parser_.next(packet_)) {
      take(packet_);
      if (decoder().busy() || decoder().failed()) return true;
    }
    return false;
  }

  /// Passes packets from the parser's loop to the decoder without a stop between them.
  template <bool kMarked>
  struct Straight {
    PacketSource& source;
    Element* at;
    Element* end;

    // Only used with marks.
    FrameMarks* marks = nullptr;
    const Element* first = nullptr;  ///< Where the block's first element would be.
    std::size_t frame = 0;

    void begin(const Element* out) {
      if constexpr (kMarked) {
        marks = source.marks_;
        first = out - marks->elements;
        frame = marks->frame;
        // What the last packet still had to give has come since.
        if (marks->ends[frame] != FrameMarks::kNone) mark();
      }
    }
    void finish() {
      if constexpr (kMarked) marks->frame = static_cast<std::uint32_t>(frame);
    }
    void mark() { marks->ends[frame] = static_cast<std::uint32_t>(at - first); }
    /// No branch: the ends of frames could not be predicted.
    void enter_frame(TraceIndex index, std::size_t length) {
      if constexpr (kMarked) {
        const std::size_t offset = index - marks->index;
        const std::size_t in_frame = offset % kFramePitch;
        frame = offset / kFramePitch + (in_frame + length > frames::kPlainFrameBytes ? 1 : 0);
      }
    }
    void enter_frame(const Packet& packet) {
      if constexpr (kMarked) {
        // A packet that began in an earlier block ends at the parser's position.
        std::size_t end_position = source.parser_.position();
        const std::size_t offset = packet.index - marks->index;
        if (packet.index >= marks->index)
          end_position = std::max(end_position, offset - offset / kFramePitch + packet.length);
        const std::size_t last = std::max<std::size_t>(end_position, 1) - 1;
        frame = std::min(last / frames::kPlainFrameBytes, FrameMarks::kMaxFrames - 1);
      }
    }

    template <class Atoms>
    bool on_atoms(TraceIndex index, const Atoms& atoms) {
      Decoder& decoder = source.decoder();
      ++source.statistics_.packets;
      if constexpr (kMarked) enter_frame(index, atoms.length);
      if (decoder.straight()) [[likely]] {
        at = decoder.run(index, atoms, at, end);
        if constexpr (kMarked) mark();
        return at != end && !decoder.busy();
      }
      if constexpr (requires { decoder.can_settle(); }) {
        if (decoder.can_settle()) {
          decoder.settle(index);
          at += decoder.drain({at, end});
          if (!decoder.busy() && at != end && decoder.straight()) {
            at = decoder.run(index, atoms, at, end);
            if constexpr (kMarked) mark();
            return at != end && !decoder.busy();
          }
        }
      }
      Packet packet;
      packet.index = index;
      copy_atoms(atoms, packet);
      decoder.accept(packet);
      if constexpr (kMarked) mark();
      return at != end && !decoder.busy();
    }

    std::size_t on_p_headers(std::span<const frames::Run> runs, const std::uint8_t* data,
                             std::size_t position, std::size_t size)
      requires kRows && (!kMarked)
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
      enter_frame(packet);
      if constexpr (kPuts) {
        if (source.count(packet)) at = decoder.put(packet, at, end);
        if constexpr (kMarked) mark();
        // Nothing after the end of decoding counts as used.
        return at != end && !decoder.busy() && !decoder.failed();
      } else {
        source.take(packet);
        if constexpr (kMarked) mark();
        return !decoder.busy();
      }
    }
  };

  /// What a protocol's counting function calls.
  struct CountingHost {
    PacketSource& source;
    count::Counter& counter;
    std::array<Element, 16> elements{};

    /// Gives everything that the decoder has begun to the counter and the observer.
    void flush() {
      Decoder& decoder = source.decoder();
      if constexpr (kRuns) {
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
    bool takes(const Packet& packet) { return source.count(packet); }
    void took(std::size_t packets) { source.statistics_.packets += packets; }

   private:
    void observe(std::size_t count) {
      counter.observe(std::span<const Element>(elements).first(count));
      source.statistics_.elements += count;
    }
  };

  /// Counts, for a client that asks for nothing else.
  struct Counting {
    PacketSource& source;

    template <class Atoms>
    bool on_atoms(TraceIndex, const Atoms&) {
      ++source.statistics_.packets;
      return true;
    }
    void on_atom_row(Bytes headers) { source.statistics_.packets += headers.size(); }
    bool on_packet(const Packet& packet) {
      source.take(packet);
      return true;
    }
  };

  std::size_t next_packets() {
    if (shows_packets_) {
      while (parser_.next(packet_)) {
        deliver();
        if (observer_->pauses()) return 0;
      }
    } else if constexpr (kRuns || kPuts) {
      parser_.parse(Counting{*this});
    } else {
      while (parser_.next(packet_)) take(packet_);
    }
    while (end_step()) {
    }
    return 0;
  }

  // Does what finish() requested, one step at a time.  False: nothing is left.
  bool end_step() {
    switch (ending_) {
      case Ending::kPacket:
        ending_ = decoder_ ? Ending::kElements : Ending::kReport;
        if (!failed() && parser_.finish(packet_)) deliver();
        return true;
      case Ending::kElements:
        ending_ = Ending::kReport;
        decoder().end_of_trace();
        return true;
      case Ending::kReport:
        ending_ = Ending::kDone;
        if (!last_piece_) return false;
        if constexpr (kChecksRegisters) {
          if (!decoder_ && tells_contradictions_)
            report_registers(registers_.at_end(statistics_.packets), kNoIndex);
        }
        if (observer_ != nullptr) observer_->on_operation(Operation::kEndOfTrace, stream_id_);
        return false;
      default:
        return false;
    }
  }

  void deliver() {
    take(packet_);
    if (shows_packets_) show();
  }

  void take(const Packet& packet) {
    if (count(packet)) decoder().accept(packet);
  }

  /// Counts a packet, and reports it if nothing is decoded.  True: it is for the decoder.
  bool count(const Packet& packet) {
    ++statistics_.packets;
    if (!kChecksRegisters && !decoder_ && passes(packet)) return false;
    if (P::is_sync_point(packet)) ++statistics_.sync_points;
    if (!decoder_) {
      if (shows_landmarks_) mark(packet);
      report_fault(packet);
      if constexpr (kChecksRegisters) {
        if (tells_contradictions_) report_registers(registers_.check(packet), packet.index);
      }
      return false;
    }
    if (P::is_monitor_only(packet)) return false;
    return (options_.flags & kNoForwardBadPackets) == 0 || !P::is_bad(packet, options_);
  }

  static bool passes(const Packet& packet) {
    if constexpr (requires { Landmarks::passes(packet); }) {
      return Landmarks::passes(packet);
    } else {
      return false;
    }
  }

  [[gnu::noinline]] void mark(const Packet& packet) {
    if constexpr (!std::same_as<Landmarks, NoRegisters>) {
      landmarks_(packet, [&](Landmark landmark) {
        landmark.index = packet.index;
        observer_->on_landmark(landmark, stream_id_);
      });
    }
  }

  [[nodiscard]] PacketFault fault_of(const Packet& packet) const {
    if constexpr (requires { P::fault_of(packet, options_); }) {
      return P::fault_of(packet, options_);
    } else {
      if (!P::is_reserved(packet)) return {};
      return {Fault::kInvalidHeader, Finding::kReservedHeader};
    }
  }

  void report_fault(const Packet& packet) {
    const PacketFault found = fault_of(packet);
    if (found.fault != Fault::kNone) report(found, Severity::kError, packet.index);
  }

  void report_registers(Finding finding, TraceIndex index) {
    if (finding != Finding::kNone)
      report({Fault::kUnsupportedConfig, finding}, Severity::kWarning, index);
  }

  void report(const PacketFault& found, Severity severity, TraceIndex index) {
    ++statistics_.diagnostics;
    if (observer_ == nullptr) return;
    Diagnostic record;
    record.fault = found.fault;
    record.finding = found.finding;
    record.number = found.number;
    record.severity = severity;
    record.stage = Stage::kPackets;
    record.trace_id = config_.trace_id();
    record.stream_id = stream_id_;
    record.index = index;
    observer_->on_diagnostic(record);
  }

  void show() {
    const bool bad = P::is_bad(packet_, options_);
    if (bad && (options_.flags & kNoMonitorBadPackets) != 0) return;
    PacketRef ref;
    ref.protocol = protocol();
    ref.trace_id = stream_id_;
    ref.index = packet_.index;
    ref.bytes = parser_.packet_bytes();
    ref.packet = &packet_;
    ref.monitor_only = P::is_monitor_only(packet_);
    ref.bad = bad;
    observer_->on_packet(ref);
  }

  void report_diagnostics() {
    for (Diagnostic record : decoder().diagnostics()) {
      ++statistics_.diagnostics;
      if (observer_ == nullptr) continue;
      record.stream_id = stream_id_;
      observer_->on_diagnostic(record);
    }
    decoder().clear_diagnostics();
  }

  Config config_;
  SourceOptions options_;
  Parser parser_;
  std::optional<Decoder> decoder_;
  Registers registers_;
  bool tells_contradictions_ = false;
  [[no_unique_address]] Landmarks landmarks_;
  Packet packet_;
  SourceStatistics statistics_;
  Observer* observer_ = nullptr;
  bool shows_packets_ = false;
  FrameMarks* marks_ = nullptr;
  bool shows_landmarks_ = false;
  TraceId stream_id_ = 0;
  Ending ending_ = Ending::kNone;
  bool last_piece_ = true;  ///< False: finish_piece() asked for the end.
};

}  // namespace waymark::protocol
