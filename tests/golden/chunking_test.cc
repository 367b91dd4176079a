// Every capture gives the same packets and elements however it is fed and taken: whole or in
// chunks, in spans of any size, pulled or pushed, interleaved or source by source, with or without
// the block cache.  WAYMARK_SHARED names the folder of the captures; the default is next to the
// source tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden/captures.h"
#include "waymark/element/element.h"
#include "waymark/frames/splitter.h"
#include "waymark/inputs/capture.h"
#include "waymark/tree/data_path.h"

namespace waymark {
namespace {

/// Everything that one source gave.
struct Output {
  Hash elements;
  Hash packets;
  Hash records;
  friend bool operator==(const Output&, const Output&) = default;
};
using Results = std::map<TraceId, Output>;

std::ostream& operator<<(std::ostream& out, const Output& result) {
  return out << result.elements.count() << " words of elements, " << result.packets.count()
             << " of packets, " << result.records.count() << " of records";
}

/// Hashes everything that it sees; each packet with the number of the element that follows it.
class Watcher final : public Observer {
 public:
  Watcher(Results& results, DecodeTree& tree, bool packets)
      : results_(results), tree_(tree), packets_(packets) {}
  [[nodiscard]] bool wants_packets() const override { return packets_; }
  void on_packet(const PacketRef& packet) override {
    if (!packets_) return;
    text_.clear();
    text_.dec(packet.index);
    text_.put(packet.monitor_only ? '*' : ' ');
    tree_.source(packet.trace_id)->write_packet(text_, packet);
    Output& result = results_[packet.trace_id];
    result.packets.add(result.elements.count());
    result.packets.add(text_.view());
  }
  void on_diagnostic(const Diagnostic& record) override {
    if (record.stage == Stage::kFrames) return;
    Output& result = results_[record.stream_id];
    result.records.add(result.elements.count());
    result.records.add(record.index);
    result.records.add(std::to_underlying(record.finding));
  }

 private:
  Results& results_;
  DecodeTree& tree_;
  TextBuffer text_;
  bool packets_;
};

struct Way {
  std::size_t chunk = 0;  ///< Bytes per call; 0: everything.
  std::size_t span = 1024;
  bool interleaved = false;
  bool cached = true;
  bool packets = true;
  unsigned waits =
      0;  ///< Pushed: the client answers WAIT after this number of elements.  0: pulled.
  friend std::ostream& operator<<(std::ostream& out, const Way& way) {
    return out << (way.interleaved ? "interleaved" : "per source") << ", chunk " << way.chunk
               << ", span " << way.span << (way.cached ? "" : ", no cache")
               << (way.waits != 0 ? ", pushed" : "");
  }
};

class Decoding {
 public:
  Decoding(const std::string& folder, const Way& way) : way_(way), span_(way.span) {
    inputs::CaptureOptions options;
    options.source.block_cache = way.cached;
    auto opened = inputs::Capture::open(folder, options);
    if (!opened) return;
    capture_ = std::make_unique<inputs::Capture>(std::move(*opened));
  }

  [[nodiscard]] bool opened() const { return capture_ != nullptr; }
  [[nodiscard]] bool formatted() const { return capture_->tree().formatted(); }

  Results decode() {
    DecodeTree& tree = capture_->tree();
    Watcher watcher(results_, tree, way_.packets);
    tree.set_observer(&watcher);
    if (way_.waits != 0) {
      push();
    } else if (way_.interleaved) {
      interleaved();
    } else {
      per_source();
    }
    tree.set_observer(nullptr);
    return std::move(results_);
  }

 private:
  void interleaved() {
    DecodeTree& tree = capture_->tree();
    while (const auto block = capture_->next_block()) {
      const std::size_t step = way_.chunk == 0 ? block->bytes.size() : way_.chunk;
      for (std::size_t at = 0; at < block->bytes.size(); at += step) {
        const Bytes part = block->bytes.subspan(at, std::min(step, block->bytes.size() - at));
        ASSERT_TRUE(tree.feed(block->index + at, part));
        take([&](std::span<Element> out) { return tree.next(out); });
      }
    }
    tree.finish();
    take([&](std::span<Element> out) { return tree.next(out); });
  }

  struct Sink final : ElementSink {
    Sink(Decoding& decoding, unsigned waits) : of(decoding), every(waits) {}
    Flow on_element(const Element& element) override {
      of.results_[of.formatted() ? element.trace_id : TraceId{0}].elements.add(element);
      return ++seen % every == 0 ? Flow::kWait : Flow::kContinue;
    }
    Decoding& of;
    unsigned every;
    unsigned seen = 0;
  };

  void push() {
    Sink sink(*this, way_.waits);
    DataPath path(capture_->tree(), sink);
    const auto flush = [&](Result<Flow> answer) {
      while (answer && *answer == Flow::kWait) answer = path.flush();
      ASSERT_TRUE(answer) << answer.error().detail;
    };
    while (const auto block = capture_->next_block()) {
      std::size_t at = 0;
      while (at < block->bytes.size()) {
        const std::size_t step = way_.chunk == 0 ? block->bytes.size() : way_.chunk;
        std::size_t used = 0;
        flush(path.data(block->index + at,
                        block->bytes.subspan(at, std::min(step, block->bytes.size() - at)), used));
        ASSERT_FALSE(testing::Test::HasFatalFailure());
        at += used;
      }
    }
    flush(path.finish());
  }

  void per_source() {
    DecodeTree& tree = capture_->tree();
    if (!formatted()) {
      while (const auto block = capture_->next_block()) {
        const frames::Run run{0, block->index};
        feed(*tree.source(0), {block->bytes, {&run, 1}});
      }
      finish(*tree.source(0));
      return;
    }
    frames::StreamSplitter splitter(inputs::frame_options(capture_->framing()).value());
    while (const auto block = capture_->next_block()) {
      ASSERT_TRUE(splitter.feed(block->index, block->bytes));
      for (auto step = splitter.step(); step != frames::Step::kNeedInput; step = splitter.step())
        ASSERT_NE(step, frames::Step::kError) << "sources would have to be reset amid the stream";
    }
    for (Source* source : tree.sources()) {
      feed(*source, splitter.stream(source->trace_id()).block());
      finish(*source);
    }
  }

  // In chunks that continue the runs of the block, so that the bytes of one segment stay together.
  void feed(Source& source, const frames::StreamBlock& block) {
    if (way_.chunk == 0) {
      source.feed(block);
      take([&](std::span<Element> out) { return source.next(out); });
      return;
    }
    const std::vector<frames::Run> segments = segments_of(block);
    std::size_t first = 0;
    std::vector<frames::Run> runs;
    for (std::size_t at = 0; at < block.bytes.size(); at += way_.chunk) {
      const Bytes part = block.bytes.subspan(at, std::min(way_.chunk, block.bytes.size() - at));
      while (first + 1 < segments.size() && segments[first + 1].position <= at) ++first;
      runs.assign(
          1, {.position = 0, .index = segments[first].index + (at - segments[first].position)});
      for (std::size_t i = first + 1; i < segments.size(); ++i) {
        if (segments[i].position >= at + part.size()) break;
        runs.push_back({.position = segments[i].position - at, .index = segments[i].index});
      }
      source.feed({part, runs});
      take([&](std::span<Element> out) { return source.next(out); });
    }
  }

  // One run per segment: runs of whole frames are split.
  static std::vector<frames::Run> segments_of(const frames::StreamBlock& block) {
    std::vector<frames::Run> segments;
    for (std::size_t i = 0; i < block.runs.size(); ++i) {
      const frames::Run& run = block.runs[i];
      const std::size_t end =
          i + 1 < block.runs.size() ? block.runs[i + 1].position : block.bytes.size();
      for (std::size_t frame = 0; run.position + frames::kPlainFrameBytes * frame < end; ++frame) {
        segments.push_back({.position = run.position + frames::kPlainFrameBytes * frame,
                            .index = run.index + 16 * frame});
        if (!run.whole_frames) break;
      }
    }
    return segments;
  }

  void finish(Source& source) {
    source.finish();
    take([&](std::span<Element> out) { return source.next(out); });
  }

  template <class Next>
  void take(Next next) {
    while (const std::size_t count = next(std::span(span_)))
      for (const Element& element : std::span(span_).first(count))
        results_[formatted() ? element.trace_id : TraceId{0}].elements.add(element);
  }

  Way way_;
  std::unique_ptr<inputs::Capture> capture_;
  std::vector<Element> span_;
  Results results_;
};

class GoldenChunking : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = GetParam();
    Decoding run(folder_, {});
    formatted_ = run.formatted();
    whole_ = run.decode();
    ASSERT_FALSE(whole_.empty());
    std::uint64_t elements = 0;
    for (const auto& [id, output] : whole_) elements += output.elements.count() / 8;
    RecordProperty("elements", std::to_string(elements));
    EXPECT_NE(elements, 0U);
  }

  void expect_same(const Way& way, const Results& expected) {
    Decoding run(folder_, way);
    EXPECT_EQ(run.decode(), expected) << way;
  }

  std::string folder_;
  bool formatted_ = false;
  Results whole_;
};

TEST_P(GoldenChunking, gives_the_same_however_fed_and_taken) {
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U, 4096U})
    expect_same({.chunk = chunk}, whole_);
  expect_same({.span = 1}, whole_);
  expect_same({.span = 7}, whole_);
  expect_same({.interleaved = true}, whole_);
  expect_same({.span = 1, .interleaved = true}, whole_);
  expect_same({.interleaved = true, .waits = 1}, whole_);
  expect_same({.interleaved = true, .waits = 3}, whole_);
  // Whole frames only: the deformatter takes multiples of 16.
  if (formatted_) {
    expect_same({.chunk = 16, .interleaved = true}, whole_);
    expect_same({.chunk = 4096, .interleaved = true}, whole_);
    expect_same({.chunk = 4096, .interleaved = true, .waits = 5}, whole_);
  }
}

TEST_P(GoldenChunking, gives_the_same_elements_without_packets_to_show_and_without_cache) {
  const Results silent = Decoding(folder_, {.packets = false}).decode();
  for (const auto& [id, result] : whole_) {
    const auto other = silent.find(id);
    ASSERT_NE(other, silent.end());
    EXPECT_EQ(other->second.elements, result.elements);
    EXPECT_EQ(other->second.records, result.records);
  }
  expect_same({.cached = false, .packets = false}, silent);
  expect_same({.span = 1, .packets = false}, silent);
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenChunking, testing::ValuesIn(captures()),
                         [](const auto& capture) { return name_of(capture.param); });

TEST(GoldenCaptures, are_there) {
  if (captures().size() == 1) GTEST_SKIP() << "only the sample: no captures in " << shared_folder();
}

}  // namespace
}  // namespace waymark
