#include "waymark/parallel/parallel_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "seen.h"
#include "support/seed_count.h"
#include "synth/truth_bench.h"
#include "waymark/synth/workload.h"

namespace waymark::parallel {
namespace {

/// The first difference; empty: none.
std::string difference(const Collector& a, const Collector& b) {
  const std::size_t both = std::min(a.elements.size(), b.elements.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (!(a.elements[i] == b.elements[i]))
      return fmt::format("element {} of {}: kind {} at index {} against kind {} at index {}", i,
                         both, static_cast<int>(a.elements[i].kind), a.elements[i].index,
                         static_cast<int>(b.elements[i].kind), b.elements[i].index);
  }
  if (a.elements.size() != b.elements.size())
    return fmt::format("{} elements against {}", a.elements.size(), b.elements.size());
  return a.records == b.records ? "" : "the records differ";
}

std::vector<SourceStatistics> counts_of(const DecodeTree& tree) {
  std::vector<SourceStatistics> counts;
  for (const Source* source : tree.sources()) counts.push_back(source->statistics());
  return counts;
}

class ParallelDecoderProperty : public testing::TestWithParam<std::vector<Protocol>> {};

TEST_P(ParallelDecoderProperty, gives_what_one_thread_gives) {
  Statistics all;
  for (std::uint64_t seed = 1; seed <= support::seed_count(200); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto workload = synth::Workload::random({.seed = seed,
                                                   .protocols = GetParam(),
                                                   .size = 4000 + seed % 7 * 8000,
                                                   .damage = seed % 3 == 0});
    ASSERT_TRUE(workload) << workload.error().detail;
    const auto capture = synth::make_in_memory(*workload, false);
    ASSERT_TRUE(capture) << capture.error().detail;

    const auto one = tree_of(*capture);
    const std::size_t whole = capture->bytes.size() / one->alignment() * one->alignment();
    const Bytes bytes = Bytes(capture->bytes).first(whole);
    if (bytes.empty()) continue;
    const Collector expected = sequential(*one, bytes);

    const auto many = tree_of(*capture);
    ParallelDecoder decoder(*many, {.threads = static_cast<unsigned>(1 + seed % 4),
                                    .piece_bytes = std::size_t{1024} << seed % 3});
    Collector got;
    got.wanted = seed % 5 * 20;
    ASSERT_TRUE(decoder.decode(0, bytes, got));
    ASSERT_EQ(difference(expected, got), "");
    EXPECT_TRUE(counts_of(*one) == counts_of(*many));
    EXPECT_EQ(one->frame_statistics(), many->frame_statistics());
    all.pieces += decoder.statistics().pieces;
    all.redone += decoder.statistics().redone;
  }
  RecordProperty("pieces", std::to_string(all.pieces));
  RecordProperty("redone", std::to_string(all.redone));
}

INSTANTIATE_TEST_SUITE_P(
    Protocols, ParallelDecoderProperty,
    testing::Values(std::vector<Protocol>{Protocol::kEtmV4}, std::vector<Protocol>{Protocol::kEte},
                    std::vector<Protocol>{Protocol::kPtm}, std::vector<Protocol>{Protocol::kEtmV3},
                    std::vector<Protocol>{Protocol::kStm}, std::vector<Protocol>{}),
    [](const auto& protocols) {
      return protocols.param.empty() ? "Any" : std::string(protocol_name(protocols.param[0]));
    });

synth::MemoryCapture one_capture(const synth::Workload& workload) {
  return std::move(*synth::make_in_memory(workload, false));
}

synth::Workload etmv4_workload() {
  synth::Workload workload =
      *synth::Workload::random({.seed = 5, .protocols = {Protocol::kEtmV4}, .size = 300'000});
  workload.capture.framing = synth::CaptureFraming::kMemoryAligned;
  return workload;
}

TEST(ParallelDecoder, guesses_nearly_all_beginnings_right) {
  const synth::Workload workload = etmv4_workload();
  const synth::MemoryCapture capture = one_capture(workload);
  const auto tree = tree_of(capture);
  ParallelDecoder decoder(*tree, {.threads = 3, .piece_bytes = 20'000});
  Collector got;
  ASSERT_TRUE(decoder.decode(0, capture.bytes, got));
  EXPECT_GT(decoder.statistics().pieces, 5U);
  EXPECT_LE(decoder.statistics().redone, 2U);
  EXPECT_EQ(decoder.statistics().threads, 3U);
}

TEST(ParallelDecoder, stops_where_the_consumer_wants_no_more) {
  const synth::Workload workload = etmv4_workload();
  const synth::MemoryCapture capture = one_capture(workload);
  const Collector expected = sequential(*tree_of(capture), capture.bytes);
  for (const unsigned threads : {1U, 2U, 7U}) {
    const auto tree = tree_of(capture);
    ParallelDecoder decoder(*tree, {.threads = threads, .piece_bytes = 20'000});
    Collector got;
    got.most = 3;
    ASSERT_TRUE(decoder.decode(0, capture.bytes, got));
    EXPECT_EQ(got.taken, 3U);
    ASSERT_LT(got.elements.size(), expected.elements.size());
    EXPECT_TRUE(std::equal(got.elements.begin(), got.elements.end(), expected.elements.begin()));
  }
}

TEST(ParallelDecoder, refuses_part_of_a_frame_and_decodes_nothing) {
  const synth::Workload workload = etmv4_workload();
  const synth::MemoryCapture capture = one_capture(workload);
  const auto tree = tree_of(capture);
  ASSERT_GT(tree->alignment(), 1U);
  ParallelDecoder decoder(*tree, {.threads = 2});
  Collector got;
  const auto done = decoder.decode(0, Bytes(capture.bytes).first(100 * tree->alignment() + 1), got);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(got.taken, 0U);
}

TEST(ParallelDecoder, takes_any_number_of_threads) {
  const synth::Workload workload = etmv4_workload();
  const synth::MemoryCapture capture = one_capture(workload);
  const Collector expected = sequential(*tree_of(capture), capture.bytes);
  for (const unsigned threads : {0U, 10'000U}) {
    const auto tree = tree_of(capture);
    ParallelDecoder decoder(*tree, {.threads = threads, .piece_bytes = 5000});
    Collector got;
    ASSERT_TRUE(decoder.decode(0, capture.bytes, got));
    EXPECT_EQ(difference(expected, got), "");
    EXPECT_LE(decoder.statistics().threads, kMaxThreads);
  }
}

// The frames are lost for a moment while one source has nothing to decode: it still starts
// again.
TEST(ParallelDecoder, a_silent_source_is_reset_with_the_others) {
  synth::Workload workload = *synth::Workload::random(
      {.seed = 3, .protocols = {Protocol::kEtmV4, Protocol::kEtmV4}, .size = 200'000});
  workload.capture.framing = synth::CaptureFraming::kFsync;
  workload.capture.interleave = 20'000;
  workload.capture.damage = {};
  for (auto& unit : workload.units) unit.sync_period = 1000;
  synth::MemoryCapture capture = one_capture(workload);
  std::size_t redone = 0;
  for (std::size_t at = 60'000; at < 180'000; at += 7'000) {
    std::vector<std::uint8_t> bytes = capture.bytes;
    at -= at % 4;
    while (bytes[at] != 0xFF || bytes[at + 3] != 0x7F) at += 4;
    bytes[at + 3] = 0x00;  // FF FF FF 00: no frame can begin like this.
    const auto one = tree_of(capture);
    const Collector expected = sequential(*one, bytes);
    const auto many = tree_of(capture);
    ParallelDecoder decoder(*many, {.threads = 3, .piece_bytes = 4000});
    Collector got;
    ASSERT_TRUE(decoder.decode(0, bytes, got));
    EXPECT_EQ(difference(expected, got), "") << "damage at " << at;
    redone += decoder.statistics().redone;
  }
  EXPECT_GT(redone, 0U);
}

/// Holds much, so its pieces are cut short.
struct HeavyConsumer final : Consumer {
  struct Heavy final : Piece {
    void on_elements(std::span<const Element> more) override { count += more.size(); }
    [[nodiscard]] std::size_t held() const override { return count * 10'000; }
    std::size_t count = 0;
  };
  std::unique_ptr<Piece> begin() override { return std::make_unique<Heavy>(); }
  bool take(std::unique_ptr<Piece> piece) override {
    const auto& heavy = static_cast<const Heavy&>(*piece);
    count += heavy.count;
    most = std::max(most, heavy.held());
    return true;
  }
  std::size_t count = 0;
  std::size_t most = 0;
};

TEST(ParallelDecoder, pieces_that_hold_much_are_ended) {
  const synth::Workload workload = etmv4_workload();
  const synth::MemoryCapture capture = one_capture(workload);
  const Collector expected = sequential(*tree_of(capture), capture.bytes);
  for (const unsigned threads : {1U, 3U}) {
    const auto tree = tree_of(capture);
    ParallelDecoder decoder(*tree, {.threads = threads, .piece_bytes = 200'000});
    HeavyConsumer got;
    ASSERT_TRUE(decoder.decode(0, capture.bytes, got));
    EXPECT_EQ(got.count, expected.elements.size());
    EXPECT_LT(got.most, expected.elements.size() * 10'000 / 2);
    EXPECT_GT(decoder.statistics().pieces, 5U);
  }
}

TEST(ParallelDecoder, decodes_nothing_of_nothing) {
  const synth::Workload workload = etmv4_workload();
  const synth::MemoryCapture capture = one_capture(workload);
  const auto tree = tree_of(capture);
  ParallelDecoder decoder(*tree, {.threads = 2});
  Collector got;
  ASSERT_TRUE(decoder.decode(0, {}, got));
  EXPECT_EQ(difference(sequential(*tree_of(capture), Bytes(capture.bytes).first(0)), got), "");
}

}  // namespace
}  // namespace waymark::parallel
