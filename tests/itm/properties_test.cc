// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/itm_bench.h"
#include "support/stream_properties.h"
#include "waymark/itm/source.h"

namespace waymark::itm {
namespace {

using support::Random;

struct Case {
  explicit Case(std::uint64_t seed) {
    Random random(seed);
    config.itm_tcr = random.coin() ? static_cast<std::uint32_t>(random.bits(24)) : 0;
    config.starts_in_sync = random.one_in(4);
    bytes = support::random_itm_stream(random, random.between(20, 200),
                                       random.pick({0U, 0U, 60U, 10U}));
  }
  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    return *make_source(config, with);
  }

  Config config;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Itm, StreamProperties, support::Shares<Case>);

TEST(ItmStream, covers_every_byte_by_one_packet) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Case one(seed);
    Parser parser(one.config);
    Packet packet;
    std::vector<std::uint8_t> bytes;
    const frames::Run run{};
    parser.feed({one.bytes, {&run, 1}});
    const auto take = [&] {
      ASSERT_EQ(packet.index, bytes.size()) << seed;
      ASSERT_EQ(packet.length, parser.packet_bytes().size());
      bytes.insert(bytes.end(), parser.packet_bytes().begin(), parser.packet_bytes().end());
    };
    while (parser.next(packet)) take();
    if (parser.finish(packet)) take();
    ASSERT_EQ(bytes, one.bytes) << seed;
  }
}

}  // namespace
}  // namespace waymark::itm
