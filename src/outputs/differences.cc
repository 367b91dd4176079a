#include "differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "waymark/base/escape.h"
#include "waymark/base/plural.h"

namespace waymark::outputs {
namespace {

using diff::Cause;
using diff::Side;

std::string difference(std::uint64_t a, std::uint64_t b) {
  if (a == b) return "0";
  return b > a ? fmt::format("+{}", b - a) : fmt::format("-{}", a - b);
}

std::string frame_text(const DifferenceFrame& frame) {
  std::string text = frame.function.empty() ? std::string("[unknown]") : frame.function;
  if (!frame.function.empty() && frame.offset != 0) text += fmt::format("+0x{:x}", frame.offset);
  if (frame.line != 0) {
    const std::size_t slash = frame.file.rfind('/');
    text += fmt::format(" ({}:{})", frame.file.substr(slash + 1), frame.line);
  }
  if (frame.address != 0) text += fmt::format(", 0x{:x}", frame.address);
  return text;
}

bool same_functions(const DifferencePlace& a, const DifferencePlace& b) {
  return std::ranges::equal(a.stack, b.stack, {}, &DifferenceFrame::function,
                            &DifferenceFrame::function);
}

void write_stack(TextBuffer& out, const DifferencePlace& place, std::string_view of) {
  out.put(fmt::format("   call stack of {}\n", of));
  if (place.stack.empty()) out.put("     not known\n");
  for (const DifferenceFrame& frame : place.stack)
    out.put(fmt::format("     {}\n", escaped(frame_text(frame))));
}

void write_programs(TextBuffer& out, const diff::Programs& programs) {
  for (const diff::ProgramPair& pair : programs.pairs()) {
    if (pair.match != diff::Match::kBuilds) continue;
    const auto id = [&](Side side) { return build_id_text(*pair.programs[side]); };
    out.put(fmt::format(
        "{} in A (build ID {}) and {} in B (build ID {}) are two builds: their functions are\n"
        "compared by name, and places in them by source line if their sizes differ, else by "
        "offset.\n",
        escaped(pair.programs[0]->path()), id(0), escaped(pair.programs[1]->path()), id(1)));
  }
}

void write_threads(TextBuffer& out, const DifferenceReport& report) {
  for (const diff::ThreadPair& pair : report.comparison.threads()) {
    const std::string name = escaped(thread_text(pair));
    if (!pair.threads[0] && !pair.threads[1]) continue;
    for (Side side = 0; side < diff::kSides; ++side) {
      if (!pair.threads[side]) {
        out.put(fmt::format("Only {} has {}: {}.\n", kRunNames[1 - side], name,
                            counted(pair.instructions[1 - side], "instruction")));
      }
      if (pair.not_compared[side] != 0) {
        out.put(
            fmt::format("{} of {} in {} were not compared: the order of threads differs too much "
                        "for the memory limit.\n",
                        counted(pair.not_compared[side], "step"), name, kRunNames[side]));
      }
    }
    if (pair.by_order)
      out.put(fmt::format("{} was compared with the thread that replaced it in B.\n", name));
  }
}

/// The run whose place is shown for both.
Side shown_side(const diff::Divergence& divergence,
                const std::array<DifferencePlace, diff::kSides>& places) {
  if (divergence.left && places[*divergence.left].found) return *divergence.left;
  return places[0].found ? 0 : 1;
}

/// "at work+0x34" or "200 times at work+0x34".
void write_times(TextBuffer& out, const DifferenceReport& report, std::size_t number) {
  const std::uint64_t times = report.comparison.divergences()[number].times;
  std::string line = times > 1 ? counted(times, "time") : std::string();
  if (const std::string where = where_of(report, number); !where.empty())
    line += fmt::format("{}at {}", line.empty() ? "" : " ", where);
  if (!line.empty()) out.put(fmt::format("   {}\n", escaped(line)));
}

void write_where(TextBuffer& out, const DifferenceReport& report, std::size_t number) {
  const diff::Divergence& divergence = report.comparison.divergences()[number];
  const auto& places = report.places[number];
  const Side shown = shown_side(divergence, places);
  write_times(out, report, number);
  for (Side side = 0; side < diff::kSides; ++side) {
    out.put(fmt::format("   {}: {}after {}", kRunNames[side], divergence.times > 1 ? "first " : "",
                        counted(divergence.at[side].instruction, "instruction")));
    if (places[side].found) out.put(fmt::format(", at byte {} of the trace", places[side].index));
    out.put('\n');
  }
  if (!places[0].found && !places[1].found) return;
  if (same_functions(places[0], places[1])) {
    write_stack(out, places[shown], "both");
  } else {
    for (Side side = 0; side < diff::kSides; ++side)
      write_stack(out, places[side], kRunNames[side]);
  }
}

void write_divergence(TextBuffer& out, const DifferenceReport& report, std::size_t number) {
  const diff::Comparison& all = report.comparison;
  const diff::Divergence& divergence = all.divergences()[number];
  out.put(fmt::format("\n{}. {}: {}\n", number + 1,
                      escaped(thread_text(all.threads()[divergence.thread])),
                      escaped(sentence_of(report, number))));
  if (number < report.places.size()) {
    write_where(out, report, number);
  } else {
    write_times(out, report, number);
  }
  if (divergence.cause == Cause::kEnd) return;
  const std::string apart =
      fmt::format("{} A executed {} and B {}", divergence.times > 1 ? "the first time," : "then",
                  counted(divergence.detours[0].instructions, "instruction"),
                  divergence.detours[1].instructions);
  if (divergence.joined == diff::kNoBlock) {
    out.put(fmt::format("   {}; they could not be aligned again within {} steps\n", apart,
                        diff::Aligner::kMostDistance));
    return;
  }
  const diff::BlockPlace& place = shown_place(all.blocks()[divergence.joined]);
  out.put(fmt::format("   {}; both {} {}\n", apart,
                      divergence.joined_inside ? "reached" : "continued at",
                      escaped(place_text(divergence.joined_inside ? place.end() : place.start))));
}

void write_agreement(TextBuffer& out, const diff::Comparison& all,
                     const diff::Agreement& agreement) {
  std::string distinct;
  std::uint64_t listed = 0;
  for (const diff::Divergence& divergence : all.divergences()) listed += divergence.times;
  if (listed != agreement.divergences) {
    distinct = fmt::format(", more than {} distinct", all.divergences().size());
  } else if (all.divergences().size() != agreement.divergences) {
    distinct = fmt::format(", {} distinct", all.divergences().size());
  }
  out.put(fmt::format("{}{}; apart from them, A executed {} and B {}.\n",
                      counted(agreement.divergences, "divergence"), distinct,
                      counted(agreement.apart[0].instructions, "instruction"),
                      agreement.apart[1].instructions));
  if (agreement.not_joined == 0) return;
  out.put(fmt::format("After {}, the runs could not be aligned again within {} steps.\n",
                      counted(agreement.not_joined, "divergence"), diff::Aligner::kMostDistance));
}

void write_sums(TextBuffer& out, const diff::Change& change, bool cycles, std::string_view name) {
  out.put(fmt::format("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}", change.sums[0].times,
                      change.sums[1].times, change.sums[0].instructions,
                      change.sums[1].instructions,
                      difference(change.sums[0].instructions, change.sums[1].instructions)));
  if (cycles) {
    out.put(fmt::format("  {:>12}  {:>12}  {:>12}", change.sums[0].cycles, change.sums[1].cycles,
                        difference(change.sums[0].cycles, change.sums[1].cycles)));
  }
  out.put(fmt::format("  {}\n", escaped(name)));
}

template <class Name>
void write_changes(TextBuffer& out, const std::vector<diff::Change>& changes, bool cycles,
                   std::size_t most, std::string_view what, Name&& name) {
  if (changes.empty()) return;
  out.put(fmt::format("\n{}s that were executed differently\n", what));
  out.put(fmt::format("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}", "times A", "times B", "instr. A",
                      "instr. B", "difference"));
  if (cycles)
    out.put(fmt::format("  {:>12}  {:>12}  {:>12}", "cycles A", "cycles B", "difference"));
  out.put(fmt::format("  {}\n", what));
  for (std::size_t i = 0; i < std::min(most, changes.size()); ++i)
    write_sums(out, changes[i], cycles, name(changes[i].number));
  if (changes.size() > most) out.put(fmt::format("and {} more\n", changes.size() - most));
}

}  // namespace

std::string where_of(const DifferenceReport& report, std::size_t number) {
  const diff::Divergence& divergence = report.comparison.divergences()[number];
  if (number < report.places.size()) {
    const auto& places = report.places[number];
    const DifferencePlace& place = places[shown_side(divergence, places)];
    if (!place.stack.empty()) return frame_text(place.stack.front());
  }
  const auto parts = report.comparison.common_part(divergence);
  return parts ? place_text((*parts)[divergence.left.value_or(0)].last()) : std::string();
}

std::uint64_t times_of(const DifferenceReport& report, std::size_t number) {
  return report.comparison.divergences()[number].times;
}

std::string thread_of(const DifferenceReport& report, std::size_t number) {
  const diff::Comparison& all = report.comparison;
  return thread_text(all.threads()[all.divergences()[number].thread]);
}

void write_text(TextBuffer& out, const DifferenceReport& report) {
  const diff::Comparison& all = report.comparison;
  const auto totals = all.totals();
  const diff::Agreement agreement = all.agreement();
  for (Side side = 0; side < diff::kSides; ++side) {
    out.put(fmt::format("{}: {}, {}\n", kRunNames[side], escaped(report.inputs[side]),
                        counted(totals[side].instructions, "instruction")));
  }
  write_programs(out, all.programs());
  write_threads(out, report);
  if (report.exceptions_ignored) out.put("Asynchronous exceptions are left out.\n");
  for (const std::string& name : report.ignored)
    out.put(fmt::format("{} and what it calls are left out.\n", escaped(name)));
  if (all.is_full()) out.put("The runs have too many distinct steps: the rest is not compared.\n");
  if (all.are_same()) {
    out.put("The runs are the same.\n");
    return;
  }
  if (agreement.divergences == 0) {
    out.put("What was compared is the same.\n");
  } else {
    write_agreement(out, all, agreement);
  }
  const std::size_t shown = std::max<std::size_t>(report.places.size(), 1);
  for (std::size_t i = 0; i < std::min(shown, all.divergences().size()); ++i)
    write_divergence(out, report, i);
  std::uint64_t rest = agreement.divergences;
  for (std::size_t i = 0; i < std::min(shown, all.divergences().size()); ++i)
    rest -= all.divergences()[i].times;
  if (rest != 0) out.put(fmt::format("\nand {}\n", counted(rest, "more divergence")));
  const bool cycles = totals[0].cycles != 0 || totals[1].cycles != 0;
  write_changes(out, all.function_changes(), cycles, report.most_rows, "function",
                [&](std::uint32_t number) { return function_text(all.programs(), number); });
  write_changes(out, all.block_changes(), cycles, report.most_rows, "block",
                [&](std::uint32_t number) {
                  const diff::BlockPlace& place = shown_place(all.blocks()[number]);
                  return fmt::format("{} to {}", place_text(place.start), place_text(place.last()));
                });
}

}  // namespace waymark::outputs
