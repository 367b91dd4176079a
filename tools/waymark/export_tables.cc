#include "export_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "complain.h"
#include "decode_sink.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "hints.h"
#include "image_mismatches.h"
#include "output.h"
#include "profile_collector.h"
#include "run.h"
#include "stack_pass.h"
#include "table_folder.h"
#include "version.h"
#include "waymark/base/escape.h"
#include "waymark/exports/tables.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/perf/process_images.h"
#include "waymark/syst/channels.h"
#include "waymark/syst/ports.h"

namespace waymark::cli {
namespace {

/// A file that is being written.
template <class Part>
class OpenPart {
 public:
  /// kOk, or the exit code after the sentence.
  int open(const TableFolder& folder, std::string_view table, const exports::TableInput& input,
           std::span<const std::string> files) {
    auto opened = Output::open_whole(folder.part_path(table, input.part), files);
    if (!opened) return complain(opened.error().detail, kOutput);
    output_ = std::make_unique<Output>(*std::move(opened));
    part_ = std::make_unique<Part>(input, output_->text());
    return kOk;
  }
  [[nodiscard]] bool is_open() const { return part_ != nullptr; }
  Part& part() { return *part_; }
  Output& output() { return *output_; }
  /// The end of the file.
  int finish() {
    if (part_ == nullptr) return kOk;
    if (const auto finished = part_->finish(); !finished)
      return complain(finished.error().detail, kMemory);
    return output_->commit() ? kOk : finish_output(*output_, kOutput);
  }

 private:
  std::unique_ptr<Output> output_;
  std::unique_ptr<Part> part_;
};

/// The messages in the elements of a capture.
class MessageRows final : private syst::FrameSink {
 public:
  MessageRows(const ExportMessages& messages, OpenPart<exports::MessagesPart>& to)
      : interpreter_(messages.collateral()), ports_(*this), to_(to) {
    interpreter_.set_transport_frequency(messages.transport().frequency);
    if (messages.transport().short_guid)
      interpreter_.set_short_client(*messages.transport().short_guid);
  }

  void add(std::span<const Element> elements) {
    for (const Element& element : elements) {
      if (element.kind == ElementKind::kItmTrace) {
        ports_.add(element);
        continue;
      }
      for (const syst::Frame& frame : channels_.add(element)) on_frame(frame);
      interpreter_.set_transport_frequency(element.trace_id, channels_.frequency(element.trace_id));
    }
  }
  void finish() {
    for (const syst::Frame& frame : channels_.finish()) on_frame(frame);
    ports_.finish();
  }

 private:
  void on_frame(const syst::Frame& frame) override {
    to_.part().add(interpreter_.interpret(frame));
    to_.output().settle();
  }

  syst::Interpreter interpreter_;
  syst::ChannelAssembler channels_;
  syst::PortReader ports_;
  OpenPart<exports::MessagesPart>& to_;
};

/// The threads of a recording.
exports::CallsPart::FindTask tasks_of(const inputs::Capture& capture) {
  if (capture.processes() == nullptr) return {};
  std::map<std::uint32_t, exports::CallsPart::Task> tasks;
  for (const perf::Task& task : capture.processes()->known_tasks())
    tasks[static_cast<std::uint32_t>(task.tid)] = {.process = static_cast<std::uint32_t>(task.pid),
                                                   .name = task.name};
  return [tasks = std::move(tasks)](std::uint64_t thread) {
    const auto known = tasks.find(static_cast<std::uint32_t>(thread));
    return known == tasks.end() ? std::nullopt : std::optional(known->second);
  };
}

/// The calls in a capture.
class CallRows {
 public:
  CallRows(const inputs::Capture& capture, outputs::PlaceLookup places,
           const StackExportOptions& options, OpenPart<exports::CallsPart>& to)
      : timeline_(to.part(), {.unit = options.time, .tracks_apart = false}),
        engine_(engine_options(capture, std::move(places), options, timeline_)) {
    set_sources(engine_, capture);
    to.part().begin(engine_.tree(), tasks_of(capture));
  }

  stacks::Engine& engine() { return engine_; }
  void finish() {
    timeline_.finish();
    tell_quality(engine_);
    for (const TraceId id : timeline_.timeless()) {
      note(
          fmt::format("trace ID 0x{:02x} has no times of this kind, and its calls are left out; "
                      "see --time.",
                      id));
    }
  }

 private:
  static stacks::Options engine_options(const inputs::Capture& capture, outputs::PlaceLookup places,
                                        const StackExportOptions& options, stacks::Sink& sink) {
    stacks::Options made = stack_options(capture, std::move(places));
    made.tail_calls =
        options.replace_tail_calls ? stacks::TailCalls::kReplace : stacks::TailCalls::kKeep;
    made.exceptions_apart = options.exceptions_apart;
    made.sink = &sink;
    return made;
  }

  stacks::Timeline timeline_;
  stacks::Engine engine_;
};

/// The rows of one input.
class TablePass {
 public:
  TablePass(const ExportOptions& options, const ExportMessages& messages, const TableFolder& folder,
            exports::TableInput input)
      : options_(options), messages_(messages), folder_(folder), input_(std::move(input)) {}

  /// The exit code of this input alone.
  int run() {
    if (wants("calls") && !options_.selection.programs.empty()) {
      return complain(
          "--dso: call stacks go through all programs; leave out the table `calls` with --table, "
          "or select threads with --pid, --tid or --comm.",
          kUsage);
    }
    const bool counts = wants("counts");
    if (counts && options_.of_format.tables.size() == 1) return count(true);
    InputOptions input = options_.input;
    input.path = input_.path;
    Window window(input, options_.window);
    auto capture = open_capture(input, {}, true, window.known_id_bytes(), true);
    if (!capture) return capture.error();
    auto selection = select_in(*capture, options_.selection);
    if (!selection) return complain(selection.error().detail, kUsage);
    selection_ = *std::move(selection);
    if (const int code = open_parts(*capture, window); code != kOk) return code;
    if (const int code = window.open(*capture); code != kOk) return code;
    if (const int code = find_places(*capture); code != kOk) return code;
    int code = decode(*capture, window);
    if (code == kInterrupted || code == kOutput || code == kMemory) return code;
    tell_mismatches(*capture, code);
    for (const int finished : {elements_.finish(), calls_.finish(), rows_of_messages_.finish()})
      if (finished != kOk) return finished;
    if (counts) code = std::max(code, count(false));
    return code;
  }

 private:
  /// Puts damage at its place among the elements.
  class Damage final : public Observer {
   public:
    explicit Damage(TablePass& pass, const Window& window) : pass_(pass), window_(window) {}
    [[nodiscard]] bool wants_packets() const override { return false; }
    void on_diagnostic(const Diagnostic& record) override {
      // The decoder reports a bad packet too, and explains it.
      if (record.stage == Stage::kPackets || !window_.contains(record)) return;
      if (pass_.elements_.is_open()) pass_.elements_.part().add(record);
    }

   private:
    TablePass& pass_;
    const Window& window_;
  };

  [[nodiscard]] bool wants(std::string_view table) const {
    return options_.of_format.tables.empty() ||
           std::ranges::find(options_.of_format.tables, table) != options_.of_format.tables.end();
  }

  int open_parts(const inputs::Capture& capture, const Window& window) {
    std::vector<std::string> files =
        window.input_files(capture, program_paths(options_.symbols.files));
    const std::vector<std::string> of_capture = capture.input_files();
    files.insert(files.end(), of_capture.begin(), of_capture.end());
    if (wants("elements")) {
      if (const int code = elements_.open(folder_, "elements", input_, files); code != kOk)
        return code;
    }
    if (wants("calls")) {
      if (const int code = calls_.open(folder_, "calls", input_, files); code != kOk) return code;
    }
    if (wants("messages")) {
      if (const int code = rows_of_messages_.open(folder_, "messages", input_, files); code != kOk)
        return code;
    }
    return kOk;
  }

  /// Without names, functions are the addresses that were called.
  int find_places(const inputs::Capture& capture) {
    if (!calls_.is_open()) return kOk;
    auto places = place_lookup(capture, {.functions = true, .files = options_.symbols.files});
    if (places) {
      places_ = *std::move(places);
    } else if (places.error().code != ErrorCode::kNotFound || !options_.symbols.files.empty()) {
      return complain(places.error().detail, kInput);
    }
    return kOk;
  }

  int decode(inputs::Capture& capture, Window& window) {
    if (!elements_.is_open() && !calls_.is_open() && !rows_of_messages_.is_open()) return kOk;
    Damage damage(*this, window);
    capture.tree().set_observer(&damage);
    std::optional<MessageRows> messages;
    if (rows_of_messages_.is_open()) messages.emplace(messages_, rows_of_messages_);
    std::optional<CallRows> calls;
    if (calls_.is_open()) calls.emplace(capture, places_, options_.stacks, calls_);
    bool executed = false;
    const auto take = [&](std::span<const Element> elements) {
      if (messages) messages->add(elements);
      if (calls_.is_open()) calls_.output().settle();
      executed = add(elements) || executed;
    };
    Output& output = main_output();
    const int code =
        calls ? trace_stacks(capture, selection_, window, output, calls->engine(), take)
              : run_capture(
                    capture, output,
                    {.on_elements = [&](std::span<const Element> all) { take(window.cut(all)); },
                     .stop = {},
                     .enough = [&](TraceIndex index) { return window.enough(index); }});
    if (messages) messages->finish();
    if (calls) calls->finish();
    capture.tree().set_observer(nullptr);
    if (code == kOutput) return finish_output(output, code);
    if (code == kOk && !executed) {
      return complain(
          fmt::format("{}: nothing could be decoded: {}", inputs::trace_name(capture),
                      options_.selection.given() ? "nothing that was selected is in the trace."
                                                 : nothing_decoded_reason(capture)),
          kDamaged);
    }
    return code;
  }

  /// That of the largest table.
  Output& main_output() {
    if (elements_.is_open()) return elements_.output();
    return calls_.is_open() ? calls_.output() : rows_of_messages_.output();
  }

  /// Whether something was executed, or said.
  bool add(std::span<const Element> elements) {
    bool says_something = false;
    for (const Element& element : elements) {
      if (selection_ && !selection_->shows(element)) continue;
      says_something = says_something || (element.kind != ElementKind::kNoSync &&
                                          element.kind != ElementKind::kEndOfTrace);
      if (elements_.is_open()) elements_.part().add({&element, 1});
    }
    return says_something;
  }

  /// `notes`: see CollectNeeds.
  int count(bool notes) {
    Collector collected(options_, {.code = false, .programs = false, .notes = notes});
    if (const int code = collected.add(input_.path); code != kOk) return code;
    OpenPart<exports::CountsPart> part;
    if (const int code = part.open(folder_, "counts", input_, collected.files()); code != kOk)
      return code;
    for (const profile::ProgramProfile& program : collected.profile().programs()) {
      part.part().add(program);
      part.output().settle();
    }
    return part.finish();
  }

  const ExportOptions& options_;
  const ExportMessages& messages_;
  const TableFolder& folder_;
  exports::TableInput input_;
  std::optional<Selection> selection_;
  outputs::PlaceLookup places_;
  OpenPart<exports::ElementsPart> elements_;
  OpenPart<exports::CallsPart> calls_;
  OpenPart<exports::MessagesPart> rows_of_messages_;
};

}  // namespace

std::vector<std::string> wanted_tables(const ExportOptions& options) {
  const std::vector<std::string>& named = options.of_format.tables;
  std::vector<std::string> tables;
  for (const exports::Table& table : exports::tables())
    if (named.empty() || std::ranges::find(named, table.name) != named.end())
      tables.emplace_back(table.name);
  return tables;
}

int write_tables(const ExportOptions& options, const ExportMessages& messages,
                 const TableFolder& folder, const std::string& path, std::size_t number) {
  TablePass pass(options, messages, folder,
                 {.part = static_cast<std::uint32_t>(number),
                  .path = path,
                  .created_by = "waymark version " WAYMARK_VERSION});
  const int code = pass.run();
  if (code != kOk && code != kDamaged) folder.drop(number);
  return code;
}

int export_tables(const ExportOptions& options, const ExportMessages& messages) {
  auto folder = TableFolder::open(options.output, wanted_tables(options));
  if (!folder) return folder.error();
  int worst = kOk;
  std::size_t written = 0;
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    const int code = write_tables(options, messages, *folder, options.inputs[i], i);
    if (code == kUsage || code == kInterrupted || code == kOutput || code == kMemory) return code;
    written += code == kOk || code == kDamaged ? 1 : 0;
    worst = std::max(worst, code);
  }
  if (written == 0) return worst;
  const int code = folder->commit();
  return code == kOk ? worst : code;
}

}  // namespace waymark::cli
