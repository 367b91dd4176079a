// Packets to elements: stimulus pages, local and global time, and the pairs of data trace.
// See stm-itm.md 14.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/itm/config.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// Pull decoder.  accept() one packet, then drain() until it is not busy(), then the next packet.
/// One owner; not thread safe.
///
/// A data value is paired with the PC value and the address that the same comparator sent before
/// it, unless a timestamp, an overflow or another value of that comparator stands between: a DWT
/// sends the packets of one access together.
class Decoder {
 public:
  explicit Decoder(const Config& config);

  void accept(const Packet& packet);

  /// accept() and drain() at once: writes from `out` on, where there is room, and returns the new
  /// position.  busy() after it: drain() comes next.
  Element* put(const Packet& packet, Element* out, Element* end);

  /// No more packets: the end-of-trace element comes out of drain().
  void end_of_trace();

  /// Fills `out` from the front; returns how many.  0 where a diagnostic must be reported first.
  std::size_t drain(std::span<Element> out);

  [[nodiscard]] bool busy() const { return count_ != 0 || !diagnostics_.empty(); }

  /// Records whose place is after all elements drained so far, and before the next one.
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }

  /// Only with Quirks::bad_packet_is_fatal: nothing more comes before reset().
  [[nodiscard]] bool failed() const { return failed_; }

  /// As the parser's reset().
  void reset();

 private:
  enum class State : std::uint8_t { kNoSync, kWaitSync, kDecode };

  /// What a comparator told of an access whose value is still to come.
  struct Access {
    std::uint32_t pc = 0;
    std::uint32_t address = 0;
    std::uint8_t pc_bytes = 0;  ///< Low bytes known; 0: none.
    std::uint8_t address_bytes = 0;
  };

  void clear_state();
  /// The element of a packet in sync; false: it has none.
  bool make(const Packet& packet, Element& element);
  void make_data(const Packet& packet, Element& element);
  void pair(const Packet& packet, Element& element);
  /// `value` has `bytes` low bytes; with the rest where the comparator's register is known.
  void complete(unsigned comparator, std::uint32_t& value, std::uint8_t& bytes) const;
  void forget_accesses() {
    if (accesses_known_) accesses_ = {};
    accesses_known_ = false;
  }
  bool make_global(const Packet& packet, Element& element);
  void bad_packet(const Packet& packet);
  /// True: the packet belongs to what is decoded.
  bool synchronise(const Packet& packet);
  void check_registers(const Packet& packet);
  void report(Fault fault, Severity severity, TraceIndex index, std::string_view message);
  Element& begin(Element& element, ElementKind kind, TraceIndex index) const;
  Element& queue(ElementKind kind, TraceIndex index);

  Config config_;
  State state_ = State::kNoSync;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  bool failed_ = false;
  bool registers_checked_ = false;
  TraceIndex last_index_ = 0;

  bool overflow_ = false;
  bool clock_change_ = false;
  bool waits_for_upper_ = true;  ///< The upper half of global time is not known.
  bool lower_seen_ = false;
  std::uint8_t lower_bits_ = 0;  ///< Low bits of global time that are known.
  std::uint8_t page_ = 0;
  std::uint64_t local_time_ = 0;
  std::uint64_t global_time_ = 0;
  std::array<Access, 4> accesses_{};
  bool accesses_known_ = false;

  // What drain() has not given yet.
  std::array<Element, 2> queue_;
  std::uint8_t count_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::itm
