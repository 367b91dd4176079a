// The data that a session keeps in the index of a capture, and sessions that begin with it.
#include "../../src/view/stored.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "real_session.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"
#include "waymark/synth/capture.h"
#include "waymark/synth/program.h"

namespace waymark::view {
namespace {

namespace fs = std::filesystem;

class StoredTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fs::temp_directory_path() / ("waymark-stored-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    const auto program = synth::Program::random({.seed = 7});
    ASSERT_TRUE(program);
    std::vector<std::unique_ptr<synth::TraceUnit>> units;
    for (const TraceId id : {TraceId{0x10}, TraceId{0x11}}) {
      synth::UnitOptions unit{.trace_id = id, .seed = id};
      unit.timestamp_mean = 200;
      auto made = synth::make_unit(unit, &*program, {.seed = id, .exception_mean = 500}, false);
      ASSERT_TRUE(made) << made.error().detail;
      units.push_back(*std::move(made));
    }
    auto maker = synth::CaptureMaker::create({.size = std::uint64_t{2} << 20}, std::move(units));
    ASSERT_TRUE(maker);
    ASSERT_TRUE(synth::write_capture(*maker, &*program, capture()));
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static std::string capture() { return (folder_ / "capture").string(); }
  static std::string index_file() { return (folder_ / "index").string(); }

  static Result<inputs::Capture> open_packets() {
    inputs::CaptureOptions packets;
    packets.source.decode = false;
    return inputs::Capture::open(capture(), packets);
  }

  static SessionOptions options() {
    SessionOptions options = options_of(capture(), 16 << 10);
    options.index = {.looked_for = {index_file()},
                     .made_at = index_file(),
                     .open_packets = open_packets,
                     .fingerprint = "one",
                     .least_bytes = 0};
    return options;
  }

  static std::optional<index::ViewRecords> kept() {
    const auto store = index::open_store(index_file(), {.wait = {}});
    if (!store) return std::nullopt;
    auto view = (*store)->view();
    return view ? std::move(*view) : std::nullopt;
  }
  /// Waits for a session to store.
  static std::optional<index::ViewRecords> wait_for_records() {
    for (int i = 0; i < 3000; ++i) {
      if (auto view = kept()) return view;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::nullopt;
  }
  static void write(const index::ViewRecords& view) {
    const auto store =
        index::open_store(index_file(), {.mode = index::StoreMode::kBuild, .wait = {}});
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->write_view(view));
  }

  static void expect_same(Session& a, Session& b) {
    const double length = a.facts().axis.length;
    EXPECT_EQ(b.facts().axis.length, length);
    EXPECT_EQ(b.tracks().size(), a.tracks().size());
    for (int i = 0; i < 40; ++i) {
      const double from = length * (i % 20) / 20.3;
      const Window window{.from = from, .to = from + length / (i < 20 ? 50 : 4000)};
      const auto one = a.timeline(window, 1000, {});
      const auto two = b.timeline(window, 1000, {});
      ASSERT_TRUE(one && two);
      EXPECT_FALSE(one->summary);
      ASSERT_EQ(one->tracks.size(), two->tracks.size());
      for (std::size_t t = 0; t < one->tracks.size(); ++t) {
        const auto& x = one->tracks[t];
        const auto& y = two->tracks[t];
        ASSERT_EQ(x.spans.size(), y.spans.size()) << "window " << i << ", track " << x.track;
        EXPECT_EQ(x.gaps.size(), y.gaps.size());
        for (std::size_t s = 0; s < x.spans.size(); ++s) {
          ASSERT_EQ(x.spans[s].start, y.spans[s].start);
          ASSERT_EQ(x.spans[s].end, y.spans[s].end);
          ASSERT_EQ(x.spans[s].depth, y.spans[s].depth);
          ASSERT_EQ(name(*one, x.spans[s].function), name(*two, y.spans[s].function));
        }
      }
    }
    const auto all = a.functions({.from = 0, .to = length}, 1000, {});
    const auto again = b.functions({.from = 0, .to = length}, 1000, {});
    ASSERT_TRUE(all && again);
    EXPECT_TRUE(again->exact);
    EXPECT_EQ(all->instructions, again->instructions);
    ASSERT_EQ(all->rows.size(), again->rows.size());
    for (std::size_t i = 0; i < all->rows.size(); ++i)
      EXPECT_EQ(all->rows[i].self, again->rows[i].self);
  }

  static std::string name(const Timeline& timeline, FunctionNumber number) {
    for (const FunctionName& each : timeline.functions)
      if (each.number == number) return each.name;
    return {};
  }

  // NOLINTNEXTLINE(readability-identifier-naming): a member, although of all tests.
  static inline fs::path folder_;
};

TEST_F(StoredTest, a_second_session_begins_with_what_the_first_one_stored) {
  fs::remove(index_file());
  const auto first = open(options());
  ASSERT_TRUE(first);
  ASSERT_TRUE(wait_for_records());
  const auto second = make_session(options());
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->facts().stage, Stage::kReady);
  EXPECT_EQ((*second)->facts().done, (*second)->facts().bytes);
  expect_same(*first, **second);
}

TEST_F(StoredTest, the_index_grows_by_at_most_2_percent_of_the_capture) {
  fs::remove(index_file());
  auto packets = options().index.open_packets();
  ASSERT_TRUE(packets);
  {
    const auto store =
        index::open_store(index_file(), {.mode = index::StoreMode::kBuild, .wait = {}});
    ASSERT_TRUE(store);
    ASSERT_TRUE(index::build(*packets, **store, {}));
  }
  const auto before = fs::file_size(index_file());
  SessionOptions many = options();
  many.keyframe_bytes = 256;  // Far more than there is room for.
  const auto session = open(many);
  ASSERT_TRUE(wait_for_records());
  const auto grown = fs::file_size(index_file()) - before;
  EXPECT_LE(grown, packets->trace_bytes() / 50);
  EXPECT_GE(grown, packets->trace_bytes() / 200);
  const auto second = make_session(options());
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->facts().stage, Stage::kReady);
  expect_same(*session, **second);
}

TEST_F(StoredTest, damaged_and_foreign_records_are_made_again) {
  fs::remove(index_file());
  const auto first = open(options());
  const auto good = wait_for_records();
  ASSERT_TRUE(good);
  std::vector<index::ViewRecords> bad;
  for (std::size_t i = 0; i < good->records.size(); ++i) {
    bad.push_back(*good);
    std::vector<std::uint8_t>& record = bad.back().records[i].record;
    record[record.size() / 2] ^= 4;
  }
  bad.push_back(*good);
  bad.back().records.clear();
  bad.push_back(*good);
  bad.back().records.pop_back();
  bad.push_back(*good);
  bad.back().version = kStoredVersion + 1;
  bad.push_back(*good);
  bad.back().fingerprint = "another";
  for (std::size_t i = 0; i < bad.size(); ++i) {
    write(bad[i]);
    const auto session = make_session(options());
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->facts().stage, Stage::kReading) << i;
  }
  write(bad.back());
  const auto session = open(options());
  expect_same(*first, *session);
  for (int i = 0; i < 3000 && kept() && kept()->fingerprint != "one"; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(wait_for_records()->fingerprint, "one");
}

TEST_F(StoredTest, an_unwritable_index_does_not_cause_an_error) {
  SessionOptions nowhere = options();
  nowhere.index.looked_for = {"/proc/none/index"};
  nowhere.index.made_at = "/proc/none/index";
  const auto session = open(nowhere);
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->timeline({.from = 0, .to = session->facts().axis.length}, 100, {}));
}

TEST_F(StoredTest, records_of_another_capture_are_refused) {
  fs::remove(index_file());
  const auto first = open(options());
  const auto good = wait_for_records();
  ASSERT_TRUE(good);
  const StoredShape shape{.sources = 2, .bytes = first->facts().bytes, .alignment = 16};
  FunctionTable functions;
  EXPECT_TRUE(from_records(good->records, shape, functions));
  EXPECT_FALSE(from_records(good->records, {.sources = 3, .bytes = shape.bytes}, functions));
  EXPECT_FALSE(from_records(good->records, {.sources = 2, .bytes = shape.bytes + 1}, functions));
}

TEST(StoredLimit, small_captures_are_read_again) {
  EXPECT_EQ(stored_limit(0), 0U);
  EXPECT_EQ(stored_limit(1 << 20), 0U);
  EXPECT_GT(stored_limit(3 << 20), 0U);
  EXPECT_LT(stored_limit(1 << 30), (std::uint64_t{1} << 30) / 50);
}

}  // namespace
}  // namespace waymark::view
