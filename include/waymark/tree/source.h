// One trace source: the bytes of one trace ID to packets and elements, whatever the protocol.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/base/text_buffer.h"
#include "waymark/base/types.h"
#include "waymark/element/element.h"
#include "waymark/frames/stream.h"
#include "waymark/tree/fields.h"
#include "waymark/tree/landmark.h"

namespace waymark {

namespace count {
class Counter;
}

enum class Protocol : std::uint8_t { kEtmV3, kPtm, kEtmV4, kEte, kStm, kItm, kEtmV4Data };

/// The reference's registered name: "ETMV4I", "ETE", "ETMV3", "PTM", "STM", "ITM"; "ETMV4D" is the
/// one that it reserves.
std::string_view protocol_name(Protocol protocol);

/// A packet as observers see it.  `packet` points to the protocol's Packet (etmv4::Packet for
/// kEtmV4 and kEte) and, like `bytes`, is valid during the call only.
struct PacketRef {
  Protocol protocol = Protocol::kEtmV4;
  TraceId trace_id = 0;  ///< The demultiplexed ID; 0 for an unformatted source.
  TraceIndex index = 0;
  Bytes bytes;
  const void* packet = nullptr;
  /// Unsynchronised bytes after the first stretch: shown by monitors, not by packet listings.
  bool monitor_only = false;
  /// One of the types that the protocol counts as bad.
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
  /// Asked after each packet where nothing is decoded.  True: next() returns there, with 0 although
  /// input is left, and goes on when it is called again.
  [[nodiscard]] virtual bool pauses() const { return false; }
  virtual void on_diagnostic(const Diagnostic& /*record*/) {}
  /// True: on_landmark() is called, where nothing is decoded.  Read when the observer is set.
  [[nodiscard]] virtual bool wants_landmarks() const { return false; }
  /// `stream_id` is the ID that the source's packets carry.
  virtual void on_landmark(const Landmark& /*landmark*/, TraceId /*stream_id*/) {}
  /// An operation has passed through the source with this ID.
  virtual void on_operation(Operation /*operation*/, TraceId /*trace_id*/) {}
};

/// With which frame each element comes, of a block that is one run of whole frames.  For drivers
/// that hand over many frames at once and may have to take some back.
struct FrameMarks {
  static constexpr std::size_t kMaxFrames = 64;  ///< Of a block.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  TraceIndex index = 0;        ///< Of the block.
  std::uint32_t elements = 0;  ///< That the block has given so far; whoever calls next() adds them.
  std::uint32_t frame = 0;     ///< That of the last packet: where its last byte is.
  /// So many elements had come after the last packet of each frame; kNone: no packet ends there.
  /// Those of the last frame with packets may go on.
  std::array<std::uint32_t, kMaxFrames> ends;

  /// Before a block is fed.
  void begin(TraceIndex block_index) {
    index = block_index;
    elements = frame = 0;
    ends.fill(kNone);
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
  std::uint32_t diagnostics = 0;

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

/// What every protocol's source is told.
struct SourceOptions {
  bool decode = true;             ///< False: packets only, next() never gives elements.
  std::uint32_t flags = 0;        ///< DecodeFlag bits.
  std::uint32_t range_limit = 0;  ///< Most instructions of one walked range; 0: no limit.
  bool reference_quirks = false;  ///< Switch on every named quirk of the protocol (compat only).
  /// With reference_quirks: those that stay off, by their row in the protocol's table (quirks.h).
  /// ETMv3 has two: the decoder's rows follow the parser's.
  std::uint64_t native_quirks = 0;
  bool block_cache = true;  ///< False: every atom is walked anew.  For tests.
  /// The first byte begins a packet, and nothing in the stream says where another does (ITM, whose
  /// synchronisation packets are often off).
  bool starts_in_sync = false;
  /// STM: whether fields of several nibbles begin with the least significant one; nothing: as the
  /// stream itself shows (stm/nibble_order.h).
  std::optional<bool> least_nibble_first{};
};

/// Options of decoding; values of the reference where it has them (etmv4-ete.md 4.1).
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
};

/// Pull decoder of one source.  One owner; not thread safe; sources are independent of each other
/// unless they share an image, which is read-only.
class Source {
 public:
  virtual ~Source() = default;
  Source() = default;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] virtual Protocol protocol() const = 0;
  /// The ID that the registers name; elements carry it.
  [[nodiscard]] virtual TraceId trace_id() const = 0;

  /// Gives the next bytes; next() must have returned less than asked for before.  The block must
  /// live until then.  Any chunking gives the same packets and elements.
  virtual void feed(const frames::StreamBlock& block) = 0;

  /// Fills `out` from the front and returns how many.  Less than `out.size()`, not only 0, can come
  /// while input is left: where an observer must speak first, or where a client with memory
  /// callbacks must see a context before memory is read under it.  0: all input is used up, or
  /// failed().  Without SourceOptions::decode, all input goes to the observer and the answer is 0.
  virtual std::size_t next(std::span<Element> out) = 0;

  /// In place of next(), until that would return 0: counts what is executed, faster than by
  /// elements.  The counts, and what the observer gets, are the same as if all elements of next()
  /// went to Counter::observe(); calls of both may mix, as long as those elements do.  One counter
  /// belongs to one source.
  virtual void count(count::Counter& counter);

  /// End of the trace: the unfinished packet and all that is held back come out of next().
  virtual void finish() = 0;

  /// Forgets the stream; configuration stays.  Elements not yet taken are dropped.  The observer
  /// gets Operation::kReset, and Operation::kEndOfTrace after the last element of finish().
  virtual void reset() = 0;

  /// Call it when the image has changed, or when its callbacks may answer otherwise than before:
  /// nothing read until now is used again.  Not while next() runs.
  virtual void refresh() = 0;

  /// A fatal condition ended decoding (only possible with kHaltOnBadPackets, or for the few errors
  /// that are fatal in the reference and `reference_quirks`); reset() clears it.
  [[nodiscard]] virtual bool failed() const = 0;

  /// Bytes of the present block that belong to packets given so far.
  [[nodiscard]] virtual std::size_t consumed() const = 0;

  /// Takes back the rest of the present block and returns consumed(); the next block must start
  /// there.  Elements not yet taken stay.
  virtual std::size_t withdraw() = 0;

  [[nodiscard]] virtual SourceStatistics statistics() const = 0;
  virtual void reset_statistics() = 0;

  /// `observer` must outlive the source or be replaced; nullptr: none.  `stream_id` is the ID that
  /// its packets carry.
  virtual void set_observer(Observer* observer, TraceId stream_id) = 0;

  /// From now on `marks` are written in each next(); nullptr: no longer.  Not in a clone().  False:
  /// this source cannot.
  virtual bool mark_frames(FrameMarks* /*marks*/) { return false; }

  /// The listing's text of a packet of this source, without newline.
  virtual void write_packet(TextBuffer& out, const PacketRef& packet) const = 0;

  /// The named fields of a packet of this source, in the order of its bytes.
  virtual void visit_fields(const PacketRef& packet, FieldVisitor& visitor) const = 0;

  /// A copy with all state.  The present block, if it is not used up, must live on.
  [[nodiscard]] virtual std::unique_ptr<Source> clone() const = 0;

  // -- For decoders that start in the middle of a trace.  Both sources have been made with the same
  //    configuration, image and options, have used up their blocks and given all elements. --

  /// Whether jump() and same_state() are possible: not where state adds up over the whole trace
  /// (the local time of ITM), nor with `reference_quirks`.
  [[nodiscard]] virtual bool can_jump() const = 0;

  /// Bytes are missing before the next block: it waits for a synchronisation point, without a word,
  /// and keeps what no synchronisation point restates (upper bits of the time, for instance).
  virtual void jump() = 0;

  /// Goes on where `other` is, a source of the same stream; what is known of the image stays, so
  /// that this is cheap.  Counts and observer stay, too.
  virtual void restore(const Source& other) = 0;

  /// From the same next bytes both will give the same packets, elements and diagnostics.
  [[nodiscard]] virtual bool same_state(const Source& other) const = 0;

  /// Adds to the counts what another source has counted of the same stream.
  virtual void add_statistics(const SourceStatistics& more) = 0;

 protected:
  Source(const Source&) = default;
};

}  // namespace waymark
