// waymark etm4 caps: the features of a unit.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "etm4.h"
#include "etm4_json.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "run.h"

namespace waymark::cli {
namespace {

struct CapsOptions {
  UnitOptions unit;
  Format format = Format::kText;
};

Json caps_json(const FoundUnit& unit, const etm4x::Capabilities& caps,
               const Result<void>& accepted) {
  Json registers = Json::object();
  for (unsigned i = 0; i < unit.id.idr.size(); ++i) {
    registers[fmt::format("TRCIDR{}", i)] = hex_json(unit.id.idr[i]);
  }
  registers["TRCDEVARCH"] = hex_json(unit.id.devarch);
  return {
      {"unit", unit.name},
      {"type", caps.is_ete() ? "ETE" : "ETM4"},
      {"version", fmt::format("{}.{}", caps.is_ete() ? 1U : caps.version >> 4, caps.version & 0xF)},
      {"registers", std::move(registers)},
      {"address_comparator_pairs", caps.nr_addr_cmp},
      {"context_id_bits", caps.ctxid_size * 8},
      {"context_id_comparators", caps.numcidc},
      {"vmid_bits", caps.vmid_size * 8},
      {"vmid_comparators", caps.numvmidc},
      {"levels", etm4x::levels_text((caps.ns_ex_level << 4 & 0x70) | (caps.s_ex_level & 0xF))},
      {"cycle_counting", caps.trccci},
      {"cycle_count_bits", caps.trccci ? caps.ccsize + 12 : 0},
      {"cycle_threshold", caps.ccitmin},
      {"timestamp_bits", caps.ts_size * 8},
      {"return_stack", caps.retstack},
      {"branch_broadcast", caps.trcbb},
      {"conditional_trace", caps.trccond},
      {"loads_and_stores", caps.instrp0},
      {"q_elements_counted", (caps.q_support & 1) != 0},
      {"q_elements_uncounted", (caps.q_support & 2) != 0},
      {"events", caps.nr_event + 1},
      {"selector_pairs", caps.nr_resource},
      {"counters", caps.nr_cntr},
      {"sequencer_states", caps.nrseqstate},
      {"single_shot_controls", caps.nr_ss_cmp},
      {"pe_inputs", caps.nr_pe_cmp},
      {"external_inputs", caps.nr_ext_inp},
      {"external_input_selectors", caps.numextinsel},
      {"stall_control", caps.stallctl},
      {"overflow_prevention", caps.nooverflow},
      {"system_error_trace", caps.trc_error},
      {"fixed_sync_period", caps.syncpr},
      {"atb_trigger", caps.atbtrig},
      {"low_power_override", caps.lpoverride},
      {"traced_pes", caps.nr_pe + 1},
      {"refusal", accepted ? "" : accepted.error().detail}};
}

int run(const CapsOptions& options) {
  const auto unit = find_unit(options.unit);
  if (!unit) return complain(unit.error().detail, kInput);
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  const auto caps = etm4x::read_capabilities(unit->id, unit->environment, etm4x::kNoQuirks);
  const auto accepted = etm4x::check_accepted(unit->id, unit->environment.access);
  if (options.format == Format::kJson) {
    put_json(output->text(), caps_json(*unit, caps, accepted));
    return finish_output(*output, kOk);
  }
  output->text().put(fmt::format("{}\n", unit->name));
  output->text().put(etm4x::capability_text(unit->id, caps));
  if (!accepted) output->text().put(fmt::format("{}\n", accepted.error().detail));
  return finish_output(*output, kOk);
}

}  // namespace

void add_etm4_caps(Command& etm4, int& exit_code) {
  auto options = std::make_shared<CapsOptions>();
  Command* command = etm4.add_subcommand("caps", "Show the features of a trace unit");
  add_unit_options(*command, options->unit);
  add_format_option(*command, options->format, false);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
