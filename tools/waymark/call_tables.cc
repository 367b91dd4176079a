#include "call_tables.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "command.h"
#include "complain.h"
#include "counting.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "image_mismatches.h"
#include "missing_programs.h"
#include "option_values.h"
#include "run.h"
#include "stack_pass.h"
#include "symbol_options.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/outputs/call_trees.h"
#include "waymark/outputs/function_query.h"

namespace waymark::cli {
namespace {

template <class Rows>
void write(TextBuffer& out, Format format, const stacks::Tree& tree, const Rows& rows,
           const outputs::CallTreeFacts& facts) {
  if (format == Format::kJson) return outputs::write_json(out, tree, rows, facts);
  if (format == Format::kCsv) return outputs::write_csv(out, tree, rows, facts);
  outputs::write_text(out, tree, rows, facts);
}

int write_tables(TextBuffer& out, const stacks::Tree& tree, const CallTableRun& run,
                 const outputs::CallTreeFacts& facts) {
  if (run.calls.tree) write(out, run.format, tree, outputs::call_tree_rows(tree, run.most), facts);
  for (const auto& [name, table] : {std::pair(&run.calls.callers, outputs::CallTable::kCallers),
                                    std::pair(&run.calls.callees, outputs::CallTable::kCallees)}) {
    if (name->empty()) continue;
    const auto functions = outputs::find_functions(tree, *name);
    if (!functions) {
      const bool callers = table == outputs::CallTable::kCallers;
      return complain(
          fmt::format("{}: {}", callers ? "--callers" : "--callees", functions.error().detail),
          kUsage);
    }
    write(out, run.format, tree, outputs::call_rows(tree, *functions, table, run.most), facts);
  }
  return kOk;
}

}  // namespace

void add_stack_options(Command& command, bool& replace_tail_calls, bool& exceptions_apart) {
  command
      .add_option_function(
          "--tail-calls",
          [&replace_tail_calls](const std::string& name) {
            replace_tail_calls = name == "replace";
          },
          "how to count a branch from the end of a function to another one: keep (a call) or "
          "replace (the other one takes its place); default: keep")
      ->type_name("WHAT")
      ->check(one_of({"keep", "replace"}));
  command
      .add_option_function(
          "--exceptions",
          [&exceptions_apart](const std::string& name) { exceptions_apart = name == "apart"; },
          "where exception handlers appear: nested below the interrupted function, or apart from "
          "it; default: nested")
      ->type_name("WHERE")
      ->check(one_of({"nested", "apart"}));
}

void add_call_table_options(Command& command, CallTableOptions& options) {
  Option* const tree =
      command.add_flag("--tree", options.tree,
                       "show the call tree, with the instructions of each function, alone and with "
                       "its callees; --top N: only the N largest nodes");
  Option* const callers =
      command
          .add_option("--callers", options.callers,
                      "show the callers of this function, by any form of its name or an address "
                      "in it (as linked)")
          ->type_name("FUNCTION");
  Option* const callees = command
                              .add_option("--callees", options.callees,
                                          "show the callees of this function, in the same forms")
                              ->type_name("FUNCTION");
  for (Option* const option : {tree, callers, callees})
    for (const char* const other : {"--by", "--edges", "--functions"})
      option->excludes(command.get_option(other));
  tree->excludes(callers)->excludes(callees);
  callers->excludes(callees);
  add_stack_options(command, options.replace_tail_calls, options.exceptions_apart);
}

int write_call_tables(const CallTableRun& run) {
  if (!run.selection.programs.empty()) {
    return complain(
        "--dso: call stacks lead through all programs, so they cannot be limited to one; select "
        "threads with --pid, --tid "
        "or --comm.",
        kUsage);
  }
  Window window(run.input, run.window);
  auto capture = open_capture(run.input, {}, true, window.known_id_bytes(), true);
  if (!capture) return capture.error();
  auto selection = select_in(*capture, run.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  auto places = place_lookup(*capture, {.functions = true, .files = run.symbols});
  // Without names, functions are the addresses that were called.
  if (!places && places.error().code != ErrorCode::kNotFound)
    return complain_of_symbols(places.error());
  if (!places && (!run.symbols.empty() || !run.calls.tree))
    return complain_of_symbols(places.error());
  const std::vector<std::string> files = window.input_files(*capture, program_paths(run.symbols));
  if (const auto safe = refuse_input(run.output, files); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(run.output, *capture, run.input);
  if (!output) return output.error();
  if (const int code = window.open(*capture); code != kOk) return code;

  stacks::Options options =
      stack_options(*capture, places ? *std::move(places) : outputs::PlaceLookup());
  options.tail_calls =
      run.calls.replace_tail_calls ? stacks::TailCalls::kReplace : stacks::TailCalls::kKeep;
  options.exceptions_apart = run.calls.exceptions_apart;
  if (run.calls.tree) options.root_name = root_namer(*capture, Roots::kProcesses);
  stacks::Engine engine(std::move(options));
  set_sources(engine, *capture);
  MissingCode missing(*capture, *selection);
  const int traced =
      trace_stacks(*capture, *selection, window, *output, engine,
                   [&](std::span<const Element> elements) { missing.observe(elements); });
  const stacks::Inclusive whole = engine.tree().whole();
  if (traced == kOk && whole.instructions == 0) {
    return report_nothing(inputs::trace_name(*capture), *capture, *selection, window,
                          missing.programs());
  }
  int code = write_tables(output->text(), engine.tree(), run,
                          {.cycles = whole.cycles != 0, .complete = traced == kOk});
  code = finish_output(*output, code == kOk ? traced : code);
  report_quality(engine);
  missing.report();
  report_mismatches(*capture, code);
  if (run.statistics && code != kReaderLeft) {
    print_stack_quality(engine);
    print_statistics(*capture);
  }
  return code;
}

}  // namespace waymark::cli
