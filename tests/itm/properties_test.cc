// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/decoded.h"
#include "support/itm_bench.h"
#include "waymark/itm/source.h"

namespace waymark::itm {
namespace {

using support::Decoded;
using support::difference;
using support::Random;

constexpr TraceIndex kStart = 1000;

struct Case {
  explicit Case(std::uint64_t seed) {
    Random random(seed);
    config.itm_tcr = random.coin() ? static_cast<std::uint32_t>(random.bits(24)) : 0;
    config.starts_in_sync = random.one_in(4);
    bytes = support::random_itm_stream(random, random.between(20, 200),
                                       random.pick({0U, 0U, 60U, 10U}));
  }
  [[nodiscard]] std::unique_ptr<Source> source() const { return *make_source(config, {}); }

  Config config;
  std::vector<std::uint8_t> bytes;
};

Decoded decode(const Case& one, std::size_t chunk, std::size_t span, bool packets) {
  auto source = one.source();
  Decoded decoded;
  if (packets) decoded.source = source.get();
  source->set_observer(&decoded, 0x33);
  support::feed(*source, kStart, one.bytes, chunk, span, decoded.elements);
  source->finish();
  support::take(*source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

TEST(ItmStream, gives_the_same_in_any_chunks_and_spans) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case one(seed);
    for (const bool packets : {true, false}) {
      const Decoded whole = decode(one, one.bytes.size(), 1000, packets);
      for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U, 4096U})
        ASSERT_EQ(difference(whole, decode(one, chunk, 1 + chunk % 5, packets)), "")
            << "seed " << seed << " chunk " << chunk;
    }
  }
}

TEST(ItmStream, gives_the_same_elements_with_and_without_packets) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case one(seed);
    const Decoded with = decode(one, 64, 7, true);
    const Decoded without = decode(one, 64, 7, false);
    ASSERT_EQ(with.elements.size(), without.elements.size()) << seed;
    for (std::size_t i = 0; i < with.elements.size(); ++i)
      ASSERT_TRUE(support::same(with.elements[i], without.elements[i])) << seed;
  }
}

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

// Damage from some byte on leaves everything before it unchanged.
TEST(ItmStream, keeps_what_lies_before_the_damage) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Case one(seed);
    one.config = {};
    one.bytes = support::random_itm_stream(random, 100, 0);
    const Decoded whole = decode(one, 4096, 100, false);
    const std::size_t first = random.below(static_cast<std::uint32_t>(one.bytes.size()));
    for (unsigned i = 0; i < 10; ++i) {
      const std::size_t at =
          i == 0 ? first
                 : first + random.below(static_cast<std::uint32_t>(one.bytes.size() - first));
      one.bytes[at] = random.byte();
    }
    const Decoded damaged = decode(one, 4096, 100, false);
    // An element is complete if the next one's packet begins before the damage.
    for (std::size_t i = 0; i + 1 < whole.elements.size(); ++i) {
      const Element& next = whole.elements[i + 1];
      if (next.kind == ElementKind::kEndOfTrace || next.index > kStart + first) break;
      ASSERT_LT(i, damaged.elements.size());
      ASSERT_TRUE(support::same(whole.elements[i], damaged.elements[i])) << seed;
    }
  }
}

}  // namespace
}  // namespace waymark::itm
