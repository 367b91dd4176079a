// For every capture, counting gives the sums of its elements: source by source, for whole blocks
// and for single frames.
#include "support/counting.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "golden/captures.h"
#include "waymark/count/counter.h"
#include "waymark/inputs/capture.h"
#include "waymark/tree/per_source.h"

namespace waymark {
namespace {

using Results = std::map<TraceId, count::Counts>;

class Pass {
 public:
  explicit Pass(const std::string& folder, std::size_t step) : step_(step) {
    auto opened = inputs::Capture::open(folder, {});
    if (opened) capture_ = std::make_unique<inputs::Capture>(std::move(*opened));
  }

  void each(const SourceWork& work) {
    PerSourceDriver driver(inputs::frame_options(capture_->framing()), capture_->tree().sources());
    while (const auto block = capture_->next_block())
      for (std::size_t at = 0; at < block->bytes.size(); at += step_)
        ASSERT_TRUE(driver.work(block->index + at,
                                block->bytes.subspan(at, std::min(step_, block->bytes.size() - at)),
                                work));
    driver.finish_work(work);
  }

  Results by_elements() {
    std::map<TraceId, support::PlainCounter> counters;
    std::vector<Element> out(1024);
    each([&](Source& source) {
      const bool repeat =
          source.protocol() == Protocol::kEtmV4 || source.protocol() == Protocol::kEte;
      auto& counter = counters.try_emplace(source.trace_id(), repeat).first->second;
      while (const std::size_t got = source.next(out)) counter.add(std::span(out).first(got));
    });
    Results results;
    for (const auto& [id, counter] : counters) results.emplace(id, counter.counts());
    return results;
  }

  Results by_counting() {
    std::map<TraceId, count::Counter> counters;
    each([&](Source& source) { source.count(counters[source.trace_id()]); });
    Results results;
    for (auto& [id, counter] : counters) results.emplace(id, counter.take());
    return results;
  }

 private:
  std::size_t step_;
  std::unique_ptr<inputs::Capture> capture_;
};

void expect_same(const Results& plain, const Results& counted) {
  ASSERT_EQ(plain.size(), counted.size());
  for (const auto& [id, counts] : plain)
    EXPECT_EQ(support::difference(counts, counted.at(id)), "") << "trace ID " << unsigned{id};
}

class GoldenCounting : public testing::TestWithParam<std::string> {};

TEST_P(GoldenCounting, gives_what_the_elements_add_up_to) {
  constexpr std::size_t kWhole = std::size_t{1} << 20;
  const Results plain = Pass(GetParam(), kWhole).by_elements();
  expect_same(plain, Pass(GetParam(), kWhole).by_counting());
  expect_same(plain, Pass(GetParam(), 4096).by_counting());
  expect_same(plain, Pass(GetParam(), 16).by_counting());
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenCounting, testing::ValuesIn(captures()),
                         [](const auto& capture) { return name_of(capture.param); });

}  // namespace
}  // namespace waymark
