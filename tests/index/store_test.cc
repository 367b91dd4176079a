// Indexes in files: the same as in memory, and safe whatever stands in the file.
#include "waymark/index/store.h"

#include <gmock/gmock.h>

#include <thread>

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

TEST_F(StoreTest, while_one_builds_another_waits_or_is_told) {
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
    EXPECT_EQ(foreign.error().code, ErrorCode::kBadData) << foreign.error().detail;
  }
  const auto nowhere = open_store("/proc/nowhere/index", {.mode = StoreMode::kBuild, .wait = {}});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kIo);
}

/// Reads everything that a seek, a search and an extension read; errors are good answers.
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

TEST_F(StoreTest, an_index_of_another_version_is_refused) {
  prepare({.seed = 8});
  build_store(Form::kSparse);
  std::vector<std::uint8_t> bytes = read_file(path());
  bytes[63] = 2;  // The low byte of user_version in SQLite's header.
  write_file(path(), bytes);
  const auto store = open_store(path(), {});
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().detail, HasSubstr("version 2"));
  bytes[63] = 1;
  bytes[71] ^= 1;  // application_id.
  write_file(path(), bytes);
  const auto other = open_store(path(), {});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().detail, HasSubstr("no index of Waymark"));
}

}  // namespace
}  // namespace waymark::index
