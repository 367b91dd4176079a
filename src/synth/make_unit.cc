#include <fmt/core.h>

#include "etmv3_unit.h"
#include "etmv4_unit.h"
#include "message_unit.h"
#include "mtb_unit.h"
#include "protocols.h"
#include "ptm_unit.h"
#include "waymark/synth/m_profile.h"
#include "waymark/synth/trace_unit.h"

namespace waymark::synth {
namespace {

std::unexpected<Error> refuse(const UnitOptions& options, std::string_view what) {
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("A {} trace unit cannot be modelled: {}", protocol_name(options.protocol), what),
      kNoIndex, options.trace_id);
}

std::string_view usual_core(Protocol protocol) {
  switch (protocol) {
    case Protocol::kPtm:
      return "Cortex-A15";
    case Protocol::kEtmV3:
      return "Cortex-A7";
    case Protocol::kMtb:
      return "Cortex-M33";
    default:
      return "ARM-AA64";
  }
}

/// The settings that an MTB does not have.
Result<void> check_mtb(const UnitOptions& options) {
  if (options.return_stack) return refuse(options, "It has no return stack.");
  if (options.branch_broadcast) return refuse(options, "It traces every taken branch anyway.");
  if (options.cycle_counts || options.timestamp_mean != 0)
    return refuse(options, "It has no timestamps and no cycle counts.");
  if (options.context_ids || options.vmids) return refuse(options, "It does not trace contexts.");
  if (options.event_mean != 0) return refuse(options, "It has no events.");
  if (options.overflow_mean != 0) return refuse(options, "It does not overflow.");
  return {};
}

/// An ETM of a core of the M profile.
Result<void> check_m_profile(const UnitOptions& options, const std::string& name,
                             const Program& program, const ExecutionOptions& execution) {
  const MCore* const core = m_core(name, options.protocol);
  if (core == nullptr) {
    const MCore* const other = m_core(name);
    return refuse(
        options,
        other == nullptr
            ? fmt::format("{} has no ETM; take a core such as Cortex-M4 or Cortex-M33.", name)
            : fmt::format("{} has one of another protocol; take --protocol {}.", name,
                          other->protocol == Protocol::kEtmV3 ? "etmv3" : "etmv4"));
  }
  if (program.uses(isa::Isa::kA64) || program.uses(isa::Isa::kA32))
    return fail(ErrorCode::kUnsupported, fmt::format("{} only executes T32 code.", name));
  if (program.m_code() <= MCode::kAny)
    return refuse(options, "The program has no vectors; call add_vectors() for the core.");
  if (program.m_code() > core->code)
    return refuse(options,
                  fmt::format("The program has instructions that {} does not have.", name));
  if (options.context_ids || options.vmids || execution.context_ids > 1 || execution.vmids > 1)
    return refuse(options, fmt::format("{} has no context IDs and no VMIDs.", name));
  if (options.q_mean != 0) return refuse(options, fmt::format("{} has no Q elements.", name));
  return {};
}

Result<void> check_core(const UnitOptions& options, const std::string& name, isa::Core core,
                        const Program& program, const ExecutionOptions& execution) {
  const bool m_profile = core.profile == isa::Profile::kM;
  if (is_mtb(options.protocol)) {
    if (!m_profile)
      return refuse(options,
                    fmt::format("{} is not an M-profile core, as those with an MTB are.", name));
    if (!program.uses(isa::Isa::kA64) && !program.uses(isa::Isa::kA32)) return {};
    return fail(ErrorCode::kUnsupported, "An MTB can only trace T32 code.");
  }
  if (m_profile) return check_m_profile(options, name, program, execution);
  if (program.m_code() != MCode::kNone)
    return refuse(options, fmt::format("The program is for the M profile, and {} is not a core of "
                                       "it.",
                                       name));
  if (is_etmv4(options.protocol) || !program.uses(isa::Isa::kA64)) return {};
  return fail(ErrorCode::kUnsupported,
              fmt::format("{} cannot trace A64 code; take a program in A32 or T32.",
                          protocol_name(options.protocol)));
}

Result<void> check(const UnitOptions& options) {
  if (is_mtb(options.protocol)) WAYMARK_TRY(check_mtb(options));
  if (!is_source_id(options.trace_id))
    return refuse(options,
                  fmt::format("{:#x} is not a trace ID; take 0x01 to 0x6f.", options.trace_id));
  if (options.sync_period < 64)
    return refuse(options, "A sync period below 64 bytes leaves no room for trace.");
  const bool etmv4 = is_etmv4(options.protocol);
  if (options.speculation != 0 && !etmv4) return refuse(options, "It does not speculate.");
  if (options.speculation > 255)
    return refuse(options, fmt::format("A speculation depth of {} is too large; take at most 255.",
                                       options.speculation));
  if (options.return_stack && options.protocol == Protocol::kEtmV3)
    return refuse(options, "It has no return stack.");
  if (options.q_mean != 0 && !etmv4) return refuse(options, "It has no Q elements.");
  if (options.discard_mean != 0 && !etmv4) return refuse(options, "It has no discard packets.");
  if (options.cycle_threshold > 0xFFF)
    return refuse(options, fmt::format("A cycle count threshold of {} is too large; take at most "
                                       "4095.",
                                       options.cycle_threshold));
  return {};
}

}  // namespace

Result<std::unique_ptr<TraceUnit>> make_unit(const UnitOptions& options, const Program* program,
                                             const ExecutionOptions& execution, bool keep_truth) {
  WAYMARK_TRY(check(options));
  if (is_message(options.protocol)) {
    if (!options.core.empty()) return refuse(options, "It traces software, not a core.");
    if (options.protocol == Protocol::kStm) return std::make_unique<StmUnit>(options, keep_truth);
    return std::make_unique<ItmUnit>(options, keep_truth);
  }
  const std::string core_name(options.core.empty() ? usual_core(options.protocol) : options.core);
  const Result<isa::Core> core = isa::core_by_name(core_name);
  if (!core) return std::unexpected(core.error());
  if (program == nullptr || program->entries().empty())
    return refuse(options, "There is no program to trace.");
  if (program->handlers().empty())
    return refuse(options, "The program has no exception handler; call add_default_handlers().");
  if (execution.vmids > 255 && !is_etmv4(options.protocol))
    return refuse(options, fmt::format("{} VMIDs are too many for its 8 bits; take at most 255.",
                                       execution.vmids));
  if (execution.context_ids == 0 || execution.vmids == 0)
    return refuse(options, "There is at least one context ID and one VMID.");
  WAYMARK_TRY(check_core(options, core_name, *core, *program, execution));
  ExecutionOptions runs = execution;
  if (const MCore* const m = m_core(core_name, options.protocol)) {
    runs.m_profile = true;
    runs.security_extension = m->code >= MCode::kV8;
  }
  switch (options.protocol) {
    case Protocol::kEtmV4:
    case Protocol::kEte:
      return std::make_unique<Etmv4Unit>(options, core_name, *core, *program, runs, keep_truth);
    case Protocol::kMtb:
      return std::make_unique<MtbUnit>(options, core_name, *core, *program, execution, keep_truth);
    case Protocol::kPtm:
      return std::make_unique<PtmUnit>(options, core_name, *core, *program, execution, keep_truth);
    case Protocol::kEtmV3:
      return std::make_unique<Etmv3Unit>(options, core_name, *core, *program, runs, keep_truth);
    default:
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} trace cannot be generated.", protocol_name(options.protocol)));
  }
}

}  // namespace waymark::synth
