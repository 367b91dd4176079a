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
#include "waymark/itm/global_time.h"
#include "waymark/itm/packet.h"

namespace waymark::itm {

/// Pull decoder: call accept() with a packet, then drain() until it is not busy(), then go on with
/// the next packet.  One owner; not thread safe.
///
/// A data value is paired with the PC value and the address that the same comparator sent before
/// it, unless a timestamp, an overflow or another value of that comparator is between them: a DWT
/// sends the packets of one access together.
class Decoder {
 public:
  explicit Decoder(const Config& config);

  void accept(const Packet& packet);

  /// accept() and drain() in one call: writes from `out` on, as far as there is space, and returns
  /// the new position.  If the decoder is busy() afterwards, call drain().
  Element* put(const Packet& packet, Element* out, Element* end);

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
  [[nodiscard]] bool failed() const { return failed_; }

  /// Like the parser's reset().
  void reset();

 private:
  enum class State : std::uint8_t { kNoSync, kWaitSync, kDecode };

  /// The report of a comparator about an access whose value is still to come.
  struct Access {
    std::uint32_t pc = 0;
    std::uint32_t address = 0;
    std::uint8_t pc_bytes = 0;  ///< The number of known low bytes; 0: none.
    std::uint8_t address_bytes = 0;
  };

  /// By comparator.
  struct Accesses {
    std::array<Access, 4> by{};
    bool any = false;
    void forget() {
      if (any) *this = {};
    }
  };

  void clear_state();
  void lose_times();
  void reset_global_time();
  /// Makes the element of a synchronised packet; false: it has none.
  bool make(const Packet& packet, Element& element);
  void make_data(const Packet& packet, Element& element);
  void pair(const Packet& packet, Element& element);
  /// `value` has `bytes` low bytes; adds the rest if the comparator's register is known.
  void complete(unsigned comparator, std::uint32_t& value, std::uint8_t& bytes) const;
  bool make_global(const Packet& packet, Element& element);
  void bad_packet(const Packet& packet);
  /// True: the packet is to be decoded.
  bool synchronise(const Packet& packet);
  void check_registers(const Packet& packet);
  void report(Fault fault, Severity severity, TraceIndex index, Finding finding);
  Element& begin(Element& element, ElementKind kind, TraceIndex index) const;
  Element& queue(ElementKind kind, TraceIndex index);

  Config config_;
  State state_ = State::kNoSync;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  bool failed_ = false;
  bool registers_checked_ = false;
  TraceIndex last_index_ = 0;

  bool overflow_ = false;
  std::uint8_t page_ = 0;
  std::uint64_t local_time_ = 0;
  bool local_time_is_least_ = false;  ///< Packets were lost since the last global timestamp.
  GlobalTime global_time_;
  Accesses accesses_;

  // The elements that drain() has yet to give.
  std::array<Element, 2> queue_;
  std::uint8_t count_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::itm
