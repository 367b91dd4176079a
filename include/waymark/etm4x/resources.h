// The behaviour of a trace unit's logic while a core runs: comparators, selectors, counters,
// sequencer, start/stop logic, ViewInst.  See etm4x-programming.md 9.
#pragma once

#include <array>
#include <cstdint>

#include "waymark/etm4x/capabilities.h"
#include "waymark/etm4x/register_image.h"
#include "waymark/etm4x/state.h"

namespace waymark::etm4x {

/// An instruction that the core executes.
struct Executed {
  std::uint64_t address = 0;
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  std::uint8_t level = 0;  ///< One bit, as in Plan::levels: secure [3:0], others [6:4].
};

/// The result of the logic in one cycle.
struct Response {
  bool traced = false;      ///< ViewInst.
  bool timestamp = false;   ///< The timestamp event became true.
  std::uint8_t events = 0;  ///< One bit for each event of the trace that became true.
};

/// The logic as configured by registers, one instruction per cycle.  Where hardware may choose,
/// nothing is delayed: an event acts in the cycle of its cause, the sequencer makes one transition
/// per cycle, a start acts before its instruction, and a stop after it.  External inputs and PE
/// comparator inputs are never active.  Plain data; not thread safe.
class Resources {
 public:
  Resources(const RegisterImage& image, const Capabilities& caps);

  Response execute(const Executed& at);
  /// A cycle in which the core waits.
  Response idle();
  /// Whether waiting cycles can change anything.
  [[nodiscard]] bool counts_cycles() const { return used_.counts_cycles; }
  /// Whether a taken branch at the last executed instruction gets an address, apart from
  /// TRCCONFIGR.BB.
  [[nodiscard]] bool broadcasts() const;

 private:
  static constexpr unsigned kPairs = kAddressComparators / 2;
  static constexpr unsigned kEvents = 4;

  Response cycle(bool executes);
  void compare();
  [[nodiscard]] bool qualified(unsigned index) const;
  [[nodiscard]] bool context_matches(unsigned slot) const;
  [[nodiscard]] bool vmid_matches(unsigned slot) const;
  [[nodiscard]] bool selected(unsigned number) const;
  [[nodiscard]] bool event(std::uint32_t byte) const;
  void count();
  void sequence();

  struct Registers {
    std::uint32_t view = 0;
    std::uint32_t ranges = 0;
    std::uint32_t points = 0;
    std::uint32_t broadcast = 0;
    std::uint32_t timestamp = 0;
    std::uint32_t events = 0;
    std::uint32_t events_in_trace = 0;
    std::array<std::uint32_t, kSelectors> selectors{};
    std::array<std::uint64_t, kAddressComparators> addresses{};
    std::array<std::uint32_t, kAddressComparators> controls{};
    std::array<std::uint64_t, kContextComparators> context_ids{};
    std::array<std::uint64_t, kContextComparators> vmids{};
    std::array<std::uint64_t, kContextComparators> context_masks{};  ///< Bits that are compared.
    std::array<std::uint64_t, kContextComparators> vmid_masks{};
    std::array<std::uint32_t, kCounters> counter_controls{};
    std::array<std::uint32_t, kCounters> reloads{};
    std::array<std::uint32_t, kSequencerEvents> transitions{};
    std::uint32_t sequencer_reset = 0;
    std::array<std::uint32_t, kSingleShots> shots{};
  };
  Registers registers_;

  /// Which of them matter.
  struct Used {
    std::uint32_t singles = 0;
    std::uint32_t pairs = 0;
    bool contexts = false;
    bool selectors = false;
    bool counts_cycles = false;
  };
  Used used_;

  struct Logic {
    Executed at;
    bool started = false;
    std::array<std::uint32_t, kCounters> counters{};
    unsigned sequencer = 0;
    std::uint32_t shots_done = 0;
    std::uint32_t events_were = 0;
    bool timestamp_was = false;
    std::array<std::uint32_t, 8> groups{};  ///< Active resources of each group of TRCRSCTLRn.
  };
  Logic logic_;
};

}  // namespace waymark::etm4x
