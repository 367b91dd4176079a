// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/stream_properties.h"
#include "waymark/etmv4data/source.h"

namespace waymark::etmv4data {
namespace {

/// Any bytes, with an A-sync now and then.
struct Case {
  explicit Case(std::uint64_t seed) {
    support::Random random(seed);
    for (unsigned left = random.between(20, 400); left != 0; --left) {
      if (random.one_in(40)) {
        bytes.insert(bytes.end(), 11, 0x00);
        bytes.push_back(0x80);
      }
      bytes.push_back(random.byte());
    }
    for (std::size_t i = 0; i < Layouts::kCount; ++i) {
      if (random.one_in(4)) continue;
      config.layouts.set_row(i, {static_cast<std::uint8_t>(random.bits(7)), random.byte()});
    }
  }
  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    return *make_source(config, with);
  }

  Config config;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Etmv4Data, StreamProperties, support::Shares<Case>);

}  // namespace
}  // namespace waymark::etmv4data
