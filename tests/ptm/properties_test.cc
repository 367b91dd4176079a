// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/ptm_stream.h"
#include "support/stream_properties.h"
#include "waymark/ptm/source.h"

namespace waymark::ptm {
namespace {

using support::Program;
using support::Random;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  explicit Case(std::uint64_t seed) : random(seed), config(support::random_ptm_config(random)) {
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    if (random.coin()) options.quirks = kReferenceQuirks;
    // Without the first quirk, which makes chunks depend on blocks.
    if (options.quirks != 0 && random.one_in(3)) options.quirks &= ~(random.bits(15) | 1);
    for (const std::uint32_t flag : {kNoForwardBadPackets, kErrorOnBadPackets, kHaltOnBadPackets})
      if (random.one_in(8)) options.flags |= flag;
    if (random.one_in(6)) options.range_limit = random.between(2, 12);
    // With quirks the chunks of unsynchronised bytes depend on the blocks.
    bytes =
        support::PtmStreamMaker(random, config)
            .make(random.between(50, 250), random.pick({0U, 0U, 60U, 10U}), options.quirks == 0);
  }

  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    auto made = make_source(config, image.get(), with);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] support::PlainCounter plain_counter() const {
    return support::PlainCounter(false, config.cycle_accurate());
  }
  [[nodiscard]] static count::Counts comparable(count::Counts counts) { return counts; }

  Random random;
  Config config;
  std::unique_ptr<image::Image> image;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Ptm, StreamProperties, support::Shares<Case>);
INSTANTIATE_TYPED_TEST_SUITE_P(Ptm, CodeProperties, support::Shares<Case>);

}  // namespace
}  // namespace waymark::ptm
