#include "waymark/outputs/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "itm_words.h"
#include "quoted.h"
#include "waymark/element/text.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/names.h"
#include "waymark/outputs/readable_name.h"

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

/// "EL1N 0x1f2": short enough for a column.
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

void put_csv_context(TextBuffer& out, const Context& context, isa::Isa isa,
                     const CountFacts& facts) {
  if (facts.programs != nullptr) {
    out.put(fmt::format(",{},,,,,", isa_name(isa)));
    return;
  }
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

/// A cell of text or CSV; `unknown` if no cycles were traced.
std::string cycles_cell(std::uint64_t cycles, const CountFacts& facts, std::string_view unknown) {
  return facts.cycles ? fmt::to_string(cycles) : std::string(unknown);
}

std::string json_cycles(std::uint64_t cycles, const CountFacts& facts) {
  return cycles_cell(cycles, facts, "null");
}

/// Samples of an address, or of a function.
struct Sample {
  std::optional<std::uint32_t> address{};  ///< Nothing: all of the function.
  const image::Function* function = nullptr;
  std::uint64_t times = 0;
};

/// The most frequent ones: by function if there are names, where all code without a name is one.
std::vector<Sample> top_samples(const count::ItmCounts& counts, const SampleOptions& options) {
  std::vector<Sample> samples;
  if (options.symbols == nullptr) {
    samples.reserve(counts.samples.size());
    for (const auto& [address, times] : counts.samples)
      samples.push_back({.address = address, .times = times});
  } else {
    std::map<std::uint64_t, Sample> by_start;
    Sample unnamed;
    for (const auto& [address, times] : counts.samples) {
      const image::Function* const function = options.symbols->find(address);
      Sample& sample = function == nullptr ? unnamed : by_start[function->start];
      sample.function = function;
      sample.times += times;
    }
    for (const auto& [start, sample] : by_start) samples.push_back(sample);
    if (unnamed.times != 0) samples.push_back(unnamed);
  }
  std::ranges::stable_sort(samples, std::ranges::greater{}, &Sample::times);
  samples.resize(std::min(samples.size(), options.most));
  return samples;
}

struct DwtLine {
  DwtKind kind;
  std::string_view text;
  std::string_view json;
};
/// Kinds without a line of their own elsewhere.
constexpr DwtLine kDwtLines[] = {
    {DwtKind::kSleeping, "samples while asleep", "asleep"},
    {DwtKind::kNoSample, "samples not allowed", "no_sample"},
    {DwtKind::kEventCounters, "event counter packets", "event_counters"},
    {DwtKind::kPmuOverflow, "PMU overflow packets", "pmu_overflow"},
    {DwtKind::kDataPc, "data accesses, PC", "data_pc"},
    {DwtKind::kDataMatch, "data matches", "data_match"},
    {DwtKind::kDataAddress, "data addresses", "data_address"},
    {DwtKind::kDataRead, "data reads", "data_read"},
    {DwtKind::kDataWrite, "data writes", "data_write"},
    {DwtKind::kReserved, "reserved packets", "reserved"},
};

/// As the program was linked, if there are programs.
std::uint64_t shown(std::uint64_t address, const CountFacts& facts) {
  if (facts.programs == nullptr || address == kNoAddress) return address;
  return facts.programs->addresses->split(address).address;
}

/// The path of the program at an address of the counts.
const std::string& program_at(std::uint64_t address, const CountFacts& facts) {
  static const std::string kNone;
  if (address == kNoAddress) return kNone;
  return facts.programs->path(facts.programs->addresses->split(address).program);
}

void put_shown_program(TextBuffer& out, const std::string& path) {
  out.put("  ");
  write_shown(out, path.empty() ? "(no program)" : path);
}

void put_json_program(TextBuffer& out, std::string_view name, const std::string& path) {
  out.put(fmt::format("\"{}\":", name));
  write_json_string(out, path);
  out.put(',');
}

/// Ends a line with the program at an address, if there are programs.
void end_csv(TextBuffer& out, const CountFacts& facts, std::uint64_t address) {
  if (facts.programs != nullptr) {
    out.put(',');
    write_csv_field(out, program_at(address, facts));
  }
  out.put('\n');
}

std::string address_or_unknown(std::uint64_t address) {
  return address == kNoAddress ? std::string("unknown") : fmt::format("0x{:016x}", address);
}

}  // namespace

const std::string& ProgramNames::path(std::uint32_t program) const {
  static const std::string kNone;
  return program < paths.size() ? paths[program] : kNone;
}

void write_text(TextBuffer& out, const count::Counts& counts, const CountFacts& facts) {
  const count::Totals totals = counts.totals();
  const auto line = [&](std::string_view name, std::uint64_t value, std::string_view rest = {}) {
    out.put(fmt::format("{:<22}{:>20}{}\n", name, value, rest));
  };
  // An ITM or STM traces no instructions.
  const auto elements = [&](ElementKind kind) {
    return counts.others[static_cast<std::size_t>(kind)];
  };
  if (facts.inputs > 1) line("inputs", facts.inputs);
  const bool is_software = elements(ElementKind::kItmTrace) + elements(ElementKind::kSwTrace) != 0;
  if (totals.ranges != 0 || !is_software) {
    line("instructions", totals.instructions);
    line("ranges", totals.ranges, fmt::format("  {} distinct", counts.rows.size()));
    line("branches taken", totals.taken);
    line("branches not taken", totals.not_taken);
    line("calls", totals.calls);
  }
  if (facts.cycles) {
    line("cycles", totals.cycles);
    line("cycles of no range", counts.other_cycles);
  } else if (totals.ranges != 0) {
    out.put(fmt::format("{:<22}{:>20}\n", "cycles", "not traced"));
  }
  if (counts.pathless_instructions != 0)
    line("path not known", counts.pathless_instructions, "  instructions of Q elements");
  std::string others;
  for (std::size_t i = 0; i < counts.others.size(); ++i) {
    if (counts.others[i] == 0) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", counts.others[i],
                          kind_word(static_cast<ElementKind>(i)));
  }
  if (!others.empty()) out.put(fmt::format("other elements        {}\n", others));
  if (facts.damage.value_or(0) != 0)
    line("damage", *facts.damage, "  records: `waymark decode` shows them");
  if (counts.rest.ranges != 0)
    line("not listed", counts.rest.ranges, "  ranges: there are more distinct ones than fit");
}

void write_text(TextBuffer& out, std::span<const Row> rows, const count::Totals& totals,
                count::Order order, const CountFacts& facts) {
  constexpr std::string_view kLine =
      "{:>6} {:>14} {:>12} {:>12} {:>12} {:>10} {:>12}  {:<5} {:<12} {}\n";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "times", "taken", "not taken",
                      "calls", "cycles", "id", "context", "block"));
  const bool programs = facts.programs != nullptr;
  for (const Row& row : rows) {
    const std::uint64_t start = shown(row.range.start, facts);
    std::string line = fmt::format(
        fmt::runtime(kLine),
        fmt::format("{:.2f}%", share(count::weight(row, order), whole_of(totals, order))),
        row.instructions(), row.times(), row.taken(), row.not_taken(), row.calls(),
        cycles_cell(row.cycles, facts, "-"),
        programs ? "-" : fmt::format("0x{:02x}", row.context.trace_id),
        programs ? "all" : context_words(row.context),
        fmt::format("0x{:016x}-0x{:016x} {} {}", start, start + (row.range.end - row.range.start),
                    isa_name(row.range.isa), row.range.count));
    line.pop_back();
    out.put(line);
    if (programs) put_shown_program(out, program_at(row.range.start, facts));
    out.put('\n');
  }
}

void write_text(TextBuffer& out, std::span<const Branch> branches, const CountFacts& facts) {
  constexpr std::string_view kLine = "{:>14}  {:<5} {:<12} {:<18} {:<3} {:<18} {}\n";
  out.put(fmt::format(fmt::runtime(kLine), "times", "id", "context", "from", "", "to", "branch"));
  for (const Branch& branch : branches) {
    std::string words(instruction_word(branch.type));
    if (const auto subtype = subtype_word(branch.subtype); !subtype.empty())
      words += fmt::format(" {}", subtype);
    if (!branch.taken) words += " not taken";
    const bool programs = facts.programs != nullptr;
    std::string line =
        fmt::format(fmt::runtime(kLine), branch.times,
                    programs ? "-" : fmt::format("0x{:02x}", branch.context.trace_id),
                    programs ? "all" : context_words(branch.context),
                    address_or_unknown(shown(branch.from, facts)), "->",
                    address_or_unknown(shown(branch.to, facts)), words);
    line.pop_back();
    out.put(line);
    if (programs) {
      const std::string& from = program_at(branch.from, facts);
      put_shown_program(out, from);
      if (branch.to != kNoAddress && program_at(branch.to, facts) != from) {
        out.put(" ->");
        put_shown_program(out, program_at(branch.to, facts));
      }
    }
    out.put('\n');
  }
}

void write_text(TextBuffer& out, std::span<const FunctionRow> rows, std::uint64_t whole,
                count::Order order, const CountFacts& facts) {
  constexpr std::string_view kLine = "{:>7} {:>16} {:>14} {:>14} {:>16}  ";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "times called", "calls made",
                      "cycles"));
  out.put("function\n");
  for (const FunctionRow& row : rows) {
    out.put(fmt::format(
        fmt::runtime(kLine), fmt::format("{:.2f}%", share(count::weight(row, order), whole)),
        row.instructions, row.entered, row.calls, cycles_cell(row.cycles, facts, "-")));
    if (row.function == nullptr) {
      out.put("(no name)");
    } else {
      write_shown(out, readable_name(row.function->name));
    }
    if (facts.programs != nullptr) put_shown_program(out, facts.programs->path(row.program));
    out.put('\n');
  }
}

namespace {

/// How long exceptions took, if that is known.
void write_durations(TextBuffer& out, const count::ItmCounts& counts) {
  constexpr auto kLine = "{:<22}{:>20}  {:>12} {:>12} {:>12} {:>12} {:>12} {:>7}\n";
  bool first = true;
  for (const auto& [number, exception] : counts.exceptions) {
    if (exception.measured == 0) continue;
    if (first) {
      out.put(fmt::format(fmt::runtime(kLine), "ticks in exceptions", "measured", "total", "own",
                          "shortest", "average", "longest", "nested"));
    }
    first = false;
    out.put(fmt::format(fmt::runtime(kLine), fmt::format("exception {}", number),
                        exception.measured, exception.total, exception.own, exception.shortest,
                        exception.total / exception.measured, exception.longest,
                        exception.deepest));
  }
}

}  // namespace

void write_text(TextBuffer& out, const count::ItmCounts& counts, const SampleOptions& options) {
  const auto line = [&](std::string_view name, std::uint64_t value, std::string_view rest = {}) {
    if (value != 0) out.put(fmt::format("{:<22}{:>20}{}\n", name, value, rest));
  };
  for (const auto& [number, port] : counts.ports) {
    line(fmt::format("writes to port {}", number), port.writes,
         fmt::format("  {} bytes", port.bytes));
  }
  for (const auto& [number, exception] : counts.exceptions) {
    const std::string_view name = exception_word(number);
    out.put(fmt::format("{:<22}{:>20}  entered, {} exited, {} returned to{}{}\n",
                        fmt::format("exception {}", number), exception.entered, exception.exited,
                        exception.returned, name.empty() ? "" : "  ", name));
  }
  write_durations(out, counts);
  line("PC samples", counts.of(DwtKind::kPcSample),
       fmt::format("  {} distinct addresses", counts.samples.size()));
  for (const DwtLine& kind : kDwtLines) line(kind.text, counts.of(kind.kind));
  line("local timestamps", counts.local_timestamps);
  line("global timestamps", counts.global_timestamps);
  line("overflows", counts.overflows, "  packets were lost before");
  const std::vector<Sample> samples = top_samples(counts, options);
  if (samples.empty()) return;
  out.put(fmt::format("\n{:>6} {:>14}  {}\n", "share", "samples",
                      options.symbols == nullptr ? "address" : "function"));
  for (const Sample& sample : samples) {
    out.put(fmt::format("{:>6} {:>14}  ",
                        fmt::format("{:.2f}%", share(sample.times, counts.of(DwtKind::kPcSample))),
                        sample.times));
    if (sample.address) {
      out.put(fmt::format("0x{:016x}", *sample.address));
    } else if (sample.function == nullptr) {
      out.put("(no name)");
    } else {
      write_shown(out, readable_name(sample.function->name));
    }
    out.put('\n');
  }
}

void write_json(TextBuffer& out, const count::Counts& counts, TraceId id, const CountFacts& facts) {
  const count::Totals totals = counts.totals();
  out.put(fmt::format(
      R"({{"type":"count",{},"complete":{},"instructions":{},"ranges":{},"different_ranges":{},)"
      R"("taken":{},"not_taken":{},"calls":{},"cycles":{},"other_cycles":{},)"
      R"("pathless_instructions":{},"elements":{{)",
      facts.inputs > 1 ? fmt::format(R"("inputs":{})", facts.inputs)
                       : fmt::format(R"("id":{})", id),
      facts.complete, totals.instructions, totals.ranges, counts.rows.size(), totals.taken,
      totals.not_taken, totals.calls, json_cycles(totals.cycles, facts),
      json_cycles(counts.other_cycles, facts), counts.pathless_instructions));
  std::string_view comma;
  for (std::size_t i = 0; i < counts.others.size(); ++i) {
    if (counts.others[i] == 0) continue;
    out.put(fmt::format(R"({}"{}":{})", comma, kind_word(static_cast<ElementKind>(i)),
                        counts.others[i]));
    comma = ",";
  }
  out.put('}');
  if (facts.damage) out.put(fmt::format(R"(,"damage":{})", *facts.damage));
  out.put("}\n");
}

void write_json(TextBuffer& out, std::span<const Row> rows, const CountFacts& facts) {
  for (const Row& row : rows) {
    out.put(R"({"type":"count_block",)");
    if (facts.programs != nullptr) {
      put_json_program(out, "program", program_at(row.range.start, facts));
      out.put(fmt::format(R"("isa":"{}",)", isa_name(row.range.isa)));
    } else {
      put_json_context(out, row.context, row.range.isa);
    }
    const std::uint64_t start = shown(row.range.start, facts);
    out.put(fmt::format(R"("start":"0x{:x}","end":"0x{:x}","count":{},"times":{},)"
                        R"("instructions":{},"taken":{},"not_taken":{},"calls":{},"cycles":{})",
                        start, start + (row.range.end - row.range.start), row.range.count,
                        row.times(), row.instructions(), row.taken(), row.not_taken(), row.calls(),
                        json_cycles(row.cycles, facts)));
    if (const auto word = instruction_word(row.range.last_type); !word.empty())
      out.put(fmt::format(R"(,"last":"{}")", word));
    if (const auto word = subtype_word(row.range.last_subtype); !word.empty())
      out.put(fmt::format(R"(,"subtype":"{}")", word));
    if (row.range.conditional) out.put(R"(,"conditional":true)");
    if (row.target != kNoAddress)
      out.put(fmt::format(R"(,"target":"0x{:x}")", shown(row.target, facts)));
    out.put("}\n");
  }
}

void write_json(TextBuffer& out, std::span<const Branch> branches, const CountFacts& facts) {
  for (const Branch& branch : branches) {
    out.put(R"({"type":"count_branch",)");
    if (facts.programs != nullptr) {
      put_json_program(out, "program", program_at(branch.from, facts));
      if (branch.to != kNoAddress)
        put_json_program(out, "to_program", program_at(branch.to, facts));
      out.put(fmt::format(R"("isa":"{}",)", isa_name(branch.isa)));
    } else {
      put_json_context(out, branch.context, branch.isa);
    }
    out.put(fmt::format(R"("from":"0x{:x}",)", shown(branch.from, facts)));
    if (branch.to != kNoAddress) out.put(fmt::format(R"("to":"0x{:x}",)", shown(branch.to, facts)));
    out.put(fmt::format(R"("last":"{}",)", instruction_word(branch.type)));
    if (const auto word = subtype_word(branch.subtype); !word.empty())
      out.put(fmt::format(R"("subtype":"{}",)", word));
    out.put(fmt::format("\"taken\":{},\"times\":{}}}\n", branch.taken, branch.times));
  }
}

void write_json(TextBuffer& out, std::span<const FunctionRow> rows, const CountFacts& facts) {
  for (const FunctionRow& row : rows) {
    out.put(R"({"type":"count_function",)");
    if (facts.programs != nullptr)
      put_json_program(out, "program", facts.programs->path(row.program));
    if (row.function != nullptr) {
      out.put(R"("name":)");
      write_json_string(out, row.function->name);
      out.put(fmt::format(R"(,"start":"0x{:x}","last":"0x{:x}",)", row.function->start,
                          row.function->last));
    }
    out.put(fmt::format("\"instructions\":{},\"entered\":{},\"calls\":{},\"cycles\":{}}}\n",
                        row.instructions, row.entered, row.calls, json_cycles(row.cycles, facts)));
  }
}

void write_json(TextBuffer& out, const count::ItmCounts& counts, TraceId id,
                const SampleOptions& options) {
  out.put(fmt::format(R"({{"type":"count_itm","id":{},"stimulus":{},"exceptions":{},)"
                      R"("pc_samples":{},)",
                      id, counts.writes, counts.of(DwtKind::kException),
                      counts.of(DwtKind::kPcSample)));
  for (const DwtLine& kind : kDwtLines)
    out.put(fmt::format("\"{}\":{},", kind.json, counts.of(kind.kind)));
  out.put(fmt::format(R"("local_timestamps":{},"global_timestamps":{},"overflows":{}}})",
                      counts.local_timestamps, counts.global_timestamps, counts.overflows));
  out.put('\n');
  for (const auto& [number, port] : counts.ports) {
    out.put(fmt::format(R"({{"type":"count_port","id":{},"port":{},"writes":{},"bytes":{}}})", id,
                        number, port.writes, port.bytes));
    out.put('\n');
  }
  for (const auto& [number, exception] : counts.exceptions) {
    out.put(fmt::format(R"({{"type":"count_exception","id":{},"exception":{},)", id, number));
    if (const auto name = exception_word(number); !name.empty())
      out.put(fmt::format(R"("name":"{}",)", name));
    out.put(fmt::format(R"("entered":{},"exited":{},"returned":{})", exception.entered,
                        exception.exited, exception.returned));
    if (exception.measured != 0) {
      out.put(fmt::format(
          R"(,"measured":{},"total":{},"own":{},"shortest":{},"longest":{},"nested":{})",
          exception.measured, exception.total, exception.own, exception.shortest, exception.longest,
          exception.deepest));
    }
    out.put('}');
    out.put('\n');
  }
  for (const Sample& sample : top_samples(counts, options)) {
    out.put(fmt::format(R"({{"type":"count_sample","id":{},)", id));
    if (sample.address) out.put(fmt::format(R"("pc":"0x{:x}",)", *sample.address));
    if (sample.function != nullptr) {
      out.put(R"("function":)");
      write_json_string(out, sample.function->name);
      out.put(fmt::format(R"(,"start":"0x{:x}",)", sample.function->start));
    }
    out.put(fmt::format("\"times\":{}}}\n", sample.times));
  }
}

void write_csv(TextBuffer& out, std::span<const Row> rows, const CountFacts& facts) {
  out.put(
      fmt::format("{},start,end,count,times,instructions,last,subtype,conditional,taken,"
                  "not_taken,calls,cycles,target,complete{}\n",
                  kCsvContext, facts.programs != nullptr ? ",program" : ""));
  for (const Row& row : rows) {
    put_csv_context(out, row.context, row.range.isa, facts);
    const std::uint64_t start = shown(row.range.start, facts);
    out.put(fmt::format(
        ",0x{:x},0x{:x},{},{},{},{},{},{},{},{},{},{},{},{}", start,
        start + (row.range.end - row.range.start), row.range.count, row.times(), row.instructions(),
        instruction_word(row.range.last_type), subtype_word(row.range.last_subtype),
        row.range.conditional ? 1 : 0, row.taken(), row.not_taken(), row.calls(),
        cycles_cell(row.cycles, facts, ""),
        hex_if(row.target != kNoAddress, shown(row.target, facts)), facts.complete ? 1 : 0));
    end_csv(out, facts, row.range.start);
  }
}

void write_csv(TextBuffer& out, std::span<const Branch> branches, const CountFacts& facts) {
  out.put(fmt::format("{},from,to,last,subtype,taken,times,complete{}\n", kCsvContext,
                      facts.programs != nullptr ? ",program,to_program" : ""));
  for (const Branch& branch : branches) {
    put_csv_context(out, branch.context, branch.isa, facts);
    out.put(fmt::format(",0x{:x},{},{},{},{},{},{}", shown(branch.from, facts),
                        hex_if(branch.to != kNoAddress, shown(branch.to, facts)),
                        instruction_word(branch.type), subtype_word(branch.subtype),
                        branch.taken ? 1 : 0, branch.times, facts.complete ? 1 : 0));
    if (facts.programs != nullptr) {
      out.put(',');
      write_csv_field(out, program_at(branch.from, facts));
    }
    end_csv(out, facts, branch.to);
  }
}

void write_csv(TextBuffer& out, std::span<const FunctionRow> rows, const CountFacts& facts) {
  out.put(fmt::format("name,start,last,instructions,entered,calls,cycles,complete{}\n",
                      facts.programs != nullptr ? ",program" : ""));
  for (const FunctionRow& row : rows) {
    if (row.function != nullptr) {
      write_csv_field(out, row.function->name);
      out.put(fmt::format(",0x{:x},0x{:x}", row.function->start, row.function->last));
    } else {
      out.put(",,");
    }
    out.put(fmt::format(",{},{},{},{},{}", row.instructions, row.entered, row.calls,
                        cycles_cell(row.cycles, facts, ""), facts.complete ? 1 : 0));
    if (facts.programs != nullptr) {
      out.put(',');
      write_csv_field(out, facts.programs->path(row.program));
    }
    out.put('\n');
  }
}

void write_itm_csv_header(TextBuffer& out) {
  out.put("id,what,number,name,times,bytes,complete\n");
}

void write_csv(TextBuffer& out, const count::ItmCounts& counts, TraceId id,
               const SampleOptions& options, const CountFacts& facts) {
  const auto row = [&](std::string_view what, std::string_view number, std::string_view name,
                       std::uint64_t times, std::string_view bytes = {}) {
    if (times == 0) return;
    out.put(fmt::format("{},{},{},", id, what, number));
    write_csv_field(out, name);
    out.put(fmt::format(",{},{},{}\n", times, bytes, facts.complete ? 1 : 0));
  };
  for (const auto& [number, port] : counts.ports)
    row("stimulus", fmt::to_string(number), {}, port.writes, fmt::to_string(port.bytes));
  for (const auto& [number, exception] : counts.exceptions) {
    const std::string text = fmt::to_string(number);
    row("exception_entered", text, exception_word(number), exception.entered);
    row("exception_exited", text, exception_word(number), exception.exited);
    row("exception_returned", text, exception_word(number), exception.returned);
    row("exception_measured", text, exception_word(number), exception.measured);
    row("exception_total", text, exception_word(number), exception.total);
    row("exception_longest", text, exception_word(number), exception.longest);
  }
  for (const Sample& sample : top_samples(counts, options)) {
    const std::uint64_t begin = sample.function == nullptr ? 0 : sample.function->start;
    row("pc_sample",
        hex_if(sample.address || sample.function != nullptr, sample.address.value_or(begin)),
        sample.function == nullptr ? std::string_view() : std::string_view(sample.function->name),
        sample.times);
  }
  for (const DwtLine& kind : kDwtLines) row(kind.json, {}, {}, counts.of(kind.kind));
  row("local_timestamp", {}, {}, counts.local_timestamps);
  row("global_timestamp", {}, {}, counts.global_timestamps);
  row("overflow", {}, {}, counts.overflows);
}

}  // namespace waymark::outputs
