#include "waymark/etm4x/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "waymark/base/bits.h"
#include "waymark/etm4x/mode.h"

namespace waymark::etm4x {
namespace {

std::unexpected<Refusal> invalid(std::string rule) {
  return refuse(Errno::kInval, std::move(rule));
}

// --- Gates: what the unit must have. ---------------------------------------------------------

Outcome need(bool present, std::string_view what) {
  if (present) return {};
  return invalid(fmt::format("the unit has no {}", what));
}

Outcome need_timestamps(const Unit& u) {
  return need(u.caps.ts_size != 0, "timestamps (TRCIDR0.TSSIZE is 0)");
}
Outcome need_free_period(const Unit& u) {
  if (!u.caps.syncpr) return {};
  return invalid("the synchronisation period is fixed (TRCIDR3.SYNCPR is 1)");
}
Outcome need_broadcast(const Unit& u) {
  if (!u.caps.trcbb) return need(false, "branch broadcast (TRCIDR0.TRCBB is 0)");
  return need(u.caps.nr_addr_cmp != 0, "address comparators (TRCIDR4.NUMACPAIRS is 0)");
}
Outcome need_comparators(const Unit& u) {
  return need(u.caps.nr_addr_cmp != 0, "address comparators (TRCIDR4.NUMACPAIRS is 0)");
}
Outcome need_pe_inputs(const Unit& u) {
  return need(u.caps.nr_pe_cmp != 0, "PE comparator inputs (TRCIDR4.NUMPC is 0)");
}
Outcome need_cycles(const Unit& u) {
  if (u.quirks.cycle_threshold_ungated) return {};
  return need(u.caps.trccci, "cycle counting (TRCIDR0.TRCCCI is 0)");
}
Outcome need_contexts(const Unit& u) {
  return need(u.caps.numcidc > 1 || u.caps.numvmidc > 1,
              "second context ID or VMID comparator, so there is nothing to choose from");
}
Outcome need_sequencer(const Unit& u) {
  return need(u.caps.nrseqstate != 0, "sequencer (TRCIDR5.NUMSEQSTATE is 0)");
}
Outcome need_sequencer_index(const Unit& u) {
  if (u.caps.nr_seq_ctrls != 0) return {};
  return refuse(Errno::kNotSupp, "the unit has no sequencer (TRCIDR5.NUMSEQSTATE is 0)");
}
Outcome need_namespace(const Unit& u) {
  if (u.environment.init_pid_namespace) return {};
  return invalid("only a process of the initial PID namespace may use this file");
}
Outcome need_context_ids(const Unit& u) {
  if (auto seen = need_namespace(u); !seen) return seen;
  return need(u.caps.ctxid_size != 0 && u.caps.numcidc != 0, "context ID comparators");
}
Outcome need_vmids(const Unit& u) {
  if (auto seen = need_namespace(u); !seen) return seen;
  return need(u.caps.vmid_size != 0 && u.caps.numvmidc != 0, "VMID comparators");
}

// Value files of resources, which the driver does not check.
template <auto Count>
Outcome need_slot(const Unit& u) {
  if (u.quirks.missing_slots_accepted) return {};
  return need(u.caps.*Count != 0, "resource of this kind");
}

// --- Stores shared by several files. ---------------------------------------------------------

template <auto Register, std::uint32_t Mask = ~0U>
Outcome store_masked(Unit& u, const FileInput& in) {
  u.state.*Register = static_cast<std::uint32_t>(in.number) & Mask;
  return {};
}

template <auto Slots, auto Index, std::uint32_t Mask = ~0U>
Outcome store_slot(Unit& u, const FileInput& in) {
  (u.state.*Slots)[u.state.*Index] = static_cast<std::uint32_t>(in.number) & Mask;
  return {};
}

Outcome below(std::uint64_t value, std::uint64_t limit, std::string_view what) {
  if (value < limit) return {};
  if (limit == 0) return need(false, what);
  return invalid(fmt::format("0x{:x} is too large: the unit has {} {}, so 0 to 0x{:x} is accepted",
                             value, limit, what, limit - 1));
}

Outcome store_index(std::uint8_t& index, std::uint64_t value, std::uint64_t limit,
                    std::string_view what) {
  if (auto ok = below(value, limit, what); !ok) return ok;
  index = static_cast<std::uint8_t>(value);
  return {};
}

// --- Shows shared by several files. ----------------------------------------------------------

template <auto Register>
Shown show(Unit& u) {
  return hex_line(u.state.*Register);
}
template <auto Slots, auto Index>
Shown show_slot(Unit& u) {
  return hex_line((u.state.*Slots)[u.state.*Index]);
}
template <auto Capability>
Shown show_capability(Unit& u) {
  return hex_line(u.caps.*Capability);
}
template <unsigned High, unsigned Low, auto Register>
Shown show_field(Unit& u) {
  return hex_line(u.state.*Register >> Low & ((1U << (High - Low + 1)) - 1));
}

// --- General. --------------------------------------------------------------------------------

Outcome write_mode(Unit& u, const FileInput& in) {
  store_mode(u, in.number);
  return {};
}

Outcome write_reset(Unit& u, const FileInput& in) {
  reset_unit(u, in.number != 0);
  return {};
}

Outcome write_pe(Unit& u, const FileInput& in) {
  if (auto ok = below(in.number, u.caps.nr_pe + 1, "traceable PEs"); !ok) return ok;
  return store_masked<&State::pe>(u, in);
}

Outcome write_enable_source(Unit& u, const FileInput& in) {
  if (in.number != 0) return u.enable();
  u.disable_through_sysfs();
  return {};
}

Shown show_cpu(Unit& u) { return decimal_line(u.environment.cpu); }
Shown show_ts_source(Unit& u) { return decimal_line(u.environment.has_trf ? 1 : -1); }
Shown show_enable_source(Unit& u) { return decimal_line(u.use == Use::kSysfs ? 1 : 0); }

// --- Events and simple controls. -------------------------------------------------------------

Outcome write_event(Unit& u, const FileInput& in) {
  const auto mask = static_cast<std::uint32_t>(low_mask((u.caps.nr_event + 1) * 8));
  u.state.eventctl0r = static_cast<std::uint32_t>(in.number) & mask;
  return {};
}

Outcome write_event_instren(Unit& u, const FileInput& in) {
  auto mask = static_cast<std::uint32_t>(low_mask(u.caps.nr_event + 1));
  if (u.caps.nr_event == 0 && u.quirks.single_event_bit_1) mask = 2;
  u.state.eventctl1r =
      (u.state.eventctl1r & ~0xFU) | (static_cast<std::uint32_t>(in.number) & mask);
  return {};
}

Outcome write_syncfreq(Unit& u, const FileInput& in) {
  const auto period = static_cast<std::uint32_t>(in.number) & 0x1F;
  if (!u.quirks.sync_period_unchecked && period != 0 && (period < 8 || period > 20)) {
    return invalid(fmt::format(
        "0x{:x} is not a period: 0 for none, or 0x8 to 0x14 for 2^8 to 2^20 bytes", period));
  }
  u.state.syncpr = period;
  return {};
}

Outcome write_cyc_threshold(Unit& u, const FileInput& in) {
  const auto threshold = static_cast<std::uint32_t>(in.number) & 0xFFF;
  if (threshold < u.caps.ccitmin) {
    return invalid(
        fmt::format("0x{:x} is below the smallest threshold of this unit: 0x{:x} to 0xfff is "
                    "accepted",
                    threshold, u.caps.ccitmin));
  }
  u.state.ccctlr = threshold;
  return {};
}

Outcome write_bb_ctrl(Unit& u, const FileInput& in) {
  if ((in.number & kBroadcastInside) != 0 && (in.number & 0xFF) == 0) {
    return invalid("bit 8 (broadcast inside ranges) needs at least one range in bits 7:0");
  }
  return store_masked<&State::bbctlr, 0x1FF>(u, in);
}

Outcome write_event_vinst(Unit& u, const FileInput& in) {
  u.state.victlr =
      (u.state.victlr & ~kVictlrEvent) | (static_cast<std::uint32_t>(in.number) & kVictlrEvent);
  return {};
}

Outcome write_levels(Unit& u, std::uint64_t value, std::uint32_t existing, unsigned shift,
                     std::uint32_t field) {
  u.state.victlr = (u.state.victlr & ~(field << shift)) |
                   (static_cast<std::uint32_t>(value) & existing & field) << shift;
  return {};
}
Outcome write_s_exlevel_vinst(Unit& u, const FileInput& in) {
  return write_levels(u, in.number, u.state.s_ex_level, 16, 0xF);
}
Outcome write_ns_exlevel_vinst(Unit& u, const FileInput& in) {
  return write_levels(u, in.number, u.caps.ns_ex_level, 20, 0x7);
}

Shown show_vipcssctlr(Unit& u) {
  if (auto ok = need_pe_inputs(u); !ok) return std::unexpected(ok.error());
  return hex_line(u.state.vipcssctlr);
}

// --- Address comparators. --------------------------------------------------------------------

constexpr std::array<std::string_view, 5> kTagNames = {"nothing", "a single address", "a range",
                                                       "a start address", "a stop address"};

Outcome usable_as(const Unit& u, Tag tag) {
  const unsigned index = u.state.addr_idx;
  const Tag now = u.state.tag[index];
  if (now == Tag::kNone || now == tag) return {};
  return refuse(Errno::kPerm,
                fmt::format("comparator {} already holds {}: choose another with addr_idx, or "
                            "write reset",
                            index, kTagNames[static_cast<unsigned>(now)]));
}

Outcome usable_as_range(const Unit& u) {
  const unsigned index = u.state.addr_idx;
  if (index % 2 != 0) {
    return refuse(Errno::kPerm,
                  fmt::format("a range takes a pair of comparators and addr_idx is {}: select an "
                              "even one",
                              index));
  }
  const Tag low = u.state.tag[index];
  const Tag high = u.state.tag[index + 1];
  if ((low == Tag::kNone && high == Tag::kNone) || (low == Tag::kRange && high == Tag::kRange)) {
    return {};
  }
  const unsigned taken = low == Tag::kNone ? index + 1 : index;
  return refuse(Errno::kPerm,
                fmt::format("comparator {} of the pair already holds {}: choose another pair with "
                            "addr_idx, or write reset",
                            taken, kTagNames[static_cast<unsigned>(u.state.tag[taken])]));
}

Outcome slot_exists(const Unit& u) { return need_slot<&Capabilities::nr_addr_cmp>(u); }

Outcome write_addr_idx(Unit& u, const FileInput& in) {
  return store_index(u.state.addr_idx, in.number, u.caps.nr_addr_cmp * 2, "address comparators");
}

Outcome store_address(Unit& u, std::uint64_t address, Tag tag) {
  if (auto ok = usable_as(u, tag); !ok) return ok;
  u.state.acvr[u.state.addr_idx] = address;
  u.state.tag[u.state.addr_idx] = tag;
  return {};
}
Outcome write_addr_single(Unit& u, const FileInput& in) {
  return store_address(u, in.number, Tag::kSingle);
}
Outcome write_addr_start(Unit& u, const FileInput& in) {
  if (auto ok = store_address(u, in.number, Tag::kStart); !ok) return ok;
  u.state.vissctlr |= 1U << u.state.addr_idx;
  return {};
}
Outcome write_addr_stop(Unit& u, const FileInput& in) {
  if (auto ok = store_address(u, in.number, Tag::kStop); !ok) return ok;
  u.state.vissctlr |= 1U << (16 + u.state.addr_idx);
  return {};
}

Outcome write_addr_range(Unit& u, const FileInput& in) {
  const auto [first, last, third] = in.numbers.value;
  if (in.numbers.count < 2) {
    return invalid("two addresses are needed, separated by a space");
  }
  if (first > last || (first == last && !u.quirks.range_of_one)) {
    return invalid(
        fmt::format("the first address 0x{:x} is not below the last, 0x{:x}", first, last));
  }
  if (auto ok = usable_as_range(u); !ok) return ok;
  State& s = u.state;
  const unsigned index = s.addr_idx;
  s.acvr[index] = first;
  s.acvr[index + 1] = last;
  s.tag[index] = s.tag[index + 1] = Tag::kRange;
  const bool exclude = in.numbers.count > 2 ? static_cast<std::uint32_t>(third) != 0
                                            : (s.mode & mode::kExclude) != 0;
  // Only instruction addresses can filter instructions.
  if ((s.acatr[index] & 3) == 0) {
    const std::uint32_t include_bit = 1U << (index / 2);
    const std::uint32_t exclude_bit = include_bit << 16;
    s.viiectlr &= ~(include_bit | exclude_bit);
    s.viiectlr |= exclude ? exclude_bit : include_bit;
  }
  return {};
}

template <Tag Kind>
Shown show_address(Unit& u) {
  if (auto ok = usable_as(u, Kind); !ok) return std::unexpected(ok.error());
  return hex_line(u.state.acvr[u.state.addr_idx]);
}
Shown show_addr_range(Unit& u) {
  if (auto ok = usable_as_range(u); !ok) return std::unexpected(ok.error());
  return fmt::format("0x{:x} 0x{:x}\n", u.state.acvr[u.state.addr_idx],
                     u.state.acvr[u.state.addr_idx + 1U]);
}

std::uint64_t& control(Unit& u) { return u.state.acatr[u.state.addr_idx]; }

template <unsigned High, unsigned Low>
void put_control(Unit& u, std::uint64_t value) {
  constexpr std::uint64_t kMask = low_mask(High - Low + 1) << Low;
  control(u) = (control(u) & ~kMask) | (value << Low & kMask);
}
template <unsigned High, unsigned Low>
std::uint64_t get_control(Unit& u) {
  return bits<High, Low>(control(u));
}

Outcome write_addr_context(Unit& u, const FileInput& in) {
  const unsigned count = std::max(u.caps.numcidc, u.caps.numvmidc);
  if (auto ok = below(in.number, count, "context comparators"); !ok) return ok;
  put_control<6, 4>(u, in.number);
  return {};
}
Shown show_addr_context(Unit& u) { return hex_line(get_control<6, 4>(u)); }

Outcome write_addr_ctxtype(Unit& u, const FileInput& in) {
  if (in.length >= 10) return invalid("a word of at most 9 bytes is expected");
  if (in.word.empty()) return invalid("a word is expected: none, ctxid, vmid or all");
  const bool ids = u.caps.numcidc != 0;
  const bool vmids = u.caps.numvmidc != 0;
  if (in.word == "none") put_control<3, 2>(u, 0);
  if (in.word == "ctxid" && ids) put_control<3, 2>(u, 1);
  if (in.word == "vmid" && vmids) put_control<3, 2>(u, 2);
  if (in.word == "all")
    put_control<3, 2>(u, get_control<3, 2>(u) | (ids ? 1 : 0) | (vmids ? 2 : 0));
  return {};
}
Shown show_addr_ctxtype(Unit& u) {
  constexpr std::array<std::string_view, 4> kWords = {"none\n", "ctxid\n", "vmid\n", "all\n"};
  return std::string(kWords[in_memory(get_control<3, 2>(u))]);
}

Outcome write_addr_exlevel(Unit& u, const FileInput& in) {
  if ((in.number & ~std::uint64_t{0x7F}) != 0) {
    return invalid(
        fmt::format("0x{:x} has bits beyond 6:0 (secure EL0 to EL3 in 3:0, non-secure "
                    "EL0 to EL2 in 6:4)",
                    in.number));
  }
  put_control<14, 8>(u, in.number);
  return {};
}
Shown show_addr_exlevel(Unit& u) { return hex_line(get_control<14, 8>(u)); }

Outcome write_addr_instdatatype(Unit& u, const FileInput& in) {
  if (in.length >= 20) return invalid("a word of at most 19 bytes is expected");
  if (in.word.empty()) return invalid("a word is expected: instr");
  if (in.word == "instr") put_control<1, 0>(u, 0);
  return {};
}
Shown show_addr_instdatatype(Unit& u) {
  constexpr std::array<std::string_view, 4> kWords = {"instr\n", "data_load\n", "data_store\n",
                                                      "data_load_store\n"};
  return std::string(kWords[in_memory(get_control<1, 0>(u))]);
}

Shown show_addr_cmp_view(Unit& u) { return comparator_view(u, u.state.addr_idx); }

// --- Single-shot, counters, selectors, sequencer. --------------------------------------------

Outcome write_sshot_idx(Unit& u, const FileInput& in) {
  return store_index(u.state.sshot_idx, in.number, u.caps.nr_ss_cmp, "single-shot controls");
}
// A new program makes the control ready to fire again.
template <auto Slots, std::uint32_t Mask>
Outcome write_sshot(Unit& u, const FileInput& in) {
  u.state.sscsr[u.state.sshot_idx] &= ~kShotDone;
  return store_slot<Slots, &State::sshot_idx, Mask>(u, in);
}

Outcome write_cntr_idx(Unit& u, const FileInput& in) {
  return store_index(u.state.cntr_idx, in.number, u.caps.nr_cntr, "counters");
}
template <auto Slots>
Outcome write_counter(Unit& u, const FileInput& in) {
  if (in.number > 0xFFFF) {
    return invalid(fmt::format("0x{:x} does not fit a counter of 16 bits: 0 to 0xffff is accepted",
                               in.number));
  }
  return store_slot<Slots, &State::cntr_idx>(u, in);
}

Outcome write_res_idx(Unit& u, const FileInput& in) {
  if (in.number < 2) return invalid("selectors 0 (never) and 1 (always) are fixed: 2 is the first");
  return store_index(u.state.res_idx, in.number, u.caps.nr_resource * 2, "resource selectors");
}
Outcome write_res_ctrl(Unit& u, const FileInput& in) {
  std::uint32_t value = static_cast<std::uint32_t>(in.number) & 0x003FFFFF;
  if (u.state.res_idx % 2 != 0) value &= ~kPairInverted;
  u.state.rsctlr[u.state.res_idx] = value;
  return {};
}

Outcome write_seq_idx(Unit& u, const FileInput& in) {
  return store_index(u.state.seq_idx, in.number, kSequencerEvents, "sequencer transitions");
}
Outcome write_seq_state(Unit& u, const FileInput& in) {
  if (auto ok = below(in.number, u.caps.nrseqstate, "sequencer states"); !ok) return ok;
  return store_masked<&State::seqstr>(u, in);
}

// --- Context ID and VMID comparators. --------------------------------------------------------

Outcome write_ctxid_idx(Unit& u, const FileInput& in) {
  return store_index(u.state.ctxid_idx, in.number, u.caps.numcidc, "context ID comparators");
}
Outcome write_vmid_idx(Unit& u, const FileInput& in) {
  return store_index(u.state.vmid_idx, in.number, u.caps.numvmidc, "VMID comparators");
}
Outcome write_ctxid_pid(Unit& u, const FileInput& in) {
  u.state.cidcvr[u.state.ctxid_idx] = in.number;
  return {};
}
Outcome write_vmid_val(Unit& u, const FileInput& in) {
  u.state.vmidcvr[u.state.vmid_idx] = in.number;
  return {};
}

Outcome store_masks(std::array<std::uint32_t, 2>& masks,
                    std::array<std::uint64_t, kContextComparators>& values, unsigned count,
                    const ScannedNumbers& in) {
  const unsigned wanted = count > 4 ? 2 : 1;
  if (in.count < wanted) {
    return invalid(fmt::format("{} needed: the unit has {} comparators, a byte each",
                               wanted == 2 ? "two numbers are" : "a number is", count));
  }
  masks[0] = static_cast<std::uint32_t>(in.value[0] & low_mask(8 * std::min(count, 4U)));
  if (count > 4) masks[1] = static_cast<std::uint32_t>(in.value[1] & low_mask(8 * (count - 4)));
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t ignored = masks[i / 4] >> (i % 4 * 8) & 0xFF;
    for (unsigned byte = 0; byte < 8; ++byte) {
      if ((ignored >> byte & 1) != 0) values[i] &= ~(std::uint64_t{0xFF} << (byte * 8));
    }
  }
  return {};
}
Outcome write_ctxid_masks(Unit& u, const FileInput& in) {
  return store_masks(u.state.cidcctlr, u.state.cidcvr, u.caps.numcidc, in.numbers);
}
Outcome write_vmid_masks(Unit& u, const FileInput& in) {
  return store_masks(u.state.vmidcctlr, u.state.vmidcvr, u.caps.numvmidc, in.numbers);
}

template <auto Slots, auto Index>
Shown show_context(Unit& u) {
  if (auto ok = need_namespace(u); !ok) return std::unexpected(ok.error());
  return show_slot<Slots, Index>(u);
}
template <auto Masks>
Shown show_masks(Unit& u) {
  if (auto ok = need_namespace(u); !ok) return std::unexpected(ok.error());
  return fmt::format("0x{:x} 0x{:x}\n", (u.state.*Masks)[0], (u.state.*Masks)[1]);
}

// --- Plain registers. ------------------------------------------------------------------------

template <unsigned Number>
Shown show_idr(Unit& u) {
  return hex_line(u.id.idr[Number]);
}
Shown show_devarch(Unit& u) { return hex_line(u.id.devarch); }
Shown show_traceid(Unit& u) { return hex_line(u.trace_id()); }
Shown show_configr(Unit& u) { return hex_line(u.live_configr()); }
Shown show_pdcr(Unit& u) { return hex_line(u.live_pdcr()); }
template <unsigned Number>
Shown show_idr8(Unit& u) {
  return hex_line(u.id.idr8[Number - 8]);
}
template <auto Register>
Shown show_management(Unit& u) {
  return hex_line(u.id.mgmt.*Register);
}
template <unsigned Number>
Shown show_pidr(Unit& u) {
  return hex_line(u.id.mgmt.pidr[Number]);
}

// --- Configurations. -------------------------------------------------------------------------

Outcome write_configuration(Unit& u, const FileInput& in) {
  if (u.use != Use::kIdle) {
    return refuse(Errno::kBusy, "the configuration is in use: stop the trace first");
  }
  u.configuration.enabled = in.number != 0;
  return {};
}
Outcome write_preset(Unit& u, const FileInput& in) {
  const bool zero = in.number == 0 && !u.quirks.preset_zero_refused;
  if (!zero && (in.number == 0 || in.number > Configuration::kPresets)) {
    return invalid(fmt::format("there are presets 1 to {}", Configuration::kPresets));
  }
  u.configuration.preset = static_cast<unsigned>(in.number);
  return {};
}
template <auto Parameter>
Outcome write_parameter(Unit& u, const FileInput& in) {
  if (u.use != Use::kIdle) {
    return refuse(Errno::kBusy, "the feature is in use: stop the trace first");
  }
  u.configuration.*Parameter = in.number;
  return {};
}
Shown show_configuration(Unit& u) { return decimal_line(u.configuration.enabled ? 1 : 0); }
Shown show_preset(Unit& u) { return decimal_line(u.configuration.preset); }
template <auto Parameter>
Shown show_parameter(Unit& u) {
  return hex_line(u.configuration.*Parameter);
}

// --- The table. ------------------------------------------------------------------------------

using enum FileAccess;
using enum Grammar;
using I = IndexFile;
using C = Capabilities;
using S = State;
using M = ManagementRegisters;

constexpr std::string_view kSelectorWords = "an event selector: 0 to ff";

// clang-format off
constexpr std::array kFiles = {
  // General.
  FileRow{"mode", kReadWrite, "TRCCONFIGR, TRCEVENTCTL1R, TRCSTALLCTLR, TRCVICTLR", I::kNone, kHex,
          "the bits of mode, in hexadecimal, such as 8000830", nullptr, write_mode, show<&S::mode>},
  FileRow{"reset", kWriteOnly, "filters, events and resources", I::kNone, kHex,
          "any number; one that is not 0 also clears mode", nullptr, write_reset, nullptr},
  FileRow{"pe", kReadWrite, "TRCPROCSELR", I::kNone, kHex,
          "a PE that the unit can trace", nullptr, write_pe, show<&S::pe>},
  FileRow{"cpu", kReadOnly, "", I::kNone, kNone, "", nullptr, nullptr, show_cpu},
  FileRow{"ts_source", kReadOnly, "TRFCR_ELx.TS", I::kNone, kNone, "", nullptr, nullptr, show_ts_source},
  FileRow{"enable_source", kReadWrite, "all", I::kNone, kDecimal,
          "1 to enable, 0 to disable", nullptr, write_enable_source, show_enable_source},

  // Capabilities of the unit.
  FileRow{"nr_pe_cmp", kReadOnly, "TRCIDR4 [15:12]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nr_pe_cmp>},
  FileRow{"nr_addr_cmp", kReadOnly, "TRCIDR4 [3:0]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nr_addr_cmp>},
  FileRow{"nr_cntr", kReadOnly, "TRCIDR5 [30:28]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nr_cntr>},
  FileRow{"nr_ext_inp", kReadOnly, "TRCIDR5 [8:0]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nr_ext_inp>},
  FileRow{"numcidc", kReadOnly, "TRCIDR4 [27:24]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::numcidc>},
  FileRow{"numvmidc", kReadOnly, "TRCIDR4 [31:28]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::numvmidc>},
  FileRow{"nrseqstate", kReadOnly, "TRCIDR5 [27:25]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nrseqstate>},
  FileRow{"nr_resource", kReadOnly, "TRCIDR4 [19:16]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nr_resource>},
  FileRow{"nr_ss_cmp", kReadOnly, "TRCIDR4 [23:20]", I::kNone, kNone, "", nullptr, nullptr, show_capability<&C::nr_ss_cmp>},

  // Events and simple controls.
  FileRow{"event", kReadWrite, "TRCEVENTCTL0R", I::kNone, kHex,
          "an event selector in each byte", nullptr, write_event, show<&S::eventctl0r>},
  FileRow{"event_instren", kReadWrite, "TRCEVENTCTL1R [3:0]", I::kNone, kHex,
          "a bit for each event", nullptr, write_event_instren, show_field<3, 0, &S::eventctl1r>},
  FileRow{"event_ts", kReadWrite, "TRCTSCTLR", I::kNone, kHex,
          kSelectorWords, need_timestamps, store_masked<&S::tsctlr, 0xFF>, show<&S::tsctlr>},
  FileRow{"syncfreq", kReadWrite, "TRCSYNCPR", I::kNone, kHex,
          "n for every 2^n bytes, 8 to 14; 0 for never", need_free_period, write_syncfreq, show<&S::syncpr>},
  FileRow{"cyc_threshold", kReadWrite, "TRCCCCTLR", I::kNone, kHex,
          "cycles, from the unit's smallest threshold to fff", need_cycles, write_cyc_threshold, show<&S::ccctlr>},
  FileRow{"bb_ctrl", kReadWrite, "TRCBBCTLR", I::kNone, kHex,
          "ranges in bits 7:0; bit 8: inside them instead of outside", need_broadcast, write_bb_ctrl, show<&S::bbctlr>},
  FileRow{"event_vinst", kReadWrite, "TRCVICTLR [7:0]", I::kNone, kHex,
          kSelectorWords, nullptr, write_event_vinst, show_field<7, 0, &S::victlr>},
  FileRow{"s_exlevel_vinst", kReadWrite, "TRCVICTLR [19:16]", I::kNone, kHex,
          "a bit for each secure level that is not traced", nullptr, write_s_exlevel_vinst, show_field<19, 16, &S::victlr>},
  FileRow{"ns_exlevel_vinst", kReadWrite, "TRCVICTLR [22:20]", I::kNone, kHex,
          "a bit for each non-secure level that is not traced", nullptr, write_ns_exlevel_vinst, show_field<22, 20, &S::victlr>},
  FileRow{"vinst_pe_cmp_start_stop", kReadWrite, "TRCVIPCSSCTLR", I::kNone, kHex,
          "start inputs in bits 7:0, stop inputs in 23:16", need_pe_inputs, store_masked<&S::vipcssctlr>, show_vipcssctlr},

  // Address comparators.
  FileRow{"addr_idx", kReadWrite, "", I::kNone, kHex,
          "a comparator", nullptr, write_addr_idx, show<&S::addr_idx>},
  FileRow{"addr_single", kReadWrite, "TRCACVRn", I::kAddress, kHex,
          "an address, in a comparator that is free or holds a single address", slot_exists, write_addr_single, show_address<Tag::kSingle>},
  FileRow{"addr_range", kReadWrite, "TRCACVRn, TRCACVRn+1, TRCVIIECTLR", I::kAddress, kHexList,
          "first and last address, and 1 to exclude, in a free pair or one that holds a range", slot_exists, write_addr_range, show_addr_range},
  FileRow{"addr_start", kReadWrite, "TRCACVRn, TRCVISSCTLR [15:0]", I::kAddress, kHex,
          "an address, in a comparator that is free or holds a start address", need_comparators, write_addr_start, show_address<Tag::kStart>},
  FileRow{"addr_stop", kReadWrite, "TRCACVRn, TRCVISSCTLR [31:16]", I::kAddress, kHex,
          "an address, in a comparator that is free or holds a stop address", need_comparators, write_addr_stop, show_address<Tag::kStop>},
  FileRow{"addr_context", kReadWrite, "TRCACATRn [6:4]", I::kAddress, kHex,
          "a context comparator", need_contexts, write_addr_context, show_addr_context},
  FileRow{"addr_ctxtype", kReadWrite, "TRCACATRn [3:2]", I::kAddress, kWord,
          "none, ctxid, vmid or all", nullptr, write_addr_ctxtype, show_addr_ctxtype},
  FileRow{"addr_exlevel_s_ns", kReadWrite, "TRCACATRn [14:8]", I::kAddress, kAnyBase,
          "a bit for each level that does not match, secure in 3:0, non-secure in 6:4", nullptr, write_addr_exlevel, show_addr_exlevel},
  FileRow{"addr_instdatatype", kReadWrite, "TRCACATRn [1:0]", I::kAddress, kWord,
          "instr", nullptr, write_addr_instdatatype, show_addr_instdatatype},
  FileRow{"addr_cmp_view", kReadOnly, "TRCACVRn, TRCACATRn, TRCVIIECTLR", I::kAddress, kNone, "", nullptr, nullptr, show_addr_cmp_view},

  // Single-shot controls.
  FileRow{"sshot_idx", kReadWrite, "", I::kNone, kHex,
          "a single-shot control", nullptr, write_sshot_idx, show<&S::sshot_idx>},
  FileRow{"sshot_ctrl", kReadWrite, "TRCSSCCRn", I::kSingleShot, kHex,
          "single comparators in 15:0, ranges in 23:16, bit 24: fire again", need_slot<&C::nr_ss_cmp>, write_sshot<&S::sscr, 0x01FFFFFF>, show_slot<&S::sscr, &S::sshot_idx>},
  FileRow{"sshot_pe_ctrl", kReadWrite, "TRCSSPCICRn", I::kSingleShot, kHex,
          "PE comparator inputs in 7:0", need_slot<&C::nr_ss_cmp>, write_sshot<&S::sspcicr, 0xFF>, show_slot<&S::sspcicr, &S::sshot_idx>},
  FileRow{"sshot_status", kReadOnly, "TRCSSCSRn", I::kSingleShot, kNone, "", nullptr, nullptr, show_slot<&S::sscsr, &S::sshot_idx>},

  // Counters.
  FileRow{"cntr_idx", kReadWrite, "", I::kNone, kHex,
          "a counter", nullptr, write_cntr_idx, show<&S::cntr_idx>},
  FileRow{"cntrldvr", kReadWrite, "TRCCNTRLDVRn", I::kCounter, kHex,
          "a reload value, 0 to ffff", need_slot<&C::nr_cntr>, write_counter<&S::cntrldvr>, show_slot<&S::cntrldvr, &S::cntr_idx>},
  FileRow{"cntr_val", kReadWrite, "TRCCNTVRn", I::kCounter, kHex,
          "a counter value, 0 to ffff", need_slot<&C::nr_cntr>, write_counter<&S::cntvr>, show_slot<&S::cntvr, &S::cntr_idx>},
  FileRow{"cntr_ctrl", kReadWrite, "TRCCNTCTLRn", I::kCounter, kHex,
          "count event in 7:0, reload event in 15:8, bit 16 self-reload, bit 17 chain", need_slot<&C::nr_cntr>, store_slot<&S::cntctlr, &S::cntr_idx>, show_slot<&S::cntctlr, &S::cntr_idx>},

  // Resource selectors.
  FileRow{"res_idx", kReadWrite, "", I::kNone, kHex,
          "a selector from 2 on", nullptr, write_res_idx, show<&S::res_idx>},
  FileRow{"res_ctrl", kReadWrite, "TRCRSCTLRn", I::kSelector, kHex,
          "resources in 15:0, group in 19:16, bit 20 INV, bit 21 PAIRINV", need_slot<&C::nr_resource>, write_res_ctrl, show_slot<&S::rsctlr, &S::res_idx>},

  // Sequencer.
  FileRow{"seq_idx", kReadWrite, "", I::kNone, kHex,
          "a transition, 0 to 2", need_sequencer_index, write_seq_idx, show<&S::seq_idx>},
  FileRow{"seq_event", kReadWrite, "TRCSEQEVRn", I::kSequencer, kHex,
          "forward event in 7:0, backward event in 15:8", need_slot<&C::nrseqstate>, store_slot<&S::seqevr, &S::seq_idx, 0xFFFF>, show_slot<&S::seqevr, &S::seq_idx>},
  FileRow{"seq_state", kReadWrite, "TRCSEQSTR", I::kNone, kHex,
          "a state, 0 to 3", nullptr, write_seq_state, show<&S::seqstr>},
  FileRow{"seq_reset_event", kReadWrite, "TRCSEQRSTEVR", I::kNone, kHex,
          kSelectorWords, need_sequencer, store_masked<&S::seqrstevr, 0xFF>, show<&S::seqrstevr>},

  // Context ID and VMID comparators.
  FileRow{"ctxid_idx", kReadWrite, "", I::kNone, kHex,
          "a context ID comparator", nullptr, write_ctxid_idx, show<&S::ctxid_idx>},
  FileRow{"ctxid_pid", kReadWrite, "TRCCIDCVRn", I::kContextId, kHex,
          "a context ID", need_context_ids, write_ctxid_pid, show_context<&S::cidcvr, &S::ctxid_idx>},
  FileRow{"ctxid_masks", kReadWrite, "TRCCIDCCTLR0, TRCCIDCCTLR1", I::kNone, kHexList,
          "a byte for each comparator, a bit for each byte to ignore; two numbers above 4", need_context_ids, write_ctxid_masks, show_masks<&S::cidcctlr>},
  FileRow{"vmid_idx", kReadWrite, "", I::kNone, kHex,
          "a VMID comparator", nullptr, write_vmid_idx, show<&S::vmid_idx>},
  FileRow{"vmid_val", kReadWrite, "TRCVMIDCVRn", I::kVmid, kHex,
          "a VMID", need_vmids, write_vmid_val, show_context<&S::vmidcvr, &S::vmid_idx>},
  FileRow{"vmid_masks", kReadWrite, "TRCVMIDCCTLR0, TRCVMIDCCTLR1", I::kNone, kHexList,
          "a byte for each comparator, a bit for each byte to ignore; two numbers above 4", need_vmids, write_vmid_masks, show_masks<&S::vmidcctlr>},

  // Plain registers.
  FileRow{"trcidr/trcidr0", kReadOnly, "TRCIDR0", I::kNone, kNone, "", nullptr, nullptr, show_idr<0>},
  FileRow{"trcidr/trcidr1", kReadOnly, "TRCIDR1", I::kNone, kNone, "", nullptr, nullptr, show_idr<1>},
  FileRow{"trcidr/trcidr2", kReadOnly, "TRCIDR2", I::kNone, kNone, "", nullptr, nullptr, show_idr<2>},
  FileRow{"trcidr/trcidr3", kReadOnly, "TRCIDR3", I::kNone, kNone, "", nullptr, nullptr, show_idr<3>},
  FileRow{"trcidr/trcidr4", kReadOnly, "TRCIDR4", I::kNone, kNone, "", nullptr, nullptr, show_idr<4>},
  FileRow{"trcidr/trcidr5", kReadOnly, "TRCIDR5", I::kNone, kNone, "", nullptr, nullptr, show_idr<5>},
  FileRow{"trcidr/trcidr8", kReadOnly, "TRCIDR8", I::kNone, kNone, "", nullptr, nullptr, show_idr8<8>},
  FileRow{"trcidr/trcidr9", kReadOnly, "TRCIDR9", I::kNone, kNone, "", nullptr, nullptr, show_idr8<9>},
  FileRow{"trcidr/trcidr10", kReadOnly, "TRCIDR10", I::kNone, kNone, "", nullptr, nullptr, show_idr8<10>},
  FileRow{"trcidr/trcidr11", kReadOnly, "TRCIDR11", I::kNone, kNone, "", nullptr, nullptr, show_idr8<11>},
  FileRow{"trcidr/trcidr12", kReadOnly, "TRCIDR12", I::kNone, kNone, "", nullptr, nullptr, show_idr8<12>},
  FileRow{"trcidr/trcidr13", kReadOnly, "TRCIDR13", I::kNone, kNone, "", nullptr, nullptr, show_idr8<13>},
  FileRow{"mgmt/trcdevarch", kReadOnly, "TRCDEVARCH", I::kNone, kNone, "", nullptr, nullptr, show_devarch},
  FileRow{"mgmt/trctraceid", kReadOnly, "TRCTRACEIDR", I::kNone, kNone, "", nullptr, nullptr, show_traceid},
  FileRow{"mgmt/trcconfig", kReadOnly, "TRCCONFIGR", I::kNone, kNone, "", nullptr, nullptr, show_configr},
  FileRow{"mgmt/trcpdcr", kReadOnly, "TRCPDCR", I::kNone, kNone, "", nullptr, nullptr, show_pdcr, true},
  FileRow{"mgmt/trcpdsr", kReadOnly, "TRCPDSR", I::kNone, kNone, "", nullptr, nullptr, show_management<&M::pdsr>, true},
  FileRow{"mgmt/trclsr", kReadOnly, "TRCLSR", I::kNone, kNone, "", nullptr, nullptr, show_management<&M::lsr>, true},
  FileRow{"mgmt/trcauthstatus", kReadOnly, "TRCAUTHSTATUS", I::kNone, kNone, "", nullptr, nullptr, show_management<&M::authstatus>},
  FileRow{"mgmt/trcdevid", kReadOnly, "TRCDEVID", I::kNone, kNone, "", nullptr, nullptr, show_management<&M::devid>},
  FileRow{"mgmt/trcdevtype", kReadOnly, "TRCDEVTYPE", I::kNone, kNone, "", nullptr, nullptr, show_management<&M::devtype>, true},
  FileRow{"mgmt/trcoslsr", kReadOnly, "TRCOSLSR", I::kNone, kNone, "", nullptr, nullptr, show_management<&M::oslsr>},
  FileRow{"mgmt/trcpidr0", kReadOnly, "TRCPIDR0", I::kNone, kNone, "", nullptr, nullptr, show_pidr<0>, true},
  FileRow{"mgmt/trcpidr1", kReadOnly, "TRCPIDR1", I::kNone, kNone, "", nullptr, nullptr, show_pidr<1>, true},
  FileRow{"mgmt/trcpidr2", kReadOnly, "TRCPIDR2", I::kNone, kNone, "", nullptr, nullptr, show_pidr<2>, true},
  FileRow{"mgmt/trcpidr3", kReadOnly, "TRCPIDR3", I::kNone, kNone, "", nullptr, nullptr, show_pidr<3>, true},

  // Configurations, below the configfs folder cs-syscfg.
  FileRow{"configurations/autofdo/enable", kReadWrite, "", I::kNone, kBoolean,
          "1 or 0", nullptr, write_configuration, show_configuration},
  FileRow{"configurations/autofdo/preset", kReadWrite, "", I::kNone, kAnyBase,
          "a preset, 1 to 9", nullptr, write_preset, show_preset},
  FileRow{"features/strobing/params/window/value", kReadWrite, "TRCCNTRLDVR0", I::kNone, kAnyBase,
          "cycles", nullptr, write_parameter<&Configuration::window>, show_parameter<&Configuration::window>},
  FileRow{"features/strobing/params/period/value", kReadWrite, "TRCCNTRLDVR1", I::kNone, kAnyBase,
          "windows", nullptr, write_parameter<&Configuration::period>, show_parameter<&Configuration::period>},
};
// clang-format on

const FileRow* file_of(const Unit& unit, std::string_view name) {
  const FileRow* row = find_file(name);
  const bool hidden = row != nullptr && row->memory_mapped &&
                      unit.environment.access != RegisterAccess::kMemoryMapped;
  return hidden ? nullptr : row;
}

std::expected<FileInput, Refusal> parse(const FileRow& row, std::string_view bytes) {
  FileInput in;
  in.length = bytes.substr(0, bytes.find('\0')).size();
  const auto number = [&](unsigned base) -> std::expected<FileInput, Refusal> {
    const auto value = strict_number(bytes, base);
    if (value) {
      in.number = *value;
      return in;
    }
    // The files of base 16 turn every failure into -EINVAL.
    const Errno error = base == 10 ? value.error() : Errno::kInval;
    return refuse(
        error, fmt::format("'{}' is not exactly one {} number", bytes.substr(0, bytes.find('\n')),
                           base == 16   ? "hexadecimal"
                           : base == 10 ? "decimal"
                                        : "C-style"));
  };
  switch (row.grammar) {
    case kHex:
      return number(16);
    case kAnyBase:
      return number(0);
    case kDecimal:
      return number(10);
    case kHexList:
      in.numbers = scan_hex(bytes, 3);
      return in;
    case kWord:
      in.word = first_word(bytes);
      return in;
    case kBoolean: {
      const auto value = boolean_word(bytes);
      if (!value) return refuse(value.error(), "a boolean word is expected");
      in.number = *value ? 1 : 0;
      return in;
    }
    case kNone:
      break;
  }
  return in;
}

}  // namespace

std::string_view index_file_name(IndexFile index) {
  constexpr std::array<std::string_view, 8> kNames = {
      "", "addr_idx", "sshot_idx", "cntr_idx", "res_idx", "seq_idx", "ctxid_idx", "vmid_idx"};
  return kNames[static_cast<unsigned>(index)];
}

std::span<const FileRow> file_table() { return kFiles; }

const FileRow* find_file(std::string_view name) {
  const auto* const at = std::ranges::find(kFiles, name, &FileRow::name);
  return at == kFiles.end() ? nullptr : at;
}

std::string comparator_view(const Unit& unit, unsigned index) {
  const State& s = unit.state;
  const std::uint64_t control_value = s.acatr[index];
  const auto one = [&](std::string_view word) {
    return fmt::format("addr_cmp[{}] {} 0x{:x} ctrl(0x{:x})\n", index, word, s.acvr[index],
                       control_value);
  };
  switch (s.tag[index]) {
    case Tag::kNone:
      break;
    case Tag::kSingle:
      return one("single");
    case Tag::kStart:
      return one("start");
    case Tag::kStop:
      return one("stop");
    case Tag::kRange: {
      const unsigned even = index & ~1U;
      const bool exclude = (s.viiectlr >> (16 + even / 2) & 1) != 0;
      const std::uint64_t shown = unit.quirks.view_of_odd_half ? control_value : s.acatr[even];
      return fmt::format("addr_cmp[{}] range 0x{:x} 0x{:x} {} ctrl(0x{:x})\n", even, s.acvr[even],
                         s.acvr[even + 1], exclude ? "exclude" : "include", shown);
    }
  }
  return fmt::format("addr_cmp[{}] unused\n", index);
}

Outcome Unit::write(std::string_view file, std::string_view bytes) {
  const FileRow* row = file_of(*this, file);
  if (row == nullptr) return refuse(Errno::kNoEnt, "this unit has no such file");
  if (row->store == nullptr) return refuse(Errno::kAcces, "the file can only be read");
  if (row->gate != nullptr) {
    if (auto open = row->gate(*this); !open) return open;
  }
  const auto input = parse(*row, bytes);
  if (!input) {
    return refuse(input.error().error,
                  fmt::format("{}; accepted is {}", input.error().rule, row->accepts));
  }
  return row->store(*this, *input);
}

Shown Unit::read(std::string_view file) {
  const FileRow* row = file_of(*this, file);
  if (row == nullptr) return refuse(Errno::kNoEnt, "this unit has no such file");
  if (row->show == nullptr) return refuse(Errno::kAcces, "the file can only be written");
  return row->show(*this);
}

}  // namespace waymark::etm4x
