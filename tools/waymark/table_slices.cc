#include "table_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "elf_argument.h"
#include "profile_collector.h"
#include "slices.h"
#include "stack_pass.h"
#include "stack_steps.h"
#include "table_writers.h"
#include "waymark/base/escape.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/shard/event_codec.h"
#include "waymark/shard/table_slice_codec.h"

namespace waymark::cli {
namespace {

using ElementRows = OpenPart<exports::ElementsPart>;

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool are_events(const std::string& text) {
  shard::EventReader reader(bytes_of(text));
  while (reader.next()) {
  }
  return !reader.is_bad();
}

/// The common part of all pieces of a capture.
struct PieceNeeds {
  const inputs::Capture* capture = nullptr;
  const std::optional<Selection>* selection = nullptr;
  outputs::PlaceLookup places{};
  bool elements = false;
  bool calls = false;
  bool messages = false;
};

/// The data of a slice that tables need.
class TablePiece final : public parallel::Piece {
 public:
  /// Where what is found goes, besides to the record.
  struct Outputs {
    ElementRows* rows = nullptr;       ///< nullptr: rows are kept as events.
    stacks::Engine* engine = nullptr;  ///< nullptr: what it needs is kept as steps.
  };

  TablePiece(const PieceNeeds& needs, const Outputs& outputs)
      : needs_(needs), outputs_(outputs), selection_(*needs.selection), of_engine_(selection_) {
    if (needs.calls && outputs.engine == nullptr)
      steps_.emplace(*needs.capture, needs.places, *needs.selection, true);
  }

  void on_elements(std::span<const Element> elements) override {
    if (steps_) steps_->observe(elements);
    if (outputs_.engine != nullptr) observe_selected(*outputs_.engine, of_engine_, elements);
    for (const Element& element : elements) {
      if (needs_.messages && syst::TraceReader::reads(element.kind)) messages_.add(element);
      if (selection_ && !selection_->shows(element)) continue;
      has_content_ = has_content_ || cli::has_content(element);
      add_row(element);
    }
    if (outputs_.rows != nullptr) outputs_.rows->output().settle();
  }
  void on_diagnostic(const Diagnostic& record) override {
    // The decoder reports a bad packet too, and explains it.
    if (record.stage != Stage::kPackets) add_row(record);
  }

  [[nodiscard]] bool has_content() const { return has_content_; }
  std::string take_messages() { return messages_.take(); }
  std::string take_steps() { return steps_ ? steps_->take() : std::string(); }
  std::string take_rows() { return rows_.take(); }

 private:
  template <class Row>
  void add_row(const Row& row) {
    if (!needs_.elements) return;
    if (outputs_.rows == nullptr) return rows_.add(row);
    if constexpr (std::is_same_v<Row, Element>) {
      outputs_.rows->part().add({&row, 1});
    } else {
      outputs_.rows->part().add(row);
    }
  }

  const PieceNeeds& needs_;
  Outputs outputs_;
  std::optional<Selection> selection_;
  std::optional<Selection> of_engine_;
  std::optional<StepMaker> steps_;
  shard::EventWriter messages_;
  shard::EventWriter rows_;
  bool has_content_ = false;
};

/// Makes a piece for a slice, and then one for what the sources would give if the trace ended
/// there.
class TablePieces final : public parallel::Consumer {
 public:
  explicit TablePieces(const PieceNeeds& needs) : needs_(needs) {}

  /// The next piece has these takers.
  void give_to(const TablePiece::Outputs& outputs) { outputs_ = outputs; }

  std::unique_ptr<parallel::Piece> begin() override {
    return std::make_unique<TablePiece>(needs_, std::exchange(outputs_, {}));
  }
  bool take(std::unique_ptr<parallel::Piece> /*piece*/) override { return true; }

 private:
  const PieceNeeds& needs_;
  TablePiece::Outputs outputs_;
};

/// The tables of a capture that need its elements: what shard and merge have in common.
class TableWork {
 public:
  using Record = shard::SliceEvents;

  TableWork(inputs::Capture& capture, const std::optional<Selection>& selection,
            outputs::PlaceLookup places, const ExportOptions& options, std::size_t number,
            std::string path)
      : number_(number),
        path_(std::move(path)),
        files_(capture.input_files()),
        needs_{.capture = &capture,
               .selection = &selection,
               .places = std::move(places),
               .elements = wants_table(options, "elements"),
               .calls = wants_table(options, "calls"),
               .messages = wants_table(options, "messages")},
        pieces_(needs_) {
    const std::vector<std::string> programs = program_paths(options.symbols.files);
    files_.insert(files_.end(), programs.begin(), programs.end());
  }

  [[nodiscard]] parallel::Consumer& consumer() { return pieces_; }

  static Record record_of(const parallel::Slice& slice) {
    auto& piece = static_cast<TablePiece&>(*slice.pieces.front());
    auto& end = static_cast<TablePiece&>(*slice.end);
    return {.seam = slice.seam,
            .has_content = piece.has_content(),
            .messages = piece.take_messages(),
            .steps = piece.take_steps(),
            .end_messages = end.take_messages(),
            .end_steps = end.take_steps(),
            .end_rows = end.take_rows()};
  }

 protected:
  [[nodiscard]] const PieceNeeds& needs() const { return needs_; }
  TablePieces& pieces() { return pieces_; }
  ElementRows& rows() { return rows_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Opens the file of a table without slices.  kOk, or the exit code.
  template <class Part>
  int open(OpenPart<Part>& part, const TableFolder& folder, std::string_view table) {
    return part.open(folder, table, table_input(number_, path_), files_);
  }
  int open_rows(const TableFolder& folder, std::size_t slice) {
    return rows_.open(folder, "elements", table_input(number_, path_, slice), files_);
  }

 private:
  std::size_t number_;  ///< The number of the input.
  std::string path_;
  std::vector<std::string> files_;  ///< All that are read.
  PieceNeeds needs_;
  TablePieces pieces_;
  ElementRows rows_;
};

/// One slice, in a shard.
class SliceWork final : public TableWork {
 public:
  using TableWork::TableWork;

  /// kOk, or the exit code.
  int begin(const TableFolder& folder, std::size_t slice) {
    if (!needs().elements) return kOk;
    if (const int code = open_rows(folder, slice); code != kOk) return code;
    pieces().give_to({.rows = &rows()});
    return kOk;
  }
  int finish() { return rows().finish(); }

  static Result<std::string> encode(const Record& record) { return shard::encode(record); }
};

/// All slices, in a merge.
class JoinWork final : public TableWork {
 public:
  template <class... Arguments>
  explicit JoinWork(const TableFolder& folder, inputs::Capture& capture, Arguments&&... arguments)
      : TableWork(capture, std::forward<Arguments>(arguments)...),
        folder_(folder),
        tree_(capture.tree()) {
    for (const Source* source : capture.tree().sources()) ids_.push_back(source->trace_id());
    ends_.resize(ids_.size());
  }

  /// Opens the files of the tables that are not made of slices.  kOk, or the exit code.
  int begin(const StackExportOptions& options, const ExportMessages& messages) {
    if (needs().calls) {
      if (const int code = open(calls_, folder_, "calls"); code != kOk) return code;
      call_rows_.emplace(*needs().capture, needs().places, options, calls_);
    }
    if (needs().messages) {
      if (const int code = open(messages_, folder_, "messages"); code != kOk) return code;
      message_rows_.emplace(messages, messages_);
    }
    return kOk;
  }

  /// The slices of which the rows were written again.
  [[nodiscard]] const std::vector<std::size_t>& again() const { return again_; }
  [[nodiscard]] bool has_content() const { return has_content_; }

  /// The end of the trace, after all slices.  kOk, or the exit code.
  int finish() {
    if (failed_ != kOk) return failed_;
    if (needs().elements) {
      if (const int code = open_rows(folder_, slice_); code != kOk) return code;
      for (std::size_t i = 0; i < ids_.size(); ++i) add_end_rows(ends_[i], ids_[i]);
      add_end_rows(last_, kNoTraceId);
    }
    if (message_rows_) {
      for (std::size_t i = 0; i < ids_.size(); ++i)
        if (ends_[i] != nullptr) (void)add_messages(ends_[i]->end_messages, ids_[i]);
      message_rows_->finish();
    }
    if (call_rows_) {
      for (std::size_t i = 0; i < ids_.size(); ++i)
        if (ends_[i] != nullptr) play_end(call_rows_->engine(), ends_[i]->end_steps, ids_[i]);
      call_rows_->engine().finish();
      call_rows_->finish();
    }
    for (const int code : {rows().finish(), calls_.finish(), messages_.finish()})
      if (code != kOk) return code;
    return kOk;
  }

  // -- For SliceSum. ---------------------------------------------------------------------------

  static Result<Record> read(Bytes content) {
    const auto slice = shard::read_table_slice(content);
    if (!slice) return std::unexpected(slice.error());
    return shard::read_slice_events(bytes_of(slice->events));
  }
  [[nodiscard]] bool is_whole(const Record& record) const { return record.seam.is_of(tree_); }
  static constexpr std::string_view kWhyAgain =
      "the programs in memory changed while a function of theirs was on the stack";
  /// Also does what the slice does to the stacks.  What was written of them cannot be taken back,
  /// so a copy of the engine tries it first.
  [[nodiscard]] Result<bool> begins_right(const Record& record) {
    if (!are_events(record.end_messages) || !are_events(record.end_rows) ||
        !are_steps(record.end_steps))
      return fail(ErrorCode::kBadData, "these are not events");
    if (!call_rows_) return true;
    const auto trial = play_steps(*call_rows_->engine().copy(), record.steps);
    return trial && *trial ? play_steps(call_rows_->engine(), record.steps) : trial;
  }
  void begin_again() {
    again_.push_back(slice_);
    if (needs().elements && failed_ == kOk) failed_ = open_rows(folder_, slice_);
    pieces().give_to({.rows = rows().is_open() ? &rows() : nullptr,
                      .engine = call_rows_ ? &call_rows_->engine() : nullptr});
  }

  void add(Record record, const std::vector<bool>& ends) {
    if (const int code = rows().finish(); failed_ == kOk) failed_ = code;
    ++slice_;
    has_content_ = has_content_ || record.has_content;
    if (message_rows_ && !add_messages(record.messages, std::nullopt) && failed_ == kOk) {
      failed_ = complain(fmt::format("{}: the messages in the part of slice {} are inconsistent",
                                     escaped(path()), slice_ - 1),
                         kInput);
    }
    if (calls_.is_open()) calls_.output().settle();
    record.messages.clear();
    record.steps.clear();
    last_ = std::make_shared<const Record>(std::move(record));
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (ends[i]) ends_[i] = last_;
  }

 private:
  /// `id`: of this source only.  False: the text is not events from some place on.
  bool add_messages(const std::string& text, std::optional<TraceId> id) {
    shard::EventReader events(bytes_of(text));
    while (const auto event = events.next()) {
      const auto* const element = std::get_if<Element>(&*event);
      if (element != nullptr && (!id || element->trace_id == *id)) message_rows_->add({element, 1});
    }
    return !events.is_bad();
  }

  /// Rows of one source, or damage that concerns none.
  void add_end_rows(const std::shared_ptr<const Record>& record, TraceId id) {
    if (record == nullptr) return;
    shard::EventReader events(bytes_of(record->end_rows));
    while (const auto event = events.next()) {
      if (const auto* const element = std::get_if<Element>(&*event)) {
        if (element->trace_id != id) continue;
        has_content_ = has_content_ || cli::has_content(*element);
        rows().part().add({element, 1});
      } else if (const auto& damage = std::get<Diagnostic>(*event); damage.trace_id == id) {
        rows().part().add(damage);
      }
    }
  }

  const TableFolder& folder_;
  const DecodeTree& tree_;
  std::vector<TraceId> ids_;  ///< By source.
  OpenPart<exports::CallsPart> calls_;
  OpenPart<exports::MessagesPart> messages_;
  std::optional<CallRows> call_rows_;
  std::optional<MessageRows> message_rows_;
  std::vector<std::shared_ptr<const Record>> ends_;  ///< By source: the slice with its end.
  std::shared_ptr<const Record> last_;               ///< The last slice.
  std::size_t slice_ = 0;                            ///< How many were added.
  std::vector<std::size_t> again_;
  bool has_content_ = false;
  int failed_ = kOk;
};

bool wants_elements(const ExportOptions& options) {
  return wants_table(options, "elements") || wants_table(options, "calls") ||
         wants_table(options, "messages");
}

/// A capture that is cut, with what is selected of it.
struct CutCapture {
  inputs::Capture capture;
  std::optional<Selection> selection{};
  outputs::PlaceLookup places{};
};

/// On failure prints the sentence and returns the exit code.
std::expected<CutCapture, int> open_cut(const shard::Plan& plan, const shard::Cut& cut,
                                        const ExportOptions& options, bool with_notes) {
  InputOptions input = options.input;
  input.path = plan.inputs[cut.input].path;
  auto capture = open_capture(input, {}, with_notes, known_id_bytes(cut), false);
  if (!capture) return std::unexpected(capture.error());
  CutCapture opened{.capture = *std::move(capture)};
  auto selection = select_in(opened.capture, options.selection);
  if (!selection) return std::unexpected(complain(selection.error().detail, kUsage));
  opened.selection = *std::move(selection);
  if (!wants_table(options, "calls")) return opened;
  auto places = stack_places(opened.capture, options.symbols.files, false);
  if (!places) return std::unexpected(places.error());
  opened.places = *std::move(places);
  return opened;
}

int record_events(const shard::Folder& folder, const ExportOptions& options, const Refuse& refuse,
                  shard::Part& part, shard::TableSlice& made) {
  const shard::Plan& plan = folder.plan();
  const shard::Cut& cut = *plan.cut_of(part.shard);
  const std::size_t slice = *plan.shards[part.shard].slice;
  auto opened = open_cut(plan, cut, options, false);
  if (!opened) return opened.error();
  const auto scratch = TableFolder::scratch(folder.path() + "/attempts", {"elements"});
  if (!scratch) return scratch.error();
  SliceWork work(opened->capture, opened->selection, std::move(opened->places), options, cut.input,
                 plan.inputs[cut.input].path);
  if (const int code = work.begin(*scratch, slice); code != kOk) return code;
  if (const int code = make_slice(plan, opened->capture, work, refuse, part); code != kOk)
    return code;
  if (const int code = work.finish(); code != kOk) return code;
  made.events = std::exchange(part.content, {});
  if (!wants_table(options, "elements")) return kOk;
  auto file = shard::publish_data(folder, scratch->part_path("elements", cut.input, slice),
                                  "elements", cut.input, slice);
  if (!file) return complain(file.error().detail, kOutput);
  made.data.push_back(*std::move(file));
  return kOk;
}

/// The files with the rows of all slices, each of which must be what its shard wrote.
Result<std::vector<shard::DataFile>> files_of_slices(const shard::Folder& folder, std::size_t first,
                                                     const shard::Cut& cut) {
  std::vector<shard::DataFile> files;
  for (std::size_t slice = 0; slice < cut.count(); ++slice) {
    const auto part = folder.part(first + slice);
    if (!part) return std::unexpected(part.error());
    if (!*part)
      return fail(ErrorCode::kNotFound, fmt::format("part {} is missing.", first + slice));
    const auto content = shard::read_table_slice(shard::content_of(**part));
    if (!content) return std::unexpected(content.error());
    for (const shard::DataFile& file : content->data) {
      if (file.table != "elements" || file.input != cut.input || file.slice != slice) {
        return fail(ErrorCode::kBadData, fmt::format("{}: the part lists a file of another shard",
                                                     escaped(folder.part_path(first + slice))));
      }
      WAYMARK_TRY(shard::check_data(folder, first + slice, file));
      files.push_back(file);
    }
  }
  return files;
}

/// The exit code for the capture.  `failed`: not kOk if nothing can be merged.
int join_events(const shard::Folder& folder, std::size_t first, const ExportOptions& options,
                const ExportMessages& messages, const TableFolder& tables,
                std::vector<shard::DataFile>& files, int& failed) {
  const shard::Cut& cut = *folder.plan().cut_of(first);
  const std::string& path = folder.plan().inputs[cut.input].path;
  auto own = files_of_slices(folder, first, cut);
  if (!own) return failed = complain(own.error().detail, kInput);
  auto opened = open_cut(folder.plan(), cut, options, true);
  if (!opened) return opened.error();
  JoinWork work(tables, opened->capture, opened->selection, std::move(opened->places), options,
                cut.input, path);
  failed = work.begin(options.stacks, messages);
  if (failed == kOk) failed = add_slices(folder, first, opened->capture, work);
  if (failed == kOk) failed = work.finish();
  if (failed != kOk) return failed;
  for (const shard::DataFile& file : *own)
    if (std::ranges::find(work.again(), *file.slice) == work.again().end()) files.push_back(file);
  if (work.has_content()) return kOk;
  return complain(
      fmt::format("{}: nothing could be decoded; `waymark info` shows what is wrong with it.",
                  inputs::trace_name(opened->capture)),
      kDamaged);
}

/// The same for the counts.  `tells`: see add_slices().
int join_counts(const shard::Folder& folder, std::size_t first, const ExportOptions& options,
                const TableFolder& tables, bool with_notes, int& failed) {
  const shard::Cut& cut = *folder.plan().cut_of(first);
  const std::string& path = folder.plan().inputs[cut.input].path;
  Collector collected(options, {.code = false, .names = false, .notes = with_notes});
  const Precounted known{
      .id_bytes = known_id_bytes(cut),
      .count = [&](inputs::Capture& capture, const std::optional<Selection>& selection) {
        Counted counted = join_slices(folder, first, capture, selection, with_notes);
        failed = counted.code;
        return counted;
      }};
  const int code = collected.add(path, &known);
  if (failed != kOk || code != kOk) return code;
  return write_counts(collected, tables, table_input(cut.input, path));
}

}  // namespace

int record_tables(const shard::Folder& folder, const ExportOptions& options, const Refuse& refuse,
                  shard::Part& part) {
  shard::TableSlice made;
  if (wants_elements(options)) {
    if (const int code = record_events(folder, options, refuse, part, made); code != kOk)
      return code;
  }
  if (wants_table(options, "counts")) {
    part.codes.clear();
    if (const int code = count_slice(folder.plan(), options, refuse, part); code != kOk)
      return code;
    made.counts = std::exchange(part.content, {});
  }
  part.content = shard::encode(made);
  return kOk;
}

int join_table_slices(const shard::Folder& folder, std::size_t first, const ExportOptions& options,
                      const ExportMessages& messages, const TableFolder& tables,
                      std::vector<shard::DataFile>& files, int& failed) {
  const bool has_elements = wants_elements(options);
  int code =
      has_elements ? join_events(folder, first, options, messages, tables, files, failed) : kOk;
  if (failed != kOk || (code != kOk && code != kDamaged)) return code;
  if (wants_table(options, "counts")) {
    code = std::max(code, join_counts(folder, first, options, tables, !has_elements, failed));
  }
  return code;
}

}  // namespace waymark::cli
