// Indexes in files: equal to those in memory, and safe whatever the file contains.
#include "waymark/index/store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "index_bench.h"

namespace waymark::index {
namespace {

using testing::HasSubstr;

BuildOptions small(Form form) {
  BuildOptions options;
  options.form = form;
  options.granule = kMinGranule;
  return options;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class StoreTest : public testing::Test {
 protected:
  void prepare(const BenchOptions& options) {
    options_ = options;
    write_capture(folder_, options, trace_of(options));
  }
  std::string path() const { return folder_ / "trace.bin.waymark-index"; }
  void build_store(Form form) {
    const auto store = open_store(path(), {.mode = StoreMode::kBuild, .wait = {}});
    ASSERT_TRUE(store) << store.error().detail;
    inputs::Capture capture = open_bench(folder_, false);
    const auto report = build(capture, **store, small(form));
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_TRUE(report->complete);
  }
  Contents in_memory(Form form) {
    const auto index = make_memory_index();
    inputs::Capture capture = open_bench(folder_, false);
    EXPECT_TRUE(build(capture, *index, small(form)));
    return contents_of(*index);
  }

  TemporaryFolder folder_;
  BenchOptions options_;
};

TEST_F(StoreTest, a_file_holds_what_memory_holds) {
  for (const BenchOptions& options :
       {BenchOptions{.seed = 1, .sources = 3}, BenchOptions{.seed = 2, .sources = 1, .raw = true},
        BenchOptions{.seed = 3, .fsync = true, .damage = 500}}) {
    for (const Form form : {Form::kSparse, Form::kFull}) {
      prepare(options);
      std::filesystem::remove(path());
      build_store(form);
      const auto store = open_store(path(), {});
      ASSERT_TRUE(store) << store.error().detail;
      EXPECT_EQ(contents_of(**store), in_memory(form)) << options.seed;
    }
  }
}

TEST_F(StoreTest, queries_answer_as_in_memory) {
  prepare({.seed = 4, .sources = 3});
  build_store(Form::kSparse);
  const auto store = open_store(path(), {});
  ASSERT_TRUE(store);
  const auto memory = make_memory_index();
  inputs::Capture capture = open_bench(folder_, false);
  ASSERT_TRUE(build(capture, *memory, small(Form::kSparse)));
  for (const TraceId id : {TraceId{0x10}, TraceId{0x12}, TraceId{0x55}}) {
    for (std::uint64_t number = 0; number < memory->header().blocks() + 2; ++number) {
      for (const Walk walk : {Walk::kForward, Walk::kBackward}) {
        for (const Want& want :
             {Want{}, Want{.kind = LandmarkKind::kSync, .timestamp_at_least = {}},
              Want{.kind = LandmarkKind::kOverflow, .timestamp_at_least = {}},
              Want{.kind = LandmarkKind::kTimestamp, .timestamp_at_least = 700},
              Want{.kind = {}, .timestamp_at_least = 1U << 30}}) {
          EXPECT_EQ((*store)->find(id, number, walk, want).value(),
                    memory->find(id, number, walk, want).value());
        }
      }
      EXPECT_EQ((*store)->find_triggers(number).value(), memory->find_triggers(number).value());
      EXPECT_EQ((*store)->find_place(number).value(), memory->find_place(number).value());
    }
  }
}

TEST_F(StoreTest, what_was_committed_survives_a_build_that_ends) {
  prepare({.seed = 5, .sources = 2});
  for (unsigned pieces = 0;; ++pieces) {
    ASSERT_LT(pieces, 1000U);
    const auto store = open_store(path(), {.mode = StoreMode::kBuild, .wait = {}});
    ASSERT_TRUE(store) << store.error().detail;
    inputs::Capture capture = open_bench(folder_, false);
    BuildOptions options = small(Form::kFull);
    options.stop = [](std::uint64_t) { return true; };
    const auto report = build(capture, **store, options);
    ASSERT_TRUE(report) << report.error().detail;
    if (report->complete) break;
  }
  const auto store = open_store(path(), {});
  ASSERT_TRUE(store);
  EXPECT_EQ(contents_of(**store), in_memory(Form::kFull));
}

TEST_F(StoreTest, while_one_builds_another_waits_or_is_refused) {
  prepare({.seed = 6});
  std::optional<Result<std::unique_ptr<Index>>> first =
      open_store(path(), {.mode = StoreMode::kBuild, .wait = {}});
  ASSERT_TRUE(*first);
  for (const StoreMode mode : {StoreMode::kRead, StoreMode::kBuild}) {
    const auto second = open_store(path(), {.mode = mode, .wait = {}});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  }
  unsigned asked = 0;
  const auto wait = [&] {
    if (++asked == 2) first.reset();
    return asked < 50;
  };
  const auto second = open_store(path(), {.mode = StoreMode::kBuild, .wait = wait});
  EXPECT_TRUE(second) << second.error().detail;
  EXPECT_GE(asked, 2U);
}

TEST_F(StoreTest, absent_foreign_and_unwritable_files_have_their_sentences) {
  const auto absent = open_store(folder_ / "nothing", {});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  write_file(folder_ / "foreign", "These bytes are no database at all, only a text of a file.");
  for (const StoreMode mode : {StoreMode::kRead, StoreMode::kBuild}) {
    const auto foreign = open_store(folder_ / "foreign", {.mode = mode, .wait = {}});
    ASSERT_FALSE(foreign);
    EXPECT_EQ(foreign.error().code, ErrorCode::kInvalidArgument) << foreign.error().detail;
    EXPECT_THAT(foreign.error().detail, HasSubstr("choose another file"));
  }
  const auto nowhere = open_store("/proc/nowhere/index", {.mode = StoreMode::kBuild, .wait = {}});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kIo);
}

/// Reads everything that a seek, a search and an extension read.  Errors are acceptable.
void use(const std::string& path, const TemporaryFolder& folder) {
  const auto store = open_store(path, {.mode = StoreMode::kBuild, .wait = {}});
  if (!store) {
    EXPECT_FALSE(store.error().detail.empty());
    return;
  }
  Index& index = **store;
  inputs::Capture capture = open_bench(folder, false);
  if (!check(capture, index)) return;
  const std::vector<TraceId> ids = source_ids(capture);
  for (const TraceIndex place :
       {TraceIndex{1}, capture.trace_bytes() / 2, capture.trace_bytes() - 1}) {
    if (const auto entry = seek(index, ids, place)) {
      inputs::Capture decoded = open_bench(folder, true);
      enter(decoded, *entry);
      std::array<Element, 64> batch;
      if (const auto block = decoded.next_block()) {
        if (decoded.tree().feed(block->index, block->bytes)) {
          while (decoded.tree().next(batch) != 0) {
          }
        }
      }
    }
  }
  for (const LandmarkKind kind :
       {LandmarkKind::kSync, LandmarkKind::kTimestamp, LandmarkKind::kTrigger}) {
    (void)find(capture, index, ids, {.kind = kind}, [](const Hit&) { return true; });
  }
  (void)resolve(capture, index, ids, {Position::Kind::kTimestamp, 500});
  (void)resolve(capture, index, std::span(ids).first(1), {Position::Kind::kSync, 5});
  (void)build(capture, index, small(Form::kSparse));
}

TEST_F(StoreTest, no_damaged_file_leads_astray) {
  prepare({.seed = 7, .sources = 2, .units = 12});
  build_store(Form::kFull);
  const std::vector<std::uint8_t> good = read_file(path());
  ASSERT_GT(good.size(), 4000U);
  const std::string damaged = folder_ / "damaged";
  support::Random random(1);
  for (unsigned i = 0; i < 150; ++i) {
    std::vector<std::uint8_t> bytes = good;
    if (i % 3 == 0) {
      bytes.resize(random.below(static_cast<std::uint32_t>(good.size())));
    } else {
      for (unsigned change = 0; change <= i % 5; ++change)
        bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = random.byte();
    }
    write_file(damaged, bytes);
    std::filesystem::remove(damaged + "-journal");
    use(damaged, folder_);
  }
}

/// Runs SQL on the file, whatever effect it has.
void change(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
}

/// Every walk advances with every answer, or ends.
void walk_all(Index& index, std::span<const TraceId> ids) {
  for (const TraceId id : ids) {
    for (const Want& want : {Want{}, Want{.kind = LandmarkKind::kSync},
                             Want{.kind = LandmarkKind::kTimestamp, .timestamp_at_least = 100}}) {
      for (std::uint64_t number = 0;;) {
        const auto block = index.find(id, number, Walk::kForward, want);
        if (!block || !*block) break;
        ASSERT_GE((*block)->number, number);
        number = (*block)->number + 1;
      }
      for (std::uint64_t number = index.header().blocks();;) {
        const auto block = index.find(id, number, Walk::kBackward, want);
        if (!block || !*block) break;
        ASSERT_LE((*block)->number, number);
        if ((*block)->number == 0) break;
        number = (*block)->number - 1;
      }
    }
  }
  for (std::uint64_t number = index.header().blocks();;) {
    const auto block = index.find_place(number);
    if (!block || !*block) break;
    ASSERT_LE((*block)->number, number);
    if ((*block)->number == 0) break;
    number = (*block)->number - 1;
  }
  for (std::uint64_t number = 0;;) {
    const auto block = index.find_triggers(number);
    if (!block || !*block) break;
    ASSERT_GE((*block)->number, number);
    number = (*block)->number + 1;
  }
  for (std::uint64_t number = 0; number < std::min<std::uint64_t>(index.header().blocks(), 64);
       ++number) {
    const auto block = index.source_block(number);
    if (block && *block) {
      ASSERT_EQ((*block)->number, number);
    }
  }
  for (const TraceIndex place : {TraceIndex{1}, index.header().indexed / 2}) {
    const auto entry = seek(index, ids, place, {.reach = SeekOptions::kAny});
    if (entry) {
      ASSERT_LE(entry->index, place);
    }
  }
}

TEST_F(StoreTest, whatever_byte_is_changed_no_answer_is_on_the_wrong_side) {
  prepare({.seed = 15, .sources = 2, .units = 20});
  build_store(Form::kSparse);
  const std::vector<std::uint8_t> good = read_file(path());
  const std::array<TraceId, 2> ids = {0x10, 0x11};
  constexpr std::size_t kPage = 1024;
  unsigned opened = 0;
  for (std::size_t at = kPage; at < good.size(); ++at) {
    // Nothing reads the space between the cells of a page.
    if (good[at] == 0 && good[at - 1] == 0 && at + 1 < good.size() && good[at + 1] == 0) continue;
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](std::uint8_t byte) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte));
      file.flush();
    };
    put(good[at] ^ (at % 2 == 0 ? 0x80 : 0x41));
    if (const auto store = open_store(path(), {})) {
      ++opened;
      walk_all(**store, ids);
      if (HasFatalFailure()) FAIL() << "byte " << at;
    } else {
      EXPECT_FALSE(store.error().detail.empty());
    }
    put(good[at]);
  }
  EXPECT_GT(opened, 100U);
}

/// SQLite skips rows without what is wanted, and does not compare the key of the next row.
TEST_F(StoreTest, a_row_on_the_wrong_side_is_damage) {
  prepare({.seed = 16, .sources = 1, .units = 400});
  build_store(Form::kSparse);
  // A search only skips rows without what is wanted.
  change(path(), "UPDATE stream_blocks SET overflows = block % 4 == 2");
  const std::vector<std::uint8_t> good = read_file(path());
  const std::uint64_t blocks = (*open_store(path(), {}))->header().blocks();
  ASSERT_GT(blocks, 8U);
  ASSERT_LT(blocks, 128U);
  // A record of 26 columns: the size of its header, their types, the ID, the block.
  constexpr std::size_t kId = 27;
  constexpr std::size_t kBlock = 28;
  struct Edit {
    Walk walk;
    std::size_t column;
    std::uint8_t value;
  };
  for (const Edit& edit : {Edit{Walk::kBackward, kBlock, static_cast<std::uint8_t>(blocks - 1)},
                           Edit{Walk::kForward, kBlock, 0}, Edit{Walk::kBackward, kId, 0x11},
                           Edit{Walk::kForward, kId, 0x0F}}) {
    SCOPED_TRACE(testing::Message() << (edit.walk == Walk::kForward ? "forward" : "backward")
                                    << ", column " << edit.column);
    const bool forward = edit.walk == Walk::kForward;
    unsigned refused = 0;
    for (std::uint8_t key = 2; key + 1U < blocks; key += 4) {
      std::vector<std::uint8_t> bytes = good;
      unsigned edited = 0;
      for (std::size_t at = 1024; at + 40 < bytes.size(); ++at) {
        if (bytes[at] != 27 || bytes[at + kId] != 0x10 || bytes[at + kBlock] != key) continue;
        bytes[at + edit.column] = edit.value;
        ++edited;
      }
      ASSERT_GT(edited, 0U) << +key;
      write_file(path(), bytes);
      const auto store = open_store(path(), {});
      ASSERT_TRUE(store) << store.error().detail;
      for (std::uint64_t number = 0; number < blocks; ++number) {
        const auto found =
            (*store)->find(0x10, number, edit.walk, {.kind = LandmarkKind::kOverflow});
        if (found) {
          if (!*found) continue;
          ASSERT_TRUE(forward ? (*found)->number >= number : (*found)->number <= number)
              << +key << ' ' << number << ' ' << (*found)->number;
          continue;
        }
        ++refused;
        EXPECT_EQ(found.error().code, ErrorCode::kBadData);
        EXPECT_THAT(found.error().detail,
                    HasSubstr("this index is damaged (stream_blocks: rows are in the wrong order); "
                              "rebuild it with `waymark index --rebuild`"));
      }
    }
    EXPECT_GT(refused, 0U);
  }
}

TEST_F(StoreTest, the_work_of_a_question_is_bounded_over_all_its_calls) {
  prepare({.seed = 17, .sources = 1, .units = 40});
  build_store(Form::kSparse);
  change(path(),
         "WITH RECURSIVE c(x) AS (SELECT 1000 UNION ALL SELECT x + 1 FROM c WHERE x < 4000) "
         "INSERT INTO stream_blocks SELECT id, x, bytes, packets, sync_points, unsynced_bytes, "
         "bad_headers, bad_sequences, aligns, syncs, timestamps, contexts, events, triggers, "
         "exceptions, overflows, discards, trace_ons, gaps, whole_timestamps, lasting_contexts, "
         "first_sync, last_sync, first_timestamp, last_timestamp, highest_timestamp "
         "FROM stream_blocks, c WHERE block = 0");
  change(path(), "UPDATE capture SET indexed = granule * 8192, complete = 0");
  const auto store = open_store(path(), {});
  ASSERT_TRUE(store);
  Result<std::optional<StreamBlock>> found;
  {
    const Question question(**store);
    for (unsigned i = 0; i < 100'000 && found; ++i)
      found = (*store)->find(0x10, 0, Walk::kForward, {.timestamp_at_least = 1ULL << 62});
  }
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kBadData);
  EXPECT_TRUE((*store)->find(0x10, 0, Walk::kForward, {}));
}

TEST_F(StoreTest, a_reader_can_stop_a_search) {
  prepare({.seed = 18, .sources = 1});
  build_store(Form::kSparse);
  bool stop = false;
  const auto store = open_store(path(), {.wait = {}, .stop = [&] { return stop; }});
  ASSERT_TRUE(store);
  stop = true;
  const Question question(**store);
  Result<std::optional<StreamBlock>> found;
  for (unsigned i = 0; i < 100'000 && found; ++i)
    found = (*store)->find(0x10, 0, Walk::kForward, {.timestamp_at_least = 1ULL << 62});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kLimit);
}

TEST_F(StoreTest, what_is_not_a_regular_file_is_refused) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directory(folder_ / "folder");
  for (const std::string& name : {pipe, folder_ / "folder", std::string("/dev/null")}) {
    for (const StoreOptions& options :
         {StoreOptions{.wait = {}}, StoreOptions{.mode = StoreMode::kBuild, .wait = {}},
          StoreOptions{.mode = StoreMode::kBuild, .rebuild = true, .wait = {}}}) {
      const auto store = open_store(name, options);
      ASSERT_FALSE(store) << name;
      EXPECT_EQ(store.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(store.error().detail, HasSubstr("not a regular file"));
    }
  }
}

TEST_F(StoreTest, times_are_noted_once_the_capture_was_compared) {
  prepare({.seed = 19});
  build_store(Form::kSparse);
  const auto set_times = [](std::uint64_t time) {
    return "UPDATE capture SET file_modified = " + std::to_string(time) +
           ", file_changed = " + std::to_string(time);
  };
  change(path(), set_times(1));
  const std::string trace = folder_ / "trace.bin";
  const auto file = MappedFile::open(trace);
  ASSERT_TRUE(file);
  {
    const auto store = open_store(path(), {});
    ASSERT_TRUE(store);
    EXPECT_EQ((*store)->file_times(), (FileTimes{1, 1}));
    ASSERT_TRUE(check_file(*file, "mem", **store));
    (*store)->confirm({2, 3});
  }
  EXPECT_EQ((*open_store(path(), {}))->file_times(), (FileTimes{2, 3}));
}

// NOLINTBEGIN(concurrency-mt-unsafe): there is one thread.
TEST(StorePath, the_cache_of_the_user_has_a_name_for_each_capture) {
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", "/caches", 1), 0);
  const std::string one = cached_store_path("/a/trace.bin");
  EXPECT_TRUE(one.starts_with("/caches/waymark/trace.bin-")) << one;
  EXPECT_TRUE(one.ends_with(".waymark-index")) << one;
  EXPECT_EQ(cached_store_path("/a/b/../trace.bin"), one);
  EXPECT_NE(cached_store_path("/b/trace.bin"), one);
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", "relative", 1), 0);
  ASSERT_EQ(::setenv("HOME", "/home/me", 1), 0);
  EXPECT_TRUE(cached_store_path("trace.bin").starts_with("/home/me/.cache/waymark/trace.bin-"));
  ASSERT_EQ(::unsetenv("XDG_CACHE_HOME"), 0);
  EXPECT_LT(std::filesystem::path(cached_store_path("/a/" + std::string(255, 'x')))
                .filename()
                .string()
                .size(),
            255U);
  ASSERT_EQ(::unsetenv("HOME"), 0);
  EXPECT_EQ(cached_store_path("trace.bin"), "");
}
// NOLINTEND(concurrency-mt-unsafe)

TEST_F(StoreTest, an_index_of_another_version_is_refused) {
  prepare({.seed = 8});
  build_store(Form::kSparse);
  std::vector<std::uint8_t> bytes = read_file(path());
  bytes[63] = 1;  // The low byte of user_version in SQLite's header.
  write_file(path(), bytes);
  const auto store = open_store(path(), {});
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().detail, HasSubstr("version 1"));
  bytes[63] = 2;
  bytes[71] ^= 1;  // application_id.
  write_file(path(), bytes);
  const auto other = open_store(path(), {});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().detail, HasSubstr("not an index of Waymark"));
}

TEST_F(StoreTest, times_from_2_to_the_63rd_on_are_later_than_those_below) {
  const auto store = open_store(path(), {.mode = StoreMode::kBuild, .wait = {}});
  ASSERT_TRUE(store) << store.error().detail;
  const auto memory = make_memory_index();
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  for (Index* index : {store->get(), memory.get()}) {
    Header header;
    header.framing = "none";
    header.streams.push_back({.id = 0x10, .protocol = "ETE", .tally = {}, .counts = {}});
    for (const std::uint64_t time : {kHalf - 2, kHalf - 1, kHalf, kHalf + 1, ~std::uint64_t{0}}) {
      StreamBlock block;
      block.number = header.indexed / header.granule;
      block.add({.value = time, .kind = LandmarkKind::kTimestamp}, Form::kSparse);
      header.add(0x10, block);
      header.indexed += header.granule;
      ASSERT_TRUE(index->append(0x10, block));
    }
    ASSERT_TRUE(index->commit(header));
  }
  for (const std::uint64_t time : {std::uint64_t{0}, std::uint64_t{1}, kHalf - 1, kHalf, kHalf + 1,
                                   ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    for (const auto& [number, walk] : {std::pair{std::uint64_t{0}, Walk::kForward},
                                       std::pair{std::uint64_t{4}, Walk::kBackward}}) {
      const Want want{.kind = LandmarkKind::kTimestamp, .timestamp_at_least = time};
      const auto found = (*store)->find(0x10, number, walk, want);
      ASSERT_TRUE(found);
      EXPECT_EQ(*found, memory->find(0x10, number, walk, want).value()) << time;
      EXPECT_TRUE(found->has_value());
    }
  }
}

/// The tables of format version 2, as they were first laid out.
constexpr const char* kVersion2[][2] = {
    {"capture", R"(CREATE TABLE capture(
  granule INTEGER NOT NULL, form TEXT NOT NULL, framing TEXT NOT NULL,
  indexed INTEGER NOT NULL, complete INTEGER NOT NULL,
  file_size INTEGER NOT NULL, file_digest INTEGER NOT NULL,
  file_modified INTEGER NOT NULL, file_changed INTEGER NOT NULL,
  frame_syncs INTEGER NOT NULL, triggers INTEGER NOT NULL,
  resets INTEGER NOT NULL, errors INTEGER NOT NULL))"},
    {"ids", R"(CREATE TABLE ids(id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL))"},
    {"streams", R"(CREATE TABLE streams(
  id INTEGER PRIMARY KEY, protocol TEXT NOT NULL, config_hash INTEGER NOT NULL,
  starts_in_sync INTEGER NOT NULL,
  bytes INTEGER NOT NULL, packets INTEGER NOT NULL, sync_points INTEGER NOT NULL,
  unsynced_bytes INTEGER NOT NULL, bad_headers INTEGER NOT NULL, bad_sequences INTEGER NOT NULL,
  aligns INTEGER NOT NULL, syncs INTEGER NOT NULL, timestamps INTEGER NOT NULL,
  contexts INTEGER NOT NULL, events INTEGER NOT NULL, triggers INTEGER NOT NULL,
  exceptions INTEGER NOT NULL, overflows INTEGER NOT NULL, discards INTEGER NOT NULL,
  trace_ons INTEGER NOT NULL, gaps INTEGER NOT NULL))"},
    {"source_blocks", R"(CREATE TABLE source_blocks(
  block INTEGER PRIMARY KEY, place INTEGER, current_id INTEGER,
  frame_syncs INTEGER, first_frame_sync INTEGER, triggers INTEGER, first_trigger INTEGER,
  resets INTEGER, errors INTEGER, ids BLOB NOT NULL))"},
    {"stream_blocks", R"(CREATE TABLE stream_blocks(
  id INTEGER NOT NULL, block INTEGER NOT NULL,
  bytes INTEGER NOT NULL, packets INTEGER NOT NULL, sync_points INTEGER NOT NULL,
  unsynced_bytes INTEGER NOT NULL, bad_headers INTEGER NOT NULL, bad_sequences INTEGER NOT NULL,
  aligns INTEGER NOT NULL, syncs INTEGER NOT NULL, timestamps INTEGER NOT NULL,
  contexts INTEGER NOT NULL, events INTEGER NOT NULL, triggers INTEGER NOT NULL,
  exceptions INTEGER NOT NULL, overflows INTEGER NOT NULL, discards INTEGER NOT NULL,
  trace_ons INTEGER NOT NULL, gaps INTEGER NOT NULL, whole_timestamps INTEGER NOT NULL,
  lasting_contexts INTEGER NOT NULL,
  first_sync INTEGER, last_sync INTEGER,
  first_timestamp INTEGER, last_timestamp INTEGER, highest_timestamp INTEGER,
  PRIMARY KEY(id, block)) WITHOUT ROWID)"},
    {"landmarks", R"(CREATE TABLE landmarks(
  id INTEGER NOT NULL, block INTEGER NOT NULL, records BLOB NOT NULL,
  PRIMARY KEY(id, block)) WITHOUT ROWID)"},
};

TEST_F(StoreTest, tables_are_those_of_version_2_however_they_are_laid_out) {
  prepare({.seed = 10, .units = 12});
  build_store(Form::kFull);
  std::string sql = "PRAGMA writable_schema = ON;";
  for (const auto& [name, text] : kVersion2)
    sql += fmt::format("UPDATE sqlite_schema SET sql = '{}' WHERE name = '{}';", text, name);
  change(path(), sql);
  {
    const auto store = open_store(path(), {});
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_EQ(contents_of(**store), in_memory(Form::kFull));
  }
  change(path(),
         "PRAGMA writable_schema = ON;"
         "UPDATE sqlite_schema SET sql = replace(sql, 'granule INTEGER', 'granule TEXT')");
  EXPECT_FALSE(open_store(path(), {}));
}

/// A view of an endless query, a trigger that never ends, a table of another shape.
TEST_F(StoreTest, only_the_tables_of_an_index_are_read) {
  prepare({.seed = 10, .units = 12});
  build_store(Form::kSparse);
  const std::vector<std::uint8_t> good = read_file(path());
  for (const char* const sql :
       {"DROP TABLE ids; CREATE VIEW ids(id, bytes) AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
        "SELECT x FROM c) SELECT x, x FROM c",
        "DROP TABLE stream_blocks; CREATE VIEW stream_blocks AS WITH RECURSIVE c(x) AS (SELECT 1 "
        "UNION ALL SELECT x FROM c) SELECT x AS id, x AS block FROM c",
        "CREATE TRIGGER t AFTER INSERT ON source_blocks BEGIN DELETE FROM stream_blocks; END",
        "CREATE INDEX i ON stream_blocks(timestamps)", "DROP TABLE landmarks",
        "DROP TABLE streams; CREATE TABLE streams(id, protocol)"}) {
    write_file(path(), good);
    change(path(), sql);
    for (const StoreMode mode : {StoreMode::kRead, StoreMode::kBuild}) {
      const auto store = open_store(path(), {.mode = mode, .wait = {}});
      ASSERT_FALSE(store) << sql;
      EXPECT_EQ(store.error().code, ErrorCode::kBadData) << sql;
      EXPECT_THAT(store.error().detail, HasSubstr("tables")) << sql;
    }
  }
}

/// Interior pages that refer to themselves, or all to the same page, are a tree without end.
TEST_F(StoreTest, cyclic_pages_end) {
  prepare({.seed = 11, .units = 12});
  build_store(Form::kSparse);
  // A table in which every page below the root is reached many times.
  change(path(),
         "WITH RECURSIVE c(x) AS (SELECT 1000 UNION ALL SELECT x + 1 FROM c WHERE x < 90000) "
         "INSERT INTO source_blocks(block, ids) SELECT x, x'' FROM c");
  change(path(), "UPDATE capture SET indexed = granule << 17, complete = 0");
  std::vector<std::uint8_t> bytes = read_file(path());
  constexpr std::size_t kPage = 1024;
  // Interior pages of tables (kind 5) whose children are leaves: this makes all children refer to a
  // page of the same kind, deeper and deeper.
  std::vector<std::size_t> interior;
  for (std::size_t page = 1; page < bytes.size() / kPage; ++page)
    if (bytes[page * kPage] == 5) interior.push_back(page);
  ASSERT_GT(interior.size(), 4U);
  for (std::size_t i = 0; i + 1 < interior.size() && i < 17; ++i) {
    const std::size_t at = interior[i] * kPage;
    const std::uint64_t child = interior[i + 1] + 1;
    const auto put = [&](std::size_t where) {
      for (unsigned k = 0; k < 4; ++k)
        bytes[where + k] = static_cast<std::uint8_t>(child >> (8 * (3 - k)));
    };
    put(at + 8);
    const std::size_t cells = std::size_t{bytes[at + 3]} << 8 | bytes[at + 4];
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t pointer = at + 12 + 2 * cell;
      put(at + (std::size_t{bytes[pointer]} << 8 | bytes[pointer + 1]));
    }
  }
  write_file(path(), bytes);
  const auto store = open_store(path(), {});
  if (!store) {
    EXPECT_EQ(store.error().code, ErrorCode::kBadData);
    return;
  }
  const auto found = (*store)->find_triggers(0);
  EXPECT_FALSE(found && *found);
}

TEST_F(StoreTest, an_index_that_claims_more_than_the_capture_has_is_refused) {
  prepare({.seed = 12});
  build_store(Form::kSparse);
  for (const char* const complete : {"0", "1"}) {
    change(path(),
           std::string("UPDATE capture SET indexed = granule << 48, complete = ") + complete);
    const auto store = open_store(path(), {.mode = StoreMode::kBuild, .wait = {}});
    ASSERT_TRUE(store) << store.error().detail;
    inputs::Capture capture = open_bench(folder_, false);
    const auto report = build(capture, **store, small(Form::kSparse));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kConflict);
    EXPECT_THAT(report.error().detail, HasSubstr("it was cut"));
  }
}

TEST_F(StoreTest, a_capture_of_less_than_a_frame_has_an_index) {
  prepare({});
  write_file(folder_ / "trace.bin", std::vector<std::uint8_t>(7, 0x55));
  build_store(Form::kSparse);
  const auto store = open_store(path(), {});
  ASSERT_TRUE(store) << store.error().detail;
  EXPECT_TRUE((*store)->header().complete);
  EXPECT_EQ((*store)->header().indexed, 0U);
}

TEST_F(StoreTest, rebuilding_throws_away_an_index_in_any_state_and_nothing_else) {
  prepare({.seed = 13});
  build_store(Form::kFull);
  const std::vector<std::uint8_t> good = read_file(path());
  std::vector<std::vector<std::uint8_t>> states = {good, {}};
  for (const std::size_t size : {1U, 40U, 100U, 1500U, 5000U})
    states.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
  states.push_back(good);
  for (std::size_t at = 72; at < states.back().size(); at += 3) states.back()[at] ^= 0x5A;
  for (const std::vector<std::uint8_t>& state : states) {
    write_file(path(), state);
    {
      const auto store =
          open_store(path(), {.mode = StoreMode::kBuild, .rebuild = true, .wait = {}});
      ASSERT_TRUE(store) << store.error().detail;
      EXPECT_TRUE((*store)->header().streams.empty());
      inputs::Capture capture = open_bench(folder_, false);
      ASSERT_TRUE(build(capture, **store, small(Form::kSparse)));
    }
    const auto store = open_store(path(), {});
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_EQ(contents_of(**store), in_memory(Form::kSparse));
  }
  write_file(folder_ / "letter",
             "Dear reader, this is not an index, and long enough to be something "
             "that nobody wants to lose to an option of a command.");
  change(folder_ / "foreign", "CREATE TABLE people(name)");
  for (const char* const name : {"letter", "foreign"}) {
    const std::vector<std::uint8_t> before = read_file(folder_ / name);
    const auto store =
        open_store(folder_ / name, {.mode = StoreMode::kBuild, .rebuild = true, .wait = {}});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(read_file(folder_ / name), before);
  }
}

TEST_F(StoreTest, rebuilding_waits_for_another_builder) {
  prepare({.seed = 14});
  std::optional<Result<std::unique_ptr<Index>>> first =
      open_store(path(), {.mode = StoreMode::kBuild, .wait = {}});
  ASSERT_TRUE(*first);
  {
    inputs::Capture capture = open_bench(folder_, false);
    ASSERT_TRUE(build(capture, ***first, small(Form::kFull)));
  }
  const StoreOptions at_once{.mode = StoreMode::kBuild, .rebuild = true, .wait = {}};
  const auto refused = open_store(path(), at_once);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  first.reset();
  ASSERT_TRUE(open_store(path(), {}));
  const auto second = open_store(path(), at_once);
  ASSERT_TRUE(second) << second.error().detail;
  EXPECT_TRUE((*second)->header().streams.empty());
}

TEST_F(StoreTest, an_index_is_known_by_its_first_bytes) {
  prepare({});
  build_store(Form::kSparse);
  EXPECT_TRUE(is_index_file(path()));
  EXPECT_FALSE(is_index_file(folder_ / "trace.bin"));
  EXPECT_FALSE(is_index_file(folder_ / "."));
  EXPECT_FALSE(is_index_file(folder_ / "absent"));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(is_index_file(pipe));
}

TEST_F(StoreTest, names_that_mean_more_to_sqlite_are_files) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* const name : {":memory:", "file:index?mode=memory"}) {
    const auto store = open_store(name, {.mode = StoreMode::kBuild, .wait = {}});
    EXPECT_TRUE(store) << store.error().detail;
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace waymark::index
