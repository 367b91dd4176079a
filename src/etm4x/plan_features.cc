// The statements of a plan that switch features of the unit on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "plan_settings.h"
#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {
namespace {

/// A setting that is the word alone.
template <auto kSetting>
constexpr Statement flag(std::string_view word, const Need& need, std::uint32_t mode_bits,
                         std::string_view reg, std::uint32_t mask) {
  return {.word = word,
          .form = word,
          .once = true,
          .parse = [](const Statement& /*row*/, PlanWords& words, Plan& plan) -> Parsed<void> {
            plan.*kSetting = {true, words.line()};
            return {};
          },
          .print =
              [](const Statement& row, const Plan& plan, PlanLines& lines) {
                if (plan.*kSetting) lines.emplace_back(row.word);
              },
          .line = line_of<kSetting>,
          .mode = [](const Statement& row, const Plan& /*plan*/) { return row.mode_bits; },
          .read =
              [](const Statement& row, const PlanRegisters& registers, Plan& plan) {
                if ((registers.reg(row.reg) & row.mask) != 0) plan.*kSetting = {true, kReadLine};
              },
          .need = need,
          .mode_bits = mode_bits,
          .reg = reg,
          .mask = mask};
}

/// A setting that is one of several words, and a field of a register.
template <auto kSetting>
constexpr Statement choice(std::string_view word, std::string_view form,
                           std::span<const Choice> choices, const Need& need,
                           std::uint32_t mode_bits, std::uint32_t mask) {
  return {.word = word,
          .form = form,
          .once = true,
          .parse = parse_choice<kSetting>,
          .print = print_choice<kSetting>,
          .line = line_of<kSetting>,
          .mode =
              [](const Statement& row, const Plan& plan) {
                return std::uint32_t{(plan.*kSetting)->value} << std::countr_zero(row.mode_bits);
              },
          .read =
              [](const Statement& row, const PlanRegisters& registers, Plan& plan) {
                const std::uint32_t value =
                    (registers.reg(row.reg) & row.mask) >> std::countr_zero(row.mask);
                if (value != 0) plan.*kSetting = {static_cast<std::uint8_t>(value), kReadLine};
              },
          .need = need,
          .choices = choices,
          .mode_bits = mode_bits,
          .reg = "TRCCONFIGR",
          .mask = mask};
}

constexpr std::uint32_t set_bits(const Statement& row, const Plan& /*plan*/) {
  return row.mode_bits;
}

Parsed<void> parse_trace_vmid(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  plan.trace_vmid = {words.take_if("contextidr-el2"), words.line()};
  return {};
}
void print_trace_vmid(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!plan.trace_vmid) return;
  lines.push_back(fmt::format("{}{}", row.word, plan.trace_vmid->value ? " contextidr-el2" : ""));
}
void read_trace_vmid(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  const std::uint32_t config = registers.reg(row.reg);
  if ((config & row.mask) == 0) return;
  plan.trace_vmid = {(config & kConfigVmidOption) != 0, kReadLine};
}

Parsed<void> parse_cycles(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  std::uint64_t threshold = 0;
  if (!words.empty()) {
    WAYMARK_PLAN_TRY(given, words.number("cycle threshold", 1, 0xFFF));
    threshold = given;
  }
  plan.cycles = {static_cast<std::uint32_t>(threshold), words.line()};
  return {};
}
void print_cycles(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!plan.cycles) return;
  const std::uint32_t threshold = plan.cycles->value;
  lines.push_back(threshold == 0 ? std::string(row.word)
                                 : fmt::format("{} {}", row.word, threshold));
}
std::optional<PlanProblem> check_cycles(const Plan& plan, const Capabilities& caps) {
  const std::uint32_t threshold = plan.cycles->value;
  if (threshold == 0 || threshold >= caps.ccitmin) return std::nullopt;
  return PlanProblem{plan.cycles->line,
                     fmt::format("the threshold {} is below the smallest of the unit", threshold),
                     fmt::format("{} to 4095 is accepted", caps.ccitmin)};
}
void read_cycles(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  if ((registers.reg(row.reg) & row.mask) == 0) return;
  plan.cycles = {registers.reg("TRCCCCTLR") & 0xFFF, kReadLine};
}

Parsed<void> parse_timestamps(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  if (words.empty()) {
    plan.timestamps = PlanEvent{{}, words.line()};
    return {};
  }
  WAYMARK_PLAN_TRY(found, words.plan_event());
  plan.timestamps = std::move(found);
  return {};
}
void print_timestamps(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!plan.timestamps) return;
  const Event& event = plan.timestamps->event;
  const bool never = event.kind == EventKind::kNever;
  lines.push_back(never ? std::string(row.word)
                        : fmt::format("{} {}", row.word, event_text(event)));
}
void read_timestamps(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  if ((registers.reg(row.reg) & row.mask) == 0) return;
  plan.timestamps = PlanEvent{registers.event(registers.reg("TRCTSCTLR") & 0xFF), kReadLine};
}

Parsed<void> parse_stall(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  std::uint64_t level = 0;
  if (words.take_if("level")) {
    WAYMARK_PLAN_TRY(given, words.number("stall level", 0, 15));
    level = given;
  }
  plan.stall = {static_cast<std::uint8_t>(level), words.line()};
  return {};
}
void print_stall(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!plan.stall) return;
  const unsigned level = plan.stall->value;
  lines.push_back(level == 0 ? std::string(row.word) : fmt::format("{} level {}", row.word, level));
}
void read_stall(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  const std::uint32_t stall = registers.reg(row.reg);
  if ((stall & row.mask) != 0) plan.stall = {static_cast<std::uint8_t>(stall & 0xF), kReadLine};
}

Parsed<void> parse_sync(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  if (words.take_if("never")) {
    plan.sync = {0, words.line()};
    return {};
  }
  WAYMARK_PLAN_TRY(bytes, words.size("synchronisation period in bytes", 256, 1U << 20));
  if (!std::has_single_bit(bytes)) {
    return wrong(fmt::format("a period of {} bytes is not a power of two", bytes),
                 fmt::format("{} or {} is accepted", std::bit_floor(bytes), std::bit_ceil(bytes)));
  }
  plan.sync = {static_cast<std::uint8_t>(std::countr_zero(bytes)), words.line()};
  return {};
}
void print_sync(const Statement& row, const Plan& plan, PlanLines& lines) {
  if (!plan.sync) return;
  const unsigned log2 = plan.sync->value;
  lines.push_back(log2 == 0 ? fmt::format("{} never", row.word)
                            : fmt::format("{} {}", row.word, 1U << log2));
}
void read_sync(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  if (registers.caps.syncpr || !registers.known(row.reg)) return;
  plan.sync = {static_cast<std::uint8_t>(registers.reg(row.reg) & row.mask), kReadLine};
}

constexpr std::array<std::string_view, 4> kBroadcastWords = {"", "everywhere", "inside", "outside"};

Parsed<void> parse_broadcast(const Statement& /*row*/, PlanWords& words, Plan& plan) {
  const std::string_view word = words.take();
  const auto* const found = std::ranges::find(kBroadcastWords, word);
  const auto kind = static_cast<BroadcastKind>(found - kBroadcastWords.begin());
  if (word.empty() || found == kBroadcastWords.end()) {
    return wrong(fmt::format("'{}' is not accepted here", word),
                 "Accepted: everywhere, inside RANGE, outside RANGE");
  }
  if (plan.broadcast != BroadcastKind::kNone && plan.broadcast != kind) {
    return wrong(fmt::format("line {} contradicts this setting", plan.broadcast_line),
                 "A unit broadcasts everywhere, inside ranges or outside ranges");
  }
  plan.broadcast = kind;
  plan.broadcast_line = words.line();
  if (kind == BroadcastKind::kEverywhere) return {};
  return add_range(words, plan.broadcast_ranges, false);
}
void print_broadcast(const Statement& row, const Plan& plan, PlanLines& lines) {
  const std::string_view word = kBroadcastWords[static_cast<std::size_t>(plan.broadcast)];
  if (plan.broadcast == BroadcastKind::kEverywhere)
    lines.push_back(fmt::format("{} {}", row.word, word));
  for (const PlanRange& range : plan.broadcast_ranges)
    lines.push_back(fmt::format("{} {} {}", row.word, word, match_text(range.match, true)));
}
std::optional<std::uint32_t> line_of_broadcast(const Plan& plan) {
  if (plan.broadcast == BroadcastKind::kNone) return std::nullopt;
  return plan.broadcast_line;
}
std::optional<PlanProblem> check_broadcast(const Plan& plan, const Capabilities& caps) {
  if (plan.broadcast == BroadcastKind::kEverywhere || caps.nr_addr_cmp != 0) return std::nullopt;
  return PlanProblem{plan.broadcast_line, lacks("address comparators", "TRCIDR4.NUMACPAIRS is 0"),
                     "branch-broadcast everywhere is accepted"};
}
void read_broadcast(const Statement& row, const PlanRegisters& registers, Plan& plan) {
  if ((registers.reg(row.reg) & row.mask) == 0) return;
  const std::uint32_t control = registers.reg("TRCBBCTLR");
  const bool inside = (control & kBroadcastInside) != 0;
  plan.broadcast_line = kReadLine;
  plan.broadcast = inside                  ? BroadcastKind::kInside
                   : (control & 0xFF) != 0 ? BroadcastKind::kOutside
                                           : BroadcastKind::kEverywhere;
  for (unsigned pair = 0; pair < 8; ++pair) {
    if ((control >> pair & 1) != 0)
      plan.broadcast_ranges.push_back({registers.match(pair * 2, true), false, kReadLine});
  }
}

constexpr std::string_view kLeaveOut = "Leave the line out";

template <auto kCapability>
constexpr bool has(const Capabilities& caps) {
  return caps.*kCapability != 0;
}

constexpr std::array kQ = {Choice{"counted", 1}, Choice{"all", 3}};
constexpr std::array kLoadsStores = {Choice{"loads", 1}, Choice{"stores", 2},
                                     Choice{"loads-stores", 3}};
constexpr std::array kConditional = {Choice{"loads", 1}, Choice{"stores", 2},
                                     Choice{"loads-stores", 3}, Choice{"all", 7}};

constexpr Statement q_elements() {
  Statement row = choice<&Plan::q_elements>(
      "q-elements", "q-elements counted|all", kQ,
      {has<&Capabilities::q_support>, "Q elements", "TRCIDR0.QSUPP is 0", kLeaveOut},
      3U << mode::kQShift, kConfigQ);
  row.mode = [](const Statement& at, const Plan& plan) {
    return plan.q_elements->value == 1 ? 1U << mode::kQShift : at.mode_bits;
  };
  row.check = [](const Plan& plan, const Capabilities& caps) -> std::optional<PlanProblem> {
    if (plan.q_elements->value != 3 || (caps.q_support & 2) != 0) return std::nullopt;
    return PlanProblem{plan.q_elements->line,
                       lacks("Q elements without counts", "TRCIDR0.QSUPP is 1"),
                       "q-elements counted is accepted"};
  };
  return row;
}

constexpr std::array kFeatureStatements = {
    flag<&Plan::trace_context_id>(
        "trace-context-id",
        {has<&Capabilities::ctxid_size>, "context ID trace", "TRCIDR2.CIDSIZE is 0",
         "Leave the line out; trace-vmid may tell processes apart on a kernel at EL2"},
        mode::kContextId, "TRCCONFIGR", kConfigContextId),
    Statement{.word = "trace-vmid",
              .form = "trace-vmid [contextidr-el2]",
              .once = true,
              .parse = parse_trace_vmid,
              .print = print_trace_vmid,
              .line = line_of<&Plan::trace_vmid>,
              .mode = set_bits,
              .read = read_trace_vmid,
              .need = {has<&Capabilities::vmid_size>, "VMID trace", "TRCIDR2.VMIDSIZE is 0",
                       "Leave the line out; trace-context-id tells processes apart"},
              .mode_bits = mode::kVmid,
              .reg = "TRCCONFIGR",
              .mask = kConfigVmid},
    Statement{.word = "cycles",
              .form = "cycles [THRESHOLD]",
              .once = true,
              .parse = parse_cycles,
              .print = print_cycles,
              .line = line_of<&Plan::cycles>,
              .mode = set_bits,
              .read = read_cycles,
              .need = {has<&Capabilities::trccci>, "cycle counting", "TRCIDR0.TRCCCI is 0",
                       "Leave the line out; timestamps measure time more coarsely"},
              .check = check_cycles,
              .mode_bits = mode::kCycles,
              .reg = "TRCCONFIGR",
              .mask = kConfigCycles},
    Statement{.word = "timestamps",
              .form = "timestamps [EVENT]",
              .once = true,
              .parse = parse_timestamps,
              .print = print_timestamps,
              .line = line_of<&Plan::timestamps>,
              .mode = set_bits,
              .read = read_timestamps,
              .need = {has<&Capabilities::ts_size>, "timestamps", "TRCIDR0.TSSIZE is 0",
                       "Leave the line out; cycles measure time within the core"},
              .mode_bits = mode::kTimestamps,
              .reg = "TRCCONFIGR",
              .mask = kConfigTimestamps},
    Statement{.word = "branch-broadcast",
              .form = "branch-broadcast everywhere|inside RANGE|outside RANGE",
              .parse = parse_broadcast,
              .print = print_broadcast,
              .line = line_of_broadcast,
              .mode = set_bits,
              .read = read_broadcast,
              .need = {has<&Capabilities::trcbb>, "branch broadcast", "TRCIDR0.TRCBB is 0",
                       "Leave the line out; the program's image has the targets of direct "
                       "branches"},
              .check = check_broadcast,
              .mode_bits = mode::kBranchBroadcast,
              .reg = "TRCCONFIGR",
              .mask = kConfigBranchBroadcast},
    flag<&Plan::return_stack>(
        "return-stack",
        {has<&Capabilities::retstack>, "return stack", "TRCIDR0.RETSTACK is 0",
         "Leave the line out: returns then cost an address each"},
        mode::kReturnStack, "TRCCONFIGR", kConfigReturnStack),
    q_elements(),
    choice<&Plan::conditional>("conditional", "conditional loads|stores|loads-stores|all",
                               kConditional,
                               {has<&Capabilities::trccond>, "trace of conditional instructions",
                                "TRCIDR0.TRCCOND is 0", kLeaveOut},
                               7U << mode::kConditionalShift, kConfigConditional),
    choice<&Plan::p0>("p0", "p0 loads|stores|loads-stores", kLoadsStores,
                      {has<&Capabilities::instrp0>, "loads and stores as P0 elements",
                       "TRCIDR0.INSTP0 is not 3", kLeaveOut},
                      3U << mode::kLoadStoreShift, kConfigP0),
    Statement{.word = "stall",
              .form = "stall [level N]",
              .once = true,
              .parse = parse_stall,
              .print = print_stall,
              .line = line_of<&Plan::stall>,
              .mode = set_bits,
              .read = read_stall,
              .need = {has<&Capabilities::stallctl>, "stall control", "TRCIDR3.STALLCTL is 0",
                       "Leave the line out; trace less with include, or a larger sink buffer"},
              .mode_bits = mode::kStallInstructions,
              .reg = "TRCSTALLCTLR",
              .mask = kStallInstructions},
    flag<&Plan::stall_priority>(
        "stall-priority",
        {has<&Capabilities::stallctl>, "stall control", "TRCIDR3.STALLCTL is 0", kLeaveOut},
        mode::kInstructionPriority, "TRCSTALLCTLR", kStallPriority),
    flag<&Plan::no_overflow>("no-overflow",
                             {has<&Capabilities::nooverflow>, "overflow prevention",
                              "TRCIDR3.NOOVERFLOW is 0", kLeaveOut,
                              [](const Capabilities& caps) -> std::string_view {
                                return caps.stallctl ? "stall makes overflows rare" : kLeaveOut;
                              }},
                             mode::kNoOverflow, "TRCSTALLCTLR", kStallNoOverflow),
    flag<&Plan::trace_reset>(
        "trace-reset",
        {has<&Capabilities::trc_error>, "forced trace of resets", "TRCIDR3.TRCERR is 0", kLeaveOut},
        mode::kTraceReset, "TRCVICTLR", kVictlrTraceReset),
    flag<&Plan::trace_error>("trace-error",
                             {has<&Capabilities::trc_error>, "forced trace of system errors",
                              "TRCIDR3.TRCERR is 0", kLeaveOut},
                             mode::kTraceError, "TRCVICTLR", kVictlrTraceError),
    flag<&Plan::atb_trigger>("atb-trigger",
                             {has<&Capabilities::atbtrig>, "ATB triggers", "TRCIDR5.ATBTRIG is 0",
                              "Leave the line out; event-output drives a cross trigger"},
                             mode::kAtbTrigger, "TRCEVENTCTL1R", kEventAtbTrigger),
    flag<&Plan::low_power_override>(
        "low-power-override",
        {has<&Capabilities::lpoverride>, "low-power override",
         "TRCIDR5.LPOVERRIDE is 0, or the unit is reached through system registers", kLeaveOut},
        mode::kLowPowerOverride, "TRCEVENTCTL1R", kEventLowPower),
    Statement{.word = "sync",
              .form = "sync BYTES|never",
              .once = true,
              .parse = parse_sync,
              .print = print_sync,
              .line = line_of<&Plan::sync>,
              .read = read_sync,
              .need = {[](const Capabilities& caps) { return !caps.syncpr; },
                       "programmable synchronisation period", "TRCIDR3.SYNCPR is 1", kLeaveOut},
              .reg = "TRCSYNCPR",
              .mask = 0x1F},
};

}  // namespace

std::span<const Statement> feature_statements() { return kFeatureStatements; }

}  // namespace waymark::etm4x
