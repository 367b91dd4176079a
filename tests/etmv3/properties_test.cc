// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/etmv3_stream.h"
#include "support/stream_properties.h"
#include "waymark/etmv3/source.h"

namespace waymark::etmv3 {
namespace {

using support::Program;
using support::Random;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  explicit Case(std::uint64_t seed) : random(seed), config(support::random_etmv3_config(random)) {
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    // The reference does not decode data.
    if (!config.data_trace() && random.coin()) options.quirks = kReferenceQuirks;
    // Without the first quirk, which makes chunks depend on blocks.
    if (options.quirks != 0 && random.one_in(3)) options.quirks &= ~(random.bits(28) | 1);
    if (random.one_in(8)) options.flags |= kNoForwardBadPackets;
    bytes = support::etmv3_stream(random, config, random.between(50, 250),
                                  random.pick({0U, 0U, 60U, 10U}));
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

INSTANTIATE_TYPED_TEST_SUITE_P(Etmv3, StreamProperties, support::Shares<Case>);
INSTANTIATE_TYPED_TEST_SUITE_P(Etmv3, CodeProperties, support::Shares<Case>);

}  // namespace
}  // namespace waymark::etmv3
