// waymark decode: what the cores executed.
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "commands.h"
#include "decode_parallel.h"
#include "decode_sink.h"
#include "disassembly_options.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "hints.h"
#include "image_mismatches.h"
#include "live_options.h"
#include "message_stage.h"
#include "near_sink.h"
#include "option_values.h"
#include "record_options.h"
#include "run.h"
#include "symbol_options.h"
#include "syst_options.h"
#include "terminal.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/merge/time_merge.h"
#include "waymark/outputs/names.h"
#include "window.h"

namespace waymark::cli {
namespace {

constexpr std::uint32_t kStrictFlags =
    kCheckDirectBranchN | kCheckStrictBranchN | kCheckRangeContinuity | kA64OpcodeCheck;

/// All sources in the order of time, on their way to a sink.
class Merged final : private merge::RecordSink {
 public:
  Merged(const inputs::Capture& capture, Sink& sink)
      : sink_(sink), merge_(ids_of(capture), *this) {}

  void add(std::span<const Element> elements) {
    for (const Element& element : elements) merge_.add(element);
  }
  void add(const Diagnostic& record) { merge_.add(record); }

  /// Writes what is held back.
  void finish() { merge_.finish(); }

  /// Says on standard error what cannot be trusted.
  void report() {
    for (const TraceId id : merge_.timeless()) {
      note(
          fmt::format("--merge time: trace ID 0x{:02x} has no timestamps; its records are at the "
                      "end without a time.",
                      id));
    }
    for (const merge::TimeMerge::Backwards& back : merge_.backwards()) {
      note(
          fmt::format("--merge time: {} of trace ID 0x{:02x} {} below earlier ones, the first "
                      "at trace byte {}: a timestamp is damaged, or the generator was set "
                      "back.",
                      back.count == 1 ? "1 timestamp" : fmt::format("{} timestamps", back.count),
                      back.id, back.count == 1 ? "is" : "are", back.first));
    }
    if (merge_.late() != 0) {
      note(
          fmt::format("--merge time: {} records are not in order, because their source sent its "
                      "time too late or its time went back.",
                      merge_.late()));
    }
  }

 private:
  static std::vector<TraceId> ids_of(const inputs::Capture& capture) {
    std::vector<TraceId> ids;
    for (const inputs::CaptureSource& source : capture.sources()) ids.push_back(source.id);
    return ids;
  }
  void on_record(const merge::TimedRecord& record) override { sink_.add(record); }

  Sink& sink_;
  merge::TimeMerge merge_;
};

/// Passes damage on, and keeps the first record that --strict stops at.
class DamageObserver final : public Observer {
 public:
  /// `merged` may be nullptr: damage goes to the sink at once.
  DamageObserver(Sink& sink, Merged* merged, const Window& window)
      : sink_(sink), merged_(merged), window_(window) {}
  [[nodiscard]] bool wants_packets() const override { return false; }
  void on_diagnostic(const Diagnostic& record) override {
    // The decoder reports a bad packet too, and explains it.
    if (record.stage == Stage::kPackets || !window_.contains(record)) return;
    if (merged_ != nullptr) {
      merged_->add(record);
    } else {
      sink_.add(record);
    }
    if (record.is_damage() && !first_) first_ = record;
  }
  [[nodiscard]] const std::optional<Diagnostic>& first() const { return first_; }

 private:
  Sink& sink_;
  Merged* merged_;
  const Window& window_;
  std::optional<Diagnostic> first_;
};

std::string strict_sentence(const inputs::Capture& capture, const Diagnostic& record) {
  const std::string_view message = describe(record);
  std::string where;
  if (record.address != kNoAddress) where += fmt::format(" at address 0x{:x}", record.address);
  if (record.trace_id != kNoTraceId) where += fmt::format(", trace ID 0x{:02x}", record.trace_id);
  if (record.index != kNoIndex) {
    where += fmt::format(", trace byte {}{}", record.index, place_in_buffer(capture, record.index));
  }
  const bool image = record.fault == Fault::kBadImage || record.fault == Fault::kInvalidOpcode;
  return fmt::format(
      "--strict: {}{}: {}.{}", image ? "trace and image disagree" : "the trace is damaged", where,
      message.ends_with('.') ? message.substr(0, message.size() - 1) : message,
      image ? " Check that the image is the one that ran, and its load address." : "");
}

outputs::HumanWriter::ThreadInVmid thread_in_vmid(const inputs::Capture& capture) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes == nullptr) return {};
  return [processes](TraceId source) { return processes->thread_is_vmid(source); };
}

struct DecodeOptions : RecordOptions {
  std::string merge;
  bool syst = false;
  bool disassemble = false;
  MessageOptions messages;
  unsigned threads = 0;  ///< 0: not said.
  WindowOptions window;
  SymbolOptions symbols;
  SelectionOptions selection;
};

int finish(inputs::Capture& capture, Output& output, const DecodeOptions& options, int code,
           bool executed) {
  if (code == kOk && !executed) {
    code = complain(
        fmt::format("{}: nothing could be decoded: {}", inputs::trace_name(capture),
                    options.selection.given() ? "nothing that was selected is in the trace."
                                              : nothing_decoded_reason(capture)),
        kDamaged);
  }
  return finish_records(capture, output, options, code);
}

/// Writes all elements in one sequence.
int decode_in_sequence(inputs::Capture& capture, Output& output, const DecodeOptions& options,
                       Window& window, const SinkOptions& sink_options, bool& executed) {
  MessageStage* const messages = sink_options.messages;
  auto sink = make_writer(sink_options, output.text(), capture);
  NearSink* near = nullptr;
  if (options.window.near()) {
    const std::uint64_t before =
        options.window.last != 0 ? options.window.last : options.window.instructions;
    auto part = std::make_unique<NearSink>(std::move(sink), before, window.around(),
                                           options.window.instructions);
    near = part.get();
    sink = std::move(part);
  }
  sink = select_into(std::move(sink), sink_options);
  std::optional<Merged> merged;
  if (!options.merge.empty()) merged.emplace(capture, *sink);
  DamageObserver observer(*sink, merged ? &*merged : nullptr, window);
  capture.tree().set_observer(&observer);

  const auto pass = [&](std::span<const Element> elements) {
    if (merged) {
      merged->add(elements);
    } else {
      sink->add(elements);
    }
  };
  const RunHooks hooks{.on_elements =
                           [&](std::span<const Element> all) {
                             const std::span<const Element> elements = window.cut(all);
                             pass(messages != nullptr ? messages->replace(elements) : elements);
                             executed = executed || sink->has_content(all);
                           },
                       .stop = [&] { return options.strict && observer.first().has_value(); },
                       .enough =
                           [&](TraceIndex index) {
                             return window.enough(index) || (near != nullptr && near->enough());
                           },
                       .release = [&] { return sink->release(); },
                       .gap = [&](TraceIndex index) { sink->gap(index); }};
  int code = run_capture(capture, output, hooks);
  if (messages != nullptr) pass(messages->finish());
  if (merged) merged->finish();
  sink->finish();
  if (merged && code != kOutput) merged->report();
  if (code == kInterrupted)
    put_interrupted(output.text(), options.format, csv_header(sink_options), "record");
  if (options.strict && observer.first()) {
    code = complain(strict_sentence(capture, *observer.first()), kDamaged);
  }
  return code;
}

/// The options that need the whole trace, for LiveOptions.
std::string whole_of(const DecodeOptions& options) {
  if (options.window.given()) return "a part of the trace";
  return options.merge.empty() ? "" : "--merge";
}

/// nullptr: they are not listed.
std::shared_ptr<outputs::InstructionPool> instructions_of(const inputs::Capture& capture,
                                                          const DecodeOptions& options,
                                                          const outputs::PlaceLookup& places) {
  if (!options.disassemble) return nullptr;
  return std::make_shared<outputs::InstructionPool>(
      instruction_options(capture, places, options.symbols.details.lines));
}

int run(DecodeOptions options) {
  options.input.live.whole = whole_of(options);
  SourceOptions source;
  if (options.strict) source.flags = kStrictFlags;
  const bool shows_messages = options.syst || !options.messages.collateral.empty();
  if (shows_messages && options.format == Format::kCsv) {
    return complain(
        "--syst: --format csv has no columns for messages; use `waymark syst --format csv`.",
        kUsage);
  }
  const auto collateral = load_collateral(options.messages.collateral);
  if (!collateral) return collateral.error();
  const auto transport = transport_options(options.messages);
  if (!transport) return complain(transport.error().detail, kUsage);
  Window window(options.input, options.window);
  auto capture = open_capture(options.input, source, true, window.known_id_bytes(), true);
  if (!capture) return capture.error();
  if (const auto safe = refuse_input(options.output, options.messages.collateral); !safe) {
    return complain(safe.error().detail, kUsage);
  }
  auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  outputs::PlaceLookup places;
  if (options.symbols.functions) {
    auto lookup = place_lookup(*capture, options.symbols);
    if (!lookup) return complain_of_symbols(lookup.error());
    places = *std::move(lookup);
  }
  const std::vector<std::string> files =
      window.input_files(*capture, program_paths(options.symbols.files));
  if (const auto safe = refuse_input(options.output, files); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  stamp_lines(*output, options.input, options.format);

  // Checks and times need the trace before them; for a selection, its size is unknown.
  const bool search = !options.strict && options.merge.empty() && !*selection;
  if (const int code = window.open(*capture, search); code != kOk) return code;
  if (const std::string fault = options.strict ? capture->image_fault() : ""; !fault.empty())
    return complain("--strict: " + fault, kDamaged);

  const bool timed = !options.merge.empty();
  std::optional<MessageStage> messages;
  if (shows_messages) {
    messages.emplace(*collateral, transport->frequency, options.format == Format::kJson);
    if (transport->short_guid) messages->set_short_client(*transport->short_guid);
  }
  auto instructions = instructions_of(*capture, options, places);
  std::shared_ptr<MissingPrograms> missing;
  if (capture->processes() != nullptr) missing = std::make_shared<MissingPrograms>(*capture);
  const SinkOptions sink_options{.format = options.format,
                                 .timed = timed,
                                 .messages = messages ? &*messages : nullptr,
                                 .functions = std::move(places),
                                 .details = options.symbols.details,
                                 .instructions = std::move(instructions),
                                 .processes = process_namer(*capture),
                                 .thread_in_vmid = thread_in_vmid(*capture),
                                 .missing = missing,
                                 .selection = *std::move(selection),
                                 .style = style_for(output->descriptor())};
  // Times, messages, --strict and parts of the trace need the elements in one sequence.
  if (!timed && !messages && !options.strict && !options.window.given() &&
      !options.input.live.arrival) {
    if (const auto done = decode_parallel(*capture, *output, sink_options, options.threads)) {
      if (done->code == kInterrupted)
        put_interrupted(output->text(), options.format, csv_header(sink_options), "record");
      const int code = finish(*capture, *output, options, done->code, done->executed);
      if (missing != nullptr) missing->report();
      report_mismatches(*capture, code);
      return code;
    }
  }
  bool executed = false;
  const int done = decode_in_sequence(*capture, *output, options, window, sink_options, executed);
  const int code = finish(*capture, *output, options, done, executed);
  if (missing != nullptr) missing->report();
  report_mismatches(*capture, code);
  return code;
}

}  // namespace

void add_decode(Command& app, int& exit_code) {
  auto options = std::make_shared<DecodeOptions>();
  Command* command = app.add_subcommand("decode", "Show what the cores executed");
  add_record_options(
      *command, *options,
      "check the trace against the image, and stop at the first damage with exit status 1");
  command
      ->add_option("--merge", options->merge,
                   "show all sources in the order of their timestamps, with the time in each line")
      ->type_name("ORDER")
      ->check(one_of({"time"}));
  command->add_flag("--syst", options->syst,
                    "show SyS-T messages instead of the packets of an STM, and after those of an "
                    "ITM; see `waymark syst`");
  add_collateral_options(*command, options->messages);
  Option* const functions =
      add_symbol_options(*command, options->symbols, "name the function of each block");
  add_detail_options(*command, options->symbols, functions);
  command->add_flag("--disassemble", options->disassemble,
                    "show the instructions of each block below it (as text if LLVM is installed)");
  add_selection_options(*command, options->selection);
  add_threads_option(*command, options->threads);
  add_window_options(*command, options->window);
  add_near_options(*command, options->window);
  add_live_options(*command, options->input);
  for (const char* const messages : {"--syst", "--collateral"}) {
    command->get_option("--last")->excludes(messages);
    command->get_option("--around")->excludes(messages);
  }
  command->footer(
      "Examples:\n"
      "  waymark decode board/                        every core, as text\n"
      "  waymark decode board/ --id 0x10 --format json -o core0.jsonl\n"
      "  waymark decode board/ --functions            with the names of functions\n"
      "  waymark decode board/ --inlines              with source lines and inlined functions\n"
      "  waymark decode board/ --functions --disassemble   with the instructions, too\n"
      "  waymark decode board/ --merge time           cores and software trace in one view\n"
      "  waymark decode board/ --from t:8123456 --to 0x40000\n"
      "  waymark decode board/ --last 100 --disassemble    the end: what happened before a crash\n"
      "  waymark decode perf.data --comm sort --dso libc.so.6\n"
      "  waymark decode etb.bin --protocol etmv4 --reg TRCCONFIGR=0xC1 --reg TRCIDR0=0x28000EA1 "
      "\\\n"
      "      --reg TRCIDR2=0x488 --image 0x80000000=kernel.bin");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
