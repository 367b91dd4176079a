#include "waymark/synth/programmed_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "etmv4_unit.h"
#include "waymark/base/bits.h"
#include "waymark/etm4x/compile.h"
#include "waymark/etm4x/resources.h"

namespace waymark::synth {
namespace {

using etm4x::Plan;

// Bits of TRCCONFIGR whose packets the model does not make.
constexpr std::uint32_t kNotMade =
    etm4x::kConfigP0 | etm4x::kConfigConditional | etm4x::kConfigQ | etm4x::kConfigData;
constexpr std::uint32_t kCommitMode1 = 1U << 29;  // TRCIDR0.COMMOPT
constexpr std::uint32_t kCycleCounting = 1U << 7;
constexpr std::uint32_t kTimestampMarkers = 1U << 23;
constexpr std::uint64_t kUsualPeriod = 4096;
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint32_t kOtherProcess = 0x100;
constexpr std::uint64_t kMostAfterEnd = 100'000;  // Instructions.

etmv4::Config make_config(const ProgrammedOptions& options, isa::Core core) {
  const etm4x::IdRegisters& id = options.id;
  etmv4::Config config;
  config.ete = bits<15, 12>(id.devarch) == 5;
  config.core = core;
  config.trcidr0 = id.idr[0] & ~(config.ete ? kTimestampMarkers : 0);
  // Nothing is speculative here, so cycle counts do not commit.
  if ((config.trcidr0 & kCycleCounting) != 0) config.trcidr0 |= kCommitMode1;
  if (id.idr[1] != 0) config.trcidr1 = id.idr[1];
  config.trcidr2 = id.idr[2];
  config.trcdevarch = config.ete ? id.devarch : 0;
  config.trctraceidr = static_cast<std::uint32_t>(options.image.value("TRCTRACEIDR") & 0x7F);
  if (!is_source_id(static_cast<TraceId>(config.trctraceidr))) config.trctraceidr = 0x10;
  config.trcconfigr = static_cast<std::uint32_t>(options.image.value("TRCCONFIGR")) & ~kNotMade;
  return config;
}

UnitOptions unit_options(const ProgrammedOptions& options, const etmv4::Config& config) {
  UnitOptions unit;
  unit.protocol = config.ete ? Protocol::kEte : Protocol::kEtmV4;
  unit.trace_id = config.trace_id();
  unit.seed = options.seed;
  unit.core = options.core;
  const std::uint32_t set = config.trcconfigr;
  unit.return_stack = config.return_stack_enabled();
  unit.cycle_counts = config.cycle_count_enabled();
  unit.cycle_threshold = static_cast<std::uint32_t>(options.image.value("TRCCCCTLR") & 0xFFF);
  unit.context_ids = (set & etm4x::kConfigContextId) != 0 && config.context_id_bytes() != 0;
  unit.vmids = (set & etm4x::kConfigVmid) != 0 && config.vmid_bytes() != 0;
  const auto period = static_cast<unsigned>(options.image.value("TRCSYNCPR") & 0x1F);
  const auto caps = etm4x::read_capabilities(options.id, options.environment);
  unit.sync_period = caps.syncpr   ? kUsualPeriod
                     : period == 0 ? kNever
                                   : std::max<std::uint64_t>(std::uint64_t{1} << period, 64);
  return unit;
}

class ProgrammedUnit final : public Etmv4Unit {
 public:
  ProgrammedUnit(const ProgrammedOptions& options, const UnitOptions& unit,
                 const std::string& core_name, const etmv4::Config& config, const Program& program,
                 const ExecutionOptions& execution, bool keep_truth)
      : Etmv4Unit(unit, core_name, config, program, execution, keep_truth),
        image_(options.image),
        id_(options.id),
        resources_(image_, etm4x::read_capabilities(options.id, options.environment)),
        limit_(options.instructions) {
    settings_.timestamp_with_sync = (config.trcconfigr & etm4x::kConfigTimestamps) != 0;
  }

  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override {
    output_.start(out);
    if (!started_) {
      started_ = true;
      synchronise(false, 0);
      next_.late = false;
    }
    const std::size_t end = output_.begin + bytes;
    while (out.size() < end && !exhausted()) {
      if (on_ && output_.position() - synced_at_ >= options_.sync_period) synchronise(false, 0);
      advance();
    }
    output_.before = output_.position();
  }

  // Whatever follows the last P0 element is lost, including an exception return.  If the filter
  // closed right after one, the core therefore runs until the filter opens again.
  void finish(std::vector<std::uint8_t>& out) override {
    if (!started_) return;
    output_.start(out);
    const std::uint64_t most = executed_ + kMostAfterEnd;
    do {
      advance();
    } while (on_ ? step_.kind != StepKind::kBlock || step_.exception_return
                 : returned_ && executed_ < most);
    if (atoms_.count != 0) flush_atoms();
  }

  [[nodiscard]] bool exhausted() const override { return executed_ >= limit_; }

  // All registers, since the explanation of the trace needs them.
  [[nodiscard]] std::vector<UnitRegister> registers() const override {
    std::vector<UnitRegister> all = Etmv4Unit::registers();
    for (const auto& [name, number] : kCapabilityRegisters) all.push_back({name, id_.idr[number]});
    for (const etm4x::RegisterValue& value : image_.values()) {
      if (std::ranges::find(all, value.name, &UnitRegister::name) == all.end())
        all.push_back({value.name, value.value});
    }
    return all;
  }

 private:
  /// The part of a block that the filter let through.
  struct Seen {
    std::uint32_t first = 0;  ///< Its first instruction; if none, the number of instructions.
    std::uint64_t address = 0;
  };

  void advance() {
    const PeContext here = execution_.context();
    execution_.next(step_);
    const std::uint64_t before = cycles_;
    pass_time(step_);
    executed_ += step_.count;
    if (step_.kind == StepKind::kException) {
      if (on_) {
        on_exception(step_);
      } else if (step_.context_changed) {
        record_context();
      }
    } else {
      follow_block(watch(here), before);
    }
    wait(cycles_ - before - step_.count);
    // Nothing else can be traced between an interrupted block and its exception.
    if (step_.kind == StepKind::kPart) return;
    if (on_ && options_.cycle_counts && cycles_ - counted_to_ >= options_.cycle_threshold)
      put_cycle_count();
    put_events();
  }

  Seen watch(const PeContext& here) {
    etm4x::Executed at;
    at.context_id = here.context_id;
    at.vmid = here.vmid;
    at.level = static_cast<std::uint8_t>((here.secure ? 1U : 0x10U) << here.el);
    at.address = step_.start;
    Seen seen{step_.count, 0};
    for (std::uint32_t i = 0; i < step_.count; ++i) {
      const etm4x::Response response = resources_.execute(at);
      note_events(response);
      if (response.traced && seen.first == step_.count) seen = {i, at.address};
      if (i + 1 != step_.count) at.address = execution_.after(*step_.block, at.address);
    }
    settings_.broadcast =
        (config_.trcconfigr & etm4x::kConfigBranchBroadcast) != 0 && resources_.broadcasts();
    return seen;
  }

  void follow_block(const Seen& seen, std::uint64_t began) {
    if (seen.first == step_.count) {
      if (atoms_.count != 0) flush_atoms();
      on_ = false;
      hide(step_);
      if (step_.context_changed) record_context();
      return;
    }
    Step shown = step_;
    if (seen.first != 0) {
      Step hidden = step_;
      hidden.end = seen.address;
      hidden.count = seen.first;
      hide(hidden);
      shown.start = seen.address;
      shown.count -= seen.first;
    }
    if (!on_ || seen.first != 0) {
      put(etmv4::PacketType::kTraceOn);
      record(EventKind::kTraceOn, static_cast<std::uint64_t>(TraceOnReason::kNormal));
      stack_.clear();
      next_.late = false;
      next_.pending = on_ = true;
      counted_to_ = began;
    }
    on_block(shown);
    returned_ = shown.exception_return;
  }

  void wait(std::uint64_t cycles) {
    if (!resources_.counts_cycles()) return;
    for (; cycles != 0; --cycles) note_events(resources_.idle());
  }
  void note_events(const etm4x::Response& response) {
    events_ = static_cast<std::uint8_t>(events_ | response.events);
    timestamp_due_ = timestamp_due_ || response.timestamp;
  }
  // Events occur whether or not the filter is open.
  void put_events() {
    if (events_ != 0) {
      etmv4::Packet packet;
      packet.type = etmv4::PacketType::kEvent;
      packet.value = events_;
      put(packet);
      record(EventKind::kEvent, events_);
      events_ = 0;
    }
    if (timestamp_due_ && settings_.timestamp_with_sync && on_) put_timestamp();
    timestamp_due_ = false;
  }

  // Decoding needs the other registers.
  static constexpr std::pair<std::string_view, std::size_t> kCapabilityRegisters[] = {
      {"TRCIDR3", 3}, {"TRCIDR4", 4}, {"TRCIDR5", 5}};

  etm4x::RegisterImage image_;
  etm4x::IdRegisters id_;
  etm4x::Resources resources_;
  std::uint64_t limit_;
  std::uint64_t executed_ = 0;
  Step step_;
  bool on_ = false;        // The last instruction was traced.
  bool returned_ = false;  // The last traced block ended in an exception return.
  std::uint8_t events_ = 0;
  bool timestamp_due_ = false;
};

template <class T>
bool has(const std::vector<T>& values, const T& value) {
  return std::ranges::find(values, value) != values.end();
}

/// Calls `visit` with each resource that an event of the plan uses.
template <class Visit>
void visit_resources(const Plan& plan, const Visit& visit) {
  const auto event = [&](const etm4x::Event& at) {
    for (const auto* term : {&at.a, &at.b})
      for (const etm4x::Resource& resource : term->any) visit(resource);
  };
  const auto setting = [&](const std::optional<etm4x::PlanEvent>& at) {
    if (at) event(at->event);
  };
  setting(plan.when);
  setting(plan.timestamps);
  for (const auto& at : plan.events) setting(at);
  for (const auto& counter : plan.counters) {
    event(counter.count);
    event(counter.reload_on);
  }
  for (const auto& at : plan.forward) event(at.event);
  for (const auto& at : plan.back) event(at.event);
  event(plan.sequencer_reset.event);
}

/// Calls `visit` with each comparison of the plan.
template <class Visit>
void visit_matches(const Plan& plan, const Visit& visit) {
  for (const auto& range : plan.ranges) visit(range.match);
  for (const auto& range : plan.broadcast_ranges) visit(range.match);
  for (const auto& point : plan.points) visit(point.match);
  for (const auto& shot : plan.shots) {
    for (const auto& match : shot.addresses) visit(match);
    for (const auto& match : shot.ranges) visit(match);
  }
  visit_resources(plan, [&](const etm4x::Resource& resource) { visit(resource.match); });
}

bool uses(const Plan& plan, etm4x::ResourceKind kind) {
  bool found = false;
  visit_resources(plan,
                  [&](const etm4x::Resource& resource) { found = found || resource.kind == kind; });
  return found;
}

void add_value(std::vector<std::uint32_t>& values, std::uint64_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  if (!has(values, narrow)) values.push_back(narrow);
}

}  // namespace

Result<std::unique_ptr<TraceUnit>> make_programmed_unit(const ProgrammedOptions& options,
                                                        const Program& program,
                                                        const ExecutionOptions& execution,
                                                        bool keep_truth) {
  const std::string core_name(options.core.empty() ? "ARM-AA64" : options.core);
  const Result<isa::Core> core = isa::core_by_name(core_name);
  if (!core) return std::unexpected(core.error());
  const etmv4::Config config = make_config(options, *core);
  const UnitOptions unit = unit_options(options, config);
  // Makes the same checks.
  UnitOptions asked = unit;
  asked.core = core_name;
  if (auto made = make_unit(asked, &program, execution, false); !made)
    return std::unexpected(made.error());
  return std::make_unique<ProgrammedUnit>(options, unit, core_name, config, program, execution,
                                          keep_truth);
}

void add_contexts(const ProgrammedOptions& options, ExecutionOptions& execution) {
  const auto caps = etm4x::read_capabilities(options.id, options.environment);
  const Plan plan = etm4x::plan_of(options.image, caps);
  std::vector<std::uint32_t> processes;
  std::vector<std::uint32_t> machines;
  visit_matches(plan, [&](const etm4x::Match& match) {
    if (match.context_id) add_value(processes, match.context_id->value);
    if (match.vmid) add_value(machines, match.vmid->value);
  });
  const auto other = [](std::vector<std::uint32_t>& values, std::uint32_t first) {
    while (has(values, first)) ++first;
    values.push_back(first);
  };
  if (!processes.empty() || plan.trace_context_id) other(processes, kOtherProcess);
  if (!machines.empty() || plan.trace_vmid) other(machines, 1);
  if (processes.size() == 1) other(processes, kOtherProcess);
  if (machines.size() == 1) other(machines, 1);
  execution.processes = std::move(processes);
  execution.machines = std::move(machines);
}

std::vector<std::string> not_modelled(const ProgrammedOptions& options,
                                      const ExecutionOptions& execution) {
  const auto caps = etm4x::read_capabilities(options.id, options.environment);
  const Plan plan = etm4x::plan_of(options.image, caps);
  std::vector<std::string> all;
  const auto record = [&all](bool is_so, std::string_view text) {
    if (is_so) all.emplace_back(text);
  };
  const unsigned shift = execution.secure ? 0 : 4;
  const unsigned handlers = std::max<unsigned>(execution.el, 1);
  const auto runs = static_cast<std::uint8_t>((1U << execution.el | 1U << handlers) << shift);
  if (plan.levels && (plan.levels->value & ~runs) != 0) {
    all.push_back(
        fmt::format("Nothing runs at {}: the program runs at {}, exception handlers at "
                    "{}.",
                    etm4x::levels_text(plan.levels->value & ~runs, ", "),
                    etm4x::levels_text(1U << (execution.el + shift)),
                    etm4x::levels_text(1U << (handlers + shift))));
  }
  record(uses(plan, etm4x::ResourceKind::kExternal), "External inputs are never active.");
  bool inputs = plan.start_inputs || plan.stop_inputs || uses(plan, etm4x::ResourceKind::kPeInput);
  for (const auto& shot : plan.shots) inputs = inputs || shot.pe_inputs != 0;
  record(inputs, "PE comparator inputs are never active.");
  record(plan.q_elements.has_value(),
         "It is unknown when a unit generates Q elements. The model generates none, so a real "
         "trace can be smaller.");
  record(plan.conditional.has_value(),
         "Conditional instructions other than branches are not traced: a real trace is larger.");
  record(plan.p0.has_value(),
         "Loads and stores are not waypoints in the model: a real trace is larger.");
  record(plan.stall || plan.stall_priority || plan.no_overflow,
         "The sink takes every byte: nothing overflows, and the core is never stalled.");
  record(plan.trace_reset || plan.trace_error, "There are no resets and no system errors.");
  record(plan.atb_trigger.has_value(), "Triggers on the bus are not modelled.");
  record(caps.syncpr,
         "The unit's fixed synchronisation period is unknown: 4096 bytes are assumed.");
  record(plan.cycles && !bit<29>(options.id.idr[0]),
         "Cycle counts are those of a unit with TRCIDR0.COMMOPT 1: they commit nothing.");
  record(plan.timestamps && bits<15, 12>(options.id.devarch) == 5 && bit<23>(options.id.idr[0]),
         "The model does not generate timestamp markers.");
  return all;
}

}  // namespace waymark::synth
