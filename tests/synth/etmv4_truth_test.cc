// ETMv4 and ETE: what is decoded is what happened.
#include "truth_bench.h"

namespace waymark::synth {
namespace {

TruthBench bench(std::uint64_t seed, Protocol protocol) {
  Random random(seed);
  TruthBench b;
  constexpr isa::Isa kIsas[] = {isa::Isa::kA64, isa::Isa::kA64, isa::Isa::kA32, isa::Isa::kT32};
  const isa::Isa isa = kIsas[random.below(4)];
  const bool a64 = isa == isa::Isa::kA64;
  auto program = Program::random({.seed = seed,
                                  .isa = isa,
                                  .mixed = !a64 && random.coin(),
                                  .functions = random.between(1, 40),
                                  .statements = random.between(1, 12),
                                  .address = random.coin() ? 0x40000U : 0,
                                  .a64_handlers = !a64 && random.coin()});
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
                     .return_stack = random.coin(),
                     .cycle_counts = random.coin(),
                     .cycle_threshold = random.below(100),
                     .context_ids = random.coin(),
                     .vmids = random.coin(),
                     .sync_period = random.between(64, 4000),
                     .speculation = random.coin() ? random.between(0, 20) : 0,
                     .timestamp_mean = mean(100),
                     .event_mean = mean(100),
                     .mispredict_mean = random.between(1, 40),
                     .q_mean = mean(200),
                     .overflow_mean = mean(2000),
                     .discard_mean = mean(2000),
                     .filter_mean = mean(500)});
  b.capture = {.seed = seed,
               .size = random.between(100, 20000),
               .framing = static_cast<CaptureFraming>(random.below(3)),
               .fsync_period = random.between(1, 100)};
  return b;
}

class Etmv4Truth : public testing::TestWithParam<Protocol> {};

TEST_P(Etmv4Truth, decoding_gives_what_happened) {
  std::uint64_t instructions = 0;
  for (std::uint64_t seed = 1; seed <= seed_count(100); ++seed) {
    TruthBench b = bench(seed, GetParam());
    ASSERT_EQ(b.check(), "") << "seed " << seed;
    EXPECT_GT(b.instructions, 0U) << "seed " << seed;
    instructions += b.instructions;
  }
  EXPECT_GT(instructions, 500'000U);
}

INSTANTIATE_TEST_SUITE_P(All, Etmv4Truth, testing::Values(Protocol::kEtmV4, Protocol::kEte),
                         [](const auto& p) { return std::string(protocol_name(p.param)); });

}  // namespace
}  // namespace waymark::synth
