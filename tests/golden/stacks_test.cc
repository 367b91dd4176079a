// Call stacks of every capture.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "golden/captures.h"
#include "waymark/inputs/capture.h"
#include "waymark/stacks/engine.h"

namespace waymark {
namespace {

/// At least this was reached, and no more returns were wrong.
struct Expected {
  std::string_view name;
  std::uint64_t matches;
  std::uint64_t branch_returns;
  std::uint64_t wrong;
};
constexpr Expected kExpected[] = {
    {"TC2", 453, 4, 0},
    {"bugfix_exact_match", 107735, 0, 0},
    {"ete_mem", 175, 46, 2},
    {"infrastructure", 0, 0, 159},
    {"juno_r1_1", 0, 0, 209},
    {"maxspec78_commopt0", 131, 35, 0},
    {"quicksort", 2189, 0, 0},
    {"src_addr", 221, 31, 0},
    {"tc2_ptm_rstk_t32", 11394, 0, 0},
    {"test_file_mem_offsets", 256, 0, 0},
    {"tme_test", 1757, 449, 0},
    {"trace_file_vmid", 396, 106, 0},
};

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
  const stacks::Quality quality = engine.quality();
  EXPECT_EQ(quality.instructions, instructions);
  const std::string name = name_of(GetParam());
  for (const Expected& expected : kExpected) {
    if (expected.name != name) continue;
    EXPECT_GE(quality.matches, expected.matches);
    EXPECT_GE(quality.branch_returns, expected.branch_returns);
    EXPECT_LE(quality.deeper + quality.mismatch, expected.wrong);
  }
  // Where most code is missing, stacks mean nothing, and this is known.
  EXPECT_EQ(quality.is_poor(), quality.missing_code > 0 && name != "TC2") << quality.mismatch;
}

INSTANTIATE_TEST_SUITE_P(Captures, GoldenStacks, testing::ValuesIn(captures()),
                         [](const auto& capture) { return name_of(capture.param); });

}  // namespace
}  // namespace waymark
