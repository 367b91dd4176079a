#include "waymark/parallel/slice_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "seen.h"
#include "support/seed_count.h"
#include "synth/truth_bench.h"
#include "waymark/parallel/counting.h"
#include "waymark/synth/workload.h"

namespace waymark::parallel {
namespace {

/// The output of one source.  Slices say nothing about the order between sources.
struct OfSource {
  std::vector<Element> elements;
  std::vector<std::pair<TraceIndex, Finding>> records;
};

void add(OfSource& to, const Seen& seen, TraceId id) {
  for (const Element& element : seen.elements)
    if (element.trace_id == id) to.elements.push_back(element);
  for (const PlacedRecord& record : seen.records)
    if (record.stream_id == id) to.records.emplace_back(record.index, record.finding);
}

/// Decodes all slices, each with a decoder of its own, and gives them to `take` in their order:
/// those that do not fit, decoded again.  Returns how many were.
template <class Take>
std::size_t join_slices(const DecodeTree& tree, Bytes bytes,
                        const std::vector<std::uint64_t>& limits, Consumer& consumer, Take take) {
  std::vector<Slice> slices(limits.size() - 1);
  std::vector<std::unique_ptr<SliceDecoder>> decoders;
  for (std::size_t i = slices.size(); i-- != 0;) {
    decoders.push_back(std::make_unique<SliceDecoder>(tree, 0, bytes, limits));
    slices[i] = decoders.back()->decode(i, consumer);
  }
  SliceDecoder decoder(tree, 0, bytes, limits);
  SliceJoiner joiner(decoder);
  for (Slice& slice : slices) {
    if (joiner.fits(slice.seam)) {
      joiner.take(slice.seam);
    } else {
      slice = joiner.decode_again(consumer);
    }
    take(slice, joiner.ends());
  }
  return joiner.again();
}

/// The first difference between a trace in one piece and in slices; empty: none.
std::string difference(const DecodeTree& tree, Bytes bytes,
                       const std::vector<std::uint64_t>& limits, std::size_t& again) {
  const auto sources = tree.sources();
  const auto id_of = [&](std::size_t i) { return sources[i]->trace_id(); };
  std::vector<OfSource> got(sources.size());
  std::vector<std::unique_ptr<OfSource>> ends(sources.size());
  Collector consumer;
  again += join_slices(tree, bytes, limits, consumer,
                       [&](const Slice& slice, const std::vector<bool>& is_end) {
                         for (std::size_t i = 0; i < sources.size(); ++i) {
                           for (const auto& piece : slice.pieces)
                             add(got[i], static_cast<const Seen&>(*piece), id_of(i));
                           if (!is_end[i]) continue;
                           ends[i] = std::make_unique<OfSource>();
                           add(*ends[i], static_cast<const Seen&>(*slice.end), id_of(i));
                         }
                       });
  const Collector all = sequential(*tree.clone(), bytes);
  Seen whole(0);
  whole.elements = all.elements;
  whole.records = all.records;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    OfSource expected;
    add(expected, whole, id_of(i));
    if (ends[i] != nullptr) {
      got[i].elements.insert(got[i].elements.end(), ends[i]->elements.begin(),
                             ends[i]->elements.end());
      got[i].records.insert(got[i].records.end(), ends[i]->records.begin(), ends[i]->records.end());
    }
    const auto [a, b] = std::ranges::mismatch(expected.elements, got[i].elements);
    if (a != expected.elements.end() || b != got[i].elements.end())
      return fmt::format("ID {}: element {} of {} or {}", id_of(i), a - expected.elements.begin(),
                         expected.elements.size(), got[i].elements.size());
    if (expected.records != got[i].records) return fmt::format("ID {}: records", id_of(i));
  }
  return {};
}

/// Limits as a plan makes them.
std::vector<std::uint64_t> drawn_limits(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return slice_limits(size, std::max<std::uint64_t>(16, size / (1 + random() % 40)));
}

/// Calls use(capture, tree, bytes, number) for random captures that can be cut.
template <class Use>
void for_each_capture(const std::vector<Protocol>& protocols, std::uint64_t first_seed, Use use) {
  for (std::uint64_t number = 1;
       number <= support::seed_count(30) && !testing::Test::HasFatalFailure(); ++number) {
    const std::uint64_t seed = first_seed + number;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto workload = synth::Workload::random({.seed = seed,
                                                   .protocols = protocols,
                                                   .size = 4000 + number % 7 * 30000,
                                                   .damage = number % 3 == 0});
    ASSERT_TRUE(workload) << workload.error().detail;
    const auto capture = synth::make_in_memory(*workload, false);
    ASSERT_TRUE(capture) << capture.error().detail;
    const auto tree = tree_of(*capture);
    const std::size_t whole = capture->bytes.size() / tree->alignment() * tree->alignment();
    const Bytes bytes = Bytes(capture->bytes).first(whole);
    if (!bytes.empty() && check_slices(*tree, bytes.size())) use(*capture, *tree, bytes, number);
  }
}

class SliceDecoderProperty : public testing::TestWithParam<std::vector<Protocol>> {};

TEST_P(SliceDecoderProperty, slices_give_what_one_pass_gives) {
  std::size_t slices = 0;
  std::size_t again = 0;
  for_each_capture(GetParam(), 0, [&](const auto&, DecodeTree& tree, Bytes bytes, auto number) {
    const auto limits = drawn_limits(bytes.size(), number);
    slices += limits.size() - 1;
    ASSERT_EQ(difference(tree, bytes, limits, again), "") << limits.size() - 1 << " slices";
  });
  RecordProperty("slices", std::to_string(slices));
  RecordProperty("again", std::to_string(again));
}

TEST_P(SliceDecoderProperty, counts_of_slices_are_those_of_one_pass) {
  for_each_capture(
      GetParam(), 1000, [&](const auto& capture, DecodeTree& tree, Bytes bytes, auto number) {
        const auto one = tree_of(capture);
        std::map<const Source*, count::Counter> counters;
        const SourceWork count = [&](Source& source) { source.count(counters[&source]); };
        ASSERT_TRUE(one->feed(0, bytes));
        one->work(count);
        one->finish();
        one->work(count);

        const std::size_t sources = tree.sources().size();
        std::vector<count::Stitcher> sums(sources);
        std::vector<count::Part> ends(sources);
        CountingConsumer consumer(tree);
        join_slices(tree, bytes, drawn_limits(bytes.size(), number), consumer,
                    [&](Slice& slice, const std::vector<bool>& is_end) {
                      ASSERT_EQ(slice.pieces.size(), 1U);
                      auto parts = CountingConsumer::take_parts(*slice.pieces.front());
                      auto last = CountingConsumer::take_parts(*slice.end);
                      for (std::size_t i = 0; i < sources; ++i) {
                        if (!parts.empty()) sums[i].add(std::move(parts[i]));
                        if (is_end[i]) ends[i] = std::move(last[i]);
                      }
                    });
        for (std::size_t i = 0; i < sources; ++i) {
          sums[i].add(std::move(ends[i]));
          ASSERT_TRUE(sums[i].take() == counters[one->sources()[i]].take()) << "source " << i;
        }
      });
}

INSTANTIATE_TEST_SUITE_P(
    Protocols, SliceDecoderProperty,
    testing::Values(std::vector<Protocol>{Protocol::kEtmV4}, std::vector<Protocol>{Protocol::kEte},
                    std::vector<Protocol>{Protocol::kPtm}, std::vector<Protocol>{Protocol::kEtmV3},
                    std::vector<Protocol>{Protocol::kStm}, std::vector<Protocol>{}),
    [](const auto& protocols) {
      return protocols.param.empty() ? "Any" : std::string(protocol_name(protocols.param[0]));
    });

// While a source has no bytes, its state cannot be compared; another slice must supply it later.
TEST(SliceDecoder, sources_may_pause_for_several_slices) {
  synth::Workload workload =
      *synth::Workload::random({.seed = 3,
                                .protocols = {Protocol::kEtmV4, Protocol::kPtm, Protocol::kEtmV4},
                                .size = 300'000});
  workload.capture.framing = synth::CaptureFraming::kMemoryAligned;
  workload.capture.interleave = 20'000;
  workload.capture.damage = {};
  for (auto& unit : workload.units) unit.sync_period = 400;
  const auto capture = synth::make_in_memory(workload, false);
  ASSERT_TRUE(capture) << capture.error().detail;
  const auto tree = tree_of(*capture);
  const Bytes bytes = Bytes(capture->bytes).first(capture->bytes.size() / 16 * 16);
  for (const std::uint64_t slice : {5'000U, 12'000U, 40'000U, 100'000U}) {
    std::size_t again = 0;
    const auto limits = slice_limits(bytes.size(), slice);
    ASSERT_EQ(difference(*tree, bytes, limits, again), "") << slice;
    EXPECT_LT(again, limits.size() - 1);
    if (slice < 20'000) {
      EXPECT_GT(again, 0U);
    }
  }
}

/// Remembers the places of the packets on the way to the last slice.
class Approaches final : public Consumer {
 public:
  std::unique_ptr<Piece> begin() override { return std::make_unique<Places>(slice); }
  std::unique_ptr<Piece> begin_approach() override {
    ++begun;
    before.clear();
    return std::make_unique<Places>(before);
  }
  bool take(std::unique_ptr<Piece> /*piece*/) override { return true; }

  std::size_t begun = 0;
  std::vector<TraceIndex> before;
  std::vector<TraceIndex> slice;

 private:
  class Places final : public Piece {
   public:
    explicit Places(std::vector<TraceIndex>& places) : places_(places) {}
    [[nodiscard]] bool wants_packets() const override { return true; }
    void on_packet(const PacketRef& packet) override { places_.push_back(packet.index); }
    void on_elements(std::span<const Element> /*elements*/) override {}

   private:
    std::vector<TraceIndex>& places_;
  };
};

TEST(SliceDecoder, a_consumer_sees_the_packets_before_its_slice) {
  synth::Workload workload =
      *synth::Workload::random({.seed = 5, .protocols = {Protocol::kEtmV4}, .size = 300'000});
  workload.capture.framing = synth::CaptureFraming::kMemoryAligned;
  workload.capture.damage = {};
  workload.units.front().sync_period = 400;
  const auto capture = synth::make_in_memory(workload, false);
  ASSERT_TRUE(capture) << capture.error().detail;
  const auto tree = tree_of(*capture);
  const Bytes bytes = Bytes(capture->bytes).first(capture->bytes.size() / 16 * 16);
  const auto limits = slice_limits(bytes.size(), 100'000);
  for (std::size_t number = 0; number + 1 < limits.size(); ++number) {
    Approaches consumer;
    SliceDecoder decoder(*tree, 0, bytes, limits);
    decoder.decode(number, consumer);
    EXPECT_GE(consumer.begun, 1U);
    ASSERT_FALSE(consumer.slice.empty());
    if (number == 0) {
      EXPECT_TRUE(consumer.before.empty());
      continue;
    }
    ASSERT_FALSE(consumer.before.empty());
    EXPECT_LT(consumer.before.back(), limits[number]);
    EXPECT_GT(consumer.slice.front(), consumer.before.back());
  }
}

TEST(SliceLimits, cover_the_trace_in_whole_frames) {
  EXPECT_EQ(slice_limits(100, 1000), (std::vector<std::uint64_t>{0, 100}));
  EXPECT_EQ(slice_limits(100, 33), (std::vector<std::uint64_t>{0, 48, 96, 100}));
  EXPECT_EQ(slice_limits(96, 48), (std::vector<std::uint64_t>{0, 48, 96}));
  EXPECT_EQ(slice_limits(0, 0), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(slice_limits(100, ~std::uint64_t{0}), (std::vector<std::uint64_t>{0, 100}));
}

}  // namespace
}  // namespace waymark::parallel
