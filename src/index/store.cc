#include "waymark/index/store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <system_error>

#include "index_file.h"
#include "schema.h"
#include "statement.h"

namespace waymark::index {
namespace {

constexpr int kApplicationId = 0x57594D4B;  // "WYMK"
constexpr int kVersion = 2;
constexpr int kVersionWithViews = 3;  ///< With the tables of viewers.
constexpr int kWaitStep = 100;        // Milliseconds.
// The patience of a reader that only notes the times of the capture's file.
constexpr int kReaderPatience = 300;  // Milliseconds.

// The pages of a damaged file can form a circle.  In a sound file no question takes more steps of
// SQLite's machine than this: a row has at least 30 bytes; reading it takes a hundred steps if it
// is requested alone, and a dozen if the search passes over others.
constexpr int kStepsAsked = 1'000;
constexpr std::uint64_t kStepsAlways = 1'000'000;
constexpr std::uint64_t kStepsPerByte = 64;
constexpr std::uint64_t kStepsPerCall = 2'000;

struct DatabaseCloser {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Database = std::unique_ptr<sqlite3, DatabaseCloser>;

/// The text of a declaration with single blanks, however it was laid out.
std::string folded(std::string_view sql) {
  std::string text;
  for (const char c : sql) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) {
      text += c;
    } else if (!text.empty() && text.back() != ' ' && text.back() != '(') {
      text += ' ';
    }
  }
  return text;
}

std::vector<std::string> declarations() {
  std::vector<std::string> all;
  for_each_table([&](const auto& table) { all.push_back(create_sql(table)); });
  return all;
}

std::vector<std::string> view_declarations() {
  std::vector<std::string> all;
  for_each_view_table([&](const auto& table) { all.push_back(create_sql(table)); });
  return all;
}

/// The steps of SQLite's machine that a question may take.
class StepBudget {
 public:
  std::function<bool()> stop;  ///< Whether the user wants no answer; may be empty.

  void limit(std::uint64_t file_size) {
    limit_ = kStepsAlways + kStepsPerByte * std::min(file_size, kMaxFile);
  }
  void begin_question() { used_ = extra_ = 0; }
  /// The question takes another statement.
  void begin_call() { extra_ += kStepsPerCall; }
  /// False: the statement must end.
  bool take(std::uint64_t steps) {
    used_ += steps;
    return used_ <= limit_ + extra_ && !stopped();
  }
  [[nodiscard]] bool stopped() const { return stop && stop(); }

 private:
  static constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 48;

  std::uint64_t used_ = 0;
  std::uint64_t limit_ = kStepsAlways;
  std::uint64_t extra_ = 0;
};

/// Those that are prepared at their first use.
struct Statements {
  static constexpr std::size_t kWants = (kLandmarkKindCount + 1) * 2;

  Statement source_block;
  Statement find_place;
  Statement find_triggers;
  std::array<Statement, kWants> finds;
  std::array<Statement, 2> find_times;
  std::array<Statement, 2> find_contexts;
  Statement landmarks;
  Statement append_source;
  Statement append_stream;
  Statement append_landmarks;
};

class Store final : public Index {
 public:
  Store(Database db, std::string path) : db_(std::move(db)), path_(std::move(path)) {
    if (db_) sqlite3_progress_handler(db_.get(), kStepsAsked, &Store::on_steps, this);
  }

  ~Store() override {
    if (transaction_) (void)sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    if (times_to_note_) note_times();
  }

  [[nodiscard]] std::string place() const override { return path_; }
  void confirm(const FileTimes& times) override {
    Index::confirm(times);
    times_to_note_ = !header_.streams.empty();
  }

  static Result<std::unique_ptr<Store>> open(const std::string& path, const StoreOptions& options);
  /// Takes the lock and holds it until the end, so that a reader sees one state.
  Result<void> lock(const StoreOptions& options);
  /// Reads an index; makes one in an empty file if it is `building`.
  Result<void> read_or_create(bool building);

  Result<std::optional<SourceBlock>> source_block(std::uint64_t number) override {
    const auto asked = [&](std::uint64_t block) { return block == number; };
    return one_source_block(statements_.source_block, "block = ?", number, asked);
  }
  Result<std::optional<SourceBlock>> find_place(std::uint64_t number) override {
    if (header_.blocks() == 0) return std::nullopt;
    number = std::min(number, header_.blocks() - 1);
    const auto asked = [&](std::uint64_t block) { return block <= number; };
    return one_source_block(statements_.find_place,
                            "block <= ? AND place IS NOT NULL ORDER BY block DESC", number, asked);
  }
  Result<std::optional<SourceBlock>> find_triggers(std::uint64_t number) override {
    const auto asked = [&](std::uint64_t block) { return block >= number; };
    return one_source_block(statements_.find_triggers, "block >= ? AND triggers > 0 ORDER BY block",
                            number, asked);
  }
  Result<std::optional<StreamBlock>> find(TraceId id, std::uint64_t number, Walk walk,
                                          const Want& want) override;
  Result<std::vector<Landmark>> landmarks(TraceId id, std::uint64_t number) override;
  Result<std::optional<ViewRecords>> view() override;
  Result<void> write_view(const ViewRecords& view) override;

  Result<void> append(const SourceBlock& block) override;
  Result<void> append(TraceId id, const StreamBlock& block) override;
  Result<void> commit(const Header& header) override;
  Result<void> truncate(std::uint64_t number, const Header& header) override;

 private:
  static int on_steps(void* store) {
    return static_cast<Store*>(store)->steps_.take(kStepsAsked) ? 0 : 1;
  }

  void begin_question() override { steps_.begin_question(); }
  /// A statement begins: part of the present question, or a question of its own.
  void begin_statement() {
    if (in_question()) {
      steps_.begin_call();
    } else {
      begin_question();
    }
  }

  Result<void> load();
  Result<void> create();
  /// Makes sure that the tables are those of create(), and that nothing else is there: a view or a
  /// trigger could do anything.
  Result<void> check_tables();
  /// Removes everything from the file, whatever it is.
  Result<void> clear();
  /// The answer of a statement that gives one number.
  Result<int> number(const char* sql);
  void note_times();

  /// The error for what the database just refused.
  [[nodiscard]] std::unexpected<Error> error(int code) const;
  [[nodiscard]] std::unexpected<Error> damaged(std::string_view what) const {
    return fail(
        ErrorCode::kBadData,
        fmt::format("{}: this index is damaged ({}); rebuild it with `waymark index --rebuild`.",
                    path_, what));
  }
  Result<void> execute(const std::string& sql);
  Result<void> prepare(Statement& statement, const std::string& sql);
  /// True: `statement` was prepared before and can be bound again.
  bool again(Statement& statement) {
    if (!statement.prepared()) return false;
    begin_statement();
    statement.reset();
    return true;
  }
  Result<void> run(Statement& statement);
  Result<void> begin();
  Result<void> write_header(const Header& header);
  /// A row whose block was not `asked` for is damage: SQLite trusts the file's order of rows.
  template <class Asked>
  Result<std::optional<SourceBlock>> one_source_block(Statement& statement, const char* where,
                                                      std::uint64_t number, Asked asked);
  Result<SourceBlock> read_source_block(Statement& row) const;
  Result<StreamBlock> read_stream_block(Statement& row) const;
  /// One row of a table, after the `id` of one that is by_id.
  template <class Row>
  Result<Row> read(const Table<Row>& table, Statement& from) const {
    Row row;
    if (const Column<Row>* bad = read_row(table, from, row); bad != nullptr)
      return damaged(fmt::format("{}.{}", table.name, bad->name));
    return row;
  }
  /// Every row of a table to `take(row)`.
  template <class Row, class Take>
  Result<void> read_all(const Table<Row>& table, std::string_view order, Take take);
  /// Prepares `insert` at its first use.
  template <class Row>
  Result<void> prepare_insert(Statement& insert, const Table<Row>& table) {
    if (again(insert)) return {};
    return prepare(insert, insert_sql(table));
  }
  /// Inserts a row of a table that is not by_id.
  template <class Row>
  Result<void> insert(Statement& statement, const Table<Row>& table, const Row& row) {
    WAYMARK_TRY(prepare_insert(statement, table));
    bind_row(table, row, statement);
    return run(statement);
  }
  /// Inserts a row of a table that is by_id.
  Result<void> insert(Statement& statement, const Table<StreamBlock>& table, TraceId id,
                      const StreamBlock& block) {
    WAYMARK_TRY(prepare_insert(statement, table));
    statement.bind(id);
    bind_row(table, block, statement);
    return run(statement);
  }

  Database db_;
  std::string path_;
  bool transaction_ = false;
  bool cleared_ = false;        ///< By lock().
  bool has_views_ = false;      ///< It has the tables of viewers.
  bool times_to_note_ = false;  ///< The file does not have file_times_ yet.
  StepBudget steps_;
  Statements statements_;
};

std::unexpected<Error> Store::error(int code) const {
  const std::string_view message = sqlite3_errmsg(db_.get());
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(ErrorCode::kConflict,
                  fmt::format("Another process is building or reading {}.", path_));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      return damaged(message);
    case SQLITE_INTERRUPT:
      if (steps_.stopped())
        return fail(ErrorCode::kLimit, fmt::format("The search in {} was stopped.", path_));
      return damaged("its page list is cyclic");
    case SQLITE_FULL:
      return fail(ErrorCode::kIo,
                  fmt::format("Cannot write {}: the disk is full. Make room, or choose another "
                              "place with -o.",
                              path_));
    default:
      return fail(ErrorCode::kIo,
                  fmt::format("{}: {}; choose another place with -o.", path_, message));
  }
}

Result<void> Store::execute(const std::string& sql) {
  begin_statement();
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<void> Store::prepare(Statement& statement, const std::string& sql) {
  begin_statement();
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &made, nullptr);
  if (code != SQLITE_OK) return error(code);
  statement = Statement(made);
  return {};
}

Result<void> Store::run(Statement& statement) {
  begin_statement();
  const int code = statement.step();
  statement.reset();
  if (code != SQLITE_DONE) return error(code);
  return {};
}

Result<void> Store::begin() {
  if (transaction_) return {};
  WAYMARK_TRY(execute("BEGIN IMMEDIATE"));
  transaction_ = true;
  return {};
}

Result<void> Store::create() {
  WAYMARK_TRY(begin());
  for (const std::string& table : declarations()) WAYMARK_TRY(execute(table));
  WAYMARK_TRY(execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  WAYMARK_TRY(execute(fmt::format("PRAGMA user_version = {}", kVersion)));
  return {};
}

Result<void> Store::check_tables() {
  Statement rows;
  WAYMARK_TRY(prepare(rows, "SELECT type, sql FROM sqlite_schema"));
  const std::vector<std::string> wanted = declarations();
  const std::vector<std::string> for_views = view_declarations();
  std::size_t known = 0;
  std::size_t of_views = 0;
  int code = 0;
  while ((code = rows.step()) == SQLITE_ROW) {
    const std::string type = rows.text();
    const std::string sql = folded(rows.text());
    if (type == "table" && has_views_ && std::ranges::find(for_views, sql) != for_views.end()) {
      ++of_views;
    } else if (type != "table" || std::ranges::find(wanted, sql) == wanted.end() ||
               ++known > wanted.size()) {
      return damaged("its tables are not those of an index");
    }
  }
  if (code != SQLITE_DONE) return error(code);
  if (known != wanted.size() || of_views != (has_views_ ? for_views.size() : 0))
    return damaged("tables are missing");
  return {};
}

Result<void> Store::clear() {
  (void)sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr);
  const Result<void> done = execute("VACUUM");
  (void)sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr);
  return done;
}

template <class Row, class Take>
Result<void> Store::read_all(const Table<Row>& table, std::string_view order, Take take) {
  Statement rows;
  WAYMARK_TRY(prepare(rows, select_sql(table, order)));
  int code = 0;
  while ((code = rows.step()) == SQLITE_ROW) {
    auto row = read(table, rows);
    if (!row) return std::unexpected(row.error());
    WAYMARK_TRY(take(std::move(*row)));
  }
  if (code != SQLITE_DONE) return error(code);
  return {};
}

// Everything in the file is checked before it is used.
Result<void> Store::load() {
  std::optional<CaptureRow> capture;
  WAYMARK_TRY(read_all(kCapture, "", [&](CaptureRow row) -> Result<void> {
    if (capture) return damaged("table capture has several rows");
    capture = std::move(row);
    return {};
  }));
  if (!capture) return {};  // The builder ended before the first block.
  Header& header = capture->header;
  constexpr std::uint64_t kMaxIndexed = std::uint64_t{1} << 62;
  if (header.granule == 0 || header.granule > kMaxGranule || header.granule % kMinGranule != 0 ||
      header.indexed > kMaxIndexed || (!header.complete && header.indexed % header.granule != 0)) {
    return damaged("table capture");
  }
  unsigned next_id = 0;
  WAYMARK_TRY(read_all(kIds, "ORDER BY id", [&](const IdRow& row) -> Result<void> {
    if (row.id < next_id) return damaged("table ids");
    next_id = row.id + 1U;
    header.id_bytes[row.id] = row.bytes;
    return {};
  }));
  next_id = 0;
  WAYMARK_TRY(read_all(kStreams, "ORDER BY id", [&](Stream stream) -> Result<void> {
    if (stream.id < next_id) return damaged("table streams");
    next_id = stream.id + 1U;
    header.streams.push_back(std::move(stream));
    return {};
  }));
  if (header.streams.empty()) return damaged("table streams is empty");
  header_ = std::move(header);
  file_times_ = capture->times;
  return {};
}

Result<SourceBlock> Store::read_source_block(Statement& row) const {
  auto block = read(kSourceBlocks, row);
  // A place is never after its block.
  if (block && (block->number >= header_.blocks() ||
                (block->place && block->place->index > block->number * header_.granule))) {
    return damaged("source_blocks");
  }
  return block;
}

Result<StreamBlock> Store::read_stream_block(Statement& row) const {
  auto block = read(kStreamBlocks, row);
  if (!block) return block;
  const bool synced = block->count(LandmarkKind::kSync) != 0;
  if (block->number >= header_.blocks() || synced != (block->first_sync != kNoIndex) ||
      synced != (block->last_sync != kNoIndex) || block->first_sync > block->last_sync ||
      (synced && block->last_sync >= header_.indexed)) {
    return damaged("stream_blocks");
  }
  return block;
}

template <class Asked>
Result<std::optional<SourceBlock>> Store::one_source_block(Statement& statement, const char* where,
                                                           std::uint64_t number, Asked asked) {
  if (number >= header_.blocks()) return std::nullopt;
  if (!again(statement)) {
    WAYMARK_TRY(
        prepare(statement, select_sql(kSourceBlocks, fmt::format("WHERE {} LIMIT 1", where))));
  }
  statement.bind(number);
  const int code = statement.step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return error(code);
  auto block = read_source_block(statement);
  statement.reset();
  if (!block) return std::unexpected(block.error());
  if (!asked(block->number)) return damaged("source_blocks: rows are in the wrong order");
  return std::move(*block);
}

Result<std::optional<StreamBlock>> Store::find(TraceId id, std::uint64_t number, Walk walk,
                                               const Want& want) {
  if (header_.blocks() == 0) return std::nullopt;
  const bool forward = walk == Walk::kForward;
  if (forward && number >= header_.blocks()) return std::nullopt;
  number = std::min(number, header_.blocks() - 1);
  const std::size_t kind = want.kind ? static_cast<std::size_t>(*want.kind) + 1 : 0;
  const std::size_t way = forward ? 1 : 0;
  Statement* statement = &statements_.finds[kind * 2 + way];
  if (want.timestamp_at_least) {
    statement = &statements_.find_times[way];
  } else if (want.lasting_context) {
    statement = &statements_.find_contexts[way];
  }
  if (!again(*statement)) {
    std::string what;
    if (want.timestamp_at_least) {
      // SQLite's numbers are signed: times from 2^63 on are negative there, but come later.
      what =
          " AND timestamps > 0 AND (coalesce(highest_timestamp, last_timestamp, first_timestamp) "
          "< 0, coalesce(highest_timestamp, last_timestamp, first_timestamp)) >= (?3 < 0, ?3)";
    } else if (want.lasting_context) {
      what = " AND lasting_contexts > 0";
    } else if (want.kind) {
      what = fmt::format(" AND {} > 0", kCountNames[kind - 1]);
    }
    WAYMARK_TRY(
        prepare(*statement,
                select_sql(kStreamBlocks,
                           fmt::format("WHERE id = ?1 AND block {} ?2{} ORDER BY block {} LIMIT 1",
                                       forward ? ">=" : "<=", what, forward ? "ASC" : "DESC"))));
  }
  statement->bind(id);
  statement->bind(number);
  if (want.timestamp_at_least) statement->bind(*want.timestamp_at_least);
  const int code = statement->step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return error(code);
  const std::uint64_t found_id = statement->number(kTraceIdCount);
  auto block = read_stream_block(*statement);
  statement->reset();
  if (!block) return std::unexpected(block.error());
  // SQLite trusts the file's order of rows.
  if (found_id != id || (forward ? block->number < number : block->number > number))
    return damaged("stream_blocks: rows are in the wrong order");
  return std::move(*block);
}

Result<std::vector<Landmark>> Store::landmarks(TraceId id, std::uint64_t number) {
  if (!again(statements_.landmarks)) {
    WAYMARK_TRY(
        prepare(statements_.landmarks, select_sql(kLandmarks, "WHERE id = ? AND block = ?")));
  }
  statements_.landmarks.bind(id);
  statements_.landmarks.bind(number);
  const int code = statements_.landmarks.step();
  if (code == SQLITE_DONE) return std::vector<Landmark>{};
  if (code != SQLITE_ROW) return error(code);
  (void)statements_.landmarks.number();  // The requested ID.
  auto block = read(kLandmarks, statements_.landmarks);
  statements_.landmarks.reset();
  if (!block) return std::unexpected(block.error());
  return std::move(block->landmarks);
}

Result<std::optional<ViewRecords>> Store::view() {
  const Question question(*this);
  if (!has_views_) return std::nullopt;
  std::optional<ViewRecords> view;
  WAYMARK_TRY(read_all(kViews, "", [&](ViewRecords row) -> Result<void> {
    if (view) return damaged("table views has several rows");
    view = std::move(row);
    return {};
  }));
  if (!view) return std::nullopt;
  std::uint64_t bytes = 0;
  const auto take = [&](ViewRecord row) -> Result<void> {
    bytes += row.record.size() + sizeof row;
    const bool is_next = view->records.empty() ||
                         std::pair(row.kind, row.number) >
                             std::pair(view->records.back().kind, view->records.back().number);
    if (bytes > ViewRecords::kMostBytes || !is_next) return damaged("table view_records");
    view->records.push_back(std::move(row));
    return {};
  };
  WAYMARK_TRY(read_all(kViewRecords, "ORDER BY kind, number", take));
  return view;
}

Result<void> Store::write_view(const ViewRecords& view) {
  WAYMARK_TRY(begin());
  if (!has_views_) {
    for (const std::string& table : view_declarations()) WAYMARK_TRY(execute(table));
    WAYMARK_TRY(execute(fmt::format("PRAGMA user_version = {}", kVersionWithViews)));
  }
  for (const std::string_view table : {kViews.name, kViewRecords.name})
    WAYMARK_TRY(execute(fmt::format("DELETE FROM {}", table)));
  Statement views;
  WAYMARK_TRY(insert(views, kViews, view));
  Statement records;
  for (const ViewRecord& record : view.records) WAYMARK_TRY(insert(records, kViewRecords, record));
  WAYMARK_TRY(execute("COMMIT"));
  transaction_ = false;
  has_views_ = true;
  return {};
}

Result<void> Store::append(const SourceBlock& block) {
  WAYMARK_TRY(begin());
  return insert(statements_.append_source, kSourceBlocks, block);
}

Result<void> Store::append(TraceId id, const StreamBlock& block) {
  WAYMARK_TRY(begin());
  WAYMARK_TRY(insert(statements_.append_stream, kStreamBlocks, id, block));
  if (block.landmarks.empty()) return {};
  return insert(statements_.append_landmarks, kLandmarks, id, block);
}

Result<void> Store::write_header(const Header& header) {
  WAYMARK_TRY(execute("DELETE FROM capture; DELETE FROM ids; DELETE FROM streams"));
  Statement capture;
  WAYMARK_TRY(insert(capture, kCapture, {header, file_times_}));
  Statement ids;
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    if (header.id_bytes[id] != 0) WAYMARK_TRY(insert(ids, kIds, {id, header.id_bytes[id]}));
  }
  Statement streams;
  for (const Stream& stream : header.streams) WAYMARK_TRY(insert(streams, kStreams, stream));
  return {};
}

Result<void> Store::commit(const Header& header) {
  WAYMARK_TRY(begin());
  WAYMARK_TRY(write_header(header));
  WAYMARK_TRY(execute("COMMIT"));
  transaction_ = false;
  times_to_note_ = false;
  header_ = header;
  return {};
}

// If another process uses the file, the times are not stored, and the next reader compares the
// capture again.
void Store::note_times() {
  Statement update;
  if (!prepare(update,
               "UPDATE capture SET file_modified = ?, file_changed = ? WHERE "
               "file_size = ? AND file_digest = ?")) {
    return;
  }
  for (const std::uint64_t value :
       {file_times_.modified, file_times_.changed, header_.file_size, header_.file_digest}) {
    update.bind(value);
  }
  (void)run(update);
}

Result<void> Store::truncate(std::uint64_t number, const Header& header) {
  WAYMARK_TRY(begin());
  for (const std::string_view table : {kSourceBlocks.name, kStreamBlocks.name, kLandmarks.name}) {
    WAYMARK_TRY(execute(
        fmt::format("DELETE FROM {} WHERE block >= {}", table, static_cast<std::int64_t>(number))));
  }
  // The data kept for viewers is that of the whole capture.
  if (has_views_) WAYMARK_TRY(execute("DELETE FROM views"));
  WAYMARK_TRY(write_header(header));
  header_ = header;
  return {};
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const StoreOptions& options) {
  const bool building = options.mode == StoreMode::kBuild;
  sqlite3* raw = nullptr;
  // SQLite treats names that begin with a colon or "file:" specially.
  const std::string file = path.starts_with('/') ? path : "./" + path;
  // A reader also rolls back what a killed builder left.  If it must not write, SQLite opens
  // the file for reading only.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  const int code =
      sqlite3_open_v2(file.c_str(), &raw, building ? flags | SQLITE_OPEN_CREATE : flags, nullptr);
  auto store = std::make_unique<Store>(Database(raw), path);
  // A builder must not stop within a transaction.
  if (!building) store->steps_.stop = options.stop;
  if (code != SQLITE_OK) {
    return fail(ErrorCode::kIo, fmt::format("Cannot open {}: {}.", path, sqlite3_errstr(code)));
  }
  (void)sqlite3_extended_result_codes(raw, 1);
  // A database from another source may contain anything.
  (void)sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  (void)sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (!building) (void)sqlite3_busy_timeout(raw, kReaderPatience);
  return store;
}

Result<void> Store::lock(const StoreOptions& options) {
  const bool building = options.mode == StoreMode::kBuild;
  while (true) {
    // This has an effect on a new file only.  Small pages keep the index of a small capture small.
    if (building) (void)execute("PRAGMA page_size = 1024");
    Result<void> locked;
    if (options.rebuild && !cleared_) {
      locked = clear();
      cleared_ = locked.has_value();
    }
    if (locked) locked = execute(building ? "BEGIN EXCLUSIVE" : "BEGIN");
    if (locked && !building) {
      locked = execute("SELECT count(*) FROM sqlite_schema");
      if (!locked) (void)execute("ROLLBACK");
    }
    if (locked) break;
    if (locked.error().code != ErrorCode::kConflict || !options.wait || !options.wait())
      return locked;
    (void)sqlite3_sleep(kWaitStep);
  }
  transaction_ = true;
  // Only after the lock is taken, as a waiting process would keep a part of it.
  return building ? execute("PRAGMA locking_mode = EXCLUSIVE") : Result<void>();
}

Result<int> Store::number(const char* sql) {
  Statement statement;
  WAYMARK_TRY(prepare(statement, sql));
  const int step = statement.step();
  if (step != SQLITE_ROW) return error(step);
  return static_cast<int>(statement.number());
}

Result<void> Store::read_or_create(bool building) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path_, unknown);
  if (!unknown) steps_.limit(size);
  const auto application = number("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const auto version = number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  const auto tables = number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  if (*tables == 0) {
    // SQLite treats a file that is too short for a database as an empty one.
    if (!unknown && size != 0 && !cleared_) return damaged("it has no tables");
    if (building) return create();
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is empty; build it with `waymark index`.", path_));
  }
  if (*application != kApplicationId) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is a database, but not an index of Waymark; choose another file.", path_));
  }
  if (*version != kVersion && *version != kVersionWithViews) {
    return fail(ErrorCode::kBadData,
                fmt::format("{} has version {} of the format, but this program reads versions {} "
                            "and {}; rebuild it with `waymark index --rebuild`.",
                            path_, *version, kVersion, kVersionWithViews));
  }
  has_views_ = *version == kVersionWithViews;
  WAYMARK_TRY(check_tables());
  WAYMARK_TRY(load());
  if (building && !header().complete && sqlite3_db_readonly(db_.get(), "main") == 1) {
    return fail(ErrorCode::kIo,
                fmt::format("{} ends at byte {}, and cannot be continued because it is read-only.",
                            path_, header().indexed));
  }
  return {};
}

/// Whether an index can be at this path.
Result<void> check_path(const std::string& path, bool building) {
  std::error_code none;
  if (!building && !std::filesystem::exists(path, none)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("There is no index {}; create it with `waymark index`.", path));
  }
  // SQLite would wait for a pipe.
  for (const std::string& file : {path, path + "-journal", path + "-wal"}) {
    if (std::filesystem::exists(file, none) && !std::filesystem::is_regular_file(file, none)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is not a regular file, so it cannot be an index; choose another file.",
                      file));
    }
  }
  if (std::filesystem::exists(path, none) && look_at_index_file(path) == IndexFile::kOther) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is not an index of Waymark and stays unchanged; choose another file.",
                    path));
  }
  return {};
}

}  // namespace

bool stores_available() { return true; }

Result<std::unique_ptr<Index>> open_store(const std::string& path, const StoreOptions& options) {
  const bool building = options.mode == StoreMode::kBuild;
  WAYMARK_TRY(check_path(path, building));
  auto store = Store::open(path, options);
  if (!store) return std::unexpected(store.error());
  WAYMARK_TRY((*store)->lock(options));
  WAYMARK_TRY((*store)->read_or_create(building));
  return *std::move(store);
}

}  // namespace waymark::index
