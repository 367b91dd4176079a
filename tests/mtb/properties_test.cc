// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/mtb_stream.h"
#include "support/stream_properties.h"
#include "waymark/mtb/source.h"

namespace waymark::mtb {
namespace {

using support::Program;
using support::Random;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  explicit Case(std::uint64_t seed) : random(seed), config(support::random_mtb_config(random)) {
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    if (random.one_in(6)) options.range_limit = random.between(2, 12);
    bytes = support::MtbStreamMaker(random, *image)
                .make(random.between(10, 120), random.pick({0U, 0U, 30U, 5U}));
  }

  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    auto made = make_source(config, image.get(), with);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] static support::PlainCounter plain_counter() {
    return support::PlainCounter(false, false);
  }
  [[nodiscard]] static count::Counts comparable(count::Counts counts) { return counts; }

  Random random;
  Config config;
  std::unique_ptr<image::Image> image;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Mtb, StreamProperties, support::Shares<Case>);
INSTANTIATE_TYPED_TEST_SUITE_P(Mtb, CodeProperties, support::Shares<Case>);

}  // namespace
}  // namespace waymark::mtb
