// waymark annotate: the source and the instructions of functions, with how often each was executed.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "command.h"
#include "commands.h"
#include "complain.h"
#include "counting.h"
#include "decode_parallel.h"
#include "disassembly_options.h"
#include "elf_argument.h"
#include "executed_programs.h"
#include "exit_code.h"
#include "format.h"
#include "image_mismatches.h"
#include "input_options.h"
#include "missing_programs.h"
#include "option_values.h"
#include "run.h"
#include "selection.h"
#include "symbol_options.h"
#include "terminal.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/outputs/annotation.h"
#include "waymark/outputs/source_files.h"
#include "window.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kUsualAnnotated = 5;

struct AnnotateOptions {
  InputOptions input;
  std::vector<std::string> functions;
  Format format = Format::kText;
  std::string output;
  std::size_t top = 0;  ///< 0: not given.
  bool by_cycles = false;
  std::vector<std::string> sources;
  SymbolOptions symbols;
  SelectionOptions selection;
  unsigned threads = 0;  ///< 0: not given.
  WindowOptions window;
};

std::uint64_t weight(const ExecutedFunction& function, bool by_cycles) {
  return by_cycles ? function.cycles : function.instructions;
}

std::vector<ExecutedFunction> hottest(const ExecutedPrograms& programs, bool by_cycles,
                                      std::size_t most) {
  std::vector<ExecutedFunction> all = programs.functions();
  std::erase_if(all, [&](const auto& each) { return weight(each, by_cycles) == 0; });
  std::ranges::stable_sort(all, [&](const ExecutedFunction& a, const ExecutedFunction& b) {
    if (weight(a, by_cycles) != weight(b, by_cycles))
      return weight(a, by_cycles) > weight(b, by_cycles);
    // Programs have no order of their own.
    return std::pair(a.function->start, a.function->name) <
           std::pair(b.function->start, b.function->name);
  });
  if (all.size() > most) all.resize(most);
  return all;
}

/// The functions that are shown.  On failure, the exit code of what was said.
std::expected<std::vector<ExecutedFunction>, int> choose(const ExecutedPrograms& programs,
                                                         const AnnotateOptions& options) {
  if (options.functions.empty())
    return hottest(programs, options.by_cycles, options.top == 0 ? kUsualAnnotated : options.top);
  std::vector<ExecutedFunction> chosen;
  for (const std::string& text : options.functions) {
    const auto found = programs.find(text);
    if (!found) return std::unexpected(complain(found.error().detail, kUsage));
    std::ranges::copy(*found, std::back_inserter(chosen));
  }
  return chosen;
}

void report_missing_sources(const outputs::SourceFiles& sources) {
  if (sources.missing().empty()) return;
  const std::string first = escaped(sources.missing().front());
  const std::size_t count = sources.missing().size();
  note(fmt::format("{}; --source names a folder to search.",
                   count == 1
                       ? fmt::format("the source file {} was not found", first)
                       : fmt::format("{} source files were not found, such as {}", count, first)));
}

void write(Output& output, ExecutedPrograms& programs,
           const std::vector<ExecutedFunction>& functions, const AnnotateOptions& options,
           const outputs::AnnotationFacts& facts) {
  outputs::SourceFiles sources(options.sources);
  const outputs::SourceLines line = [&](std::string_view file, std::uint32_t number) {
    return sources.line(file, number);
  };
  const outputs::Style style = style_for(output.descriptor());
  TextBuffer& out = output.text();
  if (options.format == Format::kCsv) outputs::write_annotation_csv_header(out);
  if (options.format == Format::kText && options.functions.empty()) {
    std::uint64_t shown = 0;
    for (const ExecutedFunction& each : functions) shown += each.instructions;
    out.put(fmt::format("{} of {} with counts, {:.1f} % of {}\n", functions.size(),
                        counted(programs.functions().size(), "function"),
                        facts.whole == 0
                            ? 0.0
                            : 100 * static_cast<double>(shown) / static_cast<double>(facts.whole),
                        counted(facts.whole, "instruction")));
  }
  bool first = options.format == Format::kText && !options.functions.empty();
  for (const ExecutedFunction& each : functions) {
    const outputs::AnnotatedFunction function = programs.annotate(each);
    sources.look_beside(function.program);
    switch (options.format) {
      case Format::kText:
        if (!std::exchange(first, false)) out.put('\n');
        outputs::write_text(out, function, facts, line, style);
        break;
      case Format::kJson:
        outputs::write_json(out, function, facts, line);
        break;
      case Format::kCsv:
        outputs::write_csv(out, function, facts, line);
        break;
    }
    if (!output.settle()) return;
  }
  report_missing_sources(sources);
}

/// Writes what was counted; the exit code.
int show(const inputs::Capture& capture, Counted& counted, outputs::PlaceLookup places,
         const AnnotateOptions& options, Output& output) {
  count::Counts all;
  for (count::Counts& counts : counted.by_source) all.add(std::move(counts));
  const outputs::AnnotationFacts facts{.whole = all.totals().instructions,
                                       .cycles = all.has_cycles(),
                                       .complete = counted.code == kOk};
  if (options.by_cycles && !facts.cycles) {
    return complain("--by cycles: the trace has no cycle counts; enable them in the trace unit.",
                    kUsage);
  }
  ExecutedPrograms programs(capture, std::move(places), all, load_llvm());
  const auto functions = choose(programs, options);
  if (!functions) return functions.error();
  if (functions->empty()) return complain("no named function was executed.", kDamaged);
  if (!facts.complete) {
    note(fmt::format("the counts cover the first {} of {} bytes.", counted.read_to,
                     capture.trace_bytes()));
  }
  write(output, programs, *functions, options, facts);
  return finish_output(output, counted.code);
}

int run(const AnnotateOptions& options) {
  Window window(options.input, options.window);
  auto capture = open_capture(options.input, {}, true, window.known_id_bytes(), true);
  if (!capture) return capture.error();
  auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  auto places = place_lookup(*capture, options.symbols);
  if (!places) return complain_of_symbols(places.error());
  const std::vector<std::string> files =
      window.input_files(*capture, program_paths(options.symbols.files));
  if (const auto safe = refuse_input(options.output, files); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  if (const int code = window.open(*capture); code != kOk) return code;

  Counted counted = window.given() ? count_window(*capture, *selection, window, *output)
                                   : count_all(*capture, *selection, options.threads);
  std::optional<MissingPrograms> missing;
  if (capture->processes() != nullptr) {
    missing.emplace(*capture);
    for (const count::Counts& counts : counted.by_source) missing->add(counts);
  }
  std::optional<Selection>& selected = *selection;
  if (selected && selected->by_program()) keep_programs(counted, *selected);
  // Counts with unknown gaps would mislead.
  if (counted.code == kMemory) return counted.code;
  if (counted.code == kOk && !counted_something(counted)) {
    const int code = report_nothing(inputs::trace_name(*capture), *capture, selected, window,
                                    missing ? &*missing : nullptr);
    report_mismatches(*capture, code);
    return code;
  }
  const int code = show(*capture, counted, *std::move(places), options, *output);
  if (missing) missing->report();
  report_mismatches(*capture, code);
  return code;
}

}  // namespace

void add_annotate(Command& app, int& exit_code) {
  auto options = std::make_shared<AnnotateOptions>();
  Command* command = app.add_subcommand(
      "annotate", "Show source lines and instructions with their execution counts");
  add_input_options(*command, options->input);
  command->add_option("FUNCTION", options->functions,
                      "A function, by its name (PROGRAM:NAME: of one program) or an address in it "
                      "(as linked); default: the functions with the most instructions");
  add_format_option(*command, options->format, true);
  command->add_option("-o,--output", options->output, "write to this file")->type_name("FILE");
  command
      ->add_option("--top", options->top,
                   "show the N functions with the most instructions, if none is named; default: 5")
      ->type_name("N")
      ->at_least(1)
      ->excludes("FUNCTION");
  command
      ->add_option_function(
          "--by", [options](const std::string& name) { options->by_cycles = name == "cycles"; },
          "the order of functions for --top; default: instructions")
      ->type_name("WHAT")
      ->check(one_of({"instructions", "cycles"}))
      ->excludes("FUNCTION");
  // Here, the option names folders of source files; --protocol describes raw trace.
  command->remove_option(command->get_option("--source"));
  command
      ->add_option("--source", options->sources,
                   "Look for source files in this folder; OLD=NEW: replace OLD with NEW at the "
                   "beginning of their paths; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      ->add_option("--symbols", options->symbols.files,
                   "A program (ELF file) whose symbols name the functions, if the image has none; "
                   "@ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_selection_options(*command, options->selection);
  add_threads_option(*command, options->threads);
  add_window_options(*command, options->window);
  command->footer(
      "Examples:\n"
      "  waymark annotate board/                      the five functions with the most "
      "instructions\n"
      "  waymark annotate board/ main irq_handler\n"
      "  waymark annotate board/ 0x80001240 --source ~/firmware\n"
      "  waymark annotate perf.data --symfs sysroot/ --source /build/src=src --top 20");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
