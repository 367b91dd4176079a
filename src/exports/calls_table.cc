#include "table_rows.h"
#include "waymark/exports/frame_name.h"
#include "waymark/exports/tables.h"

namespace waymark::exports {

using enum ParquetType;

/// A frame that is open.
struct CallsPart::Frame {
  stacks::CodeId code = 0;
  stacks::Opening opening = stacks::Opening::kCall;
  std::uint64_t number = 0;
  std::uint64_t start = 0;
  std::uint64_t instructions = 0;  ///< What the track executed before it.
  std::uint64_t below = 0;         ///< Those of what it called.
};

struct CallsPart::Track {
  TraceId source = 0;
  std::uint64_t thread = 0;
  std::optional<Task> task{};
  std::vector<Frame> frames{};
};

/// Known facts about a function.
struct CallsPart::Names {
  std::string linker{};
  std::string readable{};
  std::string program{};
  std::string file{};
  std::uint32_t line = 0;
  std::string_view kind{};
};

struct CallsPart::Row {
  const Track& track;
  const Frame& frame;
  const Names& names;
  std::optional<std::uint64_t> caller{};
  std::uint64_t end = 0;
  std::uint64_t instructions = 0;
  stacks::TimeUnit unit = stacks::TimeUnit::kInstructions;
};

namespace {

std::string_view word_of(stacks::CodeKind kind) {
  switch (kind) {
    case stacks::CodeKind::kFunction:
    case stacks::CodeKind::kInlined:
    case stacks::CodeKind::kAddress:
      return "function";
    case stacks::CodeKind::kException:
      return "exception";
    case stacks::CodeKind::kSignal:
      return "signal";
    case stacks::CodeKind::kLostCallers:
      return "lost_callers";
    case stacks::CodeKind::kProcess:
    case stacks::CodeKind::kRoot:
    case stacks::CodeKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view word_of(stacks::Opening opening) {
  switch (opening) {
    case stacks::Opening::kCall:
      return "call";
    case stacks::Opening::kTailCall:
      return "tail_call";
    case stacks::Opening::kInferred:
      return "before";
    case stacks::Opening::kResumed:
      return "resumed";
    case stacks::Opening::kHandler:
      return "exception";
  }
  return {};
}

std::string_view word_of(stacks::TimeUnit unit) {
  switch (unit) {
    case stacks::TimeUnit::kTimestamps:
      return "ticks";
    case stacks::TimeUnit::kCycles:
      return "cycles";
    case stacks::TimeUnit::kInstructions:
      return "instructions";
  }
  return {};
}

/// `Row` is private, so the functions are templates of what they take.
template <class Row>
constexpr auto call_columns() {
  using Column = RowColumn<Row>;
  constexpr auto kColumn = [](std::string_view name, ParquetType type, bool nullable,
                              std::string_view meaning, void (*take)(const Row&, CellWriter&)) {
    return Column{{{name, type, nullable}, meaning}, take};
  };
  return std::array{
      kColumn("id", kUint8, false, "the trace ID of its source",
              [](const Row& row, CellWriter& cell) { cell.number(row.track.source); }),
      kColumn("thread", kUint64, false,
              "the thread ID of a recording, the context of another trace, or 0",
              [](const Row& row, CellWriter& cell) { cell.number(row.track.thread); }),
      kColumn("process", kUint32, true, "the process ID of a recording",
              [](const Row& row, CellWriter& cell) {
                if (row.track.task) cell.number(row.track.task->process);
              }),
      kColumn("command", kText, true, "the name of the thread in a recording",
              [](const Row& row, CellWriter& cell) {
                if (row.track.task) cell.word(row.track.task->name);
              }),
      kColumn("call", kUint64, false, "the number of the call in its part, in the order of entries",
              [](const Row& row, CellWriter& cell) { cell.number(row.frame.number); }),
      kColumn("caller", kUint64, true, "the number of the call that made this call",
              [](const Row& row, CellWriter& cell) { cell.number(row.caller); }),
      kColumn("depth", kUint32, false, "how many calls of its thread were open",
              [](const Row& row, CellWriter& cell) { cell.number(row.track.frames.size()); }),
      kColumn("kind", kText, false,
              "`function`, `exception`, `signal`, `unknown`, or `lost_callers`: the callers are "
              "unknown, because code could not be read",
              [](const Row& row, CellWriter& cell) { cell.text(row.names.kind); }),
      kColumn("function", kText, false, "its name as in the source, or its address",
              [](const Row& row, CellWriter& cell) { cell.text(row.names.readable); }),
      kColumn("linker_name", kText, true, "its name as the linker knows it",
              [](const Row& row, CellWriter& cell) { cell.word(row.names.linker); }),
      kColumn("program", kText, true, "the file of its program, as it was found",
              [](const Row& row, CellWriter& cell) { cell.word(row.names.program); }),
      kColumn("file", kText, true, "the source file that has it",
              [](const Row& row, CellWriter& cell) { cell.word(row.names.file); }),
      kColumn("line", kUint32, true, "the source line that declares it",
              [](const Row& row, CellWriter& cell) {
                if (row.names.line != 0) cell.number(row.names.line);
              }),
      kColumn("entered", kText, false,
              "`call`, `tail_call`; `before`: at an unknown earlier time; `resumed`: it continued "
              "after a gap; `exception`: the first function of a handler",
              [](const Row& row, CellWriter& cell) { cell.text(word_of(row.frame.opening)); }),
      kColumn("unit", kText, false,
              "what times are: `ticks` of the timestamp generator, `cycles` or `instructions`",
              [](const Row& row, CellWriter& cell) { cell.text(word_of(row.unit)); }),
      kColumn("start", kUint64, false, "the time at which it was entered",
              [](const Row& row, CellWriter& cell) { cell.number(row.frame.start); }),
      kColumn("end", kUint64, false, "the time at which it was left, or at which the trace ended",
              [](const Row& row, CellWriter& cell) { cell.number(row.end); }),
      kColumn("duration", kUint64, false, "`end` minus `start`, including its callees",
              [](const Row& row, CellWriter& cell) { cell.number(row.end - row.frame.start); }),
      kColumn("instructions", kUint64, false,
              "the instructions that its thread executed in between, including its callees",
              [](const Row& row, CellWriter& cell) { cell.number(row.instructions); }),
      kColumn("own_instructions", kUint64, false, "those of them in the function itself",
              [](const Row& row, CellWriter& cell) {
                cell.number(row.instructions - row.frame.below);
              }),
  };
}

}  // namespace

std::span<const TableColumn> calls_columns() { return CallsPart::columns(); }

std::span<const TableColumn> CallsPart::columns() {
  static constexpr auto kAll = with_common(call_columns<Row>());
  return kAll;
}

CallsPart::CallsPart(const TableInput& input, TextBuffer& out) : TablePart("calls", input, out) {}
CallsPart::~CallsPart() = default;

void CallsPart::begin(const stacks::Tree& tree, FindTask tasks) {
  tree_ = &tree;
  tasks_ = std::move(tasks);
}

void CallsPart::on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) {
  if (tracks_.size() <= track) tracks_.resize(track + std::size_t{1});
  tracks_[track].source = source;
  tracks_[track].thread = thread;
  if (tasks_) tracks_[track].task = tasks_(thread);
}

void CallsPart::on_enter(stacks::TrackId track, std::uint64_t time, stacks::CodeId code,
                         stacks::Opening opening) {
  tracks_[track].frames.push_back({.code = code,
                                   .opening = opening,
                                   .number = calls_++,
                                   .start = time,
                                   .instructions = instructions_});
}

void CallsPart::on_leave(stacks::TrackId track, std::uint64_t time) {
  Track& of = tracks_[track];
  if (of.frames.empty()) return;
  const Frame frame = of.frames.back();
  of.frames.pop_back();
  Row row{.track = of,
          .frame = frame,
          .names = names_of(frame.code),
          .end = time,
          .instructions = instructions_ - frame.instructions,
          .unit = unit_};
  if (!of.frames.empty()) {
    row.caller = of.frames.back().number;
    of.frames.back().below += row.instructions;
  }
  static constexpr auto kCallColumns = call_columns<Row>();
  begin_row();
  put_row(writer_, kCallColumns, row);
  writer_.end_row();
}

const CallsPart::Names& CallsPart::names_of(stacks::CodeId id) {
  const auto [at, is_new] = names_.try_emplace(id);
  Names& names = at->second;
  if (!is_new) return names;
  const stacks::Code& code = tree_->code(id);
  if (code.kind == stacks::CodeKind::kFunction) names.linker = code.name;
  names.readable = frame_name(code);
  names.program = code.program;
  names.kind = word_of(code.kind);
  if (code.source == nullptr || code.kind != stacks::CodeKind::kFunction) return names;
  std::vector<program::Frame> frames;
  code.source->frames(code.start, frames);
  if (frames.empty()) return names;
  names.file = frames.back().file;
  names.line = frames.back().declared != 0 ? frames.back().declared : frames.back().line;
  return names;
}

}  // namespace waymark::exports
