// Decoding gives what was executed, for all options.
#include <gmock/gmock.h>

#include "support/seed_count.h"
#include "truth_bench.h"

namespace waymark::synth {
namespace {

class CoreTruth : public testing::TestWithParam<Protocol> {};

TEST_P(CoreTruth, decoding_gives_what_happened) {
  std::uint64_t instructions = 0;
  for (std::uint64_t seed = 1; seed <= support::seed_count(200); ++seed) {
    TruthBench b = drawn(seed, {GetParam()});
    ASSERT_EQ(b.check(), "") << "seed " << seed;
    EXPECT_GT(b.instructions, 0U) << "seed " << seed;
    instructions += b.instructions;
  }
  EXPECT_GT(instructions, support::seed_count(200) * 2500);
}

INSTANTIATE_TEST_SUITE_P(All, CoreTruth,
                         testing::Values(Protocol::kEtmV4, Protocol::kEte, Protocol::kPtm,
                                         Protocol::kEtmV3, Protocol::kMtb),
                         [](const auto& p) { return std::string(protocol_name(p.param)); });

TEST(MixedTruth, decoding_sources_by_chance_gives_what_happened) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(200); ++seed)
    ASSERT_EQ(drawn(seed, {}).check(), "") << "seed " << seed;
}

TEST(SynthWorkload, of_a_seed_is_always_the_same_and_of_the_size_that_is_asked_for) {
  const auto bytes = [](std::uint64_t seed, std::uint64_t size) {
    const auto workload = Workload::random({.seed = seed, .size = size, .damage = true});
    EXPECT_TRUE(workload);
    auto made = make_in_memory(*workload, false);
    EXPECT_TRUE(made);
    EXPECT_EQ(made->sources().size(), workload->units.size());
    return made->bytes;
  };
  EXPECT_EQ(bytes(5, 0), bytes(5, 0));
  EXPECT_NE(bytes(5, 0), bytes(6, 0));
  EXPECT_GT(bytes(5, 300'000).size(), 200'000U);
}

TEST(SynthWorkload, of_a_protocol_that_is_not_made_is_refused) {
  const auto workload = Workload::random({.protocols = {Protocol::kEtmV4Data}});
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(Workload::random({.protocols = std::vector<Protocol>(200, Protocol::kItm)}));
  EXPECT_FALSE(Workload::random({.protocols = {Protocol::kMtb, Protocol::kMtb}}));
}

}  // namespace
}  // namespace waymark::synth
