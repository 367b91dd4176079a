// Call stacks of every capture.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "golden/captures.h"
#include "waymark/inputs/capture.h"
#include "waymark/stacks/engine.h"

namespace waymark {
namespace {

class GoldenStacks : public testing::TestWithParam<std::string> {};

TEST_P(GoldenStacks, every_instruction_is_in_the_tree) {
  auto capture = inputs::Capture::open(GetParam(), {});
  ASSERT_TRUE(capture);
  stacks::Engine engine({});
  for (const inputs::CaptureSource& source : capture->sources()) {
    const Protocol protocol = source.source->protocol();
    engine.set_source(source.id, {.profile = source.profile,
                                  .timestamps_repeat_cycles =
                                      protocol == Protocol::kEtmV4 || protocol == Protocol::kEte});
  }
  std::vector<Element> out(1024);
  std::uint64_t instructions = 0;
  const auto drain = [&] {
    while (const std::size_t got = capture->tree().next(out)) {
      for (const Element& element : std::span(out).first(got))
        if (element.kind == ElementKind::kInstrRange) instructions += element.count;
      engine.observe(std::span(out).first(got));
    }
  };
  while (const auto block = capture->next_block()) {
    ASSERT_TRUE(capture->tree().feed(block->index, block->bytes));
    drain();
  }
  capture->tree().finish();
  drain();
  engine.finish();
  EXPECT_EQ(engine.tree().whole().instructions, instructions);
  const stacks::Quality q = engine.quality();
  fmt::print(
      "{:30} top {:6} deep {:4} empty {:4} mism {:4} br {:5} calls {:6} unw {} tail {} gaps {}/{} "
      "nacc {} exc {}/{} lost {} sw {} instr {}\n",
      name_of(GetParam()), q.matches, q.deeper, q.empty, q.mismatch, q.branch_returns, q.calls,
      q.unwinds, q.tail_calls, q.gaps, q.confirmed, q.missing_code, q.exceptions,
      q.exception_returns, q.lost_returns, q.switches, instructions);
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenStacks, testing::ValuesIn(captures()),
                         [](const auto& capture) { return name_of(capture.param); });

}  // namespace
}  // namespace waymark
