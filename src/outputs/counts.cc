#include "waymark/outputs/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "quoted.h"
#include "waymark/element/text.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

using count::Branch;
using count::Context;
using count::FunctionRow;
using count::Row;

bool has(const Context& context, ElementFlag flag) { return (context.flags & flag) != 0; }

std::string hex_if(bool known, std::uint64_t value) {
  return known ? fmt::format("0x{:x}", value) : std::string();
}

/// "EL1N 0x1f2": as short as columns are.
std::string context_words(const Context& context) {
  std::string words = has(context, kElementElValid) ? fmt::format("EL{}", context.exception_level)
                                                    : std::string("EL-");
  constexpr std::string_view kWorlds = "SNOR";  // Secure, non-secure, rOot, Realm.
  words += kWorlds[static_cast<std::size_t>(context.security) % kWorlds.size()];
  if (has(context, kElementContextIdValid)) words += fmt::format(" 0x{:x}", context.context_id);
  if (has(context, kElementVmidValid)) words += fmt::format("/0x{:x}", context.vmid);
  return words;
}

void put_json_context(TextBuffer& out, const Context& context, isa::Isa isa) {
  out.put(fmt::format(R"("id":{},"isa":"{}",)", context.trace_id, isa_name(isa)));
  if (has(context, kElementElValid)) out.put(fmt::format(R"("el":{},)", context.exception_level));
  out.put(fmt::format(R"("security":"{}","bits":{},)", security_word(context.security),
                      has(context, kElement64Bit) ? 64 : 32));
  if (has(context, kElementContextIdValid))
    out.put(fmt::format(R"("context_id":"0x{:x}",)", context.context_id));
  if (has(context, kElementVmidValid)) out.put(fmt::format(R"("vmid":"0x{:x}",)", context.vmid));
}

constexpr std::string_view kCsvContext = "id,isa,el,security,bits,context_id,vmid";

void put_csv_context(TextBuffer& out, const Context& context, isa::Isa isa) {
  out.put(fmt::format("{},{},{},{},{},{},{}", context.trace_id, isa_name(isa),
                      has(context, kElementElValid) ? fmt::to_string(context.exception_level) : "",
                      security_word(context.security), has(context, kElement64Bit) ? 64 : 32,
                      hex_if(has(context, kElementContextIdValid), context.context_id),
                      hex_if(has(context, kElementVmidValid), context.vmid)));
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t whole_of(const count::Totals& totals, count::Order order) {
  switch (order) {
    case count::Order::kInstructions:
      return totals.instructions;
    case count::Order::kTimes:
      return totals.ranges;
    case count::Order::kCycles:
      return totals.cycles;
    case count::Order::kCalls:
      return totals.calls;
  }
  return 0;
}

std::string address_or_unknown(std::uint64_t address) {
  return address == kNoAddress ? std::string("unknown") : fmt::format("0x{:016x}", address);
}

}  // namespace

void write_text(TextBuffer& out, const count::Counts& counts) {
  const count::Totals totals = counts.totals();
  const auto line = [&](std::string_view name, std::uint64_t value, std::string_view rest = {}) {
    out.put(fmt::format("{:<22}{:>20}{}\n", name, value, rest));
  };
  line("instructions", totals.instructions);
  line("ranges", totals.ranges, fmt::format("  {} different", counts.rows.size()));
  line("branches taken", totals.taken);
  line("branches not taken", totals.not_taken);
  line("calls", totals.calls);
  if (totals.cycles + counts.other_cycles != 0) {
    line("cycles", totals.cycles);
    line("cycles of no range", counts.other_cycles);
  }
  if (counts.pathless_instructions != 0)
    line("without known way", counts.pathless_instructions, "  instructions of Q elements");
  std::string others;
  for (std::size_t i = 0; i < counts.others.size(); ++i) {
    if (counts.others[i] == 0) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", counts.others[i],
                          kind_word(static_cast<ElementKind>(i)));
  }
  if (!others.empty()) out.put(fmt::format("other elements        {}\n", others));
  if (counts.rest.ranges != 0)
    line("not listed", counts.rest.ranges, "  ranges: there are more different ones than fit");
}

void write_text(TextBuffer& out, std::span<const Row> rows, const count::Totals& totals,
                count::Order order) {
  constexpr std::string_view kLine =
      "{:>6} {:>14} {:>12} {:>12} {:>12} {:>10} {:>12}  {:<5} {:<12} {}\n";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "times", "taken", "not taken",
                      "calls", "cycles", "id", "context", "block"));
  for (const Row& row : rows) {
    out.put(fmt::format(
        fmt::runtime(kLine),
        fmt::format("{:.2f}%", share(count::weight(row, order), whole_of(totals, order))),
        row.instructions(), row.times(), row.taken(), row.not_taken(), row.calls(), row.cycles,
        fmt::format("0x{:02x}", row.context.trace_id), context_words(row.context),
        fmt::format("0x{:016x}-0x{:016x} {} {}", row.range.start, row.range.end,
                    isa_name(row.range.isa), row.range.count)));
  }
}

void write_text(TextBuffer& out, std::span<const Branch> branches) {
  constexpr std::string_view kLine = "{:>14}  {:<5} {:<12} {:<18} {:<3} {:<18} {}\n";
  out.put(fmt::format(fmt::runtime(kLine), "times", "id", "context", "from", "", "to", "branch"));
  for (const Branch& branch : branches) {
    std::string words(instruction_word(branch.type));
    if (const auto subtype = subtype_word(branch.subtype); !subtype.empty())
      words += fmt::format(" {}", subtype);
    if (!branch.taken) words += " not taken";
    out.put(fmt::format(fmt::runtime(kLine), branch.times,
                        fmt::format("0x{:02x}", branch.context.trace_id),
                        context_words(branch.context), address_or_unknown(branch.from), "->",
                        address_or_unknown(branch.to), words));
  }
}

void write_text(TextBuffer& out, std::span<const FunctionRow> rows, std::uint64_t whole,
                count::Order order) {
  constexpr std::string_view kLine = "{:>7} {:>16} {:>14} {:>14} {:>16}  ";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "entered", "calls", "cycles"));
  out.put("function\n");
  for (const FunctionRow& row : rows) {
    out.put(fmt::format(fmt::runtime(kLine),
                        fmt::format("{:.2f}%", share(count::weight(row, order), whole)),
                        row.instructions, row.entered, row.calls, row.cycles));
    if (row.function == nullptr) {
      out.put("(no name)");
    } else {
      write_shown(out, readable_name(row.function->name));
    }
    out.put('\n');
  }
}

void write_json(TextBuffer& out, const count::Counts& counts, TraceId id) {
  const count::Totals totals = counts.totals();
  out.put(fmt::format(
      R"({{"type":"count","id":{},"instructions":{},"ranges":{},"different_ranges":{},)"
      R"("taken":{},"not_taken":{},"calls":{},"cycles":"{}","other_cycles":"{}",)"
      R"("pathless_instructions":{},"elements":{{)",
      id, totals.instructions, totals.ranges, counts.rows.size(), totals.taken, totals.not_taken,
      totals.calls, totals.cycles, counts.other_cycles, counts.pathless_instructions));
  std::string_view comma;
  for (std::size_t i = 0; i < counts.others.size(); ++i) {
    if (counts.others[i] == 0) continue;
    out.put(fmt::format(R"({}"{}":{})", comma, kind_word(static_cast<ElementKind>(i)),
                        counts.others[i]));
    comma = ",";
  }
  out.put("}}\n");
}

void write_json(TextBuffer& out, std::span<const Row> rows) {
  for (const Row& row : rows) {
    out.put(R"({"type":"count_block",)");
    put_json_context(out, row.context, row.range.isa);
    out.put(fmt::format(R"("start":"0x{:x}","end":"0x{:x}","count":{},"times":{},)"
                        R"("instructions":{},"taken":{},"not_taken":{},"calls":{},"cycles":"{}")",
                        row.range.start, row.range.end, row.range.count, row.times(),
                        row.instructions(), row.taken(), row.not_taken(), row.calls(), row.cycles));
    if (const auto word = instruction_word(row.range.last_type); !word.empty())
      out.put(fmt::format(R"(,"last":"{}")", word));
    if (const auto word = subtype_word(row.range.last_subtype); !word.empty())
      out.put(fmt::format(R"(,"subtype":"{}")", word));
    if (row.range.conditional) out.put(R"(,"conditional":true)");
    if (row.target != kNoAddress) out.put(fmt::format(R"(,"target":"0x{:x}")", row.target));
    out.put("}\n");
  }
}

void write_json(TextBuffer& out, std::span<const Branch> branches) {
  for (const Branch& branch : branches) {
    out.put(R"({"type":"count_branch",)");
    put_json_context(out, branch.context, branch.isa);
    out.put(fmt::format(R"("from":"0x{:x}",)", branch.from));
    if (branch.to != kNoAddress) out.put(fmt::format(R"("to":"0x{:x}",)", branch.to));
    out.put(fmt::format(R"("last":"{}",)", instruction_word(branch.type)));
    if (const auto word = subtype_word(branch.subtype); !word.empty())
      out.put(fmt::format(R"("subtype":"{}",)", word));
    out.put(fmt::format("\"taken\":{},\"times\":{}}}\n", branch.taken, branch.times));
  }
}

void write_json(TextBuffer& out, std::span<const FunctionRow> rows) {
  for (const FunctionRow& row : rows) {
    out.put(R"({"type":"count_function",)");
    if (row.function != nullptr) {
      out.put(R"("name":)");
      write_json_string(out, row.function->name);
      out.put(fmt::format(R"(,"start":"0x{:x}","last":"0x{:x}",)", row.function->start,
                          row.function->last));
    }
    out.put(fmt::format("\"instructions\":{},\"entered\":{},\"calls\":{},\"cycles\":\"{}\"}}\n",
                        row.instructions, row.entered, row.calls, row.cycles));
  }
}

void write_csv(TextBuffer& out, std::span<const Row> rows) {
  out.put(
      fmt::format("{},start,end,count,times,instructions,last,subtype,conditional,taken,"
                  "not_taken,calls,cycles,target\n",
                  kCsvContext));
  for (const Row& row : rows) {
    put_csv_context(out, row.context, row.range.isa);
    out.put(fmt::format(",0x{:x},0x{:x},{},{},{},{},{},{},{},{},{},{},{}\n", row.range.start,
                        row.range.end, row.range.count, row.times(), row.instructions(),
                        instruction_word(row.range.last_type), subtype_word(row.range.last_subtype),
                        row.range.conditional ? 1 : 0, row.taken(), row.not_taken(), row.calls(),
                        row.cycles, hex_if(row.target != kNoAddress, row.target)));
  }
}

void write_csv(TextBuffer& out, std::span<const Branch> branches) {
  out.put(fmt::format("{},from,to,last,subtype,taken,times\n", kCsvContext));
  for (const Branch& branch : branches) {
    put_csv_context(out, branch.context, branch.isa);
    out.put(fmt::format(",0x{:x},{},{},{},{},{}\n", branch.from,
                        hex_if(branch.to != kNoAddress, branch.to), instruction_word(branch.type),
                        subtype_word(branch.subtype), branch.taken ? 1 : 0, branch.times));
  }
}

void write_csv(TextBuffer& out, std::span<const FunctionRow> rows) {
  out.put("name,start,last,instructions,entered,calls,cycles\n");
  for (const FunctionRow& row : rows) {
    if (row.function != nullptr) {
      write_csv_field(out, row.function->name);
      out.put(fmt::format(",0x{:x},0x{:x}", row.function->start, row.function->last));
    } else {
      out.put(",,");
    }
    out.put(fmt::format(",{},{},{},{}\n", row.instructions, row.entered, row.calls, row.cycles));
  }
}

}  // namespace waymark::outputs
