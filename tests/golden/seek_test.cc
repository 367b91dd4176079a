// Decoding real captures from places in the middle gives the same as decoding them from the start.
#include "waymark/index/seek.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden/captures.h"
#include "support/random.h"
#include "waymark/index/builder.h"

namespace waymark {
namespace {

/// Everything that each source gives from `from` on, including damage.
struct Reported {
  TraceIndex from = 0;
  std::map<TraceId, Hash> elements{};
  std::map<TraceId, Hash> packets{};
  std::map<TraceId, Hash> records{};

  [[nodiscard]] bool same(const Reported& other) const {
    return elements == other.elements && packets == other.packets && records == other.records;
  }
};

class Teller final : public Observer {
 public:
  Teller(DecodeTree& tree, std::vector<Reported>& reported) : tree_(tree), reported_(reported) {}
  void on_packet(const PacketRef& packet) override {
    text_.clear();
    text_.dec(packet.index);
    text_.put(' ');
    tree_.source(packet.trace_id)->write_packet(text_, packet);
    for (Reported& reported : reported_)
      if (packet.index >= reported.from) reported.packets[packet.trace_id].add(text_.view());
  }
  void on_diagnostic(const Diagnostic& record) override {
    if (record.index == kNoIndex) return;
    for (Reported& reported : reported_) {
      if (record.index < reported.from) continue;
      reported.records[record.stream_id].add(record.index);
      reported.records[record.stream_id].add(std::to_underlying(record.finding));
    }
  }

 private:
  DecodeTree& tree_;
  std::vector<Reported>& reported_;
  TextBuffer text_;
};

void run(inputs::Capture& capture, std::vector<Reported>& reported) {
  Teller teller(capture.tree(), reported);
  capture.tree().set_observer(&teller);
  std::vector<Element> batch(256);
  const auto drain = [&] {
    while (const std::size_t count = capture.tree().next(batch)) {
      for (const Element& element : std::span(batch).first(count)) {
        for (Reported& one : reported)
          if (element.index >= one.from) one.elements[element.trace_id].add(element);
      }
    }
  };
  while (const auto block = capture.next_block()) {
    ASSERT_TRUE(capture.tree().feed(block->index, block->bytes));
    drain();
  }
  capture.tree().finish();
  drain();
  capture.tree().set_observer(nullptr);
}

class GoldenSeek : public testing::TestWithParam<std::string> {};

TEST_P(GoldenSeek, a_place_in_the_middle_gives_what_the_whole_run_gives_there) {
  const std::string& path = GetParam();
  inputs::CaptureOptions packets_only;
  packets_only.source.decode = false;
  auto scout = inputs::Capture::open(path, packets_only);
  ASSERT_TRUE(scout);
  const auto index = index::make_memory_index();
  index::BuildOptions options;
  options.granule = index::kMinGranule;
  ASSERT_TRUE(index::build(*scout, *index, options));
  support::Random random(scout->trace_bytes());
  constexpr unsigned kPlaces = 6;
  std::vector<Reported> whole;
  whole.reserve(kPlaces);
  for (unsigned i = 0; i < kPlaces; ++i)
    whole.push_back({.from = random.between(1, static_cast<std::uint32_t>(scout->trace_bytes()))});
  auto capture = inputs::Capture::open(path, {});
  ASSERT_TRUE(capture);
  run(*capture, whole);
  for (const Reported& want : whole) {
    const auto entry = index::seek(*index, index::source_ids(*scout), want.from);
    ASSERT_TRUE(entry) << entry.error().detail;
    if (!entry->unknown.empty()) continue;
    auto part = inputs::Capture::open(path, {});
    ASSERT_TRUE(part);
    index::enter(*part, *entry);
    std::vector<Reported> got = {{.from = want.from}};
    run(*part, got);
    EXPECT_TRUE(got.front().same(want))
        << "from " << want.from << ", read from " << entry->index << " of " << scout->trace_bytes();
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenSeek, testing::ValuesIn(captures()),
                         [](const auto& folder) { return name_of(folder.param); });

}  // namespace
}  // namespace waymark
