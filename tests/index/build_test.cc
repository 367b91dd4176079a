// Building an index: at once, in pieces, and as the capture grows.
#include <gmock/gmock.h>

#include "index_bench.h"

namespace waymark::index {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGranule = kMinGranule;

BuildOptions small(Form form) {
  BuildOptions options;
  options.form = form;
  options.granule = kGranule;
  return options;
}

Contents built_at_once(const TemporaryFolder& folder, Form form) {
  const auto index = make_memory_index();
  inputs::Capture capture = open_bench(folder, false);
  const auto report = build(capture, *index, small(form));
  EXPECT_TRUE(report) << report.error().detail;
  EXPECT_TRUE(report->complete);
  return contents_of(*index);
}

std::vector<BenchOptions> kinds_of_capture() {
  return {{.seed = 1},
          {.seed = 2, .sources = 1, .raw = true},
          {.seed = 3, .sources = 5, .fsync = true},
          {.seed = 4, .damage = 300},
          {.seed = 5, .fsync = true, .damage = 300},
          {.seed = 6, .sources = 1, .raw = true, .damage = 200}};
}

TEST(IndexBuild, counts_are_those_of_the_sources) {
  for (const BenchOptions& options : kinds_of_capture()) {
    const TemporaryFolder folder;
    write_capture(folder, options, trace_of(options));
    const Contents all = built_at_once(folder, Form::kSparse);
    inputs::Capture capture = open_bench(folder, false);
    while (const auto block = capture.next_block()) {
      ASSERT_TRUE(capture.tree().feed(block->index, block->bytes));
      ASSERT_EQ(capture.tree().next({}), 0U);
      std::array<Element, 1> none;
      while (capture.tree().next(none) != 0) {
      }
    }
    capture.tree().finish();
    std::array<Element, 1> none;
    while (capture.tree().next(none) != 0) {
    }
    for (const inputs::CaptureSource& source : capture.sources()) {
      const SourceStatistics counts = source.source->statistics();
      const Stream* stream = all.header.stream(source.id);
      ASSERT_NE(stream, nullptr);
      EXPECT_EQ(stream->tally.bytes, counts.total_bytes) << options.seed;
      EXPECT_EQ(stream->tally.packets, counts.packets) << options.seed;
      EXPECT_EQ(stream->tally.sync_points, counts.sync_points) << options.seed;
      EXPECT_EQ(stream->tally.unsynced_bytes, counts.unsynced_bytes) << options.seed;
      EXPECT_EQ(stream->tally.bad_headers, counts.bad_headers) << options.seed;
      EXPECT_EQ(stream->tally.bad_sequences, counts.bad_sequences) << options.seed;
    }
    // Padding is not counted.
    for (TraceId id = 1; id < kTraceIdCount - 1; ++id)
      EXPECT_EQ(all.header.id_bytes[id], capture.id_bytes()[id]) << options.seed;
    EXPECT_EQ(all.header.indexed, capture.trace_bytes());
  }
}

TEST(IndexBuild, an_interrupted_build_goes_on_to_the_same_index) {
  for (const BenchOptions& options : kinds_of_capture()) {
    const TemporaryFolder folder;
    write_capture(folder, options, trace_of(options));
    const Contents whole = built_at_once(folder, Form::kFull);
    const auto index = make_memory_index();
    unsigned pieces = 0;
    while (true) {
      inputs::Capture capture = open_bench(folder, false);
      BuildOptions piece = small(Form::kFull);
      piece.stop = [](std::uint64_t) { return true; };
      const auto report = build(capture, *index, piece);
      ASSERT_TRUE(report) << report.error().detail;
      ++pieces;
      if (report->complete) break;
      ASSERT_GT(report->to, report->from);
    }
    EXPECT_GT(pieces, 3U);
    expect_equal(without_context_ids(contents_of(*index)), without_context_ids(whole),
                 options.seed);
  }
}

TEST(IndexBuild, without_synchronisation_pieces_make_the_same_index) {
  for (const std::size_t sync_at : {std::size_t{0}, std::size_t{9001}}) {
    const BenchOptions options{.sources = 1, .raw = true};
    const TemporaryFolder folder;
    std::vector<std::uint8_t> bytes(30'011, 0x41);
    support::Random random(1);
    std::uint64_t time = 0;
    const std::vector<std::uint8_t> unit = unit_bytes(random, time);
    if (sync_at != 0) std::ranges::copy(unit, bytes.begin() + static_cast<std::ptrdiff_t>(sync_at));
    write_capture(folder, options, bytes);
    const Contents whole = built_at_once(folder, Form::kFull);
    const auto index = make_memory_index();
    while (!index->header().complete) {
      inputs::Capture capture = open_bench(folder, false);
      BuildOptions piece = small(Form::kFull);
      piece.stop = [](std::uint64_t) { return true; };
      ASSERT_TRUE(build(capture, *index, piece));
    }
    expect_equal(contents_of(*index), whole, sync_at);
  }
}

TEST(IndexBuild, the_index_of_a_growing_capture_is_extended) {
  for (const BenchOptions& options : kinds_of_capture()) {
    const TemporaryFolder folder;
    const std::vector<std::uint8_t> bytes = trace_of(options);
    write_capture(folder, options, bytes);
    const Contents whole = built_at_once(folder, Form::kFull);
    const auto index = make_memory_index();
    support::Random random(options.seed);
    for (std::size_t size = 16; size != bytes.size();) {
      size = std::min<std::size_t>(bytes.size(), size + random.between(1, 600) * 16);
      write_file(folder / "trace.bin",
                 std::vector<std::uint8_t>(bytes.begin(),
                                           bytes.begin() + static_cast<std::ptrdiff_t>(size)));
      inputs::Capture capture = open_bench(folder, false);
      const auto report = build(capture, *index, small(Form::kFull));
      ASSERT_TRUE(report) << report.error().detail;
      ASSERT_TRUE(report->complete);
      ASSERT_EQ(report->to, capture.trace_bytes());
    }
    expect_equal(without_context_ids(contents_of(*index)), without_context_ids(whole),
                 options.seed);
  }
}

TEST(IndexBuild, a_complete_index_is_left_as_it_is) {
  const BenchOptions options;
  const TemporaryFolder folder;
  write_capture(folder, options, trace_of(options));
  const auto index = make_memory_index();
  for (unsigned i = 0; i < 2; ++i) {
    inputs::Capture capture = open_bench(folder, false);
    const auto report = build(capture, *index, small(Form::kSparse));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->from, i == 0 ? 0 : capture.trace_bytes());
    EXPECT_EQ(report->to, capture.trace_bytes());
  }
}

TEST(IndexBuild, what_changed_in_the_capture_is_named) {
  const BenchOptions options;
  const std::vector<std::uint8_t> bytes = trace_of(options);
  const TemporaryFolder folder;
  write_capture(folder, options, bytes);
  const auto index = make_memory_index();
  {
    inputs::Capture capture = open_bench(folder, false);
    ASSERT_TRUE(build(capture, *index, small(Form::kSparse)));
  }
  const auto refused = [&](std::string_view why) {
    inputs::Capture capture = open_bench(folder, false);
    const auto checked = check(capture, *index);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kConflict);
    EXPECT_THAT(checked.error().detail, HasSubstr(why));
    EXPECT_FALSE(build(capture, *index, small(Form::kSparse)));
  };
  std::vector<std::uint8_t> other = bytes;
  other[100] ^= 2;
  write_file(folder / "trace.bin", other);
  refused("belongs to another capture");
  // No call can set the time at which a file changed.
  const auto time = std::filesystem::last_write_time(folder / "program.bin");
  std::filesystem::last_write_time(folder / "trace.bin", time);
  refused("belongs to another capture");
  other = bytes;
  other.resize(bytes.size() - 16);
  write_file(folder / "trace.bin", other);
  refused("it was cut");
  write_capture(folder, {.sources = 3}, bytes);
  refused("does not have the trace ID 0x12");
  write_capture(folder, {.fsync = true}, bytes);
  refused("--framing mem");
  write_capture(folder, options, bytes);
  write_file(folder / "ETM_1.ini",
             "[device]\nname=ETM_1\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=0x1\n"
             "TRCTRACEIDR=0x11\nTRCIDR0=0x28000EA1\nTRCIDR2=0x488\n");
  refused("another protocol for the trace ID 0x11");
}

TEST(IndexBuild, an_index_is_not_gone_on_with_without_one_of_its_sources) {
  const BenchOptions options{.seed = 7};
  const std::vector<std::uint8_t> bytes = trace_of(options);
  const TemporaryFolder folder;
  write_capture(folder, options, bytes);
  const auto index = make_memory_index();
  {
    inputs::Capture capture = open_bench(folder, false);
    BuildOptions piece = small(Form::kSparse);
    piece.stop = [](std::uint64_t) { return true; };
    ASSERT_TRUE(build(capture, *index, piece));
  }
  inputs::CaptureOptions only;
  only.source.decode = false;
  only.ids = {0x10};
  auto capture = inputs::Capture::open(folder.path(), only);
  ASSERT_TRUE(capture);
  // An existing index can still be checked.
  EXPECT_TRUE(check(*capture, *index));
  const auto report = build(*capture, *index, small(Form::kSparse));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kConflict);
  EXPECT_THAT(report.error().detail, HasSubstr("0x11"));
}

TEST(IndexBuild, triggers_and_frame_syncs_are_counted_where_they_are) {
  const BenchOptions options{.seed = 9, .fsync = true};
  const TemporaryFolder folder;
  write_capture(folder, options, trace_of(options));
  const Contents all = built_at_once(folder, Form::kSparse);
  EXPECT_GT(all.header.triggers, 3U);
  EXPECT_EQ(all.header.triggers, all.header.id_bytes[kTriggerId]);
  // One before every seventh frame.
  const std::uint64_t frames = all.header.indexed / (7 * 16 + 4) * 7;
  EXPECT_NEAR(static_cast<double>(all.header.frame_syncs), static_cast<double>(frames) / 7, 2);
  ASSERT_FALSE(all.blocks.empty());
  EXPECT_EQ(all.blocks.front().first_frame_sync, 0U);
}

}  // namespace
}  // namespace waymark::index
