// The perf command that comes closest to a plan, and the shell script with its writes.
#include <fmt/format.h>

#include <algorithm>

#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {
namespace {

struct Candidate {
  PerfRequest request;
  std::vector<std::string> options;
  std::vector<std::string> filters;
  std::vector<std::string> differences;
};

// The upper half of the address space.
bool kernel_address(std::uint64_t address) { return address >> 63 != 0; }

// perf splits filters at blanks and commas.
bool accepts_name(std::string_view file) {
  return std::ranges::all_of(
      file, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != ','; });
}

/// Writes the addresses of filters as perf reads them: kernel addresses unchanged, other addresses
/// as offsets in a file.  etm4x-programming.md 10.
class Filters {
 public:
  Filters(const ProgramFinder& programs, Candidate& out) : programs_(programs), out_(out) {}

  /// `size` 0: a point.
  void add(std::string_view action, std::uint64_t address, std::uint64_t size) {
    std::string text = fmt::format("{} ", action);
    const std::string length = size == 0 ? "" : fmt::format("/0x{:x}", size);
    const auto place = kernel_address(address) || !programs_ ? std::nullopt : programs_(address);
    if (kernel_address(address)) {
      text += fmt::format("0x{:x}{}", address, length);
    } else if (place && accepts_name(place->file)) {
      text += fmt::format("0x{:x}{}@{}", place->offset, length, place->file);
      named_ = true;
      if (size > place->left) {
        out_.differences.push_back(
            fmt::format("0x{:x}..0x{:x} reaches beyond its segment of {}, where perf ends it",
                        address, address + size + 1, place->file));
      }
    } else if (place) {
      text += fmt::format("0x{:x}{}@FILE", place->offset, length);
      out_.differences.push_back(fmt::format(
          "perf does not accept a file name with a space or a comma: give {} another name, and "
          "replace FILE with it",
          place->file));
    } else {
      text += fmt::format("OFFSET{}@FILE", length);
      unknown_ += fmt::format("{}0x{:x}", unknown_.empty() ? "" : ", ", address);
    }
    out_.filters.push_back(std::move(text));
  }

  void finish() {
    if (!unknown_.empty()) {
      out_.differences.push_back(
          fmt::format("perf names user code by its offset in the program's file, and the program "
                      "at {} is not known: name it with --elf, or replace OFFSET "
                      "and FILE",
                      unknown_));
    }
    if (named_)
      out_.differences.emplace_back("perf needs the program under this name on the target");
  }

 private:
  const ProgramFinder& programs_;
  Candidate& out_;
  std::string unknown_;
  bool named_ = false;
};

Candidate candidate_of(const Plan& plan, const ProgramFinder& programs) {
  Candidate c;
  const auto option = [&c](bool PerfRequest::* member, std::string_view name, bool on) {
    c.request.*member = on;
    if (on) c.options.emplace_back(name);
  };
  option(&PerfRequest::cycacc, "cycacc", plan.cycles.has_value());
  if (plan.cycles && plan.cycles->value != 0) {
    c.request.cc_threshold = plan.cycles->value;
    c.options.push_back(fmt::format("cc_threshold={}", plan.cycles->value));
  }
  option(&PerfRequest::timestamp, "timestamp", plan.timestamps.has_value());
  option(&PerfRequest::contextid1, "contextid1", plan.trace_context_id.has_value());
  option(&PerfRequest::contextid2, "contextid2",
         plan.trace_vmid.has_value() && plan.trace_vmid->value);
  option(&PerfRequest::retstack, "retstack", plan.return_stack.has_value());
  option(&PerfRequest::branch_broadcast, "branch_broadcast",
         plan.broadcast == BroadcastKind::kEverywhere);
  if (plan.strobe && plan.strobe->window == Configuration::kDefaultWindow) {
    constexpr const auto& kPeriods = Configuration::kPeriods;
    const auto* const at = std::ranges::find(kPeriods, plan.strobe->period);
    if (at != kPeriods.end()) {
      c.request.configid = Configuration::kAutofdoHash;
      c.request.preset = static_cast<std::uint32_t>(at - kPeriods.begin()) + 1;
      c.options.emplace_back("autofdo");
      c.options.push_back(fmt::format("preset={}", c.request.preset));
    }
  }
  Filters filters(programs, c);
  const bool ranges = std::ranges::any_of(plan.ranges, [](const auto& r) { return !r.exclude; });
  for (const PlanRange& range : plan.ranges) {
    if (range.exclude) continue;
    // The unit traces the end address as well.
    const std::uint64_t size = range.match.last - range.match.first;
    if (size == 0) continue;
    c.request.filters.push_back({FilterAction::kFilter, range.match.first, size});
    filters.add("filter", range.match.first, size);
  }
  for (const PlanPoint& point : plan.points) {
    if (ranges) break;
    c.request.filters.push_back(
        {point.stop ? FilterAction::kStop : FilterAction::kStart, point.match.first, 0});
    filters.add(point.stop ? "stop" : "start", point.match.first, 0);
  }
  filters.finish();
  return c;
}

// For settings that have one value: the value that the event has instead.
std::string instead(std::string_view wanted, const Plan& done) {
  constexpr std::array<std::string_view, 7> kSingle = {
      "levels ", "when ", "cycles ", "begin ", "sync ", "timestamps ", "strobe "};
  for (const std::string_view word : kSingle) {
    if (!wanted.starts_with(word)) continue;
    for (const std::string& line : plan_lines(done)) {
      if (line.starts_with(word)) return fmt::format(" (it makes this: {})", line);
    }
  }
  return "";
}

// The text as one word of a shell.
std::string in_quotes(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

PerfLine perf_line(const Plan& plan, const IdRegisters& id, const Environment& environment,
                   const ProgramFinder& programs) {
  PerfLine line;
  Candidate c = candidate_of(plan, programs);
  const unsigned user = 1U << 4;
  const unsigned kernel = environment.kernel_at_el2 ? 1U << 6 : 1U << 5;
  const unsigned levels = plan.levels ? plan.levels->value : user | kernel;
  std::string modifier;
  if ((levels & kernel) == 0) {
    c.request.exclude_kernel = true;
    modifier = "u";
  } else if ((levels & user) == 0) {
    c.request.exclude_user = true;
    modifier = "k";
  }
  c.request.start_stop_started = plan.begin_started && plan.begin_started->value;

  std::string event = fmt::format("cs_etm/{}", fmt::join(c.options, ","));
  if (!plan.sinks.empty()) {
    event += fmt::format("{}@{}", c.options.empty() ? "" : ",", plan.sinks.front().name);
  }
  line.command = fmt::format("perf record -e {}/{}", event, modifier);
  if (!c.filters.empty()) {
    line.command +=
        fmt::format(" --filter {}", in_quotes(fmt::format("{}", fmt::join(c.filters, ", "))));
  }
  line.command += " -- COMMAND";

  Unit unit(id, environment);
  const auto image = unit.perf_start(c.request);
  if (!image) {
    line.differences.push_back(fmt::format("perf refuses this ({}): {}",
                                           errno_name(image.error().error), image.error().rule));
    return line;
  }
  line.possible = true;
  line.differences = std::move(c.differences);
  // The real effect of the event, as lines of a plan.
  std::vector<std::string> missing;
  const Plan done = plan_of(*image, unit.caps);
  contains_plan(done, plan, missing);
  for (const std::string& wanted : missing) {
    // Comparators of perf match at the traced levels only.  This makes no difference.
    const bool filters = wanted.starts_with("include ") || wanted.starts_with("start ") ||
                         wanted.starts_with("stop ");
    const bool found = filters && std::ranges::any_of(plan_lines(done), [&](const auto& have) {
                         return have.starts_with(wanted + " at ");
                       });
    if (!found)
      line.differences.push_back("perf cannot express: " + wanted + instead(wanted, done));
  }
  if (plan.timestamps && plan.timestamps->event.kind == EventKind::kNever) {
    line.differences.emplace_back(
        "perf also inserts timestamps at an interval, which takes a counter");
  }
  if (!plan.timestamps || !plan.trace_context_id) {
    line.differences.emplace_back(
        "when it records per CPU, perf switches on timestamp and contextid by itself");
  }
  return line;
}

std::string shell_script(const CompiledPlan& compiled, const Plan& plan, std::string_view root,
                         std::string_view unit) {
  std::string text = fmt::format(
      "#!/bin/sh\n# Programs {}.  Stops at the first write that fails, and names it.\n"
      "cd {} || exit 1\n"
      "put() {{\n  printf '%s\\n' \"$2\" >\"$1\" || {{ echo \"failed: '$2' to $1\" >&2; exit 1; "
      "}}\n"
      "}}\n",
      unit, in_quotes(root));
  for (const PlanSink& sink : plan.sinks) {
    if (sink.buffer != 0) text += fmt::format("put {}/buffer_size {}\n", sink.name, sink.buffer);
    text += fmt::format("put {}/enable_sink 1\n", sink.name);
  }
  for (const SysfsWrite& write : compiled.writes) {
    text += fmt::format("put {}/{} '{}'\n", unit, write.file, write.value);
  }
  for (const PlanProblem& problem : compiled.beyond_sysfs) {
    text += fmt::format("# Not done: {}\n", problem.text());
  }
  text += fmt::format("# Start with:  echo 1 >{}/enable_source\n", unit);
  return text;
}

}  // namespace waymark::etm4x
