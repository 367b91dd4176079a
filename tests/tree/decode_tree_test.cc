#include "waymark/tree/decode_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/decoded.h"
#include "support/etmv4_stream.h"
#include "waymark/etmv4/source.h"
#include "waymark/frames/mux.h"
#include "waymark/tree/data_path.h"
#include "waymark/tree/per_source.h"

namespace waymark {
namespace {

using support::Decoded;
using support::Random;

const frames::Options kAligned{};

/// Up to four sources with random streams in one capture of frames.
struct Frames {
  explicit Frames(std::uint64_t seed) : random(seed) {
    image = support::Program(random).image(support::Program::Kind::kBuffers);
    const std::uint32_t count = random.between(1, 4);
    std::vector<std::vector<std::uint8_t>> streams;
    for (std::uint32_t i = 0; i < count; ++i) {
      etmv4::Config config = support::random_config(random);
      config.trctraceidr = 0x10 + i;
      streams.push_back(support::StreamMaker(random, config).make(random.between(20, 120), 30));
      configs.push_back(config);
    }
    frames::Mux mux({.delayed_id_changes = random.coin(), .id_repeat = random.below(9)});
    bool more = true;
    while (more) {
      more = false;
      for (std::uint32_t i = 0; i < count; ++i) {
        auto& stream = streams[i];
        const std::size_t size = std::min<std::size_t>(stream.size(), random.between(0, 40));
        EXPECT_TRUE(mux.write(static_cast<TraceId>(0x10 + i), Bytes(stream).first(size)));
        stream.erase(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
        more = more || !stream.empty();
      }
    }
    mux.finish();
    bytes = mux.take();
  }

  [[nodiscard]] std::unique_ptr<DecodeTree> tree() const {
    auto made = std::make_unique<DecodeTree>(kAligned);
    for (const etmv4::Config& config : configs)
      EXPECT_TRUE(made->add(std::move(*etmv4::make_source(config, image.get(), {}))));
    return made;
  }

  Random random;
  std::unique_ptr<image::Image> image;
  std::vector<etmv4::Config> configs;
  std::vector<std::uint8_t> bytes;
};

void take(DecodeTree& tree, std::size_t span, std::vector<Element>& into) {
  std::vector<Element> out(span);
  while (const std::size_t count = tree.next(out))
    into.insert(into.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
}

std::vector<Element> interleaved(DecodeTree& tree, Bytes bytes, std::size_t block,
                                 std::size_t span) {
  std::vector<Element> elements;
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    EXPECT_TRUE(tree.feed(at, bytes.subspan(at, std::min(block, bytes.size() - at))));
    take(tree, span, elements);
  }
  tree.finish();
  take(tree, span, elements);
  return elements;
}

std::map<TraceId, std::vector<Element>> by_source(std::span<const Element> elements) {
  std::map<TraceId, std::vector<Element>> sources;
  for (const Element& element : elements) sources[element.trace_id].push_back(element);
  return sources;
}

class TreeProperty : public testing::TestWithParam<std::uint64_t> {
 protected:
  TreeProperty() : frames_(GetParam()) {}
  Frames frames_;
};

TEST_P(TreeProperty, blocks_and_spans_make_no_difference) {
  const auto whole = interleaved(*frames_.tree(), frames_.bytes, frames_.bytes.size(), 1024);
  for (const std::size_t block : {16U, 48U, 4096U})
    for (const std::size_t span : {1U, 2U, 7U, 1024U})
      ASSERT_EQ(
          support::difference(whole, interleaved(*frames_.tree(), frames_.bytes, block, span)), "")
          << "seed " << GetParam() << ", block " << block << ", span " << span;
}

TEST_P(TreeProperty, an_observer_makes_no_difference) {
  const auto alone = interleaved(*frames_.tree(), frames_.bytes, 4096, 64);
  const auto tree = frames_.tree();
  Decoded seen;
  seen.source = tree->sources().front();
  tree->set_observer(&seen);
  ASSERT_EQ(support::difference(alone, interleaved(*tree, frames_.bytes, 4096, 64)), "")
      << "seed " << GetParam();
  EXPECT_FALSE(seen.packets.empty());
}

TEST_P(TreeProperty, source_by_source_gives_each_what_interleaved_gives) {
  const auto tree = frames_.tree();
  const auto expected = by_source(interleaved(*tree, frames_.bytes, frames_.bytes.size(), 1024));
  const auto other = frames_.tree();
  PerSourceDriver driver(kAligned, other->sources());
  std::map<TraceId, std::vector<Element>> got;
  const ElementBatch keep = [&](Source& source, std::span<const Element> elements) {
    auto& kept = got[source.trace_id()];
    kept.insert(kept.end(), elements.begin(), elements.end());
  };
  ASSERT_TRUE(driver.decode(0, frames_.bytes, keep));
  driver.finish(keep);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [id, elements] : expected)
    ASSERT_EQ(support::difference(elements, got[id]), "") << "seed " << GetParam();
}

TEST_P(TreeProperty, sources_made_when_their_id_appears_give_the_same) {
  const auto expected = by_source(interleaved(*frames_.tree(), frames_.bytes, 4096, 64));
  DecodeTree tree(kAligned);
  std::map<TraceId, int> asked;
  tree.set_source_maker([&](TraceId id) -> std::unique_ptr<Source> {
    ++asked[id];
    const std::size_t number = id - std::size_t{0x10};
    if (number >= frames_.configs.size()) return nullptr;
    return std::move(*etmv4::make_source(frames_.configs[number], frames_.image.get(), {}));
  });
  auto got = by_source(interleaved(tree, frames_.bytes, 48, 7));
  for (const auto& [id, elements] : expected) {
    if (tree.source(id) == nullptr) continue;  // An ID without a byte has only an end of trace.
    ASSERT_EQ(support::difference(elements, got[id]), "") << "seed " << GetParam();
  }
  for (const auto& [id, times] : asked) EXPECT_EQ(times, 1) << unsigned{id};
}

TEST_P(TreeProperty, a_loss_gives_what_was_held_and_starts_again) {
  // The same as the end of a piece for each source, and a reset.
  const std::size_t half = frames_.bytes.size() / 32 * 16;
  const Bytes first = Bytes(frames_.bytes).first(half);
  const Bytes second = Bytes(frames_.bytes).subspan(half);
  const auto tree = frames_.tree();
  std::vector<Element> got;
  ASSERT_TRUE(tree->feed(0, first));
  take(*tree, 7, got);
  tree->lose();
  take(*tree, 7, got);
  ASSERT_TRUE(tree->feed(half + 160, second));
  take(*tree, 7, got);
  tree->finish();
  take(*tree, 7, got);

  std::vector<Element> expected;
  const auto one = frames_.tree();
  ASSERT_TRUE(one->feed(0, first));
  take(*one, 64, expected);
  for (Source* const source : one->sources()) {
    source->finish_piece();
    std::vector<Element> out(64);
    while (const std::size_t count = source->next(out))
      expected.insert(expected.end(), out.begin(),
                      out.begin() + static_cast<std::ptrdiff_t>(count));
  }
  one->reset();
  ASSERT_TRUE(one->feed(half + 160, second));
  take(*one, 64, expected);
  one->finish();
  take(*one, 64, expected);
  ASSERT_EQ(support::difference(expected, got), "") << "seed " << GetParam();
}

/// Asks to wait at random elements.
class Waiting final : public ElementSink {
 public:
  explicit Waiting(std::uint64_t seed) : random_(seed) {}
  Flow on_element(const Element& element) override {
    elements.push_back(element);
    return random_.one_in(4) ? Flow::kWait : Flow::kContinue;
  }
  std::vector<Element> elements;

 private:
  Random random_;
};

void push(DataPath& path, Bytes bytes, std::size_t block) {
  std::size_t at = 0;
  Result<Flow> flow = Flow::kContinue;
  const auto settle = [&] {
    while (flow && *flow == Flow::kWait) flow = path.flush();
    ASSERT_TRUE(flow.has_value());
  };
  while (at < bytes.size()) {
    std::size_t used = 0;
    flow = path.data(at, bytes.subspan(at, std::min(block, bytes.size() - at)), used);
    settle();
    at += used;
  }
  flow = path.finish();
  settle();
}

TEST_P(TreeProperty, push_with_waits_gives_what_pull_gives) {
  const auto pulled = interleaved(*frames_.tree(), frames_.bytes, 4096, 1024);
  for (const std::size_t block : {16U, 64U, 4096U}) {
    const auto tree = frames_.tree();
    Waiting sink(GetParam());
    DataPath path(*tree, sink);
    push(path, frames_.bytes, block);
    ASSERT_EQ(support::difference(pulled, sink.elements), "")
        << "seed " << GetParam() << ", block " << block;
  }
}

TEST_P(TreeProperty, an_unformatted_push_gives_what_pull_gives) {
  Random random(GetParam());
  const etmv4::Config& config = frames_.configs.front();
  const auto bytes = support::StreamMaker(random, config).make(100, 30);
  const auto tree = [&] {
    auto made = std::make_unique<DecodeTree>(std::nullopt);
    EXPECT_TRUE(made->add(std::move(*etmv4::make_source(config, frames_.image.get(), {}))));
    return made;
  };
  const auto pulled = interleaved(*tree(), bytes, bytes.size(), 1024);
  for (const std::size_t block : {1U, 3U, 100U}) {
    const auto other = tree();
    Waiting sink(GetParam());
    DataPath path(*other, sink);
    push(path, bytes, block);
    ASSERT_EQ(support::difference(pulled, sink.elements), "")
        << "seed " << GetParam() << ", block " << block;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TreeProperty, testing::Range<std::uint64_t>(0, 60));

// ---- Single rules -----------------------------------------------------------------------------

class Tree : public testing::Test {
 protected:
  static std::unique_ptr<Source> source(TraceId id) {
    etmv4::Config config;
    config.trctraceidr = id;
    SourceOptions packets;
    packets.decode = false;
    return std::move(*etmv4::make_source(config, nullptr, packets));
  }
};

TEST_F(Tree, refuses_a_second_source_of_an_id) {
  DecodeTree tree(kAligned);
  ASSERT_TRUE(tree.add(source(0x10)));
  const auto again = tree.add(source(0x10));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_EQ(again.error().detail, "Two sources claim the trace ID 0x10.");
}

TEST_F(Tree, without_frames_there_is_one_source_whatever_its_id) {
  DecodeTree tree(std::nullopt);
  ASSERT_TRUE(tree.add(source(0x10)));
  EXPECT_FALSE(tree.add(source(0x11)).has_value());
  EXPECT_NE(tree.source(0x55), nullptr);
}

TEST_F(Tree, lists_its_sources_by_id) {
  DecodeTree tree(kAligned);
  ASSERT_TRUE(tree.add(source(0x22)));
  ASSERT_TRUE(tree.add(source(0x11)));
  ASSERT_EQ(tree.sources().size(), 2U);
  EXPECT_EQ(tree.sources()[0]->trace_id(), 0x11);
  EXPECT_EQ(tree.source(0x33), nullptr);
  EXPECT_EQ(tree.source(0xFF), nullptr);
}

TEST_F(Tree, refuses_partial_frames) {
  DecodeTree tree(kAligned);
  const std::vector<std::uint8_t> bytes(17);
  EXPECT_FALSE(tree.feed(0, bytes).has_value());
  EXPECT_TRUE(tree.feed(0, Bytes(bytes).first(16)).has_value());
}

TEST_F(Tree, a_filter_leaves_other_ids_out_and_counts_them_as_without) {
  const Frames frames(1);
  const auto tree = frames.tree();
  const TraceId wanted[] = {0x10};
  tree->set_filter(wanted);
  for (const Element& element : interleaved(*tree, frames.bytes, 4096, 64))
    EXPECT_EQ(element.trace_id, 0x10);
  EXPECT_EQ(tree->frame_statistics().total(), frames.bytes.size());
}

TEST_F(Tree, a_framing_error_is_fatal_only_with_its_quirk) {
  const frames::MuxOptions options{.fsync_period = 4};
  frames::Mux mux(options);
  ASSERT_TRUE(mux.write(0x10, std::vector<std::uint8_t>(100, 0x70)));
  mux.finish();
  std::vector<std::uint8_t> bytes = mux.take();
  std::fill_n(bytes.begin() + 4 + 16 + 4, 4, std::uint8_t{0xFF});
  for (const bool fatal : {true, false}) {
    TreeQuirks quirks;
    quirks.frame_errors_are_fatal = fatal;
    DecodeTree tree(options.demux_options(), quirks);
    ASSERT_TRUE(tree.add(source(0x10)));
    interleaved(tree, bytes, bytes.size(), 64);
    EXPECT_EQ(tree.failed(), fatal);
    EXPECT_EQ(tree.can_jump(), !fatal);
  }
}

// The bytes after a lost stretch do not complete the packet before it.
TEST_F(Tree, after_a_framing_error_sources_wait_for_their_next_sync_point) {
  const std::vector<std::uint8_t> address = {0x9D, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::uint8_t> stream(11, 0x00);
  stream.insert(stream.end(), {0x80, 0x01, 0x00});
  while (stream.size() < 600) stream.insert(stream.end(), address.begin(), address.end());
  const frames::MuxOptions options{.fsync_period = 4};
  frames::Mux mux(options);
  ASSERT_TRUE(mux.write(0x10, stream));
  mux.finish();
  std::vector<std::uint8_t> bytes = mux.take();
  // The third of several consecutive frames: the reader is lost up to the next full sync.
  bytes[4 + 2 * 16 + 4] = bytes[4 + 2 * 16 + 5] = 0xFF;
  bytes[4 + 2 * 16 + 6] = bytes[4 + 2 * 16 + 7] = 0xFF;

  DecodeTree tree(options.demux_options());
  ASSERT_TRUE(tree.add(source(0x10)));
  Decoded seen;
  seen.source = tree.source(0x10);
  tree.set_observer(&seen);
  interleaved(tree, bytes, bytes.size(), 64);
  ASSERT_FALSE(seen.diagnostics.empty());
  std::size_t addresses = 0;
  for (const auto& packet : seen.packets) {
    if (!packet.what.text.starts_with("I_ADDR")) continue;
    EXPECT_EQ(packet.what.bytes, address) << describe(packet);
    ++addresses;
  }
  EXPECT_GE(addresses, 1U);
  EXPECT_TRUE(seen.packets.back().what.text.ends_with("[I_NOT_SYNC]"))
      << describe(seen.packets.back());

  image::Image image;
  etmv4::Config config;
  config.trctraceidr = 0x10;
  const auto alone = *etmv4::make_source(config, &image, {});
  PerSourceDriver driver(options.demux_options(), {alone.get()}, nullptr);
  std::vector<Element> elements;
  const auto keep = [&](Source&, std::span<const Element> batch) {
    elements.insert(elements.end(), batch.begin(), batch.end());
  };
  ASSERT_TRUE(driver.decode(0, bytes, keep));
  driver.finish(keep);
  EXPECT_TRUE(std::ranges::any_of(elements, [](const Element& element) {
    return element.kind == ElementKind::kNoSync &&
           element.reason == static_cast<std::uint8_t>(UnsyncReason::kResetDecoder);
  }));
}

TEST_F(Tree, reset_decodes_again_from_a_new_sync_point) {
  const Frames frames(2);
  const auto tree = frames.tree();
  const auto first = interleaved(*tree, frames.bytes, 4096, 64);
  tree->reset();
  const auto again = interleaved(*tree, frames.bytes, 4096, 64);
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(first.front().reason, static_cast<std::uint8_t>(UnsyncReason::kInitDecoder));
  EXPECT_EQ(again.front().reason, static_cast<std::uint8_t>(UnsyncReason::kResetDecoder));
  EXPECT_EQ(first.size(), again.size());
}

TEST_F(Tree, the_data_path_refuses_data_while_elements_wait) {
  const Frames frames(3);
  const auto tree = frames.tree();
  struct Always final : ElementSink {
    Flow on_element(const Element& /*element*/) override { return Flow::kWait; }
  } sink;
  DataPath path(*tree, sink);
  std::size_t used = 0;
  ASSERT_EQ(path.data(0, frames.bytes, used), Flow::kWait);
  std::size_t second = 0;
  // The second call begins where the first one ended.
  // NOLINTNEXTLINE(readability-suspicious-call-argument)
  EXPECT_FALSE(path.data(used, Bytes(frames.bytes).subspan(used), second).has_value());
  EXPECT_FALSE(path.finish().has_value());
  path.reset();
  EXPECT_EQ(path.flush(), Flow::kContinue);
}

}  // namespace
}  // namespace waymark
