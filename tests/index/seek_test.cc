// Decoding from the middle gives the same as a run over the whole capture.
#include "waymark/index/seek.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "index_bench.h"
#include "support/seed_count.h"
#include "synth/truth_bench.h"

namespace waymark::index {
namespace {

/// A packet, element or record as text, with its index.
struct Reported {
  TraceIndex index = 0;
  std::string text;
  friend bool operator==(const Reported&, const Reported&) = default;
};

std::ostream& operator<<(std::ostream& out, const Reported& reported) {
  return out << reported.index << ": " << reported.text;
}

class Teller final : public Observer {
 public:
  Teller(DecodeTree& tree, bool packets, std::vector<Reported>& reported)
      : tree_(tree), packets_(packets), reported_(reported) {}
  [[nodiscard]] bool wants_packets() const override { return packets_; }
  void on_packet(const PacketRef& packet) override {
    text_.clear();
    tree_.source(packet.trace_id)->write_packet(text_, packet);
    reported_.push_back(
        {packet.index, std::to_string(packet.trace_id) + std::string(text_.view())});
  }
  void on_diagnostic(const Diagnostic& record) override {
    reported_.push_back({record.index, "record " + std::string(describe(record))});
  }

 private:
  DecodeTree& tree_;
  bool packets_;
  std::vector<Reported>& reported_;
  TextBuffer text_;
};

/// All that is reported while the capture is decoded from its present place to the end.
std::vector<Reported> run(inputs::Capture& capture, bool packets) {
  std::vector<Reported> reported;
  Teller teller(capture.tree(), packets, reported);
  capture.tree().set_observer(&teller);
  std::array<Element, 64> batch;
  const auto drain = [&] {
    while (const std::size_t count = capture.tree().next(batch)) {
      for (const Element& element : std::span(batch).first(count)) {
        reported.push_back({element.index, std::to_string(element.trace_id) + " " +
                                               std::to_string(static_cast<unsigned>(element.kind)) +
                                               " " + std::to_string(element.start) + " " +
                                               std::to_string(element.end) + " " +
                                               std::to_string(element.timestamp) + " " +
                                               std::to_string(element.reason) + " " +
                                               std::to_string(element.flags)});
      }
    }
  };
  while (const auto block = capture.next_block()) {
    EXPECT_TRUE(capture.tree().feed(block->index, block->bytes));
    drain();
  }
  capture.tree().finish();
  drain();
  capture.tree().set_observer(nullptr);
  return reported;
}

std::vector<Reported> from(const std::vector<Reported>& reported, TraceIndex index) {
  std::vector<Reported> rest;
  std::ranges::copy_if(reported, std::back_inserter(rest),
                       [&](const Reported& one) { return one.index >= index; });
  return rest;
}

void expect_same(const std::vector<Reported>& got, const std::vector<Reported>& want,
                 const std::string& where) {
  ASSERT_EQ(got.size(), want.size()) << where;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], want[i]) << where;
}

/// Compares seeks to random places with the whole run.  True: some began in the middle.
void expect_seeks_in(const TemporaryFolder& folder, std::uint64_t seed, unsigned places,
                     bool& started_later) {
  const auto index = make_memory_index();
  inputs::Capture scout = open_bench(folder, false);
  BuildOptions build_options;
  build_options.granule = kMinGranule;
  ASSERT_TRUE(build(scout, *index, build_options));
  const std::vector<TraceId> ids = source_ids(scout);
  support::Random random(seed);
  for (const bool packets : {false, true}) {
    inputs::Capture whole_capture = open_bench(folder, true);
    const std::vector<Reported> whole = run(whole_capture, packets);
    for (unsigned i = 0; i < places; ++i) {
      const TraceIndex place = random.between(1, static_cast<std::uint32_t>(scout.trace_bytes()));
      const auto entry = seek(*index, ids, place);
      ASSERT_TRUE(entry) << entry.error().detail;
      EXPECT_TRUE(entry->unknown.empty());
      inputs::Capture capture = open_bench(folder, true);
      enter(capture, *entry);
      started_later |= entry->index != 0;
      expect_same(from(run(capture, packets), place), from(whole, place),
                  "seed " + std::to_string(seed) + " from " + std::to_string(place) +
                      " read from " + std::to_string(entry->index) +
                      (packets ? " packets" : " elements"));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void expect_seeks(const BenchOptions& options) {
  const TemporaryFolder folder;
  write_capture(folder, options, trace_of(options));
  bool started_later = false;
  expect_seeks_in(folder, options.seed, 8, started_later);
  if (options.damage == 0) {
    EXPECT_TRUE(started_later);
  }
}

TEST(IndexSeek, frames_without_syncs) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(6); ++seed)
    expect_seeks({.seed = seed, .sources = 3, .units = 150});
}

TEST(IndexSeek, frames_with_syncs) {
  for (std::uint64_t seed = 11; seed <= 10 + support::seed_count(6); ++seed)
    expect_seeks({.seed = seed, .sources = 2, .fsync = true});
}

TEST(IndexSeek, one_source_without_frames) {
  for (std::uint64_t seed = 21; seed <= 20 + support::seed_count(6); ++seed)
    expect_seeks({.seed = seed, .sources = 1, .units = 100, .raw = true});
}

TEST(IndexSeek, damaged_captures) {
  for (std::uint64_t seed = 31; seed <= 30 + support::seed_count(6); ++seed)
    expect_seeks({.seed = seed, .sources = 2, .fsync = seed % 2 == 0, .damage = 2000});
}

/// Everything that synthetic captures can have, at random: protocols, speculation, overflows,
/// damage.
TEST(IndexSeek, synthetic_captures) {
  bool started_later = false;
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    const auto workload =
        synth::Workload::random({.seed = seed, .size = 40'000, .damage = seed % 3 == 0});
    ASSERT_TRUE(workload) << workload.error().detail;
    auto maker = workload->make(false);
    ASSERT_TRUE(maker) << maker.error().detail;
    const TemporaryFolder folder;
    ASSERT_TRUE(synth::write_capture(*maker, &workload->program, folder.path()));
    expect_seeks_in(folder, seed, 4, started_later);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_TRUE(started_later);
}

TEST(IndexSeek, a_source_that_fell_silent_is_not_read_again) {
  const TemporaryFolder folder;
  const BenchOptions options{.sources = 2};
  support::Random random(1);
  std::uint64_t time = 0;
  frames::Mux mux;
  ASSERT_TRUE(mux.write(0x11, unit_bytes(random, time)));
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(mux.write(0x10, unit_bytes(random, time)));
  mux.finish();
  write_capture(folder, options, mux.bytes());
  const auto index = make_memory_index();
  inputs::Capture scout = open_bench(folder, false);
  BuildOptions build_options;
  build_options.granule = kMinGranule;
  ASSERT_TRUE(build(scout, *index, build_options));
  const auto entry = seek(*index, source_ids(scout), scout.trace_bytes() - 100);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->first[0x11], kNoIndex);
  EXPECT_GT(entry->index, scout.trace_bytes() - 3 * kMinGranule);
}

/// Hits of a query, from an index of each form.
TEST(IndexFind, both_forms_find_the_same_in_the_order_of_the_capture) {
  for (const bool raw : {false, true}) {
    const BenchOptions options{.seed = 5, .sources = raw ? 1U : 3U, .raw = raw};
    const TemporaryFolder folder;
    write_capture(folder, options, trace_of(options));
    for (const LandmarkKind kind :
         {LandmarkKind::kSync, LandmarkKind::kTimestamp, LandmarkKind::kContext,
          LandmarkKind::kEvent, LandmarkKind::kOverflow, LandmarkKind::kTrigger}) {
      std::vector<std::pair<TraceId, Landmark>> found[2];
      std::vector<std::optional<std::uint64_t>> times[2];
      for (const Form form : {Form::kSparse, Form::kFull}) {
        const auto index = make_memory_index();
        inputs::Capture capture = open_bench(folder, false);
        BuildOptions build_options;
        build_options.form = form;
        build_options.granule = kMinGranule;
        ASSERT_TRUE(build(capture, *index, build_options));
        auto& into = found[static_cast<std::size_t>(form)];
        ASSERT_TRUE(find(capture, *index, source_ids(capture), {.kind = kind}, [&](const Hit& hit) {
          into.emplace_back(hit.id, hit.landmark);
          times[static_cast<std::size_t>(form)].push_back(hit.time);
          return true;
        }));
        std::uint64_t count = 0;
        for (const Stream& stream : index->header().streams)
          count += stream.counts[static_cast<std::size_t>(kind)];
        if (kind == LandmarkKind::kTrigger) count += index->header().triggers;
        EXPECT_EQ(into.size(), count);
      }
      EXPECT_EQ(found[0], found[1]) << landmark_name(kind);
      EXPECT_EQ(times[0], times[1]) << landmark_name(kind);
      EXPECT_TRUE(
          std::ranges::is_sorted(found[0], {}, [](const auto& hit) { return hit.second.index; }));
    }
  }
}

/// Many windows, and sources whose packets are interrupted by silence.
TEST(IndexFind, both_forms_find_the_same_in_a_capture_of_many_windows) {
  const BenchOptions options{.seed = 15, .sources = 3, .units = 4000};
  const TemporaryFolder folder;
  write_capture(folder, options, trace_of(options));
  for (const LandmarkKind kind : {LandmarkKind::kTimestamp, LandmarkKind::kOverflow}) {
    std::vector<Landmark> found[2];
    for (const Form form : {Form::kSparse, Form::kFull}) {
      const auto index = make_memory_index();
      inputs::Capture capture = open_bench(folder, false);
      ASSERT_GT(capture.trace_bytes(), 1U << 20);
      BuildOptions build_options;
      build_options.form = form;
      build_options.granule = kMinGranule;
      ASSERT_TRUE(build(capture, *index, build_options));
      ASSERT_TRUE(find(capture, *index, source_ids(capture), {.kind = kind}, [&](const Hit& hit) {
        found[static_cast<std::size_t>(form)].push_back(hit.landmark);
        return true;
      }));
    }
    EXPECT_GT(found[0].size(), 100U);
    EXPECT_TRUE(found[0] == found[1]) << landmark_name(kind);
  }
}

TEST(IndexFind, a_part_of_the_trace_has_the_hits_that_begin_in_it) {
  for (const Form form : {Form::kSparse, Form::kFull}) {
    const BenchOptions options{.seed = 16, .sources = 3};
    const TemporaryFolder folder;
    write_capture(folder, options, trace_of(options));
    const auto index = make_memory_index();
    inputs::Capture capture = open_bench(folder, false);
    BuildOptions build_options;
    build_options.form = form;
    build_options.granule = kMinGranule;
    ASSERT_TRUE(build(capture, *index, build_options));
    const std::vector<TraceId> ids = source_ids(capture);
    support::Random random(1);
    for (const LandmarkKind kind : {LandmarkKind::kTimestamp, LandmarkKind::kTrigger}) {
      const auto hits = [&](TraceIndex from, TraceIndex to) {
        std::vector<std::pair<TraceId, Landmark>> found;
        EXPECT_TRUE(
            find(capture, *index, ids, {.kind = kind, .from = from, .to = to}, [&](const Hit& hit) {
              found.emplace_back(hit.id, hit.landmark);
              return true;
            }));
        return found;
      };
      const auto all = hits(0, kNoIndex);
      ASSERT_GT(all.size(), 3U);
      for (unsigned i = 0; i < 60; ++i) {
        const TraceIndex from = random.below(static_cast<std::uint32_t>(capture.trace_bytes()));
        const TraceIndex to =
            i % 2 == 0 ? from + random.below(9000) : all[i % all.size()].second.index + i % 3;
        std::vector<std::pair<TraceId, Landmark>> want;
        std::ranges::copy_if(all, std::back_inserter(want), [&](const auto& hit) {
          return hit.second.index >= from && hit.second.index < to;
        });
        EXPECT_EQ(hits(from, to), want) << from << " " << to;
      }
    }
  }
}

/// With an incomplete index, a seek reads more, so that it knows as much.
TEST(IndexSeek, an_index_that_goes_no_further_than_the_place_is_enough) {
  bool started_later = false;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto workload = synth::Workload::random({.seed = seed, .size = 40'000});
    ASSERT_TRUE(workload) << workload.error().detail;
    auto maker = workload->make(false);
    ASSERT_TRUE(maker) << maker.error().detail;
    const TemporaryFolder folder;
    ASSERT_TRUE(synth::write_capture(*maker, &workload->program, folder.path()));
    inputs::Capture whole_capture = open_bench(folder, true);
    const std::vector<Reported> whole = run(whole_capture, false);
    for (unsigned i = 1; i <= 3; ++i) {
      const auto index = make_memory_index();
      inputs::Capture scout = open_bench(folder, false);
      const TraceIndex place = scout.trace_bytes() * i / 4;
      BuildOptions build_options;
      build_options.granule = kMinGranule;
      build_options.stop = [&](std::uint64_t done) { return done >= place; };
      ASSERT_TRUE(build(scout, *index, build_options));
      ASSERT_LT(index->header().indexed, scout.trace_bytes());
      const auto entry = seek(*index, source_ids(scout), place);
      ASSERT_TRUE(entry) << entry.error().detail;
      EXPECT_TRUE(entry->unknown.empty());
      inputs::Capture capture = open_bench(folder, true);
      enter(capture, *entry);
      started_later |= entry->index != 0;
      expect_same(from(run(capture, false), place), from(whole, place),
                  "seed " + std::to_string(seed) + " from " + std::to_string(place));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_TRUE(started_later);
}

/// ITM only states the time since the last packet, so that all earlier ones must be added up.
TEST(IndexFind, times_that_only_add_up_are_found_in_a_long_capture) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> bytes;
  constexpr std::size_t kSize = std::size_t{5} << 18;
  while (bytes.size() < kSize) {
    bytes.insert(bytes.end(), {0x00, 0x00, 0x00, 0x00, 0x00, 0x80});
    for (unsigned i = 0; i < 500; ++i) bytes.insert(bytes.end(), {0x01, 0x41, 0x30});
  }
  write_file(folder / "itm.bin", bytes);
  const auto open = [&] {
    inputs::CaptureOptions options;
    options.source.decode = false;
    options.framing = inputs::Framing::kNone;
    options.protocol = "itm";
    options.registers = {{"ITMTCR", 0x10001}};
    auto capture = inputs::Capture::open(folder / "itm.bin", options);
    EXPECT_TRUE(capture) << capture.error().detail;
    return std::move(*capture);
  };
  std::optional<Landmark> found[2];
  for (const Form form : {Form::kSparse, Form::kFull}) {
    const auto index = make_memory_index();
    inputs::Capture capture = open();
    BuildOptions build_options;
    build_options.form = form;
    build_options.granule = kMinGranule;
    ASSERT_TRUE(build(capture, *index, build_options));
    ASSERT_GT(index->header().blocks(), 300U);
    const std::vector<TraceId> ids = source_ids(capture);
    ASSERT_TRUE(find(capture, *index, ids, {.kind = LandmarkKind::kTimestamp, .value = 1'200'000},
                     [&](const Hit& hit) {
                       found[static_cast<std::size_t>(form)] = hit.landmark;
                       return false;
                     }));
  }
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0]->value, 1'200'000U);
  EXPECT_EQ(found[0], found[1]);
}

/// If the index ends before the time, the time is not known; it is not another time.
TEST(IndexFind, a_time_that_one_source_has_not_come_to_yet_is_not_resolved) {
  const BenchOptions options{.seed = 17, .sources = 2};
  const TemporaryFolder folder;
  write_capture(folder, options, trace_of(options));
  const auto index = make_memory_index();
  inputs::Capture capture = open_bench(folder, false);
  BuildOptions piece;
  piece.granule = kMinGranule;
  piece.stop = [](std::uint64_t) { return true; };
  ASSERT_TRUE(build(capture, *index, piece));
  ASSERT_FALSE(index->header().complete);
  const std::vector<TraceId> ids = source_ids(capture);
  const auto early = resolve(capture, *index, ids, {Position::Kind::kTimestamp, 1u << 30});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kNotFound);
  piece.stop = {};
  ASSERT_TRUE(build(capture, *index, piece));
  EXPECT_TRUE(resolve(capture, *index, ids, {Position::Kind::kTimestamp, 1}));
}

TEST(IndexFind, every_synchronisation_point_is_found_by_its_number) {
  const BenchOptions options{.seed = 8, .sources = 1};
  const TemporaryFolder folder;
  write_capture(folder, options, trace_of(options));
  const auto index = make_memory_index();
  inputs::Capture capture = open_bench(folder, false);
  BuildOptions build_options;
  build_options.granule = kMinGranule;
  ASSERT_TRUE(build(capture, *index, build_options));
  std::vector<TraceIndex> places;
  const std::vector<TraceId> ids = source_ids(capture);
  ASSERT_TRUE(find(capture, *index, ids, {.kind = LandmarkKind::kSync}, [&](const Hit& hit) {
    places.push_back(hit.landmark.index);
    return true;
  }));
  ASSERT_GT(places.size(), 20U);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = resolve(capture, *index, ids, {Position::Kind::kSync, i + 1});
    ASSERT_TRUE(place) << place.error().detail;
    EXPECT_EQ(*place, places[i]);
  }
  EXPECT_FALSE(resolve(capture, *index, ids, {Position::Kind::kSync, places.size() + 1}));
  EXPECT_FALSE(resolve(capture, *index, ids, {Position::Kind::kSync, 0}));
}

}  // namespace
}  // namespace waymark::index
