// One trace source: turns the bytes of one trace ID into packets and elements, for any protocol.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/base/named_quirk.h"
#include "waymark/base/text_buffer.h"
#include "waymark/base/types.h"
#include "waymark/element/element.h"
#include "waymark/frames/stream.h"
#include "waymark/protocol/fields.h"
#include "waymark/protocol/landmark.h"

namespace waymark {

namespace count {
class Counter;
}

enum class Protocol : std::uint8_t { kEtmV3, kPtm, kEtmV4, kEte, kStm, kItm, kEtmV4Data, kMtb };

/// The reference's registered name: "ETMV4I", "ETE", "ETMV3", "PTM", "STM", "ITM"; "ETMV4D" is a
/// name that it reserves.  "MTB" is Waymark's own.
std::string_view protocol_name(Protocol protocol);

/// A packet as observers see it.  `packet` points to the protocol's Packet (etmv4::Packet for
/// kEtmV4 and kEte) and, like `bytes`, is valid during the call only.
struct PacketRef {
  Protocol protocol = Protocol::kEtmV4;
  TraceId trace_id = 0;  ///< The demultiplexed ID; 0 for an unformatted source.
  TraceIndex index = 0;
  Bytes bytes;
  const void* packet = nullptr;
  /// Unsynchronised bytes after the first stretch: monitors show them, packet listings do not.
  bool monitor_only = false;
  /// The packet has one of the types that the protocol counts as bad.
  bool bad = false;

  template <class P>
  [[nodiscard]] const P& as() const {
    return *static_cast<const P*>(packet);
  }
};

enum class Operation : std::uint8_t { kEndOfTrace, kFlush, kReset };

/// Sees packets and damage in their exact order among the elements: everything that next() returned
/// before a call happened before it, everything that it returns later happens after it.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_packet(const PacketRef& /*packet*/) {}
  /// False: on_packet() need not be called, so that elements can come in full batches.  Read when
  /// the observer is set.
  [[nodiscard]] virtual bool wants_packets() const { return true; }
  /// Packets go to a monitor, with their bytes, and not only to a sink.  Quirks depend on it.
  [[nodiscard]] virtual bool monitors_packets() const { return wants_packets(); }
  /// Called after each packet if nothing is decoded.  True: next() returns there, with 0 although
  /// input is left, and continues when it is called again.
  [[nodiscard]] virtual bool pauses() const { return false; }
  virtual void on_diagnostic(const Diagnostic& /*record*/) {}
  /// True: on_landmark() is called, if nothing is decoded.  Read when the observer is set.
  [[nodiscard]] virtual bool wants_landmarks() const { return false; }
  /// `stream_id` is the ID that the source's packets carry.
  virtual void on_landmark(const Landmark& /*landmark*/, TraceId /*stream_id*/) {}
  /// An operation has passed through the source with this ID.
  virtual void on_operation(Operation /*operation*/, TraceId /*trace_id*/) {}
};

/// The part of a block with which each element comes.  For drivers that decode more at once than
/// the client gave, and may have to take some back.
struct PartMarks {
  /// The parts of a block, which is one run.
  enum class Parts : std::uint8_t { kFrames, kBytes };

  static constexpr std::size_t kMaxFrames = 64;  ///< In one block.
  static constexpr std::size_t kMaxBytes = 256;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Parts parts = Parts::kFrames;
  TraceIndex index = 0;        ///< That of the block.
  std::uint32_t elements = 0;  ///< Given by the block so far; the caller of next() adds them.
  std::uint32_t part = 0;      ///< The one with the last byte of the last packet.
  /// The number of elements after the last packet of each part; kNone: no packet ends there.  More
  /// may follow for the last part with packets.
  std::array<std::uint32_t, kMaxBytes> ends;

  /// Call it before a block is fed.
  void begin(Parts kind, TraceIndex block_index) {
    parts = kind;
    index = block_index;
    elements = part = 0;
    std::fill_n(ends.begin(), kind == Parts::kFrames ? kMaxFrames : kMaxBytes, kNone);
  }
  static constexpr std::size_t bytes_of(Parts kind) {
    return kind == Parts::kFrames ? frames::kPlainFrameBytes : 1;
  }
};

/// Counts of one source.
struct SourceStatistics {
  std::uint64_t total_bytes = 0;
  std::uint64_t unsynced_bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t elements = 0;
  std::uint64_t sync_points = 0;
  std::uint32_t bad_headers = 0;
  std::uint32_t bad_sequences = 0;
  std::uint32_t diagnostics = 0;  ///< Records of damage: all but those of Severity::kInfo.

  SourceStatistics& operator+=(const SourceStatistics& more) {
    total_bytes += more.total_bytes;
    unsynced_bytes += more.unsynced_bytes;
    packets += more.packets;
    elements += more.elements;
    sync_points += more.sync_points;
    bad_headers += more.bad_headers;
    bad_sequences += more.bad_sequences;
    diagnostics += more.diagnostics;
    return *this;
  }
  friend bool operator==(const SourceStatistics&, const SourceStatistics&) = default;
};

/// Options that the sources of all protocols take.
struct SourceOptions {
  bool decode = true;       ///< False: packets only, next() never gives elements.
  std::uint32_t flags = 0;  ///< DecodeFlag bits.
  /// Faults of packets (Stage::kPackets) are reported although a decoder reports them in its own
  /// words, if the observer wants packets.
  bool packet_faults = false;
  std::uint32_t range_limit = 0;  ///< The most instructions of one walked range; 0: no limit.
  /// The quirks that are on, by their row in the protocol's table (quirks.h); only compat sets any.
  /// ETMv3 has two tables: the decoder's rows follow the parser's.
  QuirkSet quirks = 0;
  bool block_cache = true;  ///< False: every atom is walked again.  For tests.
  /// The first byte begins a packet, and nothing in the stream shows where another one does (ITM,
  /// whose synchronisation packets are often off).
  bool starts_in_sync = false;
  /// STM: whether fields of several nibbles begin with the least significant one; without a value,
  /// as the stream itself shows (stm/nibble_order.h).
  std::optional<bool> least_nibble_first{};
};

/// Options of decoding, with the reference's values where it has them (etmv4-ete.md 4.1).
enum DecodeFlag : std::uint32_t {
  kNoForwardBadPackets = 0x10,
  kNoMonitorBadPackets = 0x20,
  kErrorOnBadPackets = 0x100,
  kHaltOnBadPackets = 0x200,
  kCheckDirectBranchN = 0x400,
  kCheckStrictBranchN = 0x800,
  kCheckRangeContinuity = 0x1000,
  kCheckBranchNotThumb = 0x2000,
  kSourceAddressNRanges = 0x00010000,
  kA64OpcodeCheck = 0x00020000,
  // Not of the reference.
  /// ETMv4, ETE: a diagnostic (kBadImage) tells where atoms came before the target of an indirect
  /// branch, as happens if the image is not the code that ran.  Only for next().
  kReportLostAtoms = 0x01000000,
};

/// Pull decoder of one source.  One owner; not thread safe; sources are independent of each other
/// unless they share an image, which is read-only.
class Source {
 public:
  virtual ~Source() = default;
  Source() = default;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] virtual Protocol protocol() const = 0;
  /// The ID in the registers; elements carry it.
  [[nodiscard]] virtual TraceId trace_id() const = 0;

  /// Gives the next bytes; next() must have returned fewer elements than asked for before.  The
  /// block must live until then.  Any chunking gives the same packets and elements.
  virtual void feed(const frames::StreamBlock& block) = 0;

  /// Fills `out` from the front and returns the number.  It can be less than `out.size()`, and not
  /// only 0, while input is left: an observer must be called first, or a client with memory
  /// callbacks must see a context before memory is read under it.  0: all input is used up, or
  /// failed().  Without SourceOptions::decode, all input goes to the observer and the result is 0.
  virtual std::size_t next(std::span<Element> out) = 0;

  /// Instead of next(), until that would return 0: counts what is executed, faster than with
  /// elements.  The counts, and what the observer gets, are the same as if all elements of next()
  /// went to Counter::observe().  Calls of both may mix if those elements go there too.  One
  /// counter belongs to one source.
  virtual void count(count::Counter& counter);

  /// The end of the trace: next() gives the unfinished packet and all that is held back.
  virtual void finish() = 0;

  /// The end of a piece of trace, before reset(): next() gives the unfinished packet and all that
  /// is held back, but no kEndOfTrace.
  virtual void finish_piece() = 0;

  /// Forgets the stream; the configuration stays.  Elements not yet taken are dropped.  The
  /// observer gets Operation::kReset here, and kEndOfTrace after the last element of finish().
  virtual void reset() = 0;

  /// Call it when the image has changed, or when its callbacks may answer differently: nothing read
  /// before is used again.  Do not call it while next() runs.
  virtual void refresh() = 0;

  /// A fatal condition ended decoding (only possible with kHaltOnBadPackets, or for the few errors
  /// that are fatal with quirks); reset() clears it.
  [[nodiscard]] virtual bool failed() const = 0;

  /// The bytes of the current block that belong to packets given so far.
  [[nodiscard]] virtual std::size_t consumed() const = 0;

  /// Gives up the rest of the current block and returns consumed(); the next block must start
  /// there.  Elements not yet taken stay.
  virtual std::size_t withdraw() = 0;

  [[nodiscard]] virtual SourceStatistics statistics() const = 0;
  virtual void reset_statistics() = 0;

  /// `observer` must outlive the source or be replaced; nullptr: none.  `stream_id` is the ID that
  /// its packets carry.
  virtual void set_observer(Observer* observer, TraceId stream_id) = 0;

  /// From now on each next() writes `marks`; nullptr: no longer.  Does not apply to a clone().
  /// False: this source cannot do this.
  virtual bool mark_parts(PartMarks* /*marks*/) { return false; }

  /// The text of a packet of this source in listings, without newline.
  virtual void write_packet(TextBuffer& out, const PacketRef& packet) const = 0;

  /// The named fields of a packet of this source, in the order of its bytes.
  virtual void visit_fields(const PacketRef& packet, FieldVisitor& visitor) const = 0;

  /// A copy with all state.  The current block must live on, if it is not used up.
  [[nodiscard]] virtual std::unique_ptr<Source> clone() const = 0;

  // -- For decoders that start in the middle of a trace.  Both sources were made with the same
  //    configuration, image and options, have used up their blocks and given all elements. --

  /// Whether jump() and same_state() are possible: not if state adds up over the whole trace (the
  /// local time of ITM), nor with quirks.
  [[nodiscard]] virtual bool can_jump() const = 0;

  /// Bytes are missing before the next block: the source waits for a synchronisation point without
  /// reporting it, and keeps the state that none restates (upper bits of the time, for instance).
  virtual void jump() = 0;

  /// Continues from the state of `other`, a source of the same stream; what is known of the image
  /// stays, so this is cheap.  Counts and observer stay too.
  virtual void restore(const Source& other) = 0;

  /// Given the same bytes from here on, both will give the same packets, elements and diagnostics.
  [[nodiscard]] virtual bool same_state(const Source& other) const = 0;

  /// Adds the counts of another source of the same stream.
  virtual void add_statistics(const SourceStatistics& more) = 0;

 protected:
  Source(const Source&) = default;
};

}  // namespace waymark
