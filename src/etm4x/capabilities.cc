#include "waymark/etm4x/capabilities.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/bits.h"
#include "waymark/etm4x/plan.h"
#include "waymark/etm4x/state.h"

namespace waymark::etm4x {

Capabilities read_capabilities(const IdRegisters& id, const Environment& environment,
                               Quirks quirks) {
  const auto& idr = id.idr;
  Capabilities c;
  c.version = bits<15, 12>(id.devarch) << 4 | bits<19, 16>(id.devarch);
  c.instrp0 = bits<2, 1>(idr[0]) == 3;
  c.trcbb = bit<5>(idr[0]);
  c.trccond = bit<6>(idr[0]);
  c.trccci = bit<7>(idr[0]);
  c.retstack = bit<9>(idr[0]);
  c.nr_event = bits<11, 10>(idr[0]);
  c.q_support = bits<16, 15>(idr[0]);
  c.ts_size = bits<28, 24>(idr[0]);

  c.ctxid_size = bits<9, 5>(idr[2]);
  c.vmid_size = bits<14, 10>(idr[2]);
  c.ccsize = bits<28, 25>(idr[2]);

  c.ccitmin = bits<11, 0>(idr[3]);
  if (environment.threshold_erratum && c.ccitmin == 256) c.ccitmin = 4;
  c.s_ex_level = bits<19, 16>(idr[3]);
  c.ns_ex_level = bits<23, 20>(idr[3]);
  c.trc_error = bit<24>(idr[3]);
  c.syncpr = bit<25>(idr[3]);
  c.stallctl = bit<26>(idr[3]);
  c.sysstall = bit<27>(idr[3]);
  c.nooverflow = bit<31>(idr[3]);
  c.nr_pe = bits<13, 12>(idr[3]) << 3 | bits<30, 28>(idr[3]);

  c.nr_addr_cmp = std::min(bits<3, 0>(idr[4]), kAddressComparators / 2);
  c.nr_pe_cmp = bits<15, 12>(idr[4]);
  c.nr_resource = bits<19, 16>(idr[4]);
  if (c.version < 0x43 || c.nr_resource > 0) ++c.nr_resource;
  c.nr_ss_cmp = std::min(bits<23, 20>(idr[4]), kSingleShots);
  c.numcidc = std::min(bits<27, 24>(idr[4]), kContextComparators);
  c.numvmidc = std::min(bits<31, 28>(idr[4]), kContextComparators);

  c.nr_ext_inp = bits<8, 0>(idr[5]);
  if (quirks.external_inputs_8_bits) c.nr_ext_inp &= 0xFF;
  c.numextinsel = bits<11, 9>(idr[5]);
  c.atbtrig = bit<22>(idr[5]);
  c.power_up = environment.access == RegisterAccess::kMemoryMapped && !environment.skip_power_up;
  c.lpoverride = bit<23>(idr[5]) && c.power_up;
  c.nrseqstate = bits<27, 25>(idr[5]);
  c.nr_seq_ctrls = c.nrseqstate != 0 ? kSequencerEvents : 0;
  c.nr_cntr = std::min(bits<30, 28>(idr[5]), kCounters);
  return c;
}

Result<void> check_accepted(const IdRegisters& id, RegisterAccess access) {
  const std::uint32_t kind = id.devarch & 0xFFF0FFFF;
  if (kind == 0x47704A13) return {};
  if (kind != 0x47705A13) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCDEVARCH 0x{:08X} is neither an ETMv4 (0x477n4A13) nor an ETE "
                            "(0x477n5A13), so the driver does not support this unit.",
                            id.devarch));
  }
  if (access == RegisterAccess::kSystemRegisters) return {};
  return fail(ErrorCode::kUnsupported,
              "The driver supports an ETE only through system registers, not memory-mapped.");
}

namespace {

std::string_view yes_no(bool value) { return value ? "yes" : "no"; }

std::string timestamps_text(unsigned size) {
  switch (size) {
    case 0:
      return "no";
    case 6:
      return "48 bits";
    case 8:
      return "64 bits";
    default:
      return fmt::format("unknown size {}", size);
  }
}

std::string bytes_text(unsigned bytes) {
  return bytes == 0 ? "no" : fmt::format("{} bits", bytes * 8);
}

std::string_view q_text(unsigned support) {
  constexpr std::array<std::string_view, 4> kWords = {"no", "with counts", "without counts",
                                                      "with and without counts"};
  return kWords[support & 3];
}

}  // namespace

std::string capability_text(const IdRegisters& id, const Capabilities& caps) {
  std::string text;
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("{:<24} {}\n", what, value);
  };
  line("unit", fmt::format("{}{}.{} (TRCDEVARCH 0x{:08X})", caps.is_ete() ? "ETE " : "ETMv",
                           caps.is_ete() ? 1 : caps.version >> 4, caps.version & 0xF, id.devarch));
  for (unsigned i = 0; i < id.idr.size(); ++i) {
    line(fmt::format("TRCIDR{}", i), fmt::format("0x{:08X}", id.idr[i]));
  }
  line("address comparators", fmt::format("{} pairs", caps.nr_addr_cmp));
  line("context ID", bytes_text(caps.ctxid_size));
  line("context ID comparators", fmt::format("{}", caps.numcidc));
  line("VMID", bytes_text(caps.vmid_size));
  line("VMID comparators", fmt::format("{}", caps.numvmidc));
  line("non-secure levels", levels_text(caps.ns_ex_level << 4 & 0x70));
  line("secure levels", levels_text(caps.s_ex_level));
  line("cycle counting",
       caps.trccci ? fmt::format("{} bits, threshold at least {}", caps.ccsize + 12, caps.ccitmin)
                   : "no");
  line("timestamps", timestamps_text(caps.ts_size));
  line("return stack", yes_no(caps.retstack));
  line("branch broadcast", yes_no(caps.trcbb));
  line("conditional trace", yes_no(caps.trccond));
  line("loads and stores as P0", yes_no(caps.instrp0));
  line("Q elements", q_text(caps.q_support));
  line("events", fmt::format("{}", caps.nr_event + 1));
  line("selectors", fmt::format("{} pairs", caps.nr_resource));
  line("counters", fmt::format("{}", caps.nr_cntr));
  line("sequencer states", fmt::format("{}", caps.nrseqstate));
  line("single-shot controls", fmt::format("{}", caps.nr_ss_cmp));
  line("PE comparator inputs", fmt::format("{}", caps.nr_pe_cmp));
  line("external inputs", fmt::format("{} with {} selectors", caps.nr_ext_inp, caps.numextinsel));
  line("stall control", yes_no(caps.stallctl));
  line("overflow prevention", yes_no(caps.nooverflow));
  line("system error trace", yes_no(caps.trc_error));
  line("synchronisation period", caps.syncpr ? "fixed" : "programmable");
  line("ATB trigger", yes_no(caps.atbtrig));
  line("low-power override", yes_no(caps.lpoverride));
  line("traced PEs", fmt::format("{}", caps.nr_pe + 1));
  return text;
}

}  // namespace waymark::etm4x
