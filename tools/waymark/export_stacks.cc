#include "export_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "call_tables.h"
#include "command.h"
#include "complain.h"
#include "counting.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "export_events.h"
#include "image_mismatches.h"
#include "missing_programs.h"
#include "option_values.h"
#include "other_sources.h"
#include "output.h"
#include "run.h"
#include "stack_pass.h"
#include "symbol_options.h"
#include "waymark/base/number.h"
#include "waymark/count/itm_counts.h"
#include "waymark/exports/event_timeline.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/perf/process_images.h"
#include "waymark/stacks/lines.h"

namespace waymark::cli {
namespace {

/// Names the threads of a recording.
exports::StackTimeline::TrackNamer track_namer(const inputs::Capture& capture) {
  if (capture.processes() == nullptr) return {};
  std::map<std::uint32_t, exports::StackTimeline::TrackNames> names;
  for (const perf::Task& task : capture.processes()->known_tasks()) {
    const std::string name = task.name.empty() ? "unknown" : task.name;
    names[static_cast<std::uint32_t>(task.tid)] = {
        .process = fmt::format("process {}", task.pid),
        .thread = fmt::format("{} ({})", name, task.tid)};
  }
  return [names = std::move(names)](TraceId source, std::uint64_t thread) {
    const auto known = names.find(static_cast<std::uint32_t>(thread));
    exports::StackTimeline::TrackNames name =
        known == names.end() ? exports::StackTimeline::TrackNames{.process = "unknown process",
                                                                  .thread = "unknown thread"}
                             : known->second;
    name.thread += fmt::format(", trace ID 0x{:02x}", source);
    return name;
  };
}

class Pass {
 public:
  Pass(const StackExport& wanted, std::uint64_t frequency)
      : wanted_(wanted), frequency_(frequency) {}

  /// Writes nothing.  By input: its exit code.  kOk, or why no more is wanted.
  int collect(std::vector<std::uint8_t>& codes) {
    auto nothing = Output::open("", {});
    if (!nothing) return complain(nothing.error().detail, kOutput);
    output_ = std::make_unique<Output>(*std::move(nothing));
    codes.reserve(codes.size() + wanted_.inputs.size());
    for (const std::string& path : wanted_.inputs) {
      const int code = add(path, nullptr);
      if (code == kUsage || code == kInterrupted || code == kOutput || code == kMemory) return code;
      codes.push_back(static_cast<std::uint8_t>(code));
    }
    return kOk;
  }

  /// The exit code of the input.
  int collect(const std::string& path, const RecordedStacks& recorded) {
    auto nothing = Output::open("", {});
    if (!nothing) return complain(nothing.error().detail, kOutput);
    output_ = std::make_unique<Output>(*std::move(nothing));
    return add(path, &recorded);
  }

  /// Only writes.
  int write(stacks::Tree tree) {
    tree_ = std::move(tree);
    std::vector<std::string> files;
    files.reserve(wanted_.inputs.size());
    for (const std::string& path : wanted_.inputs) files.push_back(path_of_input(path));
    if (const int code = open_output(files); code != kOk) return code;
    if (const int code = write_tree(); code != kOk) return code;
    return output_->commit() ? kOk : finish_output(*output_, kOk);
  }

  stacks::Tree take_tree() { return std::move(tree_); }

  int run() {
    int worst = kOk;
    std::size_t used = 0;
    for (const std::string& path : wanted_.inputs) {
      const int code = add(path, nullptr);
      if (code == kUsage || code == kInterrupted || code == kOutput || code == kReaderLeft)
        return code;
      used += code == kOk ? 1 : 0;
      worst = std::max(worst, code);
    }
    if (!output_ || (used == 0 && tree_.whole().instructions == 0)) return worst;
    if (wanted_.format.write_tree != nullptr) {
      if (const int code = write_tree(); code != kOk) return code;
    }
    if (output_->commit()) return worst;
    return finish_output(*output_, worst);
  }

 private:
  /// The programs of the tree belong to it.
  struct Used {
    explicit Used(inputs::Capture&& opened) : capture(std::move(opened)) {}
    inputs::Capture capture;
    outputs::PlaceLookup places{};
  };

  int open_file(const inputs::Capture& capture, const std::vector<std::string>& more) {
    if (output_) return kOk;
    std::vector<std::string> files = capture.input_files();
    files.insert(files.end(), more.begin(), more.end());
    for (const std::string& path : wanted_.inputs) files.push_back(path_of_input(path));
    return open_output(files);
  }

  int open_output(const std::vector<std::string>& files) {
    auto opened = Output::open_whole(wanted_.output, files);
    if (!opened) {
      return complain(opened.error().detail,
                      opened.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
    }
    output_ = std::make_unique<Output>(*std::move(opened));
    return kOk;
  }

  /// `recorded`: of an input that need not be decoded.
  int add(const std::string& path, const RecordedStacks* recorded) {
    InputOptions input = wanted_.input;
    input.path = path;
    Window window(input, wanted_.window);
    auto opened = open_capture(
        input, {}, true, recorded != nullptr ? recorded->id_bytes : window.known_id_bytes(), true);
    if (!opened) return opened.error();
    Used& used = used_.emplace_back(std::move(*opened));
    inputs::Capture& capture = used.capture;
    if (!traces_a_core(capture) && wanted_.format.make_timeline != nullptr) {
      const auto writer = exports::make_event_timeline(wanted_.format.make_timeline,
                                                       exports::at_frequency(frequency_));
      return export_events({.format = wanted_.format,
                            .input = wanted_.input,
                            .inputs = wanted_.inputs,
                            .output = wanted_.output,
                            .selection = wanted_.selection,
                            .window = wanted_.window,
                            .messages = wanted_.messages},
                           *writer);
    }
    auto selection = select_in(capture, wanted_.selection);
    if (!selection) return complain(selection.error().detail, kUsage);
    auto places = stack_places(capture, wanted_.symbols, true);
    if (!places) return places.error();
    used.places = *std::move(places);
    const auto files = window.input_files(capture, program_paths(wanted_.symbols));
    if (const int code = open_file(capture, files); code != kOk) return code;
    if (const int code = window.open(capture); code != kOk) return code;

    if (!traces_a_core(capture)) return add_samples(used, window);
    stacks::Options options = stack_options(capture, used.places);
    options.tail_calls =
        wanted_.stacks.replace_tail_calls ? stacks::TailCalls::kReplace : stacks::TailCalls::kKeep;
    options.exceptions_apart = wanted_.stacks.exceptions_apart;
    options.sites = options.ranges = wanted_.format.stacks.wants_lines || wanted_.stacks.inlines;
    if (wanted_.format.stacks.wants_roots) {
      options.root_name =
          root_namer(capture, wanted_.stacks.threads ? Roots::kThreads : Roots::kProcesses);
    }
    EventRelay relay;
    if (wanted_.format.make_timeline != nullptr) options.sink = &relay;
    auto made = std::make_unique<stacks::Engine>(std::move(options));
    set_sources(*made, capture);
    MissingCode missing(capture, *selection);
    const int code =
        recorded != nullptr ? recorded->play(capture, used.places, *selection, made)
        : wanted_.format.make_timeline != nullptr
            ? trace_timeline(capture, *selection, window, *made, relay, missing)
            : trace_stacks(capture, *selection, window, *output_, *made,
                           [&](std::span<const Element> elements) { missing.observe(elements); });
    if (recorded != nullptr && code != kOk) return code;
    stacks::Engine& engine = *made;
    if (engine.tree().whole().instructions == 0 && code == kOk) {
      return report_nothing(path, capture, *selection, window, missing.programs());
    }
    report_quality(engine);
    missing.report();
    report_mismatches(capture, code);
    if (wanted_.inputs.size() == 1) {
      tree_ = engine.take_tree();
    } else {
      tree_.add(engine.tree());
    }
    return code;
  }

  /// The samples of the program counter that an ITM sent: stacks of one function each.
  int add_samples(Used& used, Window& window) {
    count::ItmCounts counts;
    const RunHooks hooks{
        .on_elements =
            [&](std::span<const Element> elements) { counts.observe(window.cut(elements)); },
        .stop = {},
        .enough = [&](TraceIndex index) { return window.enough(index); }};
    const int code = run_capture(used.capture, *output_, hooks);
    if (counts.samples.empty() && code == kOk) {
      return complain(
          fmt::format("{}: none of its sources traces a core or samples the program counter.",
                      inputs::trace_name(used.capture)),
          kDamaged);
    }
    note("the trace has samples of the program counter: the counts are samples, not instructions.");
    for (const auto& [pc, times] : counts.samples) {
      const program::Place place = used.places ? used.places(Element(), pc) : program::Place();
      const program::Function* const function =
          place.program == nullptr ? nullptr : place.program->function(place.address);
      stacks::Code of{.kind = stacks::CodeKind::kUnknown};
      if (function != nullptr) {
        const auto [whole, name] = place.program->whole(*function);
        of = {.kind = stacks::CodeKind::kFunction,
              .name = std::string(name),
              .program = place.program->path(),
              .start = whole->start,
              .source = place.program};
      }
      const stacks::NodeId node = tree_.child(stacks::kRootNode, tree_.code(of));
      tree_.node(node).instructions += times;
      if (!wanted_.format.stacks.wants_lines || function == nullptr) continue;
      for (std::uint64_t i = 0; i < times; ++i)
        tree_.add_range({.node = node, .start = place.address, .end = place.address + 2}, 1);
    }
    return code;
  }

  /// Passes events on to a timeline, which needs the tree of the engine that gives them.
  class EventRelay final : public stacks::Sink {
   public:
    stacks::Sink* to = nullptr;
    void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override {
      to->on_track(track, source, thread);
    }
    void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
      to->on_switch(source, track, position);
    }
    void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                  stacks::Opening opening) override {
      to->on_enter(track, position, code, opening);
    }
    void on_leave(stacks::TrackId track, std::uint64_t position) override {
      to->on_leave(track, position);
    }
    void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override {
      to->on_instant(track, position, what);
    }
    void on_gap(TraceId source, std::uint64_t position) override { to->on_gap(source, position); }
    void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
      to->on_timestamp(source, position, time);
    }
    void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
      to->on_cycles(source, position, cycles);
    }
  };

  /// The clock of perf, if the timestamps are of the counter that it uses.
  [[nodiscard]] exports::ToNanoseconds clock_of(const inputs::Capture& capture) const {
    const perf::Recording* const recording = capture.recording();
    if (frequency_ != 0 || recording == nullptr || !recording->time)
      return exports::at_frequency(frequency_);
    if (!wanted_.input.virtual_timestamps &&
        !std::ranges::all_of(recording->units, perf::counts_virtual_time))
      return {};
    return [time = *recording->time](std::uint64_t ticks) { return time.nanoseconds(ticks); };
  }

  int trace_timeline(inputs::Capture& capture, const std::optional<Selection>& selection,
                     Window& window, stacks::Engine& engine, EventRelay& relay,
                     MissingCode& missing) {
    const auto writer = wanted_.format.make_timeline(output_->text());
    const exports::ToNanoseconds clock = clock_of(capture);
    exports::StackTimeline slices(*writer, engine.tree(), clock, track_namer(capture));
    stacks::Timeline timeline(
        slices, {.unit = wanted_.stacks.time, .tracks_apart = wanted_.format.stacks.tracks_apart});
    relay.to = &timeline;
    const auto others = selection ? nullptr
                                  : std::make_unique<OtherSources>(capture, wanted_.messages,
                                                                   *writer, slices, clock);
    const int code = trace_stacks(capture, selection, window, *output_, engine,
                                  [&](std::span<const Element> elements) {
                                    missing.observe(elements);
                                    if (others != nullptr) others->add(elements);
                                  });
    timeline.finish();
    if (others != nullptr) others->finish();
    writer->finish();
    if (others != nullptr) others->report();
    for (const TraceId id : timeline.timeless()) {
      note(fmt::format("trace ID 0x{:02x} has no {} and is not in the timeline; see --time.", id,
                       wanted_.stacks.time == stacks::Timeline::Choice::kCycles ? "cycle counts"
                                                                                : "timestamps"));
    }
    if (timeline.backwards() != 0) {
      note(fmt::format("timestamps went back {} times; the time is constant there.",
                       timeline.backwards()));
    }
    if (writer->is_cut()) {
      note(
          "the format holds a limited number of events, and the rest is left out; use perfetto, or "
          "select a part with --from and --to.");
    }
    return code;
  }

  int write_tree() {
    exports::TreeOptions options = wanted_.stacks.tree;
    options.cycles = tree_.whole().cycles != 0;
    for (const std::string& path : wanted_.inputs)
      options.command += (options.command.empty() ? "" : " ") + path;
    if (wanted_.stacks.inlines) tree_ = stacks::with_inlines(tree_);
    tree_.limit_depth(exports::kMostDepth);
    if (const auto written = wanted_.format.write_tree(tree_, options, output_->text()); !written)
      return complain(written.error().detail, kInput);
    return kOk;
  }

  const StackExport& wanted_;
  std::uint64_t frequency_;
  std::list<Used> used_;
  std::unique_ptr<Output> output_;
  stacks::Tree tree_;
};

}  // namespace

void add_stack_export_options(Command& command, StackExportOptions& options) {
  add_stack_options(command, options.replace_tail_calls, options.exceptions_apart);
  command.add_flag("--inlines", options.inlines,
                   "for folded: show inlined functions as frames, too");
  command.add_flag("--by-thread", options.threads,
                   "for folded: begin the stacks of a recording with the thread, not the process");
  command
      .add_option_function(
          "--positions",
          [&options](const std::string& name) { options.tree.addresses = name == "instr"; },
          "for callgrind, the unit of costs: line, or instr (each instruction of a line; "
          "speedscope cannot read it); default: line")
      ->type_name("WHAT")
      ->check(one_of({"line", "instr"}));
  command
      .add_option_function(
          "--time",
          [&options](const std::string& name) {
            using Choice = stacks::Timeline::Choice;
            options.time = Choice::kInstructions;
            if (name == "timestamps") options.time = Choice::kTimestamps;
            if (name == "cycles") options.time = Choice::kCycles;
          },
          "for timelines, the unit of time: timestamps, cycles or instructions; default: the first "
          "that the trace has")
      ->type_name("WHAT")
      ->check(one_of({"timestamps", "cycles", "instructions"}));
  command
      .add_option("--frequency", options.frequency,
                  "for timelines: the frequency of the timestamp generator, such as 25MHz, to give "
                  "times in nanoseconds instead of ticks")
      ->type_name("HZ")
      ->transform(frequency());
}

int export_stacks(const StackExport& wanted) {
  if (!wanted.selection.programs.empty()) {
    return complain(
        "--dso: call stacks lead through all programs, so they cannot be limited to one; select "
        "threads with --pid, --tid "
        "or --comm.",
        kUsage);
  }
  if (wanted.format.make_timeline != nullptr && wanted.inputs.size() > 1)
    return complain(
        fmt::format("{} shows the timeline of a single INPUT; name only one.", wanted.format.name),
        kUsage);
  if (wanted.stacks.inlines && wanted.format.name != "folded")
    return complain("--inlines is only for folded.", kUsage);
  if (wanted.stacks.threads && !wanted.format.stacks.wants_roots)
    return complain("--by-thread is only for folded.", kUsage);
  const auto frequency = parse_number(wanted.stacks.frequency);
  return Pass(wanted, frequency.value_or(0)).run();
}

int collect_tree(const StackExport& wanted, stacks::Tree& tree, std::vector<std::uint8_t>& codes) {
  Pass pass(wanted, 0);
  const int code = pass.collect(codes);
  tree = pass.take_tree();
  return code;
}

std::expected<outputs::PlaceLookup, int> stack_places(const inputs::Capture& capture,
                                                      const std::vector<std::string>& symbols,
                                                      bool with_notes) {
  auto places = place_lookup(capture, {.functions = true, .files = symbols});
  if (places) return *std::move(places);
  // Without names, functions are the addresses that were called.
  if (places.error().code != ErrorCode::kNotFound || !symbols.empty())
    return std::unexpected(complain_of_symbols(places.error()));
  if (with_notes) note(places.error().detail + " Functions have the addresses that were called.");
  return outputs::PlaceLookup();
}

int collect_recorded(const StackExport& wanted, const std::string& path,
                     const RecordedStacks& recorded, stacks::Tree& tree) {
  Pass pass(wanted, 0);
  const int code = pass.collect(path, recorded);
  tree = pass.take_tree();
  return code;
}

int write_tree_file(const StackExport& wanted, stacks::Tree tree) {
  return Pass(wanted, 0).write(std::move(tree));
}

}  // namespace waymark::cli
