// waymark count: how often what was executed.
#include <fmt/format.h>

#include <limits>
#include <map>
#include <memory>

#include "commands.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "interrupt.h"
#include "progress.h"
#include "run.h"
#include "waymark/count/counter.h"
#include "waymark/count/ranking.h"
#include "waymark/outputs/counts.h"
#include "waymark/tree/per_source.h"

namespace waymark::cli {
namespace {

struct CountOptions {
  InputOptions input;
  Format format = Format::kText;
  std::string output;
  bool statistics = false;
  std::size_t top = 0;
  bool all = false;
  bool edges = false;
  count::Order order = count::Order::kInstructions;
};

/// Each source with its counter.
class Counting {
 public:
  explicit Counting(inputs::Capture& capture) : capture_(capture) {
    std::vector<Source*> sources;
    for (const inputs::CaptureSource& source : capture.sources()) {
      sources.push_back(source.source);
      counters_.try_emplace(source.source);
    }
    driver_.emplace(inputs::frame_options(capture.framing()), std::move(sources));
  }

  int run() {
    Progress progress(capture_.trace().size());
    const SourceWork count = [this](Source& source) { source.count(counters_.at(&source)); };
    while (const auto block = capture_.next_block()) {
      if (const auto done = driver_->work(block->index, block->bytes, count); !done)
        return complain(done.error().detail, kDamaged);
      if (interrupted()) return kInterrupted;
      progress.at(block->index + block->bytes.size());
    }
    driver_->finish_work(count);
    return kOk;
  }

  count::Counts take(Source* source) { return counters_.at(source).take(); }

 private:
  inputs::Capture& capture_;
  std::map<Source*, count::Counter> counters_;
  std::optional<PerSourceDriver> driver_;
};

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
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  // Nothing else is in that form.
  if (options.format == Format::kCsv && options.top == 0) options.all = true;

  Counting counting(*capture);
  int code = counting.run();
  TextBuffer& out = output->text();
  count::Counts all;
  for (const inputs::CaptureSource& source : capture->sources()) {
    const count::Counts counts = counting.take(source.source);
    if (options.format == Format::kJson) outputs::write_json(out, counts, source.id);
    all.add(counts);
  }
  if (options.format == Format::kText) outputs::write_text(out, all);
  if (options.top != 0 || options.all) write_rows(out, all, options);
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
  if (options.statistics) {
    TextBuffer text;
    write_statistics(text, *capture);
    (void)std::fwrite(text.view().data(), 1, text.size(), stderr);
  }
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
  command->add_option("--top", options->top, "The N blocks that count most, behind the totals")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--all", options->all, "All blocks (csv: default)");
  command
      ->add_option_function<std::string>(
          "--by",
          [options](const std::string& name) {
            options->order = name == "times"    ? count::Order::kTimes
                             : name == "cycles" ? count::Order::kCycles
                             : name == "calls"  ? count::Order::kCalls
                                                : count::Order::kInstructions;
          },
          "What blocks are ordered by (default: instructions); those with none are left out")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"instructions", "times", "cycles", "calls"}));
  command->add_flag("--edges", options->edges,
                    "Branches and where they went in place of blocks, the most frequent first");
  command->add_flag("--stats", options->statistics, "Counts at the end, on standard error");
  command->footer(
      "A block is a run of instructions up to a branch.  An exception cuts one short.\n"
      "Cycles are those of cycle counts in the trace, shared out over the blocks since the one\n"
      "before by their instructions.\n"
      "\n"
      "Examples:\n"
      "  waymark count board/\n"
      "  waymark count board/ --top 20 --by times\n"
      "  waymark count board/ --edges --top 20\n"
      "  waymark count board/ --format csv -o blocks.csv");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
