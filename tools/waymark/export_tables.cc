#include "export_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "complain.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "hints.h"
#include "image_mismatches.h"
#include "output.h"
#include "profile_collector.h"
#include "run.h"
#include "slices.h"
#include "stack_pass.h"
#include "table_writers.h"
#include "waymark/base/escape.h"
#include "waymark/exports/tables.h"
#include "waymark/inputs/trace_name.h"

namespace waymark::cli {
namespace {

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
          "--dso: call stacks lead through all programs, so they cannot be limited to one; leave "
          "out the table `calls` with --table, "
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
    if (wants("elements")) find_limits(*capture);
    if (const int code = open_parts(*capture, window); code != kOk) return code;
    if (const int code = window.open(*capture); code != kOk) return code;
    if (const int code = find_places(*capture); code != kOk) return code;
    int code = decode(*capture, window);
    if (code == kInterrupted || code == kOutput || code == kMemory) return code;
    report_mismatches(*capture, code);
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

  [[nodiscard]] bool wants(std::string_view table) const { return wants_table(options_, table); }

  /// Each slice of the trace has a file of elements, and so has what follows its end.
  void find_limits(inputs::Capture& capture) {
    for (const std::uint64_t limit :
         cut_limits(capture, input_.path, options_.of_format.slice_bytes))
      if (limit != 0) limits_.push_back(capture.rest()->index + limit);
  }

  int open_parts(const inputs::Capture& capture, const Window& window) {
    files_ = window.input_files(capture, program_paths(options_.symbols.files));
    const std::vector<std::string> of_capture = capture.input_files();
    files_.insert(files_.end(), of_capture.begin(), of_capture.end());
    if (wants("elements")) {
      if (const int code = open_elements(); code != kOk) return code;
    }
    if (wants("calls")) {
      if (const int code = calls_.open(folder_, "calls", input_, files_); code != kOk) return code;
    }
    if (wants("messages")) {
      if (const int code = rows_of_messages_.open(folder_, "messages", input_, files_); code != kOk)
        return code;
    }
    return kOk;
  }

  int open_elements() {
    exports::TableInput input = input_;
    if (!limits_.empty()) input.slice = slice_;
    return elements_.open(folder_, "elements", input, files_);
  }

  int begin_next_slice() {
    if (const int code = elements_.finish(); code != kOk) return code;
    ++slice_;
    return open_elements();
  }

  int find_places(const inputs::Capture& capture) {
    if (!calls_.is_open()) return kOk;
    auto places = stack_places(capture, options_.symbols.files, false);
    if (!places) return places.error();
    places_ = *std::move(places);
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
    MissingCode missing(capture, selection_);
    const auto take = [&](std::span<const Element> elements) {
      missing.observe(elements);
      if (messages) messages->add(elements);
      if (calls_.is_open()) calls_.output().settle();
      executed = add(elements) || executed;
    };
    auto nothing = Output::open("", {});
    if (!nothing) return complain(nothing.error().detail, kOutput);
    Output& output = main_output(*nothing);
    const RunLimits limits{.places = limits_, .reached = [this] { return begin_next_slice(); }};
    const int code =
        calls ? trace_stacks(capture, selection_, window, output, calls->engine(), take, limits)
              : run_capture(
                    capture, output,
                    {.on_elements = [&](std::span<const Element> all) { take(window.cut(all)); },
                     .stop = {},
                     .enough = [&](TraceIndex index) { return window.enough(index); },
                     .limits = limits});
    if (messages) messages->finish();
    if (calls) calls->finish();
    capture.tree().set_observer(nullptr);
    if (code == kOutput) return finish_output(output, code);
    if (code == kOk && !executed) {
      const int nothing_decoded = complain(
          fmt::format("{}: nothing could be decoded: {}", inputs::trace_name(capture),
                      options_.selection.given() ? "nothing that was selected is in the trace."
                                                 : nothing_decoded_reason(capture)),
          kDamaged);
      missing.report();
      return nothing_decoded;
    }
    missing.report();
    return code;
  }

  /// That of the largest table, which ends the run when it cannot be written.  `nothing`: each
  /// slice has a file of its own.
  Output& main_output(Output& nothing) {
    if (!limits_.empty()) return nothing;
    if (elements_.is_open()) return elements_.output();
    return calls_.is_open() ? calls_.output() : rows_of_messages_.output();
  }

  /// Whether something was executed, or said.
  bool add(std::span<const Element> elements) {
    bool found_content = false;
    for (const Element& element : elements) {
      if (selection_ && !selection_->shows(element)) continue;
      found_content = found_content || has_content(element);
      if (elements_.is_open()) elements_.part().add({&element, 1});
    }
    if (!limits_.empty()) elements_.output().settle();
    return found_content;
  }

  /// `notes`: see CollectNeeds.
  int count(bool notes) {
    Collector collected(options_, {.code = false, .names = false, .notes = notes});
    if (const int code = collected.add(input_.path); code != kOk) return code;
    return write_counts(collected, folder_, input_);
  }

  const ExportOptions& options_;
  const ExportMessages& messages_;
  const TableFolder& folder_;
  exports::TableInput input_;
  std::optional<Selection> selection_;
  outputs::PlaceLookup places_;
  std::vector<TraceIndex> limits_;  ///< Where slices end; empty: the trace is not cut.
  std::uint32_t slice_ = 0;
  std::vector<std::string> files_;  ///< All that are read.
  OpenPart<exports::ElementsPart> elements_;
  OpenPart<exports::CallsPart> calls_;
  OpenPart<exports::MessagesPart> rows_of_messages_;
};

}  // namespace

std::vector<std::string> wanted_tables(const ExportOptions& options) {
  std::vector<std::string> tables;
  for (const exports::Table& table : exports::tables())
    if (wants_table(options, table.name)) tables.emplace_back(table.name);
  return tables;
}

int write_tables(const ExportOptions& options, const ExportMessages& messages,
                 const TableFolder& folder, const std::string& path, std::size_t number) {
  TablePass pass(options, messages, folder, table_input(number, path));
  const int code = pass.run();
  if (code != kOk && code != kDamaged) folder.drop(number);
  return code;
}

int export_tables(const ExportOptions& options, const ExportMessages& messages) {
  if (options.of_format.slice_bytes != 0 && options.window.given()) {
    return complain("--slice-bytes cuts whole traces; leave out --from, --to and the like.",
                    kUsage);
  }
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
