// waymark count: what was executed, and how often.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "call_tables.h"
#include "command.h"
#include "commands.h"
#include "counting.h"
#include "decode_parallel.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "format.h"
#include "image_mismatches.h"
#include "input_options.h"
#include "live_options.h"
#include "missing_programs.h"
#include "option_values.h"
#include "profile_collector.h"
#include "program_counts.h"
#include "run.h"
#include "selection.h"
#include "symbol_options.h"
#include "waymark/base/plural.h"
#include "waymark/count/functions.h"
#include "waymark/count/itm_counts.h"
#include "waymark/count/ranking.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/outputs/counts.h"
#include "window.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kUsualTop = 20;

struct CountOptions {
  InputOptions input;
  std::vector<std::string> inputs;
  Format format = Format::kText;
  std::string output;
  bool statistics = false;
  std::size_t top = 0;
  bool all = false;
  bool edges = false;
  SymbolOptions symbols;
  SelectionOptions selection;
  count::Order order = count::Order::kInstructions;
  bool ordered = false;  ///< --by was given.
  unsigned threads = 0;  ///< 0: not given.
  WindowOptions window;
  CallTableOptions calls;

  void set_defaults();
  /// Otherwise only the totals are written.
  [[nodiscard]] bool wants_table() const { return symbols.functions || top != 0 || all; }
};

void CountOptions::set_defaults() {
  // CSV has nothing else.
  if (format == Format::kCsv && top == 0) all = true;
  // An order, branches or functions are useless without rows.
  if ((edges || symbols.functions || ordered) && top == 0 && !all) top = kUsualTop;
}

/// The output, and its form.
struct View {
  const CountOptions& options;
  const image::Symbols& symbols;
  count::ReadHalfword code{};
  outputs::CountFacts facts{};
  const ProgramCounts* programs = nullptr;  ///< nullptr: the capture is not a recording.

  [[nodiscard]] std::size_t most() const {
    return options.all ? std::numeric_limits<std::size_t>::max() : options.top;
  }
  [[nodiscard]] outputs::SampleOptions samples() const {
    return {.most = most(), .symbols = options.symbols.functions ? &symbols : nullptr};
  }
};

void write_functions(TextBuffer& out, const count::Counts& counts, const View& view) {
  const CountOptions& options = view.options;
  std::vector<count::FunctionRow> rows = view.programs == nullptr
                                             ? count::functions(counts, view.symbols, view.code)
                                             : view.programs->functions();
  std::uint64_t whole = 0;
  for (const count::FunctionRow& row : rows) whole += count::weight(row, options.order);
  rows = count::top(std::move(rows), options.order, view.most());
  if (options.format == Format::kJson) return outputs::write_json(out, rows, view.facts);
  if (options.format == Format::kCsv) return outputs::write_csv(out, rows, view.facts);
  if (rows.empty()) return;
  out.put('\n');
  outputs::write_text(out, rows, whole, options.order, view.facts);
}

void write_rows(TextBuffer& out, const count::Counts& counts, const View& view) {
  const CountOptions& options = view.options;
  if (options.edges) {
    const std::vector<count::Branch> rows = count::top_branches(counts, view.most());
    if (options.format == Format::kJson) return outputs::write_json(out, rows, view.facts);
    if (options.format == Format::kCsv) return outputs::write_csv(out, rows, view.facts);
    if (rows.empty()) return;
    out.put('\n');
    return outputs::write_text(out, rows, view.facts);
  }
  const std::vector<count::Row> rows = count::top(counts, options.order, view.most());
  if (options.format == Format::kJson) return outputs::write_json(out, rows, view.facts);
  if (options.format == Format::kCsv) return outputs::write_csv(out, rows, view.facts);
  if (rows.empty()) return;
  out.put('\n');
  outputs::write_text(out, rows, counts.totals(), options.order, view.facts);
}

void write_table(TextBuffer& out, const count::Counts& counts, const View& view) {
  if (view.options.symbols.functions) {
    write_functions(out, counts, view);
  } else {
    write_rows(out, counts, view);
  }
}

/// The same by program.
void write_table(TextBuffer& out, const ProgramCounts& programs, View view) {
  outputs::ProgramNames names;
  names.addresses = &programs.addresses;
  for (const CountedProgram& program : programs.programs) names.paths.push_back(program.path);
  view.facts.programs = &names;
  view.programs = &programs;
  write_table(out, programs.counts, view);
}

void write_counts(TextBuffer& out, const inputs::Capture& capture, Counted& counted, View view) {
  const CountOptions& options = view.options;
  count::Counts all;
  bool only_itm = true;
  for (std::size_t i = 0; i < counted.by_source.size(); ++i) {
    only_itm = only_itm && !counted.itm[i].empty();
    view.facts.cycles = counted.by_source[i].has_cycles();
    if (options.format == Format::kJson) {
      const TraceId id = capture.sources()[i].id;
      view.facts.damage = counted.damage[i];
      outputs::write_json(out, counted.by_source[i], id, view.facts);
      if (!counted.itm[i].empty()) outputs::write_json(out, counted.itm[i], id, view.samples());
    }
    all.add(counted.by_source[i]);
    counted.by_source[i] = {};
  }
  view.facts.cycles = all.has_cycles();
  view.facts.damage = counted.all_damage;
  if (options.order == count::Order::kCycles && !view.facts.cycles) {
    note(fmt::format("--by cycles has nothing to order: {}",
                     traces_a_core(capture) ? "the trace has no cycle counts; enable them in the "
                                              "trace unit, or choose another order."
                                            : "no source traces instructions."));
  }
  if (options.format == Format::kText) {
    if (!view.facts.complete) {
      out.put(fmt::format("{:<22}{:>20}  of {} bytes: counting did not reach the end\n",
                          "PARTIAL COUNTS up to", counted.read_to, capture.trace_bytes()));
    }
    outputs::write_text(out, all, view.facts);
    for (const count::ItmCounts& itm : counted.itm)
      if (!itm.empty()) outputs::write_text(out, itm, view.samples());
  }
  if (options.format == Format::kCsv && only_itm) {
    outputs::write_itm_csv_header(out);
    for (std::size_t i = 0; i < counted.itm.size(); ++i) {
      outputs::write_csv(out, counted.itm[i], capture.sources()[i].id, view.samples(), view.facts);
    }
    return;
  }
  if (!options.wants_table()) return;
  // A program is at other addresses in each process, and an address has several programs.
  if (capture.processes() != nullptr)
    return write_table(out, fold_programs(all, *capture.processes()), view);
  write_table(out, all, view);
}

/// The sum of several inputs.
void write_sum(TextBuffer& out, const ProgramCounts& sum, const CountOptions& options,
               const Collector& collected) {
  const image::Symbols none;
  View view{.options = options,
            .symbols = none,
            .facts = {.cycles = sum.counts.has_cycles(),
                      .complete = collected.code() == kOk,
                      .inputs = collected.used()}};
  if (options.format == Format::kJson) outputs::write_json(out, sum.counts, {}, view.facts);
  if (options.format == Format::kText) outputs::write_text(out, sum.counts, view.facts);
  if (options.wants_table()) write_table(out, sum, view);
}

/// Each input is counted as a shard of a job counts it.
int run_sum(CountOptions options) {
  if (options.calls.given() || options.window.given() || options.statistics)
    return complain("--tree, --callers, --callees, --from, --to and --stats take only one INPUT.",
                    kUsage);
  if (!options.input.live.record.empty())
    return complain("--record saves the trace of a single INPUT.", kUsage);
  options.input.live.allowed = false;
  ExportOptions wanted;
  wanted.input = options.input;
  wanted.symbols = options.symbols;
  wanted.selection = options.selection;
  wanted.threads = options.threads;
  ProgramSum sum;
  Collector collected(wanted, {.code = true, .names = false},
                      [&sum](const count::Counts& counts, const profile::Locate& locate) {
                        sum.add(counts, locate);
                      });
  for (const std::string& path : options.inputs) {
    const int code = collected.add(path);
    if (code == kInterrupted || code == kUsage || code == kMemory) return code;
  }
  if (collected.used() == 0) return collected.code();
  if (collected.used() < options.inputs.size()) {
    note(fmt::format("this is the sum of {} of {}.", collected.used(),
                     counted(options.inputs.size(), "input")));
  }
  auto output = Output::open(options.output, collected.files());
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  write_sum(output->text(), sum.take(), options, collected);
  return finish_output(*output, collected.code());
}

/// --tree, --callers and --callees follow the stacks of threads, which totals do not need.
int run_call_tables(const CountOptions& options) {
  return write_call_tables({.input = options.input,
                            .output = options.output,
                            .format = options.format,
                            .symbols = options.symbols.files,
                            .selection = options.selection,
                            .window = options.window,
                            .calls = options.calls,
                            .most = options.all        ? std::numeric_limits<std::size_t>::max()
                                    : options.top != 0 ? options.top
                                    : options.format == Format::kCsv
                                        ? std::numeric_limits<std::size_t>::max()
                                        : kUsualTop,
                            .statistics = options.statistics});
}

int run(CountOptions options) {
  if (options.inputs.size() > 1) {
    options.set_defaults();
    return run_sum(std::move(options));
  }
  options.input.path = options.inputs.front();
  // The tables of calls read the capture in another way.
  if (options.calls.given()) options.input.live.allowed = false;
  if (options.calls.given()) return run_call_tables(options);
  if (options.window.given()) options.input.live.whole = "a part of the trace";
  Window window(options.input, options.window);
  auto capture = open_capture(options.input, {}, true, window.known_id_bytes(), true);
  if (!capture) return capture.error();
  auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  image::Symbols symbols;
  if (options.symbols.functions && capture->processes() == nullptr) {
    auto found = load_symbols(*capture, options.symbols);
    if (!found) return complain_of_symbols(found.error());
    symbols = std::move(*found);
  }
  const std::vector<std::string> files =
      window.input_files(*capture, program_paths(options.symbols.files));
  if (const auto safe = refuse_input(options.output, files); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  if (const int code = window.open(*capture); code != kOk) return code;
  options.set_defaults();
  Counted counted = window.given() ? count_window(*capture, *selection, window, *output)
                                   : count_all(*capture, *selection, options.threads);
  std::optional<MissingPrograms> missing;
  if (capture->processes() != nullptr) {
    missing.emplace(*capture);
    for (const count::Counts& counts : counted.by_source) missing->add(counts);
  }
  if (*selection && (*selection)->by_program()) keep_programs(counted, **selection);
  int code = counted.code;
  // Counts with unknown gaps would mislead.
  if (code == kMemory) return code;
  if (code == kOk && !counted_something(counted)) {
    code = report_nothing(inputs::trace_name(*capture), *capture, *selection, window,
                          missing ? &*missing : nullptr);
    missing.reset();
  }
  // Ctrl-C is the usual end of a live trace.
  const bool is_live_end = capture->live() && counted.code == kInterrupted;
  write_counts(output->text(), *capture, counted,
               {.options = options,
                .symbols = symbols,
                .code = code_reader(*capture),
                .facts = {.cycles = true,
                          .complete = counted.code == kOk || is_live_end,
                          .damage = counted.all_damage}});
  code = finish_output(*output, code);
  if (missing) missing->report();
  report_mismatches(*capture, code);
  if (options.statistics && code != kReaderLeft) print_statistics(*capture);
  return code;
}

}  // namespace

void add_count(Command& app, int& exit_code) {
  auto options = std::make_shared<CountOptions>();
  Command* command =
      app.add_subcommand("count", "Count executed instructions, branches and cycles");
  add_input_options(*command, options->input, options->inputs);
  command->get_option("INPUT")->required();
  add_format_option(*command, options->format, true);
  command->add_option("-o,--output", options->output, "write to this file")->type_name("FILE");
  command
      ->add_option("--top", options->top,
                   "also show the first N blocks; default with --by, --edges or --functions: 20")
      ->type_name("N")
      ->at_least(1);
  command->add_flag("--all", options->all, "show all blocks; the default for CSV")
      ->excludes("--top");
  command
      ->add_option_function(
          "--by",
          [options](const std::string& name) {
            options->ordered = true;
            options->order = count::Order::kInstructions;
            if (name == "times") options->order = count::Order::kTimes;
            if (name == "cycles") options->order = count::Order::kCycles;
            if (name == "calls") options->order = count::Order::kCalls;
          },
          "the order of the blocks, the highest count first; blocks with a count of 0 are left "
          "out; for functions, times is the number of calls; default: instructions")
      ->type_name("WHAT")
      ->check(one_of({"instructions", "times", "cycles", "calls"}));
  Option* const edges = command->add_flag(
      "--edges", options->edges,
      "show branches and their targets instead of blocks, the most frequent first");
  Option* const functions = add_symbol_options(
      *command, options->symbols, "show functions instead of blocks, with all contexts together");
  functions->excludes(edges);
  add_call_table_options(*command, options->calls);
  Option* const symbols = command->get_option("--symbols");
  symbols->remove_needs(functions);
  command->parse_complete_callback([options, symbols] {
    if (!options->symbols.files.empty() && !options->symbols.functions && !options->calls.given() &&
        options->inputs.size() < 2)
      refuse_without(*symbols, "--functions or --tree");
  });
  add_selection_options(*command, options->selection);
  add_threads_option(*command, options->threads);
  add_window_options(*command, options->window);
  add_live_options(*command, options->input, false);
  command->add_flag("--stats", options->statistics,
                    "also print counts of bytes and packets on standard error");
  command->footer(
      "A block is a run of instructions up to a branch. An exception ends it early.\nCycles come "
      "from the cycle counts in the trace. Each count is divided among the blocks\nsince the "
      "previous one, in proportion to their instructions.\nFor an ITM, ports, exceptions, PC "
      "samples and so on are counted instead.\nCounts of several INPUTs are added up by program.\n"
      "\n"
      "Examples:\n"
      "  waymark count board/\n"
      "  waymark count board/ --top 20 --by times\n"
      "  waymark count board/ --functions\n"
      "  waymark count board/ --edges --top 20\n"
      "  waymark count board/ --tree --top 50\n"
      "  waymark count board/ --callers memcpy\n"
      "  waymark count board/ --from t:8123456 --to t:8200000\n"
      "  waymark count runs/*/perf.data --symfs sysroot/ --functions\n"
      "  waymark count board/ --format csv -o blocks.csv");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
