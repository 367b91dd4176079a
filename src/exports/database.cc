#include "waymark/exports/database.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/count/instruction_counts.h"
#include "waymark/exports/events.h"

namespace waymark::exports {
namespace {

constexpr int kSchema = 1;  // docs/sqlite.md

constexpr const char* kTables = R"(
CREATE TABLE inputs(id INTEGER PRIMARY KEY, path TEXT NOT NULL, time_unit TEXT NOT NULL);
CREATE TABLE sources(
  id INTEGER PRIMARY KEY, input INTEGER NOT NULL REFERENCES inputs(id),
  trace_id INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE programs(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT, file TEXT,
  instructions INTEGER NOT NULL);
CREATE TABLE functions(
  id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES programs(id),
  name TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  instructions INTEGER NOT NULL, cycles INTEGER NOT NULL, entered INTEGER NOT NULL);
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE blocks(
  program INTEGER NOT NULL REFERENCES programs(id), function INTEGER REFERENCES functions(id),
  first INTEGER NOT NULL, last INTEGER NOT NULL, size INTEGER NOT NULL,
  times INTEGER NOT NULL, taken INTEGER NOT NULL, not_taken INTEGER NOT NULL,
  instructions INTEGER NOT NULL, cycles INTEGER NOT NULL);
CREATE TABLE branches(
  program INTEGER NOT NULL REFERENCES programs(id), function INTEGER REFERENCES functions(id),
  address INTEGER NOT NULL, kind TEXT NOT NULL, indirect INTEGER NOT NULL,
  to_program INTEGER REFERENCES programs(id), to_function INTEGER REFERENCES functions(id),
  target INTEGER, times INTEGER NOT NULL);
CREATE TABLE instructions(
  program INTEGER NOT NULL REFERENCES programs(id), function INTEGER REFERENCES functions(id),
  address INTEGER NOT NULL, file INTEGER REFERENCES files(id), line INTEGER,
  times INTEGER NOT NULL, taken INTEGER NOT NULL, not_taken INTEGER NOT NULL,
  cycles INTEGER NOT NULL);
CREATE TABLE events(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources(id),
  position INTEGER NOT NULL, time INTEGER, kind TEXT NOT NULL,
  number INTEGER, channel INTEGER, value INTEGER, text TEXT);
CREATE TABLE exceptions(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources(id),
  number INTEGER NOT NULL, depth INTEGER NOT NULL, whole INTEGER NOT NULL,
  start INTEGER, end INTEGER, start_position INTEGER NOT NULL, end_position INTEGER NOT NULL,
  own_time INTEGER);

CREATE VIEW hot_functions AS
  SELECT f.name, p.path AS program, f.instructions,
    round(100.0 * f.instructions / (SELECT sum(instructions) FROM programs), 2) AS percent,
    f.entered, f.cycles
  FROM functions f JOIN programs p ON p.id = f.program
  ORDER BY f.instructions DESC, f.name;
CREATE VIEW calls AS
  SELECT caller.name AS caller, callee.name AS callee, b.kind, sum(b.times) AS times
  FROM branches b
    LEFT JOIN functions caller ON caller.id = b.function
    LEFT JOIN functions callee ON callee.id = b.to_function
  WHERE b.kind IN ('call', 'tail call')
  GROUP BY b.function, b.to_function, b.kind
  ORDER BY times DESC;
CREATE VIEW hot_lines AS
  SELECT f.path AS file, i.line, max(i.times) AS times, sum(i.times) AS instructions
  FROM instructions i JOIN files f ON f.id = i.file
  GROUP BY i.file, i.line
  ORDER BY instructions DESC;
CREATE VIEW exception_times AS
  SELECT source, number, count(*) AS times, sum(whole) AS measured,
    sum(CASE WHEN whole THEN end - start END) AS total,
    min(CASE WHEN whole THEN end - start END) AS shortest,
    max(CASE WHEN whole THEN end - start END) AS longest, max(depth) AS deepest
  FROM exceptions GROUP BY source, number;
CREATE VIEW port_texts AS
  SELECT source, number AS port, group_concat(text, '') AS text
  FROM (SELECT * FROM events WHERE kind = 'port' AND text IS NOT NULL ORDER BY id)
  GROUP BY source, number;
)";

constexpr const char* kIndexes = R"(
CREATE INDEX functions_by_name ON functions(name);
CREATE INDEX blocks_by_function ON blocks(function);
CREATE INDEX branches_by_function ON branches(function);
CREATE INDEX branches_by_target ON branches(to_function);
CREATE INDEX instructions_by_function ON instructions(function);
CREATE INDEX instructions_by_line ON instructions(file, line);
CREATE INDEX events_by_kind ON events(kind, number);
CREATE INDEX exceptions_by_number ON exceptions(number);
)";

struct Closer {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// The rows of one table.  64-bit numbers are stored as SQLite's signed ones.
class Insert {
 public:
  void prepare(sqlite3* db, const char* table, unsigned columns) {
    std::string sql = fmt::format("INSERT INTO {} VALUES(", table);
    for (unsigned i = 0; i < columns; ++i) sql += i == 0 ? "?" : ", ?";
    sqlite3_stmt* made = nullptr;
    (void)sqlite3_prepare_v2(db, (sql + ")").c_str(), -1, &made, nullptr);
    statement_.reset(made);
  }
  Insert& number(std::uint64_t value) {
    (void)sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(value));
    return *this;
  }
  Insert& number(std::optional<std::uint64_t> value) { return value ? number(*value) : nothing(); }
  Insert& text(std::string_view value) {
    (void)sqlite3_bind_text(statement_.get(), ++bound_, value.data(),
                            static_cast<int>(value.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Insert& nothing() {
    (void)sqlite3_bind_null(statement_.get(), ++bound_);
    return *this;
  }
  int run() {
    const int code = sqlite3_step(statement_.get());
    (void)sqlite3_reset(statement_.get());
    bound_ = 0;
    return code;
  }

 private:
  std::unique_ptr<sqlite3_stmt, Closer> statement_;
  int bound_ = 0;
};

/// The file, and the first failure.
class Connection {
 public:
  Connection(std::unique_ptr<sqlite3, Closer> db, std::string name)
      : db_(std::move(db)), name_(std::move(name)) {}

  [[nodiscard]] sqlite3* get() const { return db_.get(); }
  void execute(const std::string& sql) {
    if (code_ == SQLITE_OK) keep(sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  void run(Insert& insert) { keep(insert.run()); }
  [[nodiscard]] Result<void> result() const {
    if (code_ == SQLITE_OK) return {};
    return fail(ErrorCode::kIo, fmt::format("Cannot write {}: {}.", name_,
                                            code_ == SQLITE_FULL ? "the disk is full" : message_));
  }

 private:
  void keep(int code) {
    if (code_ != SQLITE_OK || code == SQLITE_OK || code == SQLITE_DONE) return;
    code_ = code & 0xFF;
    message_ = sqlite3_errmsg(db_.get());
  }

  std::unique_ptr<sqlite3, Closer> db_;
  std::string name_;
  int code_ = SQLITE_OK;
  std::string message_;
};

/// One statement for each table of kTables.
struct Tables {
  Insert inputs, sources, programs, functions, files, blocks, branches, instructions, events,
      exceptions;

  void prepare(sqlite3* db) {
    inputs.prepare(db, "inputs", 3);
    sources.prepare(db, "sources", 4);
    programs.prepare(db, "programs", 5);
    functions.prepare(db, "functions", 8);
    files.prepare(db, "files", 2);
    blocks.prepare(db, "blocks", 10);
    branches.prepare(db, "branches", 9);
    instructions.prepare(db, "instructions", 9);
    events.prepare(db, "events", 9);
    exceptions.prepare(db, "exceptions", 10);
  }
};

/// The addresses of the instructions of a T32 range; empty: their code could not be read.
class ThumbCode {
 public:
  explicit ThumbCode(const program::Program* program) : program_(program) {
    if (program == nullptr) return;
    if (auto file = MappedFile::open(program->path())) file_ = *std::move(file);
  }
  std::vector<std::uint64_t> instructions(const count::Range& range) const {
    std::vector<std::uint64_t> found;
    if (program_ == nullptr) return found;
    for (std::uint64_t at = range.start; at < range.end;) {
      const auto offset = program_->offset_of(at);
      if (!offset || *offset + 2 > file_.bytes().size()) return {};
      found.push_back(at);
      // The upper five bits of the first halfword say whether there is a second one.
      const unsigned top = file_.bytes()[in_memory(*offset + 1)] >> 3;
      at += top >= 0b11101 ? 4 : 2;
    }
    return found.size() == range.count ? found : std::vector<std::uint64_t>();
  }

 private:
  const program::Program* program_;
  MappedFile file_;
};

/// The text that a write to a stimulus port carries, if it is nothing else.
std::optional<std::string> text_written(const Event& event) {
  if (event.kind != EventKind::kPort) return std::nullopt;
  std::string text;
  for (unsigned bit = 0; bit < event.bits; bit += 8) text += static_cast<char>(event.value >> bit);
  while (text.size() > 1 && text.back() == '\0') text.pop_back();
  const bool plain = std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; });
  return plain ? std::optional(text) : std::nullopt;
}

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(std::unique_ptr<sqlite3, Closer> db, std::string name)
      : db_(std::move(db), std::move(name)) {}

  void create() {
    // The file gets its name when it is complete: nothing needs to be undone.
    db_.execute("PRAGMA journal_mode = OFF");
    db_.execute("PRAGMA synchronous = OFF");
    db_.execute(fmt::format("PRAGMA user_version = {}", kSchema));
    db_.execute("BEGIN");
    db_.execute(kTables);
    tables_.prepare(db_.get());
  }

  void add(const profile::Profile& profile,
           std::span<const profile::ProgramProfile* const> programs) override {
    for (const profile::ProgramProfile& program : profile.programs())
      add_functions(program, profile);
    for (const profile::ProgramProfile* program : programs) add_program(profile, *program);
    for (const profile::ProgramProfile& program : profile.programs()) write_functions(program);
  }

  void begin_input(const std::string& path) override {
    input_ = {.path = path, .id = input_.id + 1};
  }
  void survey(std::span<const Element> elements) override {
    for (const Element& element : elements) {
      input_.survey.add(element);
      found_.clear();
      events_of(element, found_);
      for (const Event& event : found_) {
        if (event.kind == EventKind::kGap || event.kind == EventKind::kTraceOn) continue;
        input_.survey.add_source(event.source);
        input_.has_events = true;
      }
    }
  }
  [[nodiscard]] bool has_events() const override { return input_.has_events; }
  [[nodiscard]] bool wants_times() const override {
    return input_.survey.time() == EventTime::kTimestamps;
  }
  void begin(std::span<const EventSource> sources, TextBuffer& /*out*/) override {
    db_.run(
        tables_.inputs.number(input_.id).text(input_.path).text(words_of(input_.survey.time())));
    for (const EventSource& source : sources) add_source(source.id, source.name);
    clock_ = std::make_unique<EventClock>(
        input_.survey.time(),
        [this](const Element& element, std::uint64_t time) { add_events(element, time); });
  }
  void add(const merge::TimedRecord& record) override {
    if (!clock_->add(record)) add_events(record.element, std::nullopt);
  }
  void add(std::span<const Element> elements) override { clock_->add(elements); }
  void finish() override {
    if (!clock_) return;
    clock_->finish();
    for (auto& [id, stack] : input_.open) {
      stack.lose({last_time_.value_or(0), last_position_}, left(id));
    }
    clock_.reset();
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return {}; }

  Result<void> close() override {
    db_.execute(kIndexes);
    db_.execute("COMMIT");
    return db_.result();
  }

 private:
  /// A function with counts, before its row is written.
  struct FunctionRow {
    std::uint64_t id = 0;
    const program::Function* function = nullptr;
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;
    std::uint64_t entered = 0;
  };
  using ProgramFunctions = std::map<std::uint64_t, FunctionRow>;  ///< By their first address.

  FunctionRow* row_of(const profile::ProgramProfile& program, std::uint64_t address) {
    const program::Function* function =
        program.program == nullptr ? nullptr : program.program->function(address);
    if (function == nullptr) return nullptr;
    FunctionRow& row = function_rows_[program.number][function->start];
    if (row.function == nullptr) row = {.id = ++functions_made_, .function = function};
    return &row;
  }
  static std::optional<std::uint64_t> id_of(const FunctionRow* row) {
    return row == nullptr ? std::nullopt : std::optional(row->id);
  }

  /// Its own counts, and how often its branches called functions.
  void add_functions(const profile::ProgramProfile& program, const profile::Profile& profile) {
    if (program.program != nullptr) {
      for (const count::Row& row : program.counts.rows) {
        profile::each_share(*program.program, row, [&](const count::FunctionShare& share) {
          if (share.at.function == nullptr) return;
          FunctionRow& function = *row_of(program, share.at.start);
          function.instructions += share.instructions;
          function.cycles += share.cycles;
        });
      }
    }
    for (const profile::Branch& branch : program.branches) {
      const profile::FunctionCall found = profile::call_of(profile, program, branch);
      if (found.call == count::Call::kNone || found.callee == nullptr) continue;
      row_of(profile.programs()[branch.to_program], branch.to)->entered += branch.times;
    }
  }

  void write_functions(const profile::ProgramProfile& program) {
    for (const auto& [start, row] : function_rows_[program.number]) {
      db_.run(tables_.functions.number(row.id)
                  .number(program.number)
                  .text(row.function->name)
                  .number(row.function->start)
                  .number(row.function->last)
                  .number(row.instructions)
                  .number(row.cycles)
                  .number(row.entered));
    }
  }

  static std::string_view kind_of(const profile::Branch& branch, count::Call call) {
    if (call == count::Call::kCall) return "call";
    if (call == count::Call::kTailCall) return "tail call";
    switch (branch.subtype) {
      case isa::InstrSubtype::kV8Return:
      case isa::InstrSubtype::kV7ImpliedReturn:
        return "return";
      case isa::InstrSubtype::kV8ExceptionReturn:
        return "exception return";
      case isa::InstrSubtype::kBranchLink:
      case isa::InstrSubtype::kNone:
        break;
    }
    return "jump";
  }

  void add_program(const profile::Profile& profile, const profile::ProgramProfile& program) {
    tables_.programs.number(program.number).text(program.path);
    if (program.build_id.empty()) {
      tables_.programs.nothing();
    } else {
      tables_.programs.text(fmt::format("{:02x}", fmt::join(program.build_id, "")));
    }
    if (program.program == nullptr) {
      tables_.programs.nothing();
    } else {
      tables_.programs.text(program.program->path());
    }
    db_.run(tables_.programs.number(program.instructions()));
    for (const count::Row& row : program.counts.rows) {
      db_.run(tables_.blocks.number(program.number)
                  .number(id_of(row_of(program, row.range.start)))
                  .number(row.range.start)
                  .number(row.range.last_address())
                  .number(row.range.count)
                  .number(row.times())
                  .number(row.taken())
                  .number(row.not_taken())
                  .number(row.instructions())
                  .number(row.cycles));
    }
    for (const profile::Branch& branch : program.branches) {
      const FunctionRow* from = row_of(program, branch.from);
      const bool known = branch.to != kNoAddress;
      const FunctionRow* to =
          known ? row_of(profile.programs()[branch.to_program], branch.to) : nullptr;
      tables_.branches.number(program.number).number(id_of(from)).number(branch.from);
      tables_.branches.text(kind_of(branch, profile::call_of(profile, program, branch).call))
          .number(branch.indirect ? 1 : 0);
      if (known) {
        tables_.branches.number(branch.to_program).number(id_of(to)).number(branch.to);
      } else {
        tables_.branches.nothing().nothing().nothing();
      }
      db_.run(tables_.branches.number(branch.times));
    }
    add_instructions(program);
  }

  void add_instructions(const profile::ProgramProfile& program) {
    std::optional<ThumbCode> thumb;
    std::vector<std::uint64_t> addresses;
    std::uint64_t end = 0;
    for (const count::Row& row : program.counts.rows) {
      end = std::max(end, row.range.end);
      if (row.range.isa == isa::Isa::kT32 || row.range.last_size == 2) {
        if (!thumb) thumb.emplace(program.program);
        for (const std::uint64_t at : thumb->instructions(row.range)) addresses.push_back(at);
      } else {
        for (std::uint64_t at = row.range.start; at < row.range.end; at += 4)
          addresses.push_back(at);
      }
    }
    std::ranges::sort(addresses);
    const auto repeated = std::ranges::unique(addresses);
    addresses.erase(repeated.begin(), repeated.end());
    const auto counts = count::instruction_counts(program.counts, addresses, end);
    std::vector<program::Frame> frames;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      frames.clear();
      if (program.program != nullptr) program.program->frames(addresses[i], frames);
      tables_.instructions.number(program.number)
          .number(id_of(row_of(program, addresses[i])))
          .number(addresses[i]);
      if (frames.empty() || frames.front().file.empty() || frames.front().line == 0) {
        tables_.instructions.nothing().nothing();
      } else {
        tables_.instructions.number(file_id(frames.front().file)).number(frames.front().line);
      }
      db_.run(tables_.instructions.number(counts[i].times)
                  .number(counts[i].taken)
                  .number(counts[i].not_taken)
                  .number(counts[i].cycles));
    }
  }

  std::uint64_t file_id(std::string_view path) {
    const auto known = file_ids_.find(path);
    if (known != file_ids_.end()) return known->second;
    const std::uint64_t id = file_ids_.size() + 1;
    file_ids_.emplace(path, id);
    db_.run(tables_.files.number(id).text(path));
    return id;
  }

  std::uint64_t add_source(TraceId id, std::string_view name) {
    const auto known = input_.source_ids.find(id);
    if (known != input_.source_ids.end()) return known->second;
    input_.source_ids.emplace(id, ++sources_made_);
    db_.run(tables_.sources.number(sources_made_).number(input_.id).number(id).text(name));
    return sources_made_;
  }

  count::ExceptionStack::Left left(TraceId source) {
    return [this, source](const count::ExceptionStack::Handled& handled,
                          const count::ExceptionStack::Moment& end) {
      tables_.exceptions.nothing()
          .number(add_source(source, ""))
          .number(handled.number)
          .number(handled.depth)
          .number(handled.whole && last_time_ ? 1 : 0);
      if (last_time_) {
        tables_.exceptions.number(handled.begin.time).number(end.time);
      } else {
        tables_.exceptions.nothing().nothing();
      }
      tables_.exceptions.number(handled.begin.index).number(end.index);
      const std::uint64_t duration = end.time - handled.begin.time;
      if (last_time_ && handled.whole && duration >= handled.preempted) {
        tables_.exceptions.number(duration - handled.preempted);
      } else {
        tables_.exceptions.nothing();
      }
      db_.run(tables_.exceptions);
    };
  }

  void add_events(const Element& element, std::optional<std::uint64_t> time) {
    found_.clear();
    events_of(element, found_);
    last_time_ = time;
    last_position_ = element.index;
    for (const Event& event : found_) {
      apply(input_.open[event.source], event, {time.value_or(0), element.index},
            left(event.source));
      tables_.events.nothing()
          .number(add_source(event.source, ""))
          .number(element.index)
          .number(time);
      tables_.events.text(event_word(event.kind));
      const bool numbered = event.kind != EventKind::kGap && event.kind != EventKind::kTraceOn &&
                            event.kind != EventKind::kContext &&
                            event.kind != EventKind::kPcSample &&
                            event.kind != EventKind::kSleeping &&
                            event.kind != EventKind::kMessage && event.number != kAnyException;
      tables_.events.number(numbered ? std::optional<std::uint64_t>(event.number) : std::nullopt);
      const bool software = event.kind == EventKind::kSoftware || event.kind == EventKind::kFlag;
      tables_.events.number(software ? std::optional<std::uint64_t>(event.channel) : std::nullopt);
      tables_.events.number(event.bits != 0 ? std::optional(event.value) : std::nullopt);
      if (event.kind == EventKind::kMessage && message_text()) {
        tables_.events.text(message_text()(element));
      } else if (const auto text = text_written(event)) {
        tables_.events.text(*text);
      } else {
        tables_.events.nothing();
      }
      db_.run(tables_.events);
    }
  }

  /// The present input.
  struct Input {
    std::string path;
    std::uint64_t id = 0;
    TimeSurvey survey{};
    bool has_events = false;
    std::map<TraceId, std::uint64_t> source_ids{};
    std::map<TraceId, count::ExceptionStack> open{};  ///< Exceptions that have not returned.
  };

  Connection db_;
  Tables tables_;
  std::map<std::size_t, ProgramFunctions> function_rows_;  ///< By the number of the program.
  std::uint64_t functions_made_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> file_ids_;
  std::uint64_t sources_made_ = 0;
  Input input_;
  std::unique_ptr<EventClock> clock_;
  std::optional<std::uint64_t> last_time_;
  TraceIndex last_position_ = 0;
  std::vector<Event> found_;
};

}  // namespace

bool databases_available() { return true; }

Result<std::unique_ptr<Database>> make_database(const std::string& path, const std::string& name) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  std::unique_ptr<sqlite3, Closer> db(opened);
  if (code != SQLITE_OK)
    return fail(ErrorCode::kIo, fmt::format("Cannot write {}: {}.", name, sqlite3_errstr(code)));
  auto database = std::make_unique<SqliteDatabase>(std::move(db), name);
  database->create();
  return database;
}

}  // namespace waymark::exports
