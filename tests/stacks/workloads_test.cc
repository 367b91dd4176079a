// Call stacks of any execution, damaged or not, keep every instruction, and stay within their
// limits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/seed_count.h"
#include "support/stack_checks.h"
#include "synth/truth_bench.h"
#include "waymark/synth/random.h"

namespace waymark::stacks {
namespace {

/// Few frames and nodes, so that the limits are reached.
Options small() {
  Options options;
  options.most_frames = 24;
  options.most_nodes = 100;
  return options;
}

TEST(StackWorkloads, every_instruction_is_in_the_tree) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    auto workload = synth::Workload::random({.seed = seed, .damage = seed % 2 == 0});
    ASSERT_TRUE(workload);
    auto made = synth::make_in_memory(*workload, false);
    ASSERT_TRUE(made);
    DecodeTree tree(made->maker.frame_options());
    for (auto& source : made->sources()) ASSERT_TRUE(tree.add(std::move(source)));
    support::StackChecker usual({}, Timeline::Choice::kBest);
    support::StackChecker bounded(small(), Timeline::Choice::kInstructions);
    std::vector<Element> out(300);
    const auto drain = [&] {
      while (const std::size_t got = tree.next(out)) {
        usual.observe(std::span(out).first(got));
        bounded.observe(std::span(out).first(got));
      }
    };
    const std::size_t whole = made->bytes.size() / tree.alignment() * tree.alignment();
    ASSERT_TRUE(tree.feed(0, Bytes(made->bytes).first(whole)));
    drain();
    tree.finish();
    drain();
    EXPECT_EQ(usual.finish(), "") << "seed " << seed;
    EXPECT_EQ(bounded.finish(), "") << "seed " << seed;
  }
}

TEST(StackWorkloads, any_elements_at_all) {
  const auto program = support::few_functions();
  for (std::uint64_t seed = 1; seed <= support::seed_count(300); ++seed) {
    synth::Random random(seed);
    std::vector<std::uint8_t> bytes(4096);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    Options options = small();
    options.places = [&program](const Element&, std::uint64_t address) {
      return program::Place{program.get(), address};
    };
    options.tail_calls = seed % 2 == 0 ? TailCalls::kKeep : TailCalls::kReplace;
    options.exceptions_apart = seed % 3 == 0;
    options.ranges = options.sites = seed % 5 == 0;
    support::StackChecker checker(std::move(options), static_cast<Timeline::Choice>(seed % 4));
    checker.engine().set_source(1, {.profile = isa::Profile::kM});
    checker.observe(support::elements_of(bytes));
    ASSERT_EQ(checker.finish(), "") << "seed " << seed;
  }
}

TEST(StackWorkloads, recursion_a_million_deep) {
  Engine engine({});
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.start = 0x1000;
  element.end = 0x1004;
  element.count = 1;
  element.last_size = 4;
  element.flags = kElementExecuted;
  element.last_type = isa::InstrType::kBranch;
  element.last_subtype = isa::InstrSubtype::kBranchLink;
  constexpr int kDepth = 1'000'000;
  // The call goes to 0x1000 again, with the return address 0x1004.
  element.start = 0x1008;
  element.end = 0x100C;
  engine.observe({&element, 1});
  element.start = 0x1000;
  element.end = 0x1004;
  for (int i = 0; i < kDepth; ++i) engine.observe({&element, 1});
  element.last_type = isa::InstrType::kIndirectBranch;
  element.last_subtype = isa::InstrSubtype::kV8Return;
  element.start = 0x1000;
  element.end = 0x1004;
  engine.observe({&element, 1});
  element.start = 0x1004;
  element.end = 0x1008;
  for (int i = 0; i < kDepth; ++i) engine.observe({&element, 1});
  element.start = 0x100C;
  engine.observe({&element, 1});
  engine.finish();
  EXPECT_EQ(engine.quality().matches, kDepth + 1U);
  EXPECT_EQ(engine.quality().folded, 0U);
  EXPECT_EQ(engine.tree().whole().instructions, 2U * kDepth + 3U);
}

}  // namespace
}  // namespace waymark::stacks
