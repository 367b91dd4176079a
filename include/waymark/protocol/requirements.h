// The requirements of every protocol, checked at compile time: PacketProtocol.
// docs/add-a-protocol.md shows the same with an example.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>

#include "waymark/base/diagnostic.h"
#include "waymark/base/text_buffer.h"
#include "waymark/count/counter.h"
#include "waymark/element/element.h"
#include "waymark/frames/block_reader.h"
#include "waymark/frames/stream.h"
#include "waymark/image/image.h"
#include "waymark/protocol/capabilities.h"
#include "waymark/protocol/fields.h"
#include "waymark/protocol/landmark.h"
#include "waymark/protocol/packet_fault.h"
#include "waymark/protocol/source.h"
#include "waymark/protocol/visitor.h"

namespace waymark::protocol {

// -- What every protocol has. ---------------------------------------------------------------------

/// The visitor that a parser's parse() calls; here only to check that it has one.
template <class Packet>
struct AnyVisitor {
  static consteval VisitorTakes takes() { return {}; }

  template <class Atoms>
  bool on_atoms(TraceIndex index, const Atoms& atoms);
  bool on_packet(const Packet& packet);
};

/// A receiver of landmarks; here only to check that they are given.
struct AnyEmit {
  void operator()(const Landmark& landmark) const;
};

/// The host that a counting function calls (PacketSource::CountingHost); here only to check that
/// there is one.
struct AnyCountingHost {};

/// `P` names the parts of the protocol.
template <class P>
concept NamesParts = requires {
  requires std::copyable<typename P::Config>;
  requires std::is_trivially_copyable_v<typename P::Packet>;
  requires std::copyable<typename P::Parser>;
  requires std::copy_constructible<typename P::Decoder>;
  { P::kCapabilities } -> std::same_as<const Capabilities&>;
};

/// Bytes to packets.  Any chunking gives the same packets.
template <class P>
concept ReadsPackets = requires(typename P::Parser& parser, const typename P::Parser& asked,
                                typename P::Packet& packet, const frames::StreamBlock& block) {
  { packet.index } -> std::same_as<TraceIndex&>;
  // The previous block was used up, and this one lives until it is used up.
  { parser.feed(block) } -> std::same_as<void>;
  // The next whole packet.  False: the block is used up.
  { parser.next(packet) } -> std::same_as<bool>;
  // At the end of the trace: the unfinished packet.  False: there is none.
  { parser.finish(packet) } -> std::same_as<bool>;
  { parser.reset() } -> std::same_as<void>;
  // The bytes of the packet that next() or finish() gave last; valid until the next call.
  { asked.packet_bytes() } -> std::same_as<Bytes>;
  // The bytes of the block that belong to packets given so far.
  { asked.position() } -> std::same_as<std::size_t>;
  // Gives up the rest of the block, which is not counted, and returns position().
  { parser.withdraw() } -> std::same_as<std::size_t>;
  { asked.statistics() } -> std::same_as<const frames::ParserStatistics&>;
  { parser.reset_statistics() } -> std::same_as<void>;
};

/// Packets to elements.  After accept() or end_of_trace(), drain() is called until the decoder is
/// no longer busy().
template <class P>
concept DecodesPackets =
    requires(typename P::Decoder& decoder, const typename P::Decoder& asked,
             const typename P::Packet& packet, const Diagnostic& record, std::span<Element> out) {
      { decoder.accept(packet) } -> std::same_as<void>;
      // There are no more packets: drain() gives the element kEndOfTrace at last.
      { decoder.end_of_trace() } -> std::same_as<void>;
      // Fills `out` from the front and returns the number.  It stops where a diagnostic comes
      // first.
      { decoder.drain(out) } -> std::same_as<std::size_t>;
      // There are elements or diagnostics.
      { asked.busy() } -> std::same_as<bool>;
      // Records whose place is after all elements that were drained, and before the next one.
      { asked.has_diagnostics() } -> std::same_as<bool>;
      { asked.diagnostics() } -> std::convertible_to<std::span<const Diagnostic>>;
      { decoder.clear_diagnostics() } -> std::same_as<void>;
      // Adds one of the source, after the packets so far.
      { decoder.add_diagnostic(record) } -> std::same_as<void>;
      // Nothing more is given before reset().
      { asked.failed() } -> std::same_as<bool>;
      { decoder.reset() } -> std::same_as<void>;
    };

/// The meaning of packets for an index, in the order of their kinds.  The index of a landmark is
/// filled in later.
template <class P>
concept HasLandmarks =
    std::copyable<typename P::Landmarks> &&
    std::constructible_from<typename P::Landmarks, const typename P::Config&> &&
    requires(typename P::Landmarks& landmarks, const typename P::Packet& packet, AnyEmit emit) {
      { landmarks(packet, emit) } -> std::same_as<void>;
    };

/// How the parts are made, and what packets are.
template <class P>
concept DescribesPackets =
    requires(const typename P::Config& config, const typename P::Packet& packet,
             const SourceOptions& options, const image::Image* image, TextBuffer& out) {
      { config.trace_id() } -> std::same_as<TraceId>;
      { P::protocol(config) } -> std::same_as<waymark::Protocol>;
      { P::make_parser(config, options) } -> std::same_as<typename P::Parser>;
      // `image` is what make_source() was given.
      { P::make_decoder(config, image, options) } -> std::same_as<typename P::Decoder>;
      // The registers switch cycle counts on.
      { P::has_cycles(config) } -> std::same_as<bool>;
      // It is not a valid packet.
      { P::is_bad(packet, options) } -> std::same_as<bool>;
      // Its fault, for packets other than kIncompleteEot, whose fault all protocols share.
      { P::fault_of(packet, options) } -> std::same_as<PacketFault>;
      { P::is_sync_point(packet) } -> std::same_as<bool>;
      // Only monitors see it (PacketRef::monitor_only).
      { P::is_monitor_only(packet) } -> std::same_as<bool>;
      // The line of a listing, its name first.
      { P::write_packet(out, packet, config, options) } -> std::same_as<void>;
      { P::fields_of(packet) } -> std::same_as<std::span<const BasicField<typename P::Packet>>>;
    };

// -- What a protocol with a capability has. -------------------------------------------------------

/// The parser has a loop that calls a visitor: on_atoms() and on_packet().  Both return false to
/// stop it after this packet; then parse() returns true.
template <class P>
concept HasLoop = requires(typename P::Parser& parser, AnyVisitor<typename P::Packet>& visitor) {
  { parser.parse(visitor) } -> std::same_as<bool>;
};

/// Takes everything up to the end of the block.
template <class P>
concept Counts = HasLoop<P> && requires(typename P::Parser& parser, typename P::Decoder& decoder,
                                        const typename P::Decoder& asked, count::Counter& counter,
                                        AnyCountingHost& host) {
  { asked.counts_straight() } -> std::same_as<bool>;
  { P::count(parser, decoder, counter, host) } -> std::same_as<void>;
};

/// Atoms of a form that a parser gives to on_atoms(), and how they become a packet.
template <class Atoms, class P>
concept AtomsOf = requires(typename P::Decoder& decoder, const Atoms& atoms,
                           typename P::Packet& packet, TraceIndex index, Element* at) {
  // Writes elements from `at` on, as far as there is space, and returns the new position.
  { decoder.run(index, atoms, at, at) } -> std::same_as<Element*>;
  { copy_atoms(atoms, packet) } -> std::same_as<void>;
};

/// `P::Atoms` is one of the forms.
template <class P>
concept RunsAtoms =
    HasLoop<P> && AtomsOf<typename P::Atoms, P> &&
    requires(typename P::Decoder& decoder, const typename P::Decoder& asked, Element* at) {
      // Atoms can be run now.
      { asked.straight() } -> std::same_as<bool>;
      // Some of the last atoms wait for space.
      { asked.running() } -> std::same_as<bool>;
      { decoder.resume(at, at) } -> std::same_as<Element*>;
    };

template <class P>
concept SettlesAtoms = requires(typename P::Decoder& decoder, const typename P::Decoder& asked,
                                TraceIndex index, const typename P::Atoms& atoms, Element* at) {
  { asked.can_settle_into(std::size_t{}) } -> std::same_as<bool>;
  { decoder.settle_and_run(index, atoms, at, at) } -> std::same_as<Element*>;
};

/// Handles as many headers from `position` up to `size` as it likes, and returns the position after
/// them.
template <class P>
concept RunsRows =
    requires(typename P::Decoder& decoder, const frames::Run* run, const std::uint8_t* data,
             std::size_t position, Element*& out, Element* end) {
      {
        decoder.run_row(run, run, data, position, position, out, end)
      } -> std::same_as<std::size_t>;
    };

template <class P>
concept RunsShortRows =
    RunsAtoms<P> &&
    requires(typename P::Decoder& decoder, TraceIndex index, std::uint32_t headers,
             unsigned packets, const typename P::Packet& packet, Element*& out, Element* end) {
      // As run() for the `packets` headers in the lowest bytes of `headers`, whose indexes follow
      // each other: moves `out`, and returns the number of packets taken.  0: they need run().
      { decoder.run_short_row(index, headers, packets, out, end) } -> std::same_as<unsigned>;
      // As accept() for an address that makes no element now.  False: it needs accept().
      { decoder.hold_address(packet) } -> std::same_as<bool>;
    };

/// accept() and drain() in one call.  If the decoder is busy() afterwards, drain() is called.
template <class P>
concept Puts = HasLoop<P> && requires(typename P::Decoder& decoder,
                                      const typename P::Packet& packet, Element* at) {
  { decoder.put(packet, at, at) } -> std::same_as<Element*>;
};

/// The span that run() was given ends.
template <class P>
concept LeavesSpans = requires(typename P::Decoder& decoder) {
  { decoder.leave_span() } -> std::same_as<void>;
};

template <class P>
concept MarksParts = requires(const typename P::Packet& packet, const typename P::Parser& parser) {
  // The bytes of a packet from that of its index on.
  { P::length_from_index(packet, parser) } -> std::same_as<std::size_t>;
};

/// As Source::jump(), restore() and same_state().
template <class P>
concept Jumps =
    requires(typename P::Parser& parser, typename P::Decoder& decoder,
             const typename P::Parser& other_parser, const typename P::Decoder& other_decoder) {
      { parser.jump() } -> std::same_as<void>;
      { decoder.jump() } -> std::same_as<void>;
      { decoder.restore(other_decoder) } -> std::same_as<void>;
      { other_parser.same_state(other_parser) } -> std::same_as<bool>;
      { other_decoder.same_state(other_decoder) } -> std::same_as<bool>;
      // With this configuration.
      { P::can_jump(other_decoder) } -> std::same_as<bool>;
    };

template <class P>
concept TakesPlace = requires(typename P::Decoder& decoder, const typename P::Decoder& original) {
  { decoder.take_place(original) } -> std::same_as<void>;
};

template <class P>
concept Refreshes = requires(typename P::Decoder& decoder) {
  { decoder.refresh() } -> std::same_as<void>;
};

template <class P>
concept RemembersElements = requires(typename P::Decoder& decoder, std::span<const Element> given) {
  { decoder.remember(given) } -> std::same_as<void>;
};

template <class P>
concept IsMonitored = requires(typename P::Parser& parser, bool monitored) {
  { parser.set_monitored(monitored) } -> std::same_as<void>;
};

/// Used if nothing is decoded.
template <class P>
concept ChecksRegisters =
    std::copyable<typename P::Registers> &&
    std::constructible_from<typename P::Registers, const typename P::Config&> &&
    requires(typename P::Registers& registers, const typename P::Packet& packet,
             std::uint64_t packets, const SourceOptions& options) {
      // The packet's contradiction of the registers, once; or kNone.
      { registers.check(packet) } -> std::same_as<Finding>;
      // The same for the whole trace.
      { registers.at_end(packets) } -> std::same_as<Finding>;
      // No quirk keeps it silent.
      { P::reports_contradictions(options) } -> std::same_as<bool>;
    };

/// Packets that are neither landmarks nor sync points, and have no fault.
template <class P>
concept PassesPackets = requires(const typename P::Packet& packet) {
  { P::Landmarks::passes(packet) } -> std::same_as<bool>;
};

// -- The whole. -----------------------------------------------------------------------------------

/// Nothing is stated that is not there, and nothing is there that is not stated.
template <class P>
concept KeepsStatements =
    P::kCapabilities.counts == Counts<P> && P::kCapabilities.runs_atoms == RunsAtoms<P> &&
    P::kCapabilities.settles_atoms == SettlesAtoms<P> &&
    P::kCapabilities.runs_rows == RunsRows<P> &&
    P::kCapabilities.runs_short_rows == RunsShortRows<P> && P::kCapabilities.puts == Puts<P> &&
    P::kCapabilities.leaves_spans == LeavesSpans<P> &&
    P::kCapabilities.marks_parts == MarksParts<P> && P::kCapabilities.jumps == Jumps<P> &&
    P::kCapabilities.takes_place == TakesPlace<P> && P::kCapabilities.refreshes == Refreshes<P> &&
    P::kCapabilities.remembers_elements == RemembersElements<P> &&
    P::kCapabilities.is_monitored == IsMonitored<P> &&
    P::kCapabilities.checks_registers == ChecksRegisters<P> &&
    P::kCapabilities.passes_packets == PassesPackets<P>;

/// `P` is the struct in which a protocol's source.cc names its parts.
template <class P>
concept PacketProtocol = NamesParts<P> && ReadsPackets<P> && DecodesPackets<P> && HasLandmarks<P> &&
                         DescribesPackets<P> && KeepsStatements<P>;

/// The same with a sentence for what is missing.
template <class P>
consteval bool meets_requirements() {
  static_assert(NamesParts<P>,
                "A protocol names Config, Packet, Parser and Decoder, and states kCapabilities.");
  static_assert(ReadsPackets<P>, "The parser lacks a function, or has it with another signature.");
  static_assert(DecodesPackets<P>,
                "The decoder lacks a function, or has it with another signature.");
  static_assert(HasLandmarks<P>, "A protocol has Landmarks: made of Config, called with packets.");
  static_assert(DescribesPackets<P>,
                "A static function of the protocol is missing, or has another signature.");
  constexpr const Capabilities& kCan = P::kCapabilities;
  if constexpr (kCan.counts)
    static_assert(Counts<P>, "counts: count() of the protocol, counts_straight(), parse().");
  if constexpr (kCan.runs_atoms)
    static_assert(RunsAtoms<P>,
                  "runs_atoms: Atoms of the protocol, straight(), run(), running(), "
                  "resume(), copy_atoms(), parse().");
  if constexpr (kCan.settles_atoms)
    static_assert(SettlesAtoms<P>, "settles_atoms: can_settle_into() and settle_and_run().");
  if constexpr (kCan.runs_rows) static_assert(RunsRows<P>, "runs_rows: run_row() of the decoder.");
  if constexpr (kCan.runs_short_rows)
    static_assert(RunsShortRows<P>, "runs_short_rows: run_short_row() and hold_address().");
  if constexpr (kCan.puts) static_assert(Puts<P>, "puts: put() of the decoder, and parse().");
  if constexpr (kCan.leaves_spans)
    static_assert(LeavesSpans<P>, "leaves_spans: leave_span() of the decoder.");
  if constexpr (kCan.marks_parts)
    static_assert(MarksParts<P>, "marks_parts: length_from_index() of the protocol.");
  if constexpr (kCan.jumps)
    static_assert(Jumps<P>,
                  "jumps: jump() and same_state() of parser and decoder, restore() of the "
                  "decoder, can_jump() of the protocol.");
  if constexpr (kCan.takes_place)
    static_assert(TakesPlace<P>, "takes_place: take_place() of the decoder.");
  if constexpr (kCan.refreshes) static_assert(Refreshes<P>, "refreshes: refresh() of the decoder.");
  if constexpr (kCan.remembers_elements)
    static_assert(RemembersElements<P>, "remembers_elements: remember() of the decoder.");
  if constexpr (kCan.is_monitored)
    static_assert(IsMonitored<P>, "is_monitored: set_monitored() of the parser.");
  if constexpr (kCan.checks_registers)
    static_assert(ChecksRegisters<P>,
                  "checks_registers: Registers, with check() and at_end(), and "
                  "reports_contradictions() of the protocol.");
  if constexpr (kCan.passes_packets)
    static_assert(PassesPackets<P>, "passes_packets: passes() of Landmarks.");
  static_assert(KeepsStatements<P>, "The protocol can do what kCapabilities says it cannot.");
  return true;
}

}  // namespace waymark::protocol
