// PTM and ETMv3: what is decoded is what happened.
#include "truth_bench.h"

namespace waymark::synth {
namespace {

TruthBench bench(std::uint64_t seed, Protocol protocol) {
  Random random(seed);
  TruthBench b;
  auto program = Program::random({.seed = seed,
                                  .isa = random.coin() ? isa::Isa::kA32 : isa::Isa::kT32,
                                  .mixed = random.coin(),
                                  .functions = random.between(1, 40),
                                  .statements = random.between(1, 12)});
  EXPECT_TRUE(program) << program.error().detail;
  if (program) b.program = *std::move(program);
  const auto mean = [&](std::uint64_t blocks) { return random.coin() ? random.about(blocks) : 0; };
  b.execution = {.seed = seed,
                 .exception_mean = mean(200),
                 .context_ids = random.between(1, 4),
                 .vmids = random.between(1, 3),
                 .secure = random.coin()};
  b.units.push_back({.protocol = protocol,
                     .seed = seed,
                     .return_stack = protocol == Protocol::kPtm && random.coin(),
                     .cycle_counts = random.coin(),
                     .branch_broadcast = random.one_in(4),
                     .context_ids = random.coin(),
                     .vmids = random.coin(),
                     .sync_period = random.between(64, 4000),
                     .timestamp_mean = mean(100),
                     .event_mean = mean(100),
                     .overflow_mean = mean(2000),
                     .filter_mean = mean(500)});
  b.capture = {.seed = seed,
               .size = random.between(100, 20000),
               .framing = static_cast<CaptureFraming>(random.below(3)),
               .fsync_period = random.between(1, 100)};
  return b;
}

class PftTruth : public testing::TestWithParam<Protocol> {};

TEST_P(PftTruth, decoding_gives_what_happened) {
  std::uint64_t instructions = 0;
  for (std::uint64_t seed = 1; seed <= seed_count(100); ++seed) {
    TruthBench b = bench(seed, GetParam());
    ASSERT_EQ(b.check(), "") << "seed " << seed;
    EXPECT_GT(b.instructions, 0U) << "seed " << seed;
    instructions += b.instructions;
  }
  EXPECT_GT(instructions, 500'000U);
}

INSTANTIATE_TEST_SUITE_P(All, PftTruth, testing::Values(Protocol::kPtm, Protocol::kEtmV3),
                         [](const auto& p) { return std::string(protocol_name(p.param)); });

}  // namespace
}  // namespace waymark::synth
