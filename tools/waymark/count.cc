// waymark count: how often what was executed.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "commands.h"
#include "decode_parallel.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "interrupt.h"
#include "option_values.h"
#include "progress.h"
#include "run.h"
#include "symbol_options.h"
#include "waymark/count/counter.h"
#include "waymark/count/functions.h"
#include "waymark/count/ranking.h"
#include "waymark/outputs/counts.h"
#include "waymark/parallel/counting.h"
#include "waymark/parallel/parallel_decoder.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kUsualTop = 20;

struct CountOptions {
  InputOptions input;
  Format format = Format::kText;
  std::string output;
  bool statistics = false;
  std::size_t top = 0;
  bool all = false;
  bool edges = false;
  SymbolOptions symbols;
  count::Order order = count::Order::kInstructions;
  bool ordered = false;  ///< The order was said.
  unsigned threads = 0;  ///< 0: not said.
};

/// By source, in the order of Capture::sources().
using CountsOfAll = std::vector<count::Counts>;

/// One thread: each source with its counter.
class Counting {
 public:
  explicit Counting(inputs::Capture& capture) : capture_(capture) {
    for (const inputs::CaptureSource& source : capture.sources())
      counters_.try_emplace(source.source);
  }

  int run() {
    Progress progress(capture_.trace().size());
    DecodeTree& tree = capture_.tree();
    const SourceWork count = [this](Source& source) { source.count(counters_[&source]); };
    while (const auto block = capture_.next_block()) {
      for (std::size_t at = 0; at < block->bytes.size(); at += kStep) {
        const Bytes bytes = block->bytes.subspan(at, std::min(kStep, block->bytes.size() - at));
        if (const auto fed = tree.feed(block->index + at, bytes); !fed)
          return complain(fed.error().detail, kDamaged);
        tree.work(count);
        if (interrupted()) return kInterrupted;
      }
      progress.at(block->index + block->bytes.size());
    }
    tree.finish();
    tree.work(count);
    return kOk;
  }

  CountsOfAll take() {
    CountsOfAll all;
    for (const inputs::CaptureSource& source : capture_.sources())
      all.push_back(counters_.at(source.source).take());
    return all;
  }

 private:
  /// With the streams made from it, it stays in the second-level cache.
  static constexpr std::size_t kStep = std::size_t{256} << 10;

  inputs::Capture& capture_;
  std::map<Source*, count::Counter> counters_;
};

/// Several threads.
int count_in_pieces(inputs::Capture& capture, const inputs::TraceBlock& whole, unsigned threads,
                    CountsOfAll& all) {
  // Of other pieces than the last one that was taken.
  constexpr TraceIndex kStillRead = std::size_t{32} << 20;
  Progress progress(capture.trace().size());
  int code = kOk;
  parallel::CountingConsumer consumer(capture.tree(), [&](TraceIndex end) {
    progress.at(end);
    if (end > kStillRead) capture.passed(end - kStillRead);
    if (interrupted()) code = kInterrupted;
    return code == kOk;
  });
  parallel::ParallelDecoder decoder(
      capture.tree(), {.threads = threads, .piece_bytes = parallel::CountingConsumer::kPieceBytes});
  if (const auto done = decoder.decode(whole.index, whole.bytes, consumer); !done)
    code = complain(done.error().detail, kDamaged);
  for (const inputs::CaptureSource& source : capture.sources())
    all.push_back(consumer.take_counts(*source.source));
  return code;
}

/// Totals, and what goes wrong, are the same on one thread and on several.
int count_all(inputs::Capture& capture, unsigned threads, CountsOfAll& all) {
  threads = threads_for(capture, threads);
  const auto whole = threads > 1 ? capture.rest() : std::nullopt;
  if (whole) return count_in_pieces(capture, *whole, threads, all);
  Counting counting(capture);
  const int code = counting.run();
  all = counting.take();
  return code;
}

void write_functions(TextBuffer& out, const count::Counts& counts, const image::Symbols& symbols,
                     const CountOptions& options) {
  const std::size_t most = options.all ? std::numeric_limits<std::size_t>::max() : options.top;
  std::vector<count::FunctionRow> rows = count::functions(counts, symbols);
  std::uint64_t whole = 0;
  for (const count::FunctionRow& row : rows) whole += count::weight(row, options.order);
  rows = count::top(std::move(rows), options.order, most);
  if (options.format == Format::kJson) return outputs::write_json(out, rows);
  if (options.format == Format::kCsv) return outputs::write_csv(out, rows);
  out.put('\n');
  outputs::write_text(out, rows, whole, options.order);
}

void write_rows(TextBuffer& out, const count::Counts& counts, const CountOptions& options) {
  const std::size_t most = options.all ? std::numeric_limits<std::size_t>::max() : options.top;
  if (options.edges) {
    const std::vector<count::Branch> rows = count::top_branches(counts, most);
    if (options.format == Format::kJson) return outputs::write_json(out, rows);
    if (options.format == Format::kCsv) return outputs::write_csv(out, rows);
    out.put('\n');
    return outputs::write_text(out, rows);
  }
  const std::vector<count::Row> rows = count::top(counts, options.order, most);
  if (options.format == Format::kJson) return outputs::write_json(out, rows);
  if (options.format == Format::kCsv) return outputs::write_csv(out, rows);
  out.put('\n');
  outputs::write_text(out, rows, counts.totals(), options.order);
}

int run(CountOptions options) {
  auto capture = open_capture(options.input, {});
  if (!capture) return capture.error();
  image::Symbols symbols;
  if (options.symbols.functions) {
    auto found = load_symbols(*capture, options.symbols);
    if (!found) return complain(found.error().detail, kInput);
    symbols = std::move(*found);
  }
  if (const auto safe = refuse_input(options.output, options.symbols.files); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  // Nothing else is in that form.
  if (options.format == Format::kCsv && options.top == 0) options.all = true;
  // Who asks for an order, for branches or for functions wants to see some.
  if ((options.edges || options.symbols.functions || options.ordered) && options.top == 0 &&
      !options.all)
    options.top = kUsualTop;

  CountsOfAll by_source;
  int code = count_all(*capture, options.threads, by_source);
  TextBuffer& out = output->text();
  count::Counts all;
  for (std::size_t i = 0; i < by_source.size(); ++i) {
    if (options.format == Format::kJson)
      outputs::write_json(out, by_source[i], capture->sources()[i].id);
    all.add(by_source[i]);
    by_source[i] = {};
  }
  if (options.format == Format::kText) outputs::write_text(out, all);
  if (options.symbols.functions) {
    write_functions(out, all, symbols, options);
  } else if (options.top != 0 || options.all) {
    write_rows(out, all, options);
  }
  const count::Totals totals = all.totals();
  if (code == kOk && totals.ranges == 0 && all.pathless_instructions == 0) {
    code = complain(
        fmt::format("{}: no instruction could be counted: {}", capture->trace().path(),
                    any_sync_point(*capture)
                        ? "no source follows a program whose image is there."
                        : "no synchronisation point was found. See `waymark info` for what is in "
                          "the trace."),
        kDamaged);
  }
  code = finish_output(*output, code);
  if (options.statistics && code != kReaderLeft) print_statistics(*capture);
  return code;
}

}  // namespace

void add_count(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CountOptions>();
  CLI::App* command =
      app.add_subcommand("count", "Count what the cores executed: instructions, branches, cycles");
  add_input_options(*command, options->input);
  add_format_option(*command, options->format, true);
  command->add_option("-o,--output", options->output, "Write to this file")->type_name("FILE");
  command
      ->add_option("--top", options->top,
                   "The N blocks that count most, behind the totals (with --by, --edges or "
                   "--functions: 20)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--all", options->all, "All blocks (csv: default)")->excludes("--top");
  command
      ->add_option_function<std::string>(
          "--by",
          [options](const std::string& name) {
            options->ordered = true;
            options->order = count::Order::kInstructions;
            if (name == "times") options->order = count::Order::kTimes;
            if (name == "cycles") options->order = count::Order::kCycles;
            if (name == "calls") options->order = count::Order::kCalls;
          },
          "What blocks are ordered by (default: instructions); those with none are left out; of "
          "functions, times is how often they were entered")
      ->type_name("WHAT")
      ->check(one_of({"instructions", "times", "cycles", "calls"}));
  CLI::Option* const edges =
      command->add_flag("--edges", options->edges,
                        "Branches and where they went in place of blocks, the most frequent first");
  add_symbol_options(*command, options->symbols,
                     "Functions in place of blocks, all contexts together: by the symbols of the "
                     "ELF files of the program image")
      ->excludes(edges);
  add_threads_option(*command, options->threads);
  command->add_flag("--stats", options->statistics, "Counts at the end, on standard error");
  command->footer(
      "A block is a run of instructions up to a branch. An exception cuts one short.\n"
      "Cycles are those of cycle counts in the trace, shared out over the blocks since the one\n"
      "before by their instructions.\n"
      "\n"
      "Examples:\n"
      "  waymark count board/\n"
      "  waymark count board/ --top 20 --by times\n"
      "  waymark count board/ --functions\n"
      "  waymark count board/ --edges --top 20\n"
      "  waymark count board/ --format csv -o blocks.csv");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
