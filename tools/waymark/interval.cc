// waymark interval: how long it takes from one thing to another.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "commands.h"
#include "complain.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "format.h"
#include "input_options.h"
#include "message_stage.h"
#include "missing_programs.h"
#include "occurrence.h"
#include "option_values.h"
#include "output.h"
#include "run.h"
#include "selection.h"
#include "symbol_options.h"
#include "syst_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/interval/intervals.h"
#include "waymark/outputs/intervals.h"
#include "window.h"

namespace waymark::cli {
namespace {

struct IntervalOptions {
  InputOptions input;
  std::string from;
  std::string to;
  bool histogram = false;
  Format format = Format::kText;
  std::string output;
  MessageOptions messages;
  SymbolOptions symbols{.functions = true};
  SelectionOptions selection;
};

/// The two ends, and the intervals of each source.
class Measurement {
 public:
  Measurement(Occurrence from, Occurrence to) : ends_{std::move(from), std::move(to)} {}

  void observe(const Element& element, std::string_view message, bool selected) {
    interval::Intervals& own = intervals(element.trace_id);
    if (selected) {
      // Where both happen at one element, the order of its instructions decides.
      std::array<std::optional<std::uint64_t>, 2> at;
      for (std::size_t i = 0; i < 2; ++i) at[i] = ends_[i].happens(element, message);
      const bool to_first = at[1] && (!at[0] || *at[1] <= *at[0]);
      if (to_first) own.happen(interval::End::kTo, element, *at[1]);
      if (at[0]) own.happen(interval::End::kFrom, element, *at[0]);
      if (at[1] && !to_first) own.happen(interval::End::kTo, element, *at[1]);
    }
    own.observe(element);
  }

  outputs::IntervalReport finish(std::string from, std::string to) {
    outputs::IntervalReport report{.from = std::move(from), .to = std::move(to)};
    std::array<interval::Lengths, interval::kUnits> sums;
    std::array<bool, interval::kUnits> has{};
    for (auto& own : by_source_) {
      if (own == nullptr) continue;
      own->finish();
      report.begun += own->begun();
      report.ended += own->ended();
      report.pairs += own->pairs();
      if (own->pairs() == 0) continue;
      for (std::size_t unit = 0; unit < interval::kUnits; ++unit) {
        sums[unit].add(own->lengths(static_cast<interval::Unit>(unit)));
        has[unit] = has[unit] || own->has(static_cast<interval::Unit>(unit));
      }
    }
    for (std::size_t unit = 0; unit < interval::kUnits; ++unit) {
      if (has[unit])
        report.rows.push_back({static_cast<interval::Unit>(unit), std::move(sums[unit])});
    }
    return report;
  }

 private:
  interval::Intervals& intervals(TraceId id) {
    auto& own = by_source_[id & (kTraceIdCount - 1)];
    if (own == nullptr) own = std::make_unique<interval::Intervals>();
    return *own;
  }

  std::array<Occurrence, 2> ends_;
  std::array<std::unique_ptr<interval::Intervals>, kTraceIdCount> by_source_;
};

/// The sentence for a measurement without any interval.
std::string nothing_sentence(const outputs::IntervalReport& report,
                             const std::array<std::string, 2>& unknown) {
  const auto never = [](const std::string& name, const std::string& why) {
    return why.empty() ? fmt::format("{} does not occur in the trace.", escaped(name)) : why;
  };
  if (report.begun == 0) return never(report.from, unknown[0]);
  if (report.ended == 0) return never(report.to, unknown[1]);
  return fmt::format("{} never follows {} in one source without a gap between them.",
                     escaped(report.to), escaped(report.from));
}

void write(TextBuffer& out, const outputs::IntervalReport& report, const IntervalOptions& options) {
  switch (options.format) {
    case Format::kText:
      outputs::write_text(out, report, options.histogram);
      break;
    case Format::kJson:
      outputs::write_json(out, report);
      break;
    case Format::kCsv:
      outputs::write_csv(out, report);
      break;
  }
}

/// Reads --from and --to.
Result<std::array<Occurrence, 2>> parse_ends(const IntervalOptions& options,
                                             const inputs::Capture& capture) {
  std::array<Occurrence, 2> ends;
  for (std::size_t i = 0; i < 2; ++i) {
    auto end = Occurrence::parse(i == 0 ? options.from : options.to);
    if (!end) {
      end.error().detail = fmt::format("{} {}", i == 0 ? "--from" : "--to", end.error().detail);
      return std::unexpected(end.error());
    }
    ends[i] = *std::move(end);
    if (!ends[i].names_function()) continue;
    auto found = ends[i].find_function(capture, options.symbols);
    if (found) continue;
    if (found.error().code == ErrorCode::kInvalidArgument) {
      found.error().detail =
          fmt::format("{}: {}", i == 0 ? "--from" : "--to", found.error().detail);
    }
    return std::unexpected(std::move(found).error());
  }
  return ends;
}

int run(const IntervalOptions& options) {
  const auto collateral = load_collateral(options.messages.collateral);
  if (!collateral) return collateral.error();
  const auto transport = transport_options(options.messages);
  if (!transport) return complain(transport.error().detail, kUsage);
  auto capture = open_capture(options.input, {});
  if (!capture) return capture.error();
  auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  auto ends = parse_ends(options, *capture);
  if (!ends) {
    return complain(ends.error().detail,
                    ends.error().code == ErrorCode::kInvalidArgument ? kUsage : kInput);
  }
  std::vector<std::string> files = program_paths(options.symbols.files);
  files.insert(files.end(), options.messages.collateral.begin(), options.messages.collateral.end());
  if (const auto safe = refuse_input(options.output, files); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();

  std::optional<MessageStage> messages;
  if ((*ends)[0].names_text() || (*ends)[1].names_text()) {
    messages.emplace(*collateral, transport->frequency, false);
    if (transport->short_guid) messages->set_short_client(*transport->short_guid);
  }
  std::optional<MissingPrograms> missing;
  if (capture->processes() != nullptr) missing.emplace(*capture);
  const std::array<std::string, 2> unknown{(*ends)[0].unknown(), (*ends)[1].unknown()};
  Measurement measurement(std::move((*ends)[0]), std::move((*ends)[1]));
  TextBuffer text;
  const auto observe = [&](std::span<const Element> elements) {
    for (const Element& element : elements) {
      text.clear();
      if (messages && element.kind == ElementKind::kCustom) messages->write(text, element);
      const bool selected = !*selection || (*selection)->shows(element);
      if (missing && selected && element.kind == ElementKind::kAddrNacc) missing->add(element);
      measurement.observe(element, text.view(), selected);
    }
  };
  const RunHooks hooks{.on_elements =
                           [&](std::span<const Element> elements) {
                             observe(messages ? messages->replace(elements) : elements);
                           },
                       .stop = {}};
  int code = run_capture(*capture, *output, hooks);
  if (messages) observe(messages->finish());
  const outputs::IntervalReport report = measurement.finish(options.from, options.to);
  if (report.pairs == 0) {
    if (code == kOk)
      code = complain(
          fmt::format("{}: {}", inputs::trace_name(*capture), nothing_sentence(report, unknown)),
          kDamaged);
  } else {
    if (code != kOk) note("these are the measurements before the end.");
    write(output->text(), report, options);
    for (const auto& row : report.rows) {
      const std::uint64_t without = report.pairs - row.lengths.distribution.count();
      if (without == 0) continue;
      note(fmt::format("{} of {} have no {}: the trace has no {} before or after them.", without,
                       counted(report.pairs, "interval"), interval::unit_name(row.unit),
                       row.unit == interval::Unit::kTime ? "timestamp" : "cycle count"));
    }
  }
  code = finish_output(*output, code);
  if (missing) missing->report();
  return code;
}

}  // namespace

void add_interval(Command& app, int& exit_code) {
  auto options = std::make_shared<IntervalOptions>();
  Command* command =
      app.add_subcommand("interval", "Measure the time between two places in the code or trace");
  add_input_options(*command, options->input);
  command
      ->add_option("--from", options->from,
                   "the start of an interval: a function (NAME or PROGRAM:NAME), NAME+OFFSET, an "
                   "address after 0x, "
                   "event:N, exception:N, port:N or text:WORDS")
      ->type_name("WHAT")
      ->required();
  command->add_option("--to", options->to, "the end of an interval, in the same form")
      ->type_name("WHAT")
      ->required();
  command->add_flag("--histogram", options->histogram,
                    "in text, also show a histogram of the lengths");
  add_format_option(*command, options->format, true);
  command->add_option("-o,--output", options->output, "write to this file")->type_name("FILE");
  command
      ->add_option("--symbols", options->symbols.files,
                   "A program (ELF file) whose symbols name the functions, if the image has none; "
                   "@ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_selection_options(*command, options->selection);
  add_collateral_options(*command, options->messages);
  command->footer(
      "Each interval begins at the last --from before --to in the same source. Its length is "
      "given\nin instructions, and in cycles and ticks of timestamps if the trace has them.\n"
      "\n"
      "Examples:\n"
      "  waymark interval board/ --from irq_handler --to irq_done\n"
      "  waymark interval board/ --from exception:14 --to irq_handler --histogram\n"
      "  waymark interval swo.bin --protocol itm --from text:start --to text:done");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
