// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/decoded.h"
#include "support/stm_stream.h"
#include "waymark/stm/source.h"

namespace waymark::stm {
namespace {

using support::Decoded;
using support::Random;

constexpr std::uint64_t kSeeds = 300;

struct Case {
  explicit Case(std::uint64_t seed) {
    Random random(seed);
    bytes =
        support::random_stm_stream(random, random.between(1, 120), random.pick({0U, 0U, 30U, 5U}));
    config.stmtcsr = 0x00200003;
    config.order =
        random.pick({NibbleOrder::kMostFirst, NibbleOrder::kLeastFirst, NibbleOrder::kAuto});
  }
  std::vector<std::uint8_t> bytes;
  Config config;
};

Decoded decode(const Case& one, std::size_t chunk, std::size_t span, bool packets) {
  SourceOptions options;
  const std::unique_ptr<Source> source = *make_source(one.config, options);
  Decoded decoded;
  if (packets) {
    decoded.source = source.get();
    source->set_observer(&decoded, 0x20);
  }
  support::feed(*source, 1000, one.bytes, chunk, span, decoded.elements);
  source->finish();
  support::take(*source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

TEST(StmStream, gives_the_same_in_any_chunks) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case one(seed);
    const Decoded whole = decode(one, one.bytes.size(), 1000, true);
    for (const std::size_t chunk : {1U, 2U, 3U, 7U, 15U, 16U, 4096U}) {
      const std::string text = support::difference(whole, decode(one, chunk, 1000, true));
      ASSERT_TRUE(text.empty()) << "seed " << seed << ", chunk " << chunk << ": " << text;
    }
  }
}

TEST(StmStream, gives_the_same_elements_in_any_spans_and_without_packets) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Case one(seed);
    const Decoded shown = decode(one, one.bytes.size(), 1000, true);
    for (const std::size_t span : {1U, 2U, 7U, 1000U}) {
      const Decoded plain = decode(one, 64, span, false);
      ASSERT_EQ(plain.elements.size(), shown.elements.size()) << "seed " << seed;
      for (std::size_t i = 0; i < plain.elements.size(); ++i)
        ASSERT_TRUE(support::same(plain.elements[i], shown.elements[i])) << "seed " << seed;
    }
  }
}

TEST(StmStream, finds_its_way_after_damage) {
  // The packets after an ASYNC and VERSION are read, whatever comes before.
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
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
    const Decoded decoded = decode(one, 4096, 1000, true);
    ASSERT_GE(decoded.elements.size(), 2U);
    const Element& last = decoded.elements[decoded.elements.size() - 2];
    EXPECT_EQ(last.sw_id.master, 0x5A) << "seed " << seed;
    EXPECT_GE(last.index, 1000 + clean) << "seed " << seed;
  }
}

}  // namespace
}  // namespace waymark::stm
