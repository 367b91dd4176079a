// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/stm_stream.h"
#include "support/stream_properties.h"
#include "waymark/stm/source.h"

namespace waymark::stm {
namespace {

using support::Random;

struct Case {
  explicit Case(std::uint64_t seed) {
    Random random(seed);
    bytes =
        support::random_stm_stream(random, random.between(1, 120), random.pick({0U, 0U, 30U, 5U}));
    config.stmtcsr = 0x00200003;
    config.order =
        random.pick({NibbleOrder::kMostFirst, NibbleOrder::kLeastFirst, NibbleOrder::kAuto});
  }
  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    return *make_source(config, with);
  }

  Config config;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Stm, StreamProperties, support::Shares<Case>);

TEST(StmStream, finds_its_way_after_damage) {
  // The packets after an ASYNC and VERSION are read, whatever comes before.
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::vector<std::uint8_t> bytes = support::random_stm_stream(random, 20, 3);
    const std::size_t clean = bytes.size();
    std::vector<std::uint8_t> tail;
    Encoder encoder;
    Packet packet;
    packet.type = PacketType::kAsync;
    ASSERT_TRUE(encoder.encode(packet, tail));
    packet.type = PacketType::kVersion;
    packet.payload = 3;
    ASSERT_TRUE(encoder.encode(packet, tail));
    packet.type = PacketType::kM8;
    packet.payload = 0x5A;
    ASSERT_TRUE(encoder.encode(packet, tail));
    packet.type = PacketType::kD32;
    packet.payload = 0x12344321;
    ASSERT_TRUE(encoder.encode(packet, tail));
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    Case one(seed);
    one.config.order = NibbleOrder::kMostFirst;
    one.bytes = bytes;
    const support::Decoded decoded = support::decode(one, 4096, 1000, support::Watch::kPackets);
    ASSERT_GE(decoded.elements.size(), 2U);
    const Element& last = decoded.elements[decoded.elements.size() - 2];
    EXPECT_EQ(last.sw_id.master, 0x5A) << "seed " << seed;
    EXPECT_GE(last.index, support::kStreamStart + clean) << "seed " << seed;
  }
}

}  // namespace
}  // namespace waymark::stm
