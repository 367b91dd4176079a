// Every capture, whole and damaged, gives the same with several threads as with one: elements and
// records in the same order, and the same counts.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "golden/captures.h"
#include "waymark/inputs/capture.h"
#include "waymark/parallel/parallel_decoder.h"

namespace waymark {
namespace {

/// The contents of a piece in order: elements, and each record with the number of the element
/// before it.
struct Seen final : parallel::Piece {
  void on_elements(std::span<const Element> more) override {
    elements.insert(elements.end(), more.begin(), more.end());
  }
  void on_diagnostic(const Diagnostic& record) override {
    records.emplace_back(elements.size(), record);
  }
  std::vector<Element> elements;
  std::vector<std::pair<std::size_t, Diagnostic>> records;
};

class Digest final : public parallel::Consumer {
 public:
  std::unique_ptr<parallel::Piece> begin() override { return std::make_unique<Seen>(); }
  bool take(std::unique_ptr<parallel::Piece> piece) override {
    const auto& seen = static_cast<const Seen&>(*piece);
    for (const Element& element : seen.elements) hash_.add(element);
    for (const auto& [at, record] : seen.records) {
      records_.add(count_ + at);
      records_.add(record.index);
      records_.add(record.stream_id);
      records_.add(std::to_underlying(record.finding));
    }
    count_ += seen.elements.size();
    return true;
  }
  friend bool operator==(const Digest& a, const Digest& b) {
    return a.hash_ == b.hash_ && a.records_ == b.records_;
  }
  friend std::ostream& operator<<(std::ostream& out, const Digest& digest) {
    return out << digest.count_ << " elements, " << digest.records_.count() / 4 << " records";
  }

 private:
  Hash hash_;
  Hash records_;
  std::uint64_t count_ = 0;
};

struct Result {
  Digest digest;
  std::vector<SourceStatistics> sources;
  frames::Statistics frames;
  parallel::Statistics how;
};

class GoldenParallel : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Result decode(const Trace& trace, Bytes bytes, unsigned threads) const {
    auto capture = std::move(*inputs::Capture::open(GetParam(), {}));
    Result result;
    parallel::ParallelDecoder decoder(capture.tree(),
                                      {.threads = threads, .piece_bytes = std::size_t{4} << 10});
    EXPECT_TRUE(decoder.decode(trace.first, bytes, result.digest));
    for (const Source* source : capture.tree().sources())
      result.sources.push_back(source->statistics());
    result.frames = capture.tree().frame_statistics();
    result.how = decoder.statistics();
    return result;
  }

  void compare(const Trace& trace, Bytes bytes) const {
    const Result one = decode(trace, bytes, 1);
    const Result many = decode(trace, bytes, 3);
    EXPECT_EQ(one.digest, many.digest);
    EXPECT_TRUE(one.sources == many.sources);
    EXPECT_EQ(one.frames, many.frames);
    redone_ += many.how.redone;
    pieces_ += many.how.pieces;
  }

  mutable std::uint64_t redone_ = 0;
  mutable std::uint64_t pieces_ = 0;
};

TEST_P(GoldenParallel, gives_what_one_thread_gives) {
  auto opened = inputs::Capture::open(GetParam(), {});
  ASSERT_TRUE(opened);
  const Trace trace = read_trace(*opened);
  ASSERT_FALSE(trace.bytes.empty());
  compare(trace, trace.bytes);
  RecordProperty("pieces", std::to_string(pieces_));
  RecordProperty("redone", std::to_string(redone_));

  std::mt19937_64 random(20261121);
  for (const unsigned changes : {10U, 1000U}) {
    std::vector<std::uint8_t> damaged = trace.bytes;
    for (unsigned i = 0; i < changes; ++i) {
      auto& byte = damaged[random() % damaged.size()];
      byte = static_cast<std::uint8_t>(byte ^ (1 + random() % 255));
    }
    SCOPED_TRACE(changes);
    compare(trace, damaged);
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenParallel, testing::ValuesIn(captures()),
                         [](const auto& folder) { return name_of(folder.param); });

}  // namespace
}  // namespace waymark
