// Every capture with bytes changed at random: decoding ends, and the elements before the first
// change stay the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "golden/captures.h"
#include "waymark/inputs/capture.h"

namespace waymark {
namespace {

/// A capture, one of its buffers, and whether the quirks of the reference are on.
struct Case {
  std::string folder;
  inputs::CaptureOptions options;
};

class Decoding {
 public:
  explicit Decoding(const Case& one)
      : capture_(std::move(*inputs::Capture::open(one.folder, one.options))), span_(1024) {}

  /// Hashes the elements of `bytes`, but only the first `most`.
  void feed(TraceIndex index, Bytes bytes, std::uint64_t most) {
    most_ = most;
    if (!bytes.empty()) {
      ASSERT_TRUE(capture_.tree().feed(index, bytes));
    }
    take();
  }
  void finish() {
    capture_.tree().finish();
    take();
  }

  [[nodiscard]] const Hash& hash() const { return hash_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  void take() {
    while (const std::size_t got = capture_.tree().next(span_)) {
      for (const Element& element : std::span(span_).first(got))
        if (count_++ < most_) hash_.add(element);
    }
  }

  inputs::Capture capture_;
  std::vector<Element> span_;
  Hash hash_;
  std::uint64_t count_ = 0;
  std::uint64_t most_ = 0;
};

/// Every buffer of each capture that can be opened, natively and with quirks.
std::vector<Case> cases() {
  std::vector<Case> found;
  for (const std::string& folder : captures()) {
    for (const bool quirks : {false, true}) {
      Case one{folder, {}};
      one.options.source.quirks = quirks ? kReferenceQuirks : 0;
      const auto first = inputs::Capture::open(folder, one.options);
      if (!first) continue;
      for (const inputs::TraceBuffer& buffer : first->snapshot()->buffers) {
        one.options.buffer = buffer.name;
        if (inputs::Capture::open(folder, one.options)) found.push_back(one);
      }
    }
  }
  return found;
}

class GoldenDamage : public testing::TestWithParam<Case> {};

TEST_P(GoldenDamage, loses_nothing_before_the_first_change) {
  const Case& one = GetParam();
  auto opened = inputs::Capture::open(one.folder, one.options);
  ASSERT_TRUE(opened);
  // A block of framed trace consists of whole frames.
  const std::size_t unit = opened->tree().formatted() ? 16 : 1;
  const Trace trace = read_trace(*opened);
  ASSERT_FALSE(trace.bytes.empty());
  std::mt19937_64 random(20261121);
  for (const unsigned changes : {1U, 10U, 1000U}) {
    std::vector<std::uint8_t> damaged = trace.bytes;
    std::size_t first = damaged.size();
    for (unsigned i = 0; i < changes; ++i) {
      const std::size_t at = random() % damaged.size();
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1 + random() % 255));
      first = std::min(first, at);
    }
    first -= first % unit;

    Decoding before(one);
    before.feed(trace.first, Bytes(trace.bytes).first(first), ~std::uint64_t{0});
    Decoding after(one);
    after.feed(trace.first, damaged, before.count());
    after.finish();
    EXPECT_GE(after.count(), before.count()) << changes << " changes, the first at " << first;
    EXPECT_EQ(after.hash(), before.hash()) << changes << " changes, the first at " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenDamage, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) {
                           const inputs::CaptureOptions& options = one.param.options;
                           return name_of(one.param.folder) + "_" + name_of(options.buffer) +
                                  (options.source.quirks != 0 ? "_quirks" : "_native");
                         });

}  // namespace
}  // namespace waymark
