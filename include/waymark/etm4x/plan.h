// A description of what to trace, written by a person: the file and its contents.
// docs/howto/program_etmv4.md has the grammar.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etm4x/state.h"

namespace waymark::etm4x {

/// A value of a context comparator.  Bit n of `ignored` excludes byte n from the comparison.
struct ContextMatch {
  std::uint64_t value = 0;
  std::uint8_t ignored = 0;
  friend bool operator==(const ContextMatch&, const ContextMatch&) = default;
};

/// The addresses that one comparator, or a pair, compares.  Both ends are inside.
struct Match {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<ContextMatch> context_id{};
  std::optional<ContextMatch> vmid{};
  std::uint8_t no_levels = 0;  ///< Levels at which it does not match; secure [3:0], others [6:4].
  friend bool operator==(const Match&, const Match&) = default;
};

enum class ResourceKind : std::uint8_t {
  kExternal,
  kPeInput,
  kCounter,
  kSequencer,
  kSingleShot,
  kAddress,
  kRange,
  kContextId,
  kVmid,
};

struct Resource {
  ResourceKind kind = ResourceKind::kCounter;
  unsigned number = 0;  ///< The number of the input, counter, state or single-shot control.
  Match match{};        ///< For an address, range, context ID or VMID.
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// True while any of the resources is.  All belong to one group, so that one selector is enough.
struct Term {
  bool inverted = false;
  std::vector<Resource> any{};
  friend bool operator==(const Term&, const Term&) = default;
};

enum class EventKind : std::uint8_t { kNever, kAlways, kTerm, kAnd, kOr };

struct Event {
  EventKind kind = EventKind::kNever;
  Term a{};
  Term b{};  ///< For kAnd and kOr.
  friend bool operator==(const Event&, const Event&) = default;
};

enum class BroadcastKind : std::uint8_t { kNone, kEverywhere, kInside, kOutside };

/// Lines count from 1; 0 is for settings that are not from a file.
struct PlanRange {
  Match match{};
  bool exclude = false;
  std::uint32_t line = 0;
};
struct PlanPoint {
  Match match{};
  bool stop = false;
  std::uint32_t line = 0;
};
struct PlanEvent {
  Event event{};
  std::uint32_t line = 0;
};
struct PlanCounter {
  std::uint32_t value = 0;
  std::uint32_t reload = 0;
  bool self_reload = false;
  bool chain = false;
  Event count{};
  Event reload_on{};
  std::uint32_t line = 0;  ///< 0: not used.
};
struct PlanShot {
  std::vector<Match> addresses{};
  std::vector<Match> ranges{};
  std::uint32_t pe_inputs = 0;
  bool repeat = false;
  std::uint32_t line = 0;  ///< 0: not used.
};
struct PlanStrobe {
  std::uint32_t window = 0;
  std::uint32_t period = 0;
  std::uint32_t line = 0;
};
struct PlanSink {
  std::string name{};
  std::uint64_t buffer = 0;  ///< Bytes; 0: unchanged.
  std::uint32_t line = 0;
};

/// A setting that was given, and where.
template <class T>
struct Given {
  T value{};
  std::uint32_t line = 0;
};
template <class T>
using Setting = std::optional<Given<T>>;

struct Plan {
  std::vector<PlanRange> ranges{};
  std::vector<PlanPoint> points{};
  Setting<std::uint32_t> start_inputs{};
  Setting<std::uint32_t> stop_inputs{};
  Setting<bool> begin_started{};
  Setting<std::uint8_t> levels{};  ///< Traced levels; secure [3:0], others [6:4].
  std::optional<PlanEvent> when{};
  Setting<bool> trace_context_id{};
  Setting<bool> trace_vmid{};       ///< True: from CONTEXTIDR_EL2.
  Setting<std::uint32_t> cycles{};  ///< Threshold; 0: the smallest of the unit.
  std::optional<PlanEvent> timestamps{};
  BroadcastKind broadcast = BroadcastKind::kNone;
  std::vector<PlanRange> broadcast_ranges{};
  std::uint32_t broadcast_line = 0;
  Setting<bool> return_stack{};
  Setting<std::uint8_t> q_elements{};   ///< 1 with counts, 3 all.
  Setting<std::uint8_t> conditional{};  ///< 1 loads, 2 stores, 3 both, 7 all.
  Setting<std::uint8_t> p0{};           ///< 1 loads, 2 stores, 3 both.
  Setting<std::uint8_t> stall{};        ///< Level, 0 to 15.
  Setting<bool> stall_priority{};
  Setting<bool> no_overflow{};
  Setting<bool> trace_reset{};
  Setting<bool> trace_error{};
  Setting<bool> atb_trigger{};
  Setting<bool> low_power_override{};
  Setting<std::uint8_t> sync{};  ///< log2 of the bytes; 0: never.
  std::array<std::optional<PlanEvent>, 4> events{};
  std::uint32_t events_in_trace = 0;  ///< A bit for each event; others only drive outputs.
  std::array<PlanCounter, kCounters> counters{};
  std::array<PlanEvent, kSequencerEvents> forward{};
  std::array<PlanEvent, kSequencerEvents> back{};
  PlanEvent sequencer_reset{};
  Setting<std::uint8_t> sequencer_state{};
  std::array<PlanShot, kSingleShots> shots{};
  std::optional<PlanStrobe> strobe{};
  Setting<std::uint32_t> pe{};
  std::vector<PlanSink> sinks{};
};

struct Symbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};
/// The symbol of a name; kNotFound with a sentence.
using SymbolResolver = std::function<Result<Symbol>(std::string_view name)>;

/// One refusal of a plan.
struct PlanProblem {
  std::uint32_t line = 0;  ///< 0: it concerns no single line.
  std::string rule{};      ///< What is wrong, as a clause.
  std::string remedy{};    ///< What would be accepted, or the nearest alternative.

  /// "line 7: RULE.  REMEDY."
  [[nodiscard]] std::string text() const;
};

/// The first line of a description file.
inline constexpr std::string_view kPlanHeading = "etm4-plan 1";

/// Reads a description file.  All problems are collected; nothing is returned if there is one.
std::optional<Plan> parse_plan(std::string_view text, const SymbolResolver& symbols,
                               std::vector<PlanProblem>& problems);

/// Bits as in Plan::levels.
inline constexpr std::array<std::string_view, 7> kLevelNames = {"s-el0", "s-el1", "s-el2", "s-el3",
                                                                "el0",   "el1",   "el2"};

/// The plan as a file, one setting per line, in a fixed order and spelling. parse_plan() reads the
/// same plan back.
std::string plan_text(const Plan& plan);
/// The same as lines, without the heading.
std::vector<std::string> plan_lines(const Plan& plan);

/// "counter 1", "address 0x100 at el0".
std::string resource_text(const Resource& resource);
std::string event_text(const Event& event);
std::string match_text(const Match& match, bool range);
/// "el0 el1 s-el3" with `separator` between; bits as in Plan::levels.
std::string levels_text(std::uint32_t levels, std::string_view separator = " ");

}  // namespace waymark::etm4x
