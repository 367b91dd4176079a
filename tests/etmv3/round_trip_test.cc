// Encode, parse, encode: the same bytes, and the same fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/etmv3_stream.h"
#include "waymark/etmv3/fields.h"
#include "waymark/etmv3/parser.h"

namespace waymark::etmv3 {
namespace {

/// The fields of a packet except for addresses: the parser knows more of their bits than were sent.
std::string fields(const Packet& packet) {
  const bool instruction = packet.type == PacketType::kBranchAddress ||
                           packet.type == PacketType::kISync ||
                           packet.type == PacketType::kISyncCycle;
  TextBuffer out;
  out.put(packet_keyword(packet.type));
  for_each_field(packet, [&](const FieldValue& field) {
    if (field.name == (instruction ? "value" : "address") || field.name == "bits" ||
        field.name == "timestamp")
      return;
    out.put(' ');
    out.put(field.name);
    out.put('=');
    write_field(out, field);
  });
  return std::string(out.view());
}

class Etmv3RoundTrip : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Etmv3RoundTrip, gives_the_same_bytes_and_fields) {
  for (std::uint64_t seed = GetParam() * 40; seed < (GetParam() + 1) * 40; ++seed) {
    support::Random random(seed);
    const Config config = support::random_etmv3_config(random);
    support::Etmv3Packets source(random, config);
    std::vector<Packet> sent;
    std::vector<std::uint8_t> bytes;
    for (unsigned i = 0; i < 200; ++i) {
      Packet packet;
      packet.type = PacketType::kASync;
      if (i == 1) packet = source.isync();
      if (i > 1) packet = source.next();
      const auto done = encode(packet, config, bytes);
      ASSERT_TRUE(done) << done.error().detail;
      sent.push_back(packet);
    }
    Parser parser(config);
    const frames::Run run{.position = 0, .index = 0};
    parser.feed({bytes, {&run, 1}});
    Packet packet;
    std::vector<std::uint8_t> again;
    for (const Packet& expected : sent) {
      ASSERT_TRUE(parser.next(packet));
      ASSERT_EQ(fields(packet), fields(expected)) << "seed " << seed << " at " << packet.index;
      ASSERT_TRUE(encode(packet, config, again));
      ASSERT_TRUE(std::ranges::equal(again, Bytes(bytes).first(parser.position())))
          << fields(packet) << " seed " << seed << " at " << packet.index;
    }
    EXPECT_FALSE(parser.next(packet));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Etmv3RoundTrip, testing::Range(std::uint64_t{0}, std::uint64_t{8}));

}  // namespace
}  // namespace waymark::etmv3
