// Random writes, reads and enables on a unit, and what must hold after each of them.
#pragma once

#include <string>

#include "support/random.h"
#include "waymark/etm4x/files.h"

namespace waymark::etm4x {

inline IdRegisters random_ids(support::Random& random) {
  IdRegisters id;
  for (auto& value : id.idr) value = static_cast<std::uint32_t>(random.bits(32));
  id.devarch = 0x47704A13 | static_cast<std::uint32_t>(random.below(7)) << 16;
  if (random.one_in(4)) id.devarch = 0x47705A13;
  return id;
}

inline Environment random_environment(support::Random& random) {
  Environment environment;
  environment.cpu = random.below(64);
  environment.kernel_at_el2 = random.coin();
  environment.init_pid_namespace = !random.one_in(8);
  environment.sink_active = !random.one_in(8);
  if (random.coin()) environment.access = RegisterAccess::kSystemRegisters;
  for (auto& value : environment.sscsr) value = static_cast<std::uint32_t>(random.bits(32));
  return environment;
}

inline std::string random_bytes(support::Random& random, const FileRow& row) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEFxX+- \n,zg";
  std::string text;
  switch (row.grammar) {
    case Grammar::kWord: {
      for (const char* const word : {"none", "ctxid", "vmid", "all", "instr", "data_load"}) {
        if (random.one_in(4)) return word;
      }
      break;
    }
    default: {
      if (random.one_in(8)) break;
      const unsigned count = row.grammar == Grammar::kHexList ? random.between(1, 3) : 1;
      for (unsigned i = 0; i < count; ++i) {
        // Small values select slots, large ones test limits.
        std::uint64_t value = random.coin() ? random.below(20) : random.value(64);
        if (i == 0 && random.one_in(16)) value = 0;
        if (!text.empty()) text += ' ';
        text += hex_line(value);
        text.pop_back();
      }
      if (random.coin()) text += '\n';
      return text;
    }
  }
  const unsigned size = random.below(24);
  for (unsigned i = 0; i < size; ++i) text += kHex[random.below(kHex.size())];
  return text;
}

/// The first invariant of State that is broken; empty: none.
inline std::string broken_invariant(const Unit& unit) {
  const State& s = unit.state;
  const Capabilities& c = unit.caps;
  for (unsigned i = 0; i < kAddressComparators; i += 2) {
    if ((s.tag[i] == Tag::kRange) != (s.tag[i + 1] == Tag::kRange)) return "half a range";
    if (s.tag[i] == Tag::kRange && s.acvr[i] > s.acvr[i + 1]) return "a range ends early";
  }
  for (unsigned i = 0; i < kAddressComparators; ++i) {
    if ((s.vissctlr >> i & 1) != 0 && s.tag[i] != Tag::kStart) return "a start without its tag";
    if ((s.vissctlr >> (16 + i) & 1) != 0 && s.tag[i] != Tag::kStop)
      return "a stop without its tag";
    if ((s.acatr[i] & ~std::uint64_t{0x7F7F}) != 0) return "TRCACATR is too wide";
  }
  for (unsigned pair = 0; pair < 8; ++pair) {
    const bool in = (s.viiectlr >> pair & 1) != 0;
    const bool out = (s.viiectlr >> (16 + pair) & 1) != 0;
    if (in && out) return "a range is included and excluded";
    if ((in || out) && s.tag[pair * 2] != Tag::kRange) return "a filter without its range";
  }
  const auto outside = [](unsigned index, unsigned count) { return index != 0 && index >= count; };
  if (outside(s.addr_idx, c.nr_addr_cmp * 2)) return "addr_idx";
  if (outside(s.cntr_idx, c.nr_cntr)) return "cntr_idx";
  if (outside(s.res_idx, c.nr_resource * 2) || s.res_idx == 1) return "res_idx";
  if (outside(s.seq_idx, c.nr_seq_ctrls)) return "seq_idx";
  if (outside(s.sshot_idx, c.nr_ss_cmp)) return "sshot_idx";
  if (outside(s.ctxid_idx, c.numcidc)) return "ctxid_idx";
  if (outside(s.vmid_idx, c.numvmidc)) return "vmid_idx";
  if ((s.mode & 0x30000000) != 0) return "mode has reserved bits";
  if (s.syncpr > 0x1F || s.ccctlr > 0xFFF || s.bbctlr > 0x1FF || s.tsctlr > 0xFF) return "a width";
  if (s.seqrstevr > 0xFF || s.pe > c.nr_pe) return "a width";
  for (unsigned i = 0; i < kSelectors; ++i) {
    if (s.rsctlr[i] > 0x3FFFFF) return "TRCRSCTLR is too wide";
    if (i % 2 != 0 && (s.rsctlr[i] & kPairInverted) != 0) return "PAIRINV in an odd selector";
  }
  for (const auto value : s.seqevr) {
    if (value > 0xFFFF) return "TRCSEQEVR is too wide";
  }
  for (const auto value : s.sscr) {
    if (value > 0x01FFFFFF) return "TRCSSCCR is too wide";
  }
  for (const auto value : s.sspcicr) {
    if (value > 0xFF) return "TRCSSPCICR is too wide";
  }
  return "";
}

/// Performs one operation.  Returns the broken rule, or an empty text.
inline std::string random_operation(Unit& unit, support::Random& random) {
  const auto rows = file_table();
  const FileRow& row = rows[random.below(static_cast<std::uint32_t>(rows.size()))];
  switch (random.below(16)) {
    case 0: {
      const auto text = unit.read(row.name);
      if (text && (text->empty() || text->back() != '\n')) return "a text without newline";
      break;
    }
    case 1: {
      if (unit.image().values().back().name != "TRCPRGCTLR") return "an image without its end";
      break;
    }
    case 2: {
      if (!random.one_in(4)) break;
      PerfRequest request;
      request.timestamp = random.coin();
      request.cycacc = random.coin();
      request.cc_threshold = static_cast<std::uint32_t>(random.bits(12));
      request.contextid = random.coin();
      request.exclude_user = random.coin();
      const unsigned filters = random.below(4);
      const bool ranges = random.coin();
      for (unsigned i = 0; i < filters; ++i) {
        request.filters.push_back({ranges ? FilterAction::kFilter : FilterAction::kStart,
                                   random.bits(48), ranges ? random.bits(16) : 0});
      }
      static_cast<void>(unit.perf_start(request));
      if (random.coin()) unit.disable({});
      break;
    }
    default: {
      const State before = unit.state;
      const auto done = unit.write(row.name, random_bytes(random, row));
      if (!done && !(unit.state == before)) return "a refused write changed something";
      if (!done && done.error().rule.empty()) return "a refusal without its rule";
      break;
    }
  }
  return broken_invariant(unit);
}

}  // namespace waymark::etm4x
